//! Shared by the tests of public behaviour: both kinds of producer, a watchdog, and counts of live
//! values.
#![allow(dead_code, unused_macros, unused_imports)] // each test crate uses a part

use std::any::Any;
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

use lapwing::producer::{Multi, Sequencer, Single};
use lapwing::{Builder, Disruptor, Producer};

/// How many times slower than a plain build the tests may be. An emulator and a sanitizer need this:
/// `ci/processors.sh` and `ci/sanitizers.sh` set the variable for the compiler.
const SLOWER: u64 = if option_env!("LAPWING_SLOW_TESTS").is_some() { 10 } else { 1 };

/// Time after which a test counts as hanging.
const HANG: Duration = Duration::from_secs(60 * SLOWER);

/// Long enough for any thread to run. A wait that takes as long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30 * SLOWER);

/// Long enough for several polls. This time is expected to pass.
pub(crate) const MOMENT: Duration = Duration::from_millis(5);

/// A panic whose text begins with this is intended. Its report is not printed.
pub(crate) const ON_PURPOSE: &str = "on purpose";

/// Never drops `value`, as `mem::forget`, but keeps it where a leak checker finds it.
pub(crate) fn forget(value: impl Send + 'static) {
    static FORGOTTEN: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());
    FORGOTTEN.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(value));
}

/// Returns `count`, fewer in a slow build, and far fewer under Miri.
pub(crate) const fn repeats(count: u64) -> u64 {
    if !cfg!(miri) {
        return count.div_ceil(SLOWER);
    }
    let few = count / 500;
    if few < 3 { 3 } else { few }
}

/// Runs `body`. If it hangs, ends the process with a message.
pub(crate) fn watched<R>(body: impl FnOnce() -> R) -> R {
    let name = thread::current().name().unwrap_or("a test").to_owned();
    let (alive, is_alive) = mpsc::channel::<()>();
    let dog = thread::spawn(move || {
        if is_alive.recv_timeout(HANG) == Err(RecvTimeoutError::Timeout) {
            // Not `eprintln`: the test runner captures it, and the output would be lost with the
            // process.
            let _ = writeln!(io::stderr(), "test {name} hangs: not done after {HANG:?}");
            process::abort();
        }
    });
    let result = body();
    drop::<Sender<()>>(alive);
    dog.join().expect("the watchdog only waits");
    result
}

/// Keeps intended panics out of the output.
pub(crate) fn quiet_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let text = text.unwrap_or_default();
            if !text.starts_with(ON_PURPOSE) {
                default(info);
            }
        }));
    });
}

/// Yields until `is_true`. The watchdog limits the time.
pub(crate) fn wait_until(is_true: impl Fn() -> bool) {
    while !is_true() {
        thread::yield_now();
    }
}

/// Returns a prefix for the names of a test's threads that no other test of this process has.
pub(crate) fn unique_prefix() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("t{}-", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Counts the threads of this process whose names begin with `prefix` (at most 15 bytes). The
/// prefix excludes the threads of other tests.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn threads_named(prefix: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux has /proc");
    let comm = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).ok();
    tasks.flatten().filter_map(comm).filter(|name| name.starts_with(prefix)).count()
}

/// Waits until the system no longer lists the threads with this prefix, which is a moment after
/// they were joined.
pub(crate) fn wait_until_no_thread_named(prefix: &str) {
    wait_until(|| threads_named(prefix) == 0);
}

/// Threads cannot be counted on this system.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn threads_named(_: &str) -> usize {
    0
}

/// A kind of producer, for tests that are written once for both.
pub(crate) trait Kind {
    type Sequencer: Sequencer + 'static;
    const IS_MULTI: bool;

    fn ring<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, Self::Sequencer>;
}

pub(crate) type ProducerOf<E, K> = Producer<E, <K as Kind>::Sequencer>;

/// A ring with a single producer.
pub(crate) struct One;

impl Kind for One {
    type Sequencer = Single;
    const IS_MULTI: bool = false;

    fn ring<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, Single> {
        Disruptor::single_producer(capacity, factory)
    }
}

/// A ring with several producers.
pub(crate) struct Many;

impl Kind for Many {
    type Sequencer = Multi;
    const IS_MULTI: bool = true;

    fn ring<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, Multi> {
        Disruptor::multi_producer(capacity, factory)
    }
}

/// Makes two tests of each generic function: one with a single producer, one with several.
macro_rules! for_both_producers {
    ($($name:ident),+ $(,)?) => {
        mod single_producer {
            $(#[test] fn $name() { crate::common::watched(super::$name::<crate::common::One>); })+
        }
        mod multi_producer {
            $(#[test] fn $name() { crate::common::watched(super::$name::<crate::common::Many>); })+
        }
    };
}
pub(crate) use for_both_producers;

/// Counts how many of its tokens were made and dropped.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<(AtomicU64, AtomicU64)>);

impl Ledger {
    pub(crate) fn token(&self) -> Token {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        Token { ledger: self.clone(), is_dropped: false }
    }

    pub(crate) fn made(&self) -> u64 {
        self.0.0.load(Ordering::SeqCst)
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.0.1.load(Ordering::SeqCst)
    }
}

/// A value that must be dropped once.
pub(crate) struct Token {
    ledger: Ledger,
    is_dropped: bool,
}

impl Drop for Token {
    fn drop(&mut self) {
        assert!(!self.is_dropped, "a token is dropped once");
        self.is_dropped = true;
        self.ledger.0.1.fetch_add(1, Ordering::SeqCst);
    }
}

/// A reproducible random-number generator (Knuth's MMIX constants).
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Controls code that blocks at each event until it is released or this is dropped.
pub(crate) struct Turnstile {
    at: mpsc::Receiver<u64>,
    go: Sender<()>,
}

impl Turnstile {
    pub(crate) fn new() -> (Self, impl FnMut(u64) + Send + 'static) {
        let (arrive, at) = mpsc::channel();
        let (go, gate) = mpsc::channel();
        let pass = move |sequence| {
            // A failed receive also releases the code.
            let _ = arrive.send(sequence);
            let _ = gate.recv();
        };
        (Self { at, go }, pass)
    }

    /// Waits until the code blocks at `sequence`.
    pub(crate) fn wait_for(&self, sequence: u64) {
        while self.at.recv_timeout(PATIENCE).expect("the code reaches the event") < sequence {
            self.let_go();
        }
    }

    /// Releases the code from the event at which it blocks.
    pub(crate) fn let_go(&self) {
        self.go.send(()).expect("it listens");
    }
}
