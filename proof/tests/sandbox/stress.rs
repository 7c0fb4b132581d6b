//! Rings whose threads park at once, and what must not be lost in them: a wake-up, or an accepted event.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, hint, iter, process, thread};

use lapwing::producer::{Multi, Sequencer, Single};
use lapwing::wait::Blocking;
use lapwing::{
    Builder, Consumers, Disruptor, EventHandler, Poller, Producer, Running, Sequence,
    SingleProducer, Stage,
};

/// Time after which a wake-up counts as lost.
const LOST: Duration = Duration::from_secs(10);
/// Number of events of wake-ups for each ring that is closed.
const EVENTS_PER_CLOSE: u64 = 200;
/// Most rings that are closed. They all exist before the first one is closed.
const MOST_CLOSES: u64 = 500;
/// Capacity of a ring that is closed: the producer publishes for longer than a close takes.
const LARGE: usize = 1 << 14;
/// Polls before a thread gives up its CPU. They last for longer than a wake-up.
const POLLS: u32 = 20_000;
/// Parks after the first failed poll.
const PARK: Blocking = Blocking { yields: 0 };

/// Returns the number of events per ring.
fn events() -> u64 {
    let asked = env::var("LAPWING_SANDBOX").map(|text| text.parse());
    asked.map_or(2_000, |number| number.expect("LAPWING_SANDBOX must be a number of events"))
}

/// Rings of each kind, with a single producer and with several.
pub(crate) struct Rings(RingsOf<Single>, RingsOf<Multi>);

impl Rings {
    pub(crate) fn new() -> Self {
        let single = |capacity| Disruptor::single_producer(capacity, || 0);
        let multi = |capacity| Disruptor::multi_producer(capacity, || 0);
        Self(RingsOf::new(single), RingsOf::new(multi))
    }

    /// Checks that no wake-up and no accepted event is lost. Returns the time of the shortest close of a ring with one
    /// producer.
    pub(crate) fn run(mut self) -> Duration {
        self.wake_ups();
        self.1.close();
        self.0.close()
    }

    /// Checks that no wake-up is lost.
    pub(crate) fn wake_ups(&mut self) {
        self.wake_ups_with(|| {});
    }

    /// The same. Calls `half_way` while a thread is parked or about to park.
    pub(crate) fn wake_ups_with(&mut self, half_way: impl FnOnce()) {
        self.0.ends.publications(half_way);
        self.0.ends.releases();
        self.1.ends.publications(|| {});
        self.1.ends.releases();
    }
}

struct RingsOf<S: Sequencer> {
    ends: Ends<S>,
    closing: Vec<Closing<S>>,
}

impl<S: Sequencer> RingsOf<S> {
    fn new(builder: impl Fn(usize) -> Builder<'static, u64, S>) -> Self {
        let closes = (events() / EVENTS_PER_CLOSE).min(MOST_CLOSES);
        let closing = (0..closes).map(|_| Closing::new(builder(LARGE))).collect();
        Self { ends: Ends::new(builder(2)).0, closing }
    }

    /// Returns the time of the shortest close.
    fn close(self) -> Duration {
        let times = (0..).zip(self.closing).map(|(number, ring)| ring.run(number));
        times.min().expect("there are rings")
    }
}

// ---- wake-ups ----

/// The two ends of a ring. Its threads exist only during a test, so that a forked child can use the ring.
struct Ends<S: Sequencer> {
    producer: Producer<u64, S>,
    poller: Poller<u64>,
}

impl<S: Sequencer> Ends<S> {
    fn new(builder: Builder<'static, u64, S>) -> (Self, Consumers<'static, u64>) {
        let ring = builder.wait_strategy(PARK).producer_wait_strategy(PARK).stage("all").poller();
        let (producer, mut consumers) = ring.build().expect("the capacity is a power of two");
        let poller = consumers.take_poller("all").expect("it is a poller");
        (Self { producer, poller }, consumers)
    }

    /// Publishes one event at a time to a poller that parks.
    fn publications(&mut self, half_way: impl FnOnce()) {
        let (events, arrived) = (events(), AtomicU64::new(0));
        let (mut random, mut half_way) = (Random::default(), Some(half_way));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = Random(1);
                for number in 1..=events {
                    self.poller.wait().expect("the ring is open").consume_all();
                    arrived.store(number, Ordering::Release);
                    random.moment();
                }
            });
            for number in 0..events {
                if number == events / 2 {
                    half_way.take().into_iter().for_each(|act| act());
                }
                pause(&mut random);
                self.producer.publish(|_| random.slow_stores()).expect("the ring is open");
                expect(&arrived, number + 1, "a publication");
            }
        });
    }

    /// Frees one slot at a time for a producer that parks on the full ring.
    fn releases(&mut self) {
        let (events, published) = (events(), AtomicU64::new(0));
        let mut random = Random::default();
        self.producer.publish_batch(2, |_| {}).expect("the ring is empty");
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = Random(1);
                for number in 1..=events {
                    self.producer.publish(|_| {}).expect("the ring is open");
                    published.store(number, Ordering::Release);
                    random.moment();
                }
            });
            for number in 0..events {
                pause(&mut random);
                let mut batch = self.poller.poll_max(1).expect("the ring is full");
                random.slow_stores();
                batch.consume_all();
                drop(batch); // releases the slot
                expect(&published, number + 1, "a free slot");
            }
        });
        self.poller.poll_max(2).expect("two events are left").consume_all();
    }
}

/// Passes a moment, so that the other thread is at each point of its way from a failed poll to the system call. Sometimes
/// it is parked.
fn pause(random: &mut Random) {
    if random.below(64) == 0 {
        return thread::sleep(Duration::from_micros(100));
    }
    random.moment();
}

/// Waits until `count` has the value `number`. If that takes too long, ends the process, since the test would wait for
/// the other thread.
fn expect(count: &AtomicU64, number: u64, what: &str) {
    let is_there = || count.load(Ordering::Acquire) >= number;
    if (0..POLLS).any(|_| is_there()) {
        return;
    }
    let start = Instant::now();
    while !is_there() {
        if start.elapsed() > LOST {
            eprintln!("lost: no thread learned of {what}, number {number}");
            process::exit(1);
        }
        thread::yield_now();
    }
}

// ---- accepted events ----

/// A ring that is closed while its producer publishes.
struct Closing<S: Sequencer> {
    ends: Ends<S>,
    running: Running<'static>,
}

impl<S: Sequencer> Closing<S> {
    fn new(builder: Builder<'static, u64, S>) -> Self {
        let (ends, consumers) = Ends::new(builder);
        Self { ends, running: consumers.start().expect("there is no thread to start") }
    }

    /// Closes the ring after some publications, and checks that the poller finds all that were accepted. Returns the time
    /// of the close.
    fn run(self, number: u64) -> Duration {
        let Ends { mut producer, mut poller } = self.ends;
        let progress = AtomicU64::new(0);
        thread::scope(|scope| {
            let publishing = scope.spawn(|| {
                let mut random = Random(number);
                let mut accepted = 0;
                while producer.publish(|_| random.slow_stores()).is_ok() {
                    accepted += 1;
                    progress.store(accepted, Ordering::Relaxed);
                }
                accepted
            });
            while progress.load(Ordering::Relaxed) < 2 * number {
                hint::spin_loop();
            }
            let start = Instant::now();
            self.running.close();
            let time = start.elapsed();
            let mut found = 0;
            while let Ok(mut batch) = poller.wait() {
                found += batch.len() as u64;
                batch.consume_all();
            }
            let accepted = publishing.join().expect("it does not panic");
            assert_eq!(accepted, found, "events accepted, and events found");
            time
        })
    }
}

/// A stage that waits for an event that does not come, and one after it whose wait has a time limit.
pub(crate) struct IdleStages {
    producer: SingleProducer<u64>,
    running: Running<'static>,
}

/// Does nothing. Only a handler may have a timeout.
struct Idle;

impl EventHandler<u64> for Idle {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, _: Sequence) {}
}

impl IdleStages {
    pub(crate) fn new() -> Self {
        let timed = Stage::new("timed").timeout_after(100 * LOST);
        let ring = Disruptor::single_producer(2, || 0)
            .wait_strategy(PARK)
            .stage("idle")
            .read(|_, _, _| {});
        let ring = ring.stage(timed).read_handler(Idle);
        let (producer, consumers) = ring.build().expect("the capacity is a power of two");
        Self { producer, running: consumers.start().expect("a thread can be started") }
    }

    /// Checks that neither stage sleeps until it is woken, from its next wait on.
    pub(crate) fn check_by_themselves(mut self) {
        self.producer.publish(|_| {}).expect("the ring is open");
        for (stage, name) in ["idle", "timed"].into_iter().enumerate() {
            let parks = || self.running.monitor().snapshot().stages[stage].parks;
            let (start, before) = (Instant::now(), parks());
            while parks() < before + 10 {
                assert!(start.elapsed() < LOST, "the stage sleeps until it is woken: {name}");
                thread::yield_now();
            }
        }
    }
}

/// A sequence of numbers (Knuth's linear congruential generator).
#[derive(Default)]
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Passes up to some hundred nanoseconds.
    fn moment(&mut self) {
        (0..self.below(256)).for_each(|step| _ = hint::black_box(step));
    }

    /// Stores up to 55 words, fewer than a store buffer holds, of memory that no cache has. The stores after them wait in the
    /// CPU for as long as a microsecond, while its loads go ahead. A missing fence loses events and wake-ups only then.
    fn slow_stores(&mut self) {
        /// 64 MB, more than the caches hold.
        const WORDS: usize = 1 << 23;
        static MEMORY: LazyLock<Box<[AtomicU64]>> =
            LazyLock::new(|| iter::repeat_with(|| AtomicU64::new(1)).take(WORDS).collect());
        for _ in 0..self.below(56) {
            MEMORY[self.below(WORDS as u64) as usize].store(self.0, Ordering::Relaxed);
        }
    }
}
