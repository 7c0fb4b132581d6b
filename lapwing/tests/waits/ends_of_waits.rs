//! What ends a wait: an event, a time limit, a close, a halt, a stop. Covers each strategy in each of
//! its phases, each place that waits, and both kinds of producer.
//!
//! [`phases`] lists the strategies, and [`Place`] the places; a test goes through both. A strategy of
//! one's own is a line in `phases`. A stop must end a wait at once, even in a long sleep. The tests of
//! this take the best of several tries. They fail only if no try is quick, and not because a machine is
//! slow or busy.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Kind, MOMENT, PATIENCE, ProducerOf, wait_until, watched};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PollError, RingError, WhenFullError};
use lapwing::producer::{Sequencer, WhenFull};
use lapwing::wait::{
    Adaptive, Blocking, BusySpin, PhasedBackoff, Sleeping, Step, WaitStrategy, Waited, Waiting,
    Yielding,
};
use lapwing::{Builder, Disruptor, EventHandler, Poller, Running, Sequence, Stage};

crate::common::for_both_producers! {
    an_event_ends_every_wait,
    a_halt_ends_every_wait_at_once_in_each_phase,
    a_close_ends_every_wait_at_once_in_each_phase,
    a_stop_ends_every_wait_of_a_stage_at_once_in_each_phase,
    a_time_limit_ends_every_wait_in_each_phase_and_never_early,
    an_event_that_comes_meanwhile_beats_a_time_limit,
    an_available_event_beats_a_time_limit_of_zero,
    the_timeout_of_a_stage_is_never_early,
    the_timeout_of_a_stage_is_not_called_while_there_is_a_backlog,
    miri_a_closed_ring_drains_however_long_its_stages_sleep,
    a_halt_and_a_close_end_a_long_sleep_of_a_thread_of_two_stages,
    miri_a_halt_ends_a_sleep_without_end,
    a_time_without_end_is_no_limit,
}

/// Longest time that a wait may continue after it was stopped, in the best of several tries.
const AT_ONCE: Duration = Duration::from_millis(100);
const TRIES: usize = 20;

/// Far longer than every wait here, and than [`AT_ONCE`].
const LONG: Duration = Duration::from_secs(3_600);

const PARKED: Blocking = Blocking { yields: 0 };
const ASLEEP: Sleeping = Sleeping { spins: 0, yields: 0, sleep: LONG };

// ---- the strategies ----

/// Returns every strategy in the phase of the given name. Only the end of the wait ends the phase.
fn phases() -> Vec<Any> {
    let fallback = PhasedBackoff::new(Duration::ZERO, Duration::ZERO, ASLEEP);
    let mut phases = phases_that_see_events();
    phases.extend([
        Any::new("Sleeping, in its sleep", ASLEEP),
        Any::new("PhasedBackoff over Sleeping, in its sleep", fallback),
        Any::new("Step::Sleep, for ever", Always::<false>(Step::Sleep(Duration::MAX))),
    ]);
    phases
}

/// Like [`phases`], without sleeps that are too long to wait for.
fn phases_that_see_events() -> Vec<Any> {
    let (no_time, short) = (Duration::ZERO, Sleeping::default());
    let backoff = |spin, yields| PhasedBackoff::new(spin, yields, PARKED);
    vec![
        Any::new("BusySpin", BusySpin),
        Any::new("Yielding, spinning", Yielding { spins: u32::MAX }),
        Any::new("Yielding, yielding", Yielding { spins: 0 }),
        Any::new("Sleeping, spinning", Sleeping { spins: u32::MAX, ..short }),
        Any::new("Sleeping, yielding", Sleeping { spins: 0, yields: u32::MAX, ..short }),
        Any::new("Sleeping, in short sleeps", Sleeping { spins: 0, yields: 0, ..short }),
        Any::new("Blocking, yielding", Blocking { yields: u32::MAX }),
        Any::new("Blocking, parked", PARKED),
        Any::new("Adaptive", Adaptive::default()),
        Any::new("PhasedBackoff, spinning", backoff(LONG, no_time)),
        Any::new("PhasedBackoff, yielding", backoff(no_time, LONG)),
        Any::new("PhasedBackoff over Blocking, parked", backoff(no_time, no_time)),
        Any::new("PhasedBackoff over Sleeping", PhasedBackoff::new(no_time, no_time, short)),
        Any::new("Step::Poll, no polls", Always::<false>(Step::Poll(0))),
        Any::new("Step::Poll, for ever", Always::<false>(Step::Poll(u32::MAX))),
        Any::new("Step::Pause, of no length", Always::<false>(Step::Pause(0))),
        Any::new("Step::Pause", Always::<false>(Step::Pause(5_000))),
        Any::new("Step::Yield", Always::<false>(Step::Yield)),
        Any::new("Step::Sleep, of no length", Always::<false>(Step::Sleep(no_time))),
        Any::new("Step::Park", Always::<true>(Step::Park)),
        Any::new("Step::Park, not announced", Always::<false>(Step::Park)),
        Any::new("Adaptive, always at its first step", Forgets(Adaptive::default())),
        Any::new("PhasedBackoff, always at its first step", Forgets(backoff(no_time, short.sleep))),
    ]
}

/// Answers the same step each time.
#[derive(Clone)]
struct Always<const PARKS: bool>(Step);

impl<const PARKS: bool> WaitStrategy for Always<PARKS> {
    const PARKS: bool = PARKS;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        self.0
    }
}

/// Shows `W` each step as the first of its wait, and does not tell it that the wait has ended.
#[derive(Clone)]
struct Forgets<W>(W);

impl<W: WaitStrategy> WaitStrategy for Forgets<W> {
    const PARKS: bool = W::PARKS;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.0.next(&waiting.from_step(u64::MAX))
    }
}

/// Any strategy, as one type, so that what uses it compiles once.
struct Any {
    name: &'static str,
    parks: bool,
    strategy: Box<dyn Waits>,
}

/// A [`WaitStrategy`] as an object.
trait Waits: Send + Sync {
    fn next(&mut self, waiting: &Waiting<'_>) -> Step;
    fn ended(&mut self, waited: &Waited);
    fn copy(&self) -> Box<dyn Waits>;
}

impl<W: WaitStrategy> Waits for W {
    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        WaitStrategy::next(self, waiting)
    }

    fn ended(&mut self, waited: &Waited) {
        WaitStrategy::ended(self, waited);
    }

    fn copy(&self) -> Box<dyn Waits> {
        Box::new(self.clone())
    }
}

/// Reports when it begins to wait with the strategy.
struct Announced<const PARKS: bool>(Arc<AtomicBool>, Box<dyn Waits>);

impl<const PARKS: bool> Clone for Announced<PARKS> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), self.1.copy())
    }
}

impl<const PARKS: bool> WaitStrategy for Announced<PARKS> {
    const PARKS: bool = PARKS;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.0.store(true, Ordering::Relaxed);
        self.1.next(waiting)
    }

    fn ended(&mut self, waited: &Waited) {
        self.1.ended(waited);
    }
}

impl Any {
    fn new<W: WaitStrategy>(name: &'static str, strategy: W) -> Self {
        Self { name, parks: W::PARKS, strategy: Box::new(strategy) }
    }

    /// Makes all threads of the ring wait with it. The flag shows that one of them does.
    fn on_ring<S: Sequencer>(
        &self,
        ring: Builder<'static, u64, S>,
    ) -> (Builder<'static, u64, S>, Arc<AtomicBool>) {
        let (flag, strategy) = (Arc::<AtomicBool>::default(), self.strategy.copy());
        let ring = if self.parks {
            let announced = Announced::<true>(Arc::clone(&flag), strategy);
            ring.wait_strategy(announced.clone()).producer_wait_strategy(announced)
        } else {
            let announced = Announced::<false>(Arc::clone(&flag), strategy);
            ring.wait_strategy(announced.clone()).producer_wait_strategy(announced)
        };
        (ring, flag)
    }

    /// Makes the stage wait with it. The flag shows that it does.
    fn on_stage(&self, stage: Stage) -> (Stage, Arc<AtomicBool>) {
        let (flag, strategy) = (Arc::<AtomicBool>::default(), self.strategy.copy());
        let stage = if self.parks {
            stage.wait_strategy(Announced::<true>(Arc::clone(&flag), strategy))
        } else {
            stage.wait_strategy(Announced::<false>(Arc::clone(&flag), strategy))
        };
        (stage, flag)
    }
}

// ---- the places that wait ----

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    FirstStage,
    LaterStage,
    FullRing,
}

const PLACES: [Place; 3] = [Place::FirstStage, Place::LaterStage, Place::FullRing];

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    There,
    TimedOut,
    Stopped(RingError),
}

/// A ring of one slot with two pollers in a row. All threads use the same strategy.
struct Ends<K: Kind> {
    /// None of them while it waits.
    producer: Option<ProducerOf<u64, K>>,
    pollers: [Option<Poller<u64>>; 2],
    running: Running<'static>,
    is_waiting: Arc<AtomicBool>,
}

/// The end that waits.
enum Waiter<K: Kind> {
    ForEvent(Box<Poller<u64>>),
    ForSlot(ProducerOf<u64, K>),
}

impl<K: Kind> Ends<K> {
    /// Nothing is available at `place`.
    fn new(strategy: &Any, place: Place) -> Self {
        let (ring, is_waiting) = strategy.on_ring(K::ring(1, || 0_u64));
        let ring = ring.stage("first").poller().stage("second").poller();
        let (mut producer, mut consumers) = ring.build().unwrap();
        let pollers = ["first", "second"].map(|name| consumers.take_poller(name).ok());
        if place == Place::FullRing {
            producer.publish(|_| {}).unwrap();
        }
        Self { producer: Some(producer), pollers, running: consumers.start().unwrap(), is_waiting }
    }

    /// Waits at `place` on another thread, for at most `limit` if there is one. Meanwhile this
    /// thread runs `meanwhile` with the other ends. Returns how and when the wait ended.
    fn wait_at(
        mut self,
        place: Place,
        limit: Option<Duration>,
        meanwhile: impl FnOnce(&mut Self),
    ) -> (End, Instant) {
        let mut waiter = match place {
            Place::FirstStage => Waiter::ForEvent(Box::new(self.pollers[0].take().unwrap())),
            Place::LaterStage => Waiter::ForEvent(Box::new(self.pollers[1].take().unwrap())),
            Place::FullRing => Waiter::<K>::ForSlot(self.producer.take().unwrap()),
        };
        thread::scope(|scope| {
            // The waiter is dropped after the wait, because dropping it closes the ring.
            let waits = scope.spawn(|| (waiter.wait(limit), Instant::now()));
            meanwhile(&mut self);
            waits.join().unwrap()
        })
    }

    fn wait_until_it_waits(&self) {
        wait_until(|| self.is_waiting.load(Ordering::Relaxed));
    }

    /// Provides what the wait is for, and nothing else.
    fn bring(&mut self) {
        if let Some(producer) = &mut self.producer {
            producer.publish(|_| {}).unwrap();
        }
        for poller in self.pollers.iter_mut().flatten() {
            // Downstream of a stage that waits, nothing is available.
            let _ = poller.poll().map(|mut batch| batch.consume_all());
        }
    }
}

impl<K: Kind> Waiter<K> {
    fn wait(&mut self, limit: Option<Duration>) -> End {
        match self {
            Self::ForEvent(poller) => wait_for_event(poller, limit),
            Self::ForSlot(producer) => wait_for_slot::<K>(producer, limit),
        }
    }
}

fn wait_for_event(poller: &mut Poller<u64>, limit: Option<Duration>) -> End {
    let result = match limit {
        None => poller.wait().map(drop).map_err(PollError::from),
        Some(limit) => poller.wait_timeout(limit).map(drop),
    };
    match result {
        Ok(()) => End::There,
        Err(PollError::Empty) => End::TimedOut,
        Err(PollError::Closed) => End::Stopped(RingError::Closed),
        Err(PollError::Halted(cause)) => End::Stopped(RingError::Halted(cause)),
    }
}

fn wait_for_slot<K: Kind>(producer: &mut ProducerOf<u64, K>, limit: Option<Duration>) -> End {
    let result = match limit {
        None => producer.publish(|_| {}).map(drop).map_err(WhenFullError::from),
        Some(limit) => producer.publish_or(WhenFull::Timeout(limit), |_| {}).map(drop),
    };
    match result {
        Ok(()) => End::There,
        Err(WhenFullError::TimedOut) => End::TimedOut,
        Err(WhenFullError::Closed) => End::Stopped(RingError::Closed),
        Err(WhenFullError::Halted(cause)) => End::Stopped(RingError::Halted(cause)),
        Err(WhenFullError::Full) => unreachable!("it waits"),
        Err(WhenFullError::WouldDeadlock) => unreachable!("no handler publishes"),
    }
}

// ---- an event ----

fn an_event_ends_every_wait<K: Kind>() {
    for strategy in phases_that_see_events() {
        for place in PLACES {
            let ends = Ends::<K>::new(&strategy, place);
            let (end, _) = ends.wait_at(place, None, |rest| {
                rest.wait_until_it_waits();
                rest.bring();
            });
            assert_eq!(end, End::There, "{}, {place:?}", strategy.name);
        }
    }
}

// ---- a halt, a close, a stop ----

type Stop = (fn(&Running<'static>), RingError);

const HALT: Stop = (Running::halt, RingError::Halted(HaltCause::Requested));
const CLOSE: Stop = (Running::close, RingError::Closed);

/// Stops the wait after its phase has lasted for `phase`. Returns how long the wait continued.
fn time_to_stop<K: Kind>(
    strategy: &Any,
    place: Place,
    phase: Duration,
    (stop, expected): Stop,
) -> Duration {
    let ends = Ends::<K>::new(strategy, place);
    let mut stopped_at = None;
    let (end, ended_at) = ends.wait_at(place, None, |rest| {
        rest.wait_until_it_waits();
        thread::sleep(phase);
        stopped_at = Some(Instant::now());
        stop(&rest.running);
    });
    assert_eq!(end, End::Stopped(expected));
    ended_at - stopped_at.expect("`stop` has run")
}

/// Stops the wait at its beginning, soon after, and deep in its phase.
fn ends_every_wait_at_once<K: Kind>(stop: Stop) {
    for strategy in &phases() {
        for place in PLACES {
            for phase in [Duration::ZERO, Duration::from_micros(100), MOMENT] {
                let is_at_once = |_| time_to_stop::<K>(strategy, place, phase, stop) < AT_ONCE;
                assert!(
                    (0..TRIES).any(is_at_once),
                    "{}, {place:?}: {:?} after {phase:?}, longer than {AT_ONCE:?} in {TRIES} tries",
                    strategy.name,
                    stop.1
                );
            }
        }
    }
}

fn a_halt_ends_every_wait_at_once_in_each_phase<K: Kind>() {
    ends_every_wait_at_once::<K>(HALT);
}

fn a_close_ends_every_wait_at_once_in_each_phase<K: Kind>() {
    ends_every_wait_at_once::<K>(CLOSE);
}

/// How long a stage waits on after it is stopped, when its phase has lasted for `phase`. It waits
/// for an upstream stage that holds an event, or is the first stage of an empty ring.
fn time_to_leave<K: Kind>(strategy: &Any, is_first: bool, phase: Duration) -> Duration {
    let (stage, is_waiting) = strategy.on_stage(Stage::new("waits"));
    let ring = K::ring(2, || 0_u64);
    let ring = if is_first { ring } else { ring.stage("holds").poller() };
    let ring = ring.stage(stage).read(|_, _, _| {}).stage("last").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let _last = consumers.take_poller("last").unwrap();
    let _holds = consumers.take_poller("holds");
    if !is_first {
        producer.publish(|_| {}).unwrap();
    }
    let waits = consumers.into_iter().next().unwrap();
    let stop = waits.stop_handle();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| (waits.run(), Instant::now()));
        wait_until(|| is_waiting.load(Ordering::Relaxed));
        thread::sleep(phase);
        let stopped_at = Instant::now();
        stop.stop();
        let (finished, ended_at) = waiter.join().unwrap();
        assert_eq!((finished.outcome(), finished.processed()), (&Outcome::Stopped, 0));
        ended_at - stopped_at
    })
}

fn a_stop_ends_every_wait_of_a_stage_at_once_in_each_phase<K: Kind>() {
    for (strategy, is_first) in phases().iter().flat_map(|each| [(each, true), (each, false)]) {
        for phase in [Duration::ZERO, MOMENT] {
            let is_at_once = |_| time_to_leave::<K>(strategy, is_first, phase) < AT_ONCE;
            assert!(
                (0..TRIES).any(is_at_once),
                "{}, is_first={is_first}: after {phase:?}, longer than {AT_ONCE:?} in {TRIES} tries",
                strategy.name
            );
        }
    }
}

/// After a close, the accepted events must be handled before each stage has slept to its end.
fn miri_a_closed_ring_drains_however_long_its_stages_sleep<K: Kind>() {
    let asleep = Any::new("asleep", ASLEEP);
    let mut flags = Vec::new();
    let ring =
        (0..3).fold(K::ring(8, || 0_u64).producer_wait_strategy(BusySpin), |ring, number| {
            let (stage, is_waiting) = asleep.on_stage(Stage::new(format!("stage {number}")));
            flags.push(is_waiting);
            ring.stage(stage).read(|_, _, _| {})
        });
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    wait_until(|| flags.iter().all(|flag| flag.load(Ordering::Relaxed)));
    (0..5).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| stage.processed() == 5), "{report:?}");
}

/// The same for a claim that is published after the close that counted it.
#[test]
fn a_closed_ring_drains_a_late_claim_however_long_its_stages_sleep() {
    watched(|| {
        let (mut producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
            .producer_wait_strategy(BusySpin)
            .wait_strategy(ASLEEP)
            .stage("sleeps")
            .read(|event, _, _| assert_eq!(*event, 7))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let mut claim = producer.claim().unwrap();
        running.close();
        thread::sleep(MOMENT);
        *claim = 7;
        claim.publish().unwrap();
        assert_eq!(running.join().unwrap().stages().next().unwrap().processed(), 1);
    });
}

/// Such a thread sleeps in a different place.
fn a_halt_and_a_close_end_a_long_sleep_of_a_thread_of_two_stages<K: Kind>() {
    for (stop, _) in [HALT, CLOSE] {
        let (ring, is_waiting) = Any::new("asleep", ASLEEP).on_ring(K::ring(8, || 0_u64));
        let ring = ["first", "second"].into_iter().fold(ring, |ring, name| {
            ring.stage(Stage::new(name).on_thread("both")).read(|_, _, _| {})
        });
        let (_producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        wait_until(|| is_waiting.load(Ordering::Relaxed));
        thread::sleep(MOMENT);
        stop(&running);
        let report = running.join().unwrap_or_else(|failed| failed.into_report());
        assert_eq!(report.stages().map(|stage| stage.processed()).sum::<u64>(), 0);
    }
}

fn miri_a_halt_ends_a_sleep_without_end<K: Kind>() {
    let asleep = Any::new("asleep", Sleeping { sleep: Duration::MAX, ..ASLEEP });
    for place in PLACES {
        time_to_stop::<K>(&asleep, place, MOMENT, HALT);
    }
}

// ---- a time limit ----

fn a_time_limit_ends_every_wait_in_each_phase_and_never_early<K: Kind>() {
    for (strategy, place) in phases().iter().flat_map(|each| PLACES.map(|place| (each, place))) {
        for limit in [Duration::ZERO, Duration::from_micros(80), Duration::from_millis(2)] {
            let context = format!("{}, {place:?}, {limit:?}", strategy.name);
            let is_at_once = |_| {
                let start = Instant::now();
                let ends = Ends::<K>::new(strategy, place);
                let (end, ended_at) = ends.wait_at(place, Some(limit), |_| {});
                assert_eq!(end, End::TimedOut, "{context}");
                let time = ended_at - start;
                assert!(time >= limit, "{context}: {time:?}");
                time - limit < AT_ONCE
            };
            assert!(
                (0..TRIES).any(is_at_once),
                "{context}: longer than {AT_ONCE:?} beyond the limit in {TRIES} tries"
            );
        }
    }
}

/// Meets the test at the beginning of its wait, meets it again, and only then lets the time limit
/// pass. Answers a step without a poll.
#[derive(Clone)]
struct Late(Arc<Barrier>);

impl WaitStrategy for Late {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.0.wait();
        self.0.wait();
        let deadline = waiting.deadline().expect("the call has a limit");
        wait_until(|| Instant::now() > deadline);
        Step::Poll(0)
    }
}

/// LMAX's strategies reported a timeout without a last poll.
fn an_event_that_comes_meanwhile_beats_a_time_limit<K: Kind>() {
    for place in PLACES {
        let barrier = Arc::new(Barrier::new(2));
        let ends = Ends::<K>::new(&Any::new("late", Late(Arc::clone(&barrier))), place);
        let (end, _) = ends.wait_at(place, Some(Duration::from_millis(1)), |rest| {
            barrier.wait();
            rest.bring();
            barrier.wait();
        });
        assert_eq!(end, End::There, "{place:?}");
    }
}

fn an_available_event_beats_a_time_limit_of_zero<K: Kind>() {
    for strategy in phases() {
        let mut ends = Ends::<K>::new(&strategy, Place::FirstStage);
        let no_time = Some(Duration::ZERO);
        for number in 0..3 {
            let slot = wait_for_slot::<K>(ends.producer.as_mut().unwrap(), no_time);
            let there = ends.pollers.each_mut().map(|poller| {
                let poller = poller.as_mut().unwrap();
                let end = wait_for_event(poller, no_time);
                poller.poll().unwrap().consume_all();
                end
            });
            let is_there = (End::There, [End::There; 2]);
            assert_eq!((slot, there), is_there, "{}, {number}", strategy.name);
        }
    }
}

// ---- the timeout of a stage ----

/// Counts its timeouts, and checks that none comes early.
struct Punctual {
    timeout: Duration,
    last: Instant,
    timeouts: Arc<AtomicU64>,
}

impl Punctual {
    fn new(timeout: Duration) -> (Self, Arc<AtomicU64>) {
        let timeouts = Arc::<AtomicU64>::default();
        (Self { timeout, last: Instant::now(), timeouts: Arc::clone(&timeouts) }, timeouts)
    }
}

impl EventHandler<u64> for Punctual {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {
        self.last = Instant::now();
    }

    fn on_timeout(&mut self, _: Sequence) {
        let waited = self.last.elapsed();
        assert!(waited >= self.timeout, "early: after {waited:?}");
        self.timeouts.fetch_add(1, Ordering::Relaxed);
        self.last = Instant::now();
    }
}

/// A first stage waits for a publication. A later stage waits for an event that its upstream stage
/// holds.
fn the_timeout_of_a_stage_is_never_early<K: Kind>() {
    let timeout = Duration::from_millis(1);
    for strategy in phases() {
        let stage = |name| strategy.on_stage(Stage::new(name).timeout_after(timeout)).0;
        let ((early, early_timeouts), (later, later_timeouts)) =
            (Punctual::new(timeout), Punctual::new(timeout));
        let ring = K::ring(4, || 0_u64).producer_wait_strategy(BusySpin);
        let ring = ring.stage(stage("first")).read_handler(early);
        let ring = ring.stage(Stage::new("holds").wait_strategy(BusySpin)).poller();
        let (mut producer, mut consumers) =
            ring.stage(stage("later")).read_handler(later).build().unwrap();
        let mut holds = consumers.take_poller("holds").unwrap();
        producer.publish(|_| {}).unwrap();
        let running = consumers.start().unwrap();
        let counts = [early_timeouts, later_timeouts];
        wait_until(|| counts.iter().all(|count| count.load(Ordering::Relaxed) >= 2));
        drop(producer);
        while holds.poll().map(|mut batch| batch.consume_all()).is_ok() {}
        drop(holds);
        let name = strategy.name;
        let report = running.shutdown().unwrap_or_else(|failed| panic!("{name}: {failed}"));
        assert!(report.stages().all(|stage| stage.processed() == 1), "{name}: {report:?}");
    }
}

fn the_timeout_of_a_stage_is_not_called_while_there_is_a_backlog<K: Kind>() {
    for strategy in phases() {
        let (handler, timeouts) = Punctual::new(Duration::ZERO);
        let stage = Stage::new("all there").timeout_after(Duration::ZERO).max_batch(3);
        let ring = K::ring(64, || 0_u64).stage("first").poller();
        let ring = ring.stage(strategy.on_stage(stage).0).read_handler(handler);
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut first = consumers.take_poller("first").unwrap();
        producer.publish_batch(64, |_| {}).unwrap();
        first.poll().unwrap().consume_all();
        drop(producer);
        let report = consumers.start().unwrap().shutdown().unwrap();
        let processed = report.stages().next().unwrap().processed();
        assert_eq!((processed, timeouts.load(Ordering::Relaxed)), (64, 0), "{}", strategy.name);
    }
}

// ---- infinite time limits ----

fn a_time_without_end_is_no_limit<K: Kind>() {
    let forever = Duration::MAX;
    for strategy in [
        Any::new("asleep", Sleeping { sleep: forever, ..ASLEEP }),
        Any::new("parked", PARKED),
        Any::new("spins", PhasedBackoff::new(forever, forever, PARKED)),
    ] {
        for place in PLACES {
            let ends = Ends::<K>::new(&strategy, place);
            let (end, _) = ends.wait_at(place, Some(forever), |rest| rest.running.halt());
            assert_eq!(end, End::Stopped(HALT.1), "{}, {place:?}", strategy.name);
        }
    }
    let (handler, timeouts) = Punctual::new(forever);
    let ring = K::ring(1, || 0_u64).stage("never times out").timeout_after(forever);
    let (mut producer, consumers) = ring.read_handler(handler).build().unwrap();
    let mut running = consumers.start().unwrap();
    producer.publish_or(WhenFull::Timeout(forever), |_| {}).unwrap();
    producer.publish_or(WhenFull::Timeout(forever), |_| {}).unwrap();
    assert!(running.shutdown_timeout(PATIENCE).is_ok());
    assert_eq!(timeouts.load(Ordering::Relaxed), 0);
}

// ---- a producer with its own strategy ----

/// Counts its steps, and parks.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicU64>);

impl WaitStrategy for Counted {
    const PARKS: bool = true;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        self.0.fetch_add(1, Ordering::Relaxed);
        Step::Park
    }
}

/// No thread of this ring checks for parked threads, so a parked thread must poll by itself.
#[test]
fn each_of_several_producers_waits_in_its_own_way() {
    watched(|| {
        let (mut producer, mut consumers) = Disruptor::multi_producer(1, || 0_u64)
            .producer_wait_strategy(Yielding::default())
            .wait_strategy(BusySpin)
            .stage("all")
            .poller()
            .build()
            .unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        producer.publish(|_| {}).unwrap();
        let counts = [(); 2].map(|()| Counted::default());
        let mut second = producer.clone();
        second.set_wait_strategy(counts[0].clone());
        let mut third = second.clone();
        third.set_wait_strategy(counts[1].clone());
        let fourth = third.clone();
        let counted = || [0, 1].map(|of: usize| counts[of].0.load(Ordering::Relaxed));
        for (mut producer, own) in
            [(producer, None), (second, Some(0)), (third, Some(1)), (fourth, Some(1))]
        {
            let before = counted();
            thread::scope(|scope| {
                let blocked = scope.spawn(|| producer.publish(|_| {}));
                // A wait on a slow machine ends and begins again, so it may count more than once.
                wait_until(|| own.is_none_or(|own: usize| counted()[own] > before[own]));
                poller.poll().unwrap().consume_all();
                blocked.join().unwrap().unwrap();
            });
            for other in (0..2).filter(|&other| Some(other) != own) {
                assert_eq!(counted()[other], before[other]);
            }
        }
    });
}
