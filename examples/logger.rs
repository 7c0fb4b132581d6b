//! Logger: the `log` facade over one ring. A thread that logs formats its line and continues;
//! another thread writes it.
//!
//! ```text
//! thread 1 ──┐
//! thread 2 ──┼──> [ring] ──> write          a full ring drops the new line and counts it
//! thread 3 ──┘
//! ```
//!
//! A `static` keeps one producer. Each thread clones it once, into a thread-local. It formats its
//! lines in place, into a string that the slot already has. One stage writes the lines, and flushes
//! after the last available line.
//!
//! The clones live as long as their threads, and the static lives for ever, so the ring does not
//! close by itself. `Logging::shutdown` closes it: later lines are refused, and each accepted line
//! is written.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use lapwing::monitor::Monitor;
use lapwing::producer::WhenFull;
use lapwing::{Disruptor, MultiProducer, Running};
use log::{LevelFilter, Log, Metadata, Record};

/// Longest wait of a flush.
const LONGEST_FLUSH: Duration = Duration::from_secs(10);

/// A formatted record. A slot reuses its memory for the next one.
type Line = String;

static RING: OnceLock<MultiProducer<Line>> = OnceLock::new();

thread_local! {
    /// The producer of this thread, cloned when the thread first logs.
    static PRODUCER: RefCell<MultiProducer<Line>> = RefCell::new(ring().clone());
}

fn ring() -> &'static MultiProducer<Line> {
    RING.get().expect("it is set before the logger is installed")
}

/// The implementation of the `log` facade.
struct RingLogger;

impl Log for RingLogger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let is_logged = PRODUCER.try_with(|producer| {
            let Ok(mut producer) = producer.try_borrow_mut() else { return false };
            publish(&mut producer, record);
            true
        });
        // The producer is borrowed if a logged value itself logs. It is dropped if the thread is
        // ending.
        if is_logged != Ok(true) {
            publish(&mut ring().clone(), record);
        }
    }

    /// Waits until each line that was logged so far is written and flushed.
    fn flush(&self) {
        let ring = ring();
        // With several producers, `claimed` also counts lines that other threads are about to
        // publish.
        let claimed = ring.monitor().snapshot().claimed;
        if let Some(last) = claimed.checked_sub(1) {
            // Fails if the ring has halted, and `Logging::shutdown` reports why.
            // Gives up after a while, since the trait returns no error.
            let _ = ring.wait_handled(last, LONGEST_FLUSH);
        }
    }
}

/// Formats `record` into the next slot, if one is free.
fn publish(producer: &mut MultiProducer<Line>, record: &Record<'_>) {
    let fill = |line: &mut Line| {
        line.clear();
        let (level, target, text) = (record.level(), record.target(), record.args());
        // Writing to a `String` cannot fail. An error of a value's own `Display` ends the line.
        let _ = write!(line, "{level:<5} {target}: {text}");
    };
    // The ring counts the lines that it drops. A closed ring refuses them.
    let _ = producer.publish_or(WhenFull::DropNew, fill);
}

/// A running logger. Dropping it also waits until the accepted lines are written, but only
/// `shutdown` reports errors.
struct Logging {
    running: Running<'static>,
    monitor: Monitor,
}

impl Logging {
    /// Installs the logger, which writes to `output`.
    fn start(output: impl Write + Send + 'static, slots: usize) -> Result<Self, Box<dyn Error>> {
        let mut output = BufWriter::new(output);
        let (producer, consumers) = Disruptor::multi_producer(slots, Line::new)
            .name("log")
            .stage("write")
            .read(move |line, _, end_of_batch| -> io::Result<()> {
                writeln!(output, "{line}")?; // an error halts the ring, and `shutdown` returns it
                if end_of_batch { output.flush() } else { Ok(()) }
            })
            .build()?;
        let monitor = producer.monitor();
        RING.set(producer).map_err(|_| "the logger is installed twice")?;
        log::set_logger(&RingLogger)?;
        log::set_max_level(LevelFilter::Info);
        Ok(Self { running: consumers.start()?, monitor })
    }

    /// Closes the ring, writes the accepted lines, and returns the number of dropped lines.
    fn shutdown(self) -> Result<u64, Box<dyn Error>> {
        self.running.shutdown()?; // closes the ring, although threads still have producers
        Ok(self.monitor.snapshot().dropped)
    }
}

/// An in-memory file.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const SLOTS: usize = 1 << 14;
const THREADS: usize = 3;
const LINES_PER_THREAD: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let file = Memory::default();
    let logging = Logging::start(file.clone(), SLOTS)?;

    log::info!("begin"); // this thread has a producer from now on
    thread::scope(|scope| {
        for id in 0..THREADS {
            scope.spawn(move || {
                (0..LINES_PER_THREAD).for_each(|number| log::info!("thread {id} line {number}"));
            });
        }
    });
    log::debug!("not enabled");
    log::logger().flush();
    let lines = file.0.lock().unwrap().iter().filter(|byte| **byte == b'\n').count();
    let dropped = logging.monitor.snapshot().dropped;
    assert_eq!(lines as u64 + dropped, (1 + THREADS * LINES_PER_THREAD) as u64, "all are written");
    let dropped = logging.shutdown()?;
    log::error!("too late"); // refused, not dropped

    let text = String::from_utf8(file.0.lock().unwrap().clone())?;
    let mut next = [0; THREADS];
    for line in text.lines().skip(1) {
        let mut words = line.strip_prefix("INFO  logger: thread ").ok_or(line)?.split(" line ");
        let id: usize = words.next().ok_or(line)?.parse()?;
        let number: usize = words.next().ok_or(line)?.parse()?;
        assert!(number >= next[id], "out of order: {line}");
        next[id] = number + 1;
    }
    let written = text.lines().count();
    println!("{written} lines written, {dropped} dropped");
    assert!(text.starts_with("INFO  logger: begin\n"));
    assert_eq!(written as u64 + dropped, (1 + THREADS * LINES_PER_THREAD) as u64);
    Ok(())
}
