//! Tests that every waiting thread learns of a single event: each strategy, both kinds of producer,
//! each number of stages in between, and two stages on one thread. Also tests that a producer on a
//! full ring learns of one free slot.
//!
//! ```text
//! publish ──> [ring] ──> stage ──> stage ──> observer          0, 1 or 2 stages in between
//!    ^                                          |
//!    └────────── waits for the observer <───────┘              one event at a time: a later event
//!                                                              cannot make up for a lost wake-up
//! ```
//!
//! The time before each event varies, so that the event finds the waiting thread spinning,
//! yielding, about to sleep, or asleep. An event that takes longer than a second fails its test,
//! which reports the place.
//!
//! `LAPWING_WAKE_UPS` is the number of events per case; `ci/wake_ups.sh` uses many thousand.

mod common;

use std::env;
use std::fmt;
use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use common::{Kind, Lcg, repeats, watched};
use lapwing::Stage;
use lapwing::graph::Graph;
use lapwing::wait::{
    Adaptive, Blocking, BusySpin, PhasedBackoff, Sleeping, Step, WaitStrategy, Waiting, Yielding,
};

/// Time after which an event counts as missed.
const DEADLINE: Duration = Duration::from_secs(1);
/// Further time in which a late event may arrive, to distinguish late from lost.
const LOST: Duration = Duration::from_secs(10);

/// Default number of events per case.
const EVENTS: u64 = repeats(500);
/// A spinning strategy keeps a CPU until the system takes it away. If the publisher wakes on that
/// CPU, an event takes milliseconds instead of tens of microseconds. So a spinning case has one
/// event for this many events of other cases.
const EVENTS_PER_SPINNING: u64 = 20;
/// The same under oversubscription, where most events take one or two time slices per thread.
const EVENTS_PER_SPINNING_SHORT_OF_CPUS: u64 = 100;

/// Polls for an arrival, with a yield in between, before the publisher parks.
const LOOKS: u32 = 200;
/// After this time every strategy is asleep.
const ASLEEP: Duration = Duration::from_micros(300);

// ---- the strategies ----

/// A strategy, and the times at which it changes its phase on an idle CPU.
struct Way<W> {
    name: &'static str,
    strategy: W,
    transitions_us: &'static [u64],
    /// Whether it keeps a CPU until the system takes it away.
    is_spinning: bool,
}

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Like [`Sleeping`] without spins and yields: its waits end where its sleeps do.
const SLEEP: Sleeping = Sleeping { spins: 0, yields: 0, sleep: us(50) };

fn busy_spin() -> Way<BusySpin> {
    Way { name: "BusySpin", strategy: BusySpin, transitions_us: &[], is_spinning: true }
}

fn yielding() -> Way<Yielding> {
    let strategy = Yielding::default();
    Way { name: "Yielding", strategy, transitions_us: &[2], is_spinning: false }
}

fn sleeping() -> Way<Sleeping> {
    let transitions_us = &[2, 50, 150];
    Way { name: "Sleeping", strategy: Sleeping::default(), transitions_us, is_spinning: false }
}

fn blocking() -> Way<Blocking> {
    let strategy = Blocking::default();
    Way { name: "Blocking", strategy, transitions_us: &[4], is_spinning: false }
}

fn blocking_without_yields() -> Way<Blocking> {
    let strategy = Blocking { yields: 0 };
    Way { name: "Blocking { yields: 0 }", strategy, transitions_us: &[1], is_spinning: false }
}

fn adaptive() -> Way<Adaptive> {
    let strategy = Adaptive::default();
    Way { name: "Adaptive", strategy, transitions_us: &[2, 50], is_spinning: false }
}

fn phased_backoff_over_sleeping() -> Way<PhasedBackoff<Sleeping>> {
    let strategy = PhasedBackoff::new(us(10), us(20), SLEEP);
    let transitions_us = &[10, 30, 130];
    Way { name: "PhasedBackoff over Sleeping", strategy, transitions_us, is_spinning: false }
}

fn phased_backoff_over_blocking() -> Way<PhasedBackoff<Blocking>> {
    let strategy = PhasedBackoff::new(us(10), us(20), Blocking { yields: 0 });
    let transitions_us = &[10, 30];
    Way { name: "PhasedBackoff over Blocking", strategy, transitions_us, is_spinning: false }
}

fn a_strategy_that_leaves_all_polls_to_the_library() -> Way<NoPolls> {
    Way { name: "NoPolls", strategy: NoPolls, transitions_us: &[], is_spinning: true }
}

/// The minimal strategy.
#[derive(Clone)]
struct NoPolls;

impl WaitStrategy for NoPolls {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Poll(0)
    }
}

fn a_strategy_that_mixes_all_steps() -> Way<Fickle> {
    Way { name: "Fickle", strategy: Fickle(Lcg(1)), transitions_us: &[2, 50], is_spinning: false }
}

/// Mixes all steps.
struct Fickle(Lcg);

impl Clone for Fickle {
    fn clone(&self) -> Self {
        Self(Lcg(self.0.0 + 1))
    }
}

impl WaitStrategy for Fickle {
    const PARKS: bool = true;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        let number = self.0.below(300) as u32;
        match number % 5 {
            0 => Step::Poll(number),
            1 => Step::Pause(number),
            2 => Step::Yield,
            3 => Step::Sleep(us(u64::from(number / 10))),
            _ => Step::Park,
        }
    }
}

/// Makes the tests of each strategy: for stages and producers, with a single producer and with
/// several.
macro_rules! for_each_strategy {
    ($($way:ident),+ $(,)?) => {$(
        mod $way {
            use crate::common::{Many, One};

            #[test]
            fn wakes_at_each_depth_with_a_single_producer() {
                super::at_each_depth::<One, _>(&super::$way());
            }

            #[test]
            fn wakes_at_each_depth_with_several_producers() {
                super::at_each_depth::<Many, _>(&super::$way());
            }

            #[test]
            fn wakes_a_single_producer_on_a_full_ring() {
                super::on_a_full_ring::<One, _>(&super::$way());
            }

            #[test]
            fn wakes_one_of_several_producers_on_a_full_ring() {
                super::on_a_full_ring::<Many, _>(&super::$way());
            }
        }
    )+};
}

for_each_strategy! {
    busy_spin,
    yielding,
    sleeping,
    blocking,
    blocking_without_yields,
    adaptive,
    phased_backoff_over_sleeping,
    phased_backoff_over_blocking,
    a_strategy_that_leaves_all_polls_to_the_library,
    a_strategy_that_mixes_all_steps,
}

// ---- one case ----

/// The report of a late event.
struct Case {
    strategy: &'static str,
    sequencer: &'static str,
    place: String,
    events: u64,
}

impl Case {
    /// A case in which `threads` threads wait for each other.
    fn new<K: Kind, W>(way: &Way<W>, place: String, threads: usize) -> Self {
        let asked = match env::var("LAPWING_WAKE_UPS") {
            Ok(text) => text.parse().expect("LAPWING_WAKE_UPS must be a number of events"),
            Err(_) => EVENTS,
        };
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let share = match way.is_spinning {
            false => 1,
            true if threads <= cpus => EVENTS_PER_SPINNING,
            true => EVENTS_PER_SPINNING_SHORT_OF_CPUS,
        };
        // At least one of each pause.
        let events = (asked / share).max(5);
        let sequencer = if K::IS_MULTI { "Multi" } else { "Single" };
        Self { strategy: way.name, sequencer, place, events }
    }

    /// Runs `step` for each event, after its pause, and then prints the counts.
    fn run(&self, transitions_us: &[u64], mut step: impl FnMut(u64, Pause)) {
        let start = Instant::now();
        let mut random = Lcg(self.events);
        for number in 0..self.events {
            step(number, Pause::before(number, transitions_us, &mut random));
        }
        println!("{self}: {} events in {:.1?}", self.events, start.elapsed());
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.strategy, self.sequencer, self.place)
    }
}

/// What the waiting thread can do before its event comes.
#[derive(Clone, Copy, Debug)]
enum Pause {
    None,
    Spins(u64),
    /// About the duration of one phase.
    Phase(Duration),
    Asleep,
}

impl Pause {
    fn before(number: u64, transitions_us: &[u64], random: &mut Lcg) -> Self {
        match number % 5 {
            0 => Self::None,
            1 => Self::Asleep,
            2 | 3 if !transitions_us.is_empty() => {
                let transition = random.below(transitions_us.len() as u64) as usize;
                Self::Phase(Duration::from_nanos(random.below(2_000 * transitions_us[transition])))
            }
            _ => Self::Spins(random.below(64)),
        }
    }

    fn pass(self) {
        match self {
            Self::None => {}
            Self::Spins(times) => (0..times).for_each(|_| hint::spin_loop()),
            Self::Phase(time) => {
                let start = Instant::now();
                while start.elapsed() < time {
                    hint::spin_loop();
                }
            }
            Self::Asleep => thread::sleep(ASLEEP),
        }
    }
}

/// The number of arrived events, reported to the thread that created it.
struct Arrivals {
    count: AtomicU64,
    listener: Thread,
}

impl Arrivals {
    fn new() -> Self {
        Self { count: AtomicU64::new(0), listener: thread::current() }
    }

    fn tell(&self, count: u64) {
        self.count.store(count, Ordering::Release);
        self.listener.unpark();
    }

    fn has(&self, count: u64) -> bool {
        self.count.load(Ordering::Acquire) >= count
    }

    /// Waits for the arrival of the event before `count`, which was just published. Yields first,
    /// so that the next event can find the waiting thread about to sleep. Then parks, to free the
    /// CPU.
    fn expect(&self, count: u64, case: &Case, pause: Pause) {
        let start = Instant::now();
        for _ in 0..LOOKS {
            if self.has(count) {
                return;
            }
            thread::yield_now();
        }
        while !self.has(count) && start.elapsed() < LOST {
            thread::park_timeout(LOST);
        }
        let (time, number) = (start.elapsed(), count - 1);
        assert!(
            self.has(count),
            "lost: {case}, event {number} after {pause:?}: not there after {time:?}"
        );
        assert!(
            time < DEADLINE,
            "late: {case}, event {number} after {pause:?}: there after {time:?}"
        );
    }
}

/// One case at a time, because others would take CPUs from it.
fn alone(body: impl FnOnce()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    watched(body);
}

// ---- stages ----

fn at_each_depth<K: Kind, W: WaitStrategy>(way: &Way<W>) {
    for depth in 0..3 {
        let case = Case::new::<K, W>(way, format!("{depth} stages between"), 2 + depth);
        alone(|| observe::<K, W>(way, &case, depth, |stage| stage));
    }
    let case = Case::new::<K, W>(way, "1 stage between on the same thread".to_owned(), 2);
    alone(|| observe::<K, W>(way, &case, 1, |stage| stage.on_thread("both")));
}

/// Publishes one event at a time to an observer downstream of `depth` stages. `on` selects the
/// threads.
fn observe<K: Kind, W: WaitStrategy>(
    way: &Way<W>,
    case: &Case,
    depth: usize,
    on: impl Fn(Stage) -> Stage,
) {
    let arrivals = Arrivals::new();
    let mut graph = Graph::new();
    let mut last = None;
    for number in 0..depth {
        let stage = graph.stage(on(Stage::new(format!("stage {number}"))));
        last = Some(last.into_iter().fold(stage, Stage::after).read(|_: &u64, _, _| {}));
    }
    let observer = graph.stage(on(Stage::new("observer")));
    last.into_iter().fold(observer, Stage::after).read(|event, sequence, _| {
        assert_eq!(*event, sequence);
        arrivals.tell(sequence + 1);
    });
    // The producer never waits. Its strategy must not be the reason for checking for parked
    // threads.
    let (mut producer, consumers) = K::ring(8, || 0)
        .wait_strategy(way.strategy.clone())
        .producer_wait_strategy(BusySpin)
        .graph(graph)
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        case.run(way.transitions_us, |number, pause| {
            pause.pass();
            producer.publish(|event| *event = number).unwrap();
            arrivals.expect(number + 1, case, pause);
        });
        running.shutdown().unwrap();
    });
}

// ---- producers ----

/// Frees one slot at a time for a producer on a full ring.
fn on_a_full_ring<K: Kind, W: WaitStrategy>(way: &Way<W>) {
    alone(|| {
        let case = Case::new::<K, W>(way, "a full ring".to_owned(), 2);
        let arrivals = Arrivals::new();
        let (mut producer, mut consumers) = K::ring(2, || 0_u64)
            .wait_strategy(BusySpin)
            .producer_wait_strategy(way.strategy.clone())
            .stage("all")
            .poller()
            .build()
            .unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        producer.publish_batch(2, |_| {}).unwrap();
        thread::scope(|scope| {
            let arrivals = &arrivals;
            scope.spawn(move || {
                (1..)
                    .take_while(|_| producer.publish(|_| {}).is_ok())
                    .for_each(|n| arrivals.tell(n));
            });
            case.run(way.transitions_us, |number, pause| {
                pause.pass();
                poller.poll_max(1).unwrap().consume_all();
                arrivals.expect(number + 1, &case, pause);
            });
            drop(poller); // the last consumer: ends the producer's wait
        });
    });
}
