//! A driver of the test's own, a time limit, and rings at both ends.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lapwing::consumer::Outcome;
use lapwing::{Action, Disruptor, Running, SingleProducer, Stage};
use lapwing_aeron::{Client, Notice, Publisher, ReceiveError, Stream, Subscriber};

/// After this time a driver that does not beat counts as dead.
pub(crate) const DRIVER_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit of a test.
const LIMIT: Duration = Duration::from_secs(60);

/// What `driver.sh` exits with if it cannot run here.
const CANNOT_RUN: i32 = 77;

/// Short timeouts and terms: a subscriber that dies is noticed after 3 s, and a term is full after
/// 64 KiB.
const OPTIONS: [&str; 7] = [
    "-XX:TieredStopAtLevel=1",
    "-Daeron.timer.interval=100ms",
    "-Daeron.client.liveness.timeout=3s",
    "-Daeron.image.liveness.timeout=1s",
    "-Daeron.publication.linger.timeout=1s",
    "-Daeron.publication.connection.timeout=1s",
    "-Daeron.threading.mode=SHARED",
];

/// Two CPUs carry one driver and two ends, not more.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The driver that runs, and its folder.
static RUNNING: Mutex<Option<(u32, PathBuf)>> = Mutex::new(None);

/// A media driver that ends with the test.
pub(crate) struct Driver {
    child: Child,
    dir: PathBuf,
    options: &'static [&'static str],
    _turn: MutexGuard<'static, ()>,
}

impl Driver {
    /// Starts a driver, with options of Java. Returns `None`, and says so, if there is no Java or no
    /// jar.
    fn start(options: &'static [&'static str]) -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lapwing-aeron-test-{}-{number}", std::process::id());
        let base = Path::new("/dev/shm");
        let dir = if base.is_dir() { base.join(name) } else { std::env::temp_dir().join(name) };
        let child = launch(&dir, options)?;
        Some(Self { child, dir, options, _turn: turn })
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.dir).driver_timeout(DRIVER_TIMEOUT)
    }

    /// Kills the driver as a crash does: it can tell nothing to its clients.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the driver, so that it lives and does nothing, or lets it run again.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Starts a driver in the folder of the killed one.
    pub(crate) fn restart(&mut self) {
        self.child = launch(&self.dir, self.options).expect("a driver has run before");
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Runs `driver.sh`, until clients can connect.
fn launch(dir: &Path, options: &[&str]) -> Option<Child> {
    let _ = std::fs::remove_dir_all(dir);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("driver.sh");
    let mut command = Command::new(script);
    command.arg("run").arg(dir).args(OPTIONS).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some((child.id(), dir.to_owned()));
    let start = Instant::now();
    let client = Client::new(dir);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(CANNOT_RUN), "the driver does not start");
            eprintln!("not run: there is no Java, or no jar of Aeron");
            return None;
        }
        let mut probe = Subscriber::<u64>::plain(&client, Stream::ipc(0));
        if probe.open(Duration::from_secs(5)).is_ok() {
            return Some(child);
        }
        assert!(start.elapsed() < LIMIT, "the driver does not answer");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a test with a driver and a time limit.
pub(crate) fn with_driver(test: impl FnOnce(&mut Driver) + Send + 'static) {
    with_options(&[], test);
}

/// The same, with options of Java for the driver.
pub(crate) fn with_options(
    options: &'static [&'static str],
    test: impl FnOnce(&mut Driver) + Send + 'static,
) {
    let (done, finished) = mpsc::channel();
    let running = thread::spawn(move || {
        if let Some(mut driver) = Driver::start(options) {
            let _ = done.send(None);
            test(&mut driver);
        }
        let _ = done.send(Some(()));
    });
    let _ = finished.recv_timeout(10 * LIMIT); // the turn of this test
    if finished.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
        eprintln!("the test hangs");
        end_driver_of_hung_test();
        std::process::exit(1);
    }
    if let Err(panic) = running.join() {
        std::panic::resume_unwind(panic);
    }
}

/// The test still owns the driver, so this ends it by its number.
fn end_driver_of_hung_test() {
    if let Some((pid, dir)) = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        let _ = std::fs::remove_dir_all(dir);
    }
}

/// Polls until `condition` holds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT / 2, "not in time: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Sends a batch without a ring. A new publication refuses messages until the driver has set its
/// limit.
pub(crate) fn send<E>(publisher: &mut Publisher<E>, events: &[E], first: u64) {
    eventually("sent", || publisher.send(events, first).unwrap() == Action::Continue);
}

/// A ring whose only stage is a publisher.
pub(crate) fn sending(
    publisher: Publisher<u64>,
    stage: Stage,
) -> (SingleProducer<u64>, Running<'static>) {
    let ring = Disruptor::single_producer(1024, || 0_u64).stage(stage);
    let ring = ring.read_batch_handler(publisher);
    let (producer, consumers) = ring.build().unwrap();
    (producer, consumers.start().unwrap())
}

/// The error of the only stage.
pub(crate) fn error_of(running: Running<'_>) -> String {
    let error = running.join().unwrap_err();
    let outcome = error.report().stages().next().unwrap().outcome().clone();
    let Outcome::Failed { message, .. } = outcome else { panic!("{outcome:?}") };
    message
}

/// Events that count from 0 arrive in order, and the gaps that were told are those that they have.
pub(crate) fn assert_each_gap_is_told(received: &[u64], told: Vec<Range<u64>>) {
    let mut expected = 0;
    let mut gaps = Vec::new();
    for event in received {
        assert!(*event >= expected, "event {event} comes again");
        if *event > expected {
            gaps.push(expected..*event);
        }
        expected = event + 1;
    }
    assert_eq!(told, gaps);
}

/// What a subscriber on a thread of its own has received.
#[derive(Default)]
pub(crate) struct Received {
    pub(crate) events: Mutex<Vec<u64>>,
    pub(crate) notices: Mutex<Vec<Notice>>,
}

impl Received {
    pub(crate) fn count(&self) -> usize {
        self.events.lock().unwrap().len()
    }

    pub(crate) fn gaps(&self) -> Vec<Range<u64>> {
        let notices = self.notices.lock().unwrap();
        let missing = notices.iter().filter_map(|notice| match notice {
            Notice::Gap { missing, .. } => Some(missing.clone()),
            _ => None,
        });
        missing.collect()
    }

    pub(crate) fn has(&self, is_it: impl Fn(&Notice) -> bool) -> bool {
        self.notices.lock().unwrap().iter().any(is_it)
    }
}

/// A subscriber on a thread of its own, which fills a ring.
pub(crate) struct Receiving {
    pub(crate) received: Arc<Received>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), ReceiveError>>,
}

impl Receiving {
    pub(crate) fn start(subscriber: Subscriber<u64>) -> Self {
        let (received, stop) = (Arc::<Received>::default(), Arc::<AtomicBool>::default());
        let thread = thread::spawn({
            let (received, stop) = (Arc::clone(&received), Arc::clone(&stop));
            move || receive(subscriber, &received, &stop)
        });
        Self { received, stop, thread }
    }

    /// Stops, and returns how the subscriber has ended and what it has received.
    pub(crate) fn stop(self) -> (Result<(), ReceiveError>, Arc<Received>) {
        self.stop.store(true, Ordering::Release);
        self.join()
    }

    /// Waits until the subscriber ends by itself.
    pub(crate) fn join(self) -> (Result<(), ReceiveError>, Arc<Received>) {
        (self.thread.join().unwrap(), self.received)
    }
}

fn receive(
    mut subscriber: Subscriber<u64>,
    received: &Arc<Received>,
    stop: &AtomicBool,
) -> Result<(), ReceiveError> {
    let stored = Arc::clone(received);
    let (mut producer, consumers) = Disruptor::single_producer(256, || 0_u64)
        .stage("store")
        .read(move |event, _, _| stored.events.lock().unwrap().push(*event))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let noted = |notice| received.notices.lock().unwrap().push(notice);
    let ended = subscriber.run(&mut producer, stop, noted);
    running.shutdown().unwrap();
    ended
}
