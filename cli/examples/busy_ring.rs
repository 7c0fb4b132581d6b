//! A busy ring that another process can look at: `lapwing top orders`. It can have several troubles.
//!
//! ```text
//! 2 producers ──> [ring] ──> decode ─┬──> journal (acknowledged) ─┬──> reply
//!                                    └──> risk (2 workers) ───────┘
//!                               └──> screen: a dynamic stage, with --dynamic
//! ```
//!
//! `cargo run --release -p lapwing-cli --example busy_ring -- hang` hangs in a handler, for example.

use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use lapwing::consumer::Acknowledger;
use lapwing::error::PollError;
use lapwing::graph::{DynamicStages, StartAt};
use lapwing::wait::Blocking;
use lapwing::{Disruptor, MultiProducer};

/// The first event of the trouble.
const TROUBLE_AT: u64 = 2_000;
/// Events of a batch of a producer.
const BATCH: u64 = 10;
/// Producers.
const PRODUCERS: u64 = 2;
/// Time for one event of a slow stage.
const SLOW: Duration = Duration::from_millis(1);
/// For how long the dynamic stage is there, and then is not.
const VISIT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Trouble {
    /// All stages keep up.
    None,
    /// The journal is slow.
    Slow,
    /// The handler of the journal does not return.
    Hang,
    /// The journal is no longer acknowledged.
    Unacknowledged,
    /// A producer keeps a claim.
    Claim,
    /// The risk stage panics, which halts the ring.
    Panic,
}

/// Runs a ring that `lapwing top` can show.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// What goes wrong.
    #[arg(value_enum, default_value = "none")]
    trouble: Trouble,
    /// The name of the ring.
    #[arg(long, default_value = "orders")]
    name: String,
    /// Slots of the ring.
    #[arg(long, default_value_t = 1024)]
    capacity: usize,
    /// Events per second of each producer.
    #[arg(long, default_value_t = 20_000)]
    rate: u64,
    /// Shut the ring down and end after so many seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Shut the ring down and end when the input ends. Without this and --seconds, it runs until it
    /// is killed.
    #[arg(long)]
    until_input_ends: bool,
    /// Let a consumer join and leave.
    #[arg(long)]
    dynamic: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let trouble = arguments.trouble;
    let (to_disk, writes) = mpsc::channel();
    let (producer, mut consumers) = Disruptor::multi_producer(arguments.capacity, || 0_u64)
        .observable(arguments.name.as_str())
        .wait_strategy(Blocking::default())
        .producer_wait_strategy(Blocking::default())
        .dynamic_stages(1)
        .stage("decode")
        .write(|event, sequence, _| *event = event.wrapping_mul(31) ^ sequence)
        .parallel(|parallel| {
            let journal = parallel.stage("journal").max_batch(16).acknowledged();
            let parallel = journal.read(move |_, sequence, is_last| {
                journal_event(trouble, sequence);
                if is_last {
                    let _ = to_disk.send(sequence + 1);
                }
            });
            parallel.stage("risk").workers(2).read(move |_worker| {
                move |_: &u64, sequence, _| {
                    assert!(trouble != Trouble::Panic || sequence < TROUBLE_AT, "a bad order");
                }
            })
        })
        .stage("reply")
        .read(|_, _, _| {})
        .build()?;

    let acknowledger = consumers.take_acknowledger("journal")?;
    let mut threads = vec![thread::spawn(move || acknowledge(&acknowledger, &writes, trouble))];
    let (running_on, is_over) = mpsc::channel();
    if arguments.dynamic {
        let dynamic = consumers.dynamic_stages();
        threads.push(thread::spawn(move || visit(&dynamic, &is_over)));
    }
    let running = consumers.start()?;
    threads.extend((0..PRODUCERS).map(|number| {
        let (mut producer, arguments) = (producer.clone(), arguments.clone());
        thread::spawn(move || produce(&mut producer, &arguments, number == 0))
    }));
    say("ready");
    wait_for_end(&arguments);
    if !matches!(trouble, Trouble::None | Trouble::Slow) {
        // Not all threads can end.
        std::process::exit(1);
    }
    producer.close();
    drop((producer, running_on));
    drop(running.join()?);
    // A thread that has an end of the ring when the process ends would leave the ring's file behind.
    threads.into_iter().try_for_each(|thread| thread.join()).map_err(|_| "a thread panicked")?;
    Ok(())
}

/// Says to the program that has started this one what has happened.
fn say(what: &str) {
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "{what}").and_then(|()| output.flush());
}

fn journal_event(trouble: Trouble, sequence: u64) {
    match trouble {
        Trouble::Slow => thread::sleep(SLOW),
        Trouble::Hang if sequence == TROUBLE_AT => {
            say("in trouble");
            loop {
                thread::park();
            }
        }
        _ => {}
    }
}

/// Acknowledges what the journal has handed over.
fn acknowledge(acknowledger: &Acknowledger, writes: &Receiver<u64>, trouble: Trouble) {
    for end in writes {
        if trouble == Trouble::Unacknowledged && end > TROUBLE_AT {
            say("in trouble");
            loop {
                thread::park(); // keeps the acknowledger
            }
        }
        let _ = acknowledger.acknowledge(end);
    }
}

/// Publishes at a rate, until the ring is closed.
fn produce(producer: &mut MultiProducer<u64>, arguments: &Arguments, is_first: bool) {
    let pause = Duration::from_secs(1) / u32::try_from(arguments.rate.max(1)).unwrap_or(u32::MAX);
    let pause = pause * BATCH as u32;
    let mut published = 0;
    let mut next = Instant::now();
    while producer.publish_batch(BATCH as usize, |_| {}).is_ok() {
        published += BATCH;
        if is_first && arguments.trouble == Trouble::Claim && published >= TROUBLE_AT {
            let Ok(_claim) = producer.claim() else { return };
            say("in trouble");
            loop {
                thread::park(); // keeps the claim
            }
        }
        next += pause;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

/// Joins the ring, reads for a while, and leaves, over and over until `is_over` is disconnected.
fn visit(dynamic: &DynamicStages<u64>, is_over: &Receiver<()>) {
    while let Ok(stage) = dynamic.join("screen", StartAt::Now) {
        let mut poller = stage.poller();
        let end = Instant::now() + VISIT;
        while Instant::now() < end {
            match poller.poll() {
                Ok(mut batch) => batch.consume_all(),
                Err(PollError::Empty) => thread::sleep(SLOW),
                Err(_) => return,
            }
        }
        drop(poller);
        if is_over.recv_timeout(VISIT) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

fn wait_for_end(arguments: &Arguments) {
    if let Some(seconds) = arguments.seconds {
        thread::sleep(Duration::from_secs(seconds));
    } else if arguments.until_input_ends {
        let _ = io::stdin().read_to_end(&mut Vec::new());
    } else {
        loop {
            thread::park();
        }
    }
}
