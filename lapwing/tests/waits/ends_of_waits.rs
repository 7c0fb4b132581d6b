//! Tests what ends a wait: an event, the time limit, a close, a halt. Covers each strategy in each
//! of its phases, each place that waits, and both kinds of producer.
//!
//! A halt must end a wait at once, even in a long sleep. The test of this takes the best of several
//! tries. It fails only if no try is quick, and not because a machine is slow or busy.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Kind, MOMENT, PATIENCE, ProducerOf, wait_until, watched};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PollError, RingError, WhenFullError};
use lapwing::producer::WhenFull;
use lapwing::wait::{
    Adaptive, Blocking, BusySpin, PhasedBackoff, Sleeping, Step, WaitStrategy, Waited, Waiting,
    Yielding,
};
use lapwing::{Disruptor, EventHandler, Poller, Running, Sequence, Stage};

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

/// Longest time that a wait may continue after a halt or a close, in the best of several tries.
const AT_ONCE: Duration = Duration::from_millis(100);
const TRIES: usize = 20;

/// Far longer than every wait here, and than [`AT_ONCE`].
const LONG: Duration = Duration::from_secs(3_600);

// ---- the requirements on each strategy ----

/// A requirement on every strategy.
trait Rule {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W);
}

/// Checks every strategy in the phase of the given name. Only the end of the wait ends the phase.
fn each_phase<K: Kind, R: Rule>() {
    each_phase_that_sees_events::<K, R>();
    let asleep = Sleeping { spins: 0, yields: 0, sleep: LONG };
    R::check::<K, _>("Sleeping, in its sleep", asleep);
    let fallback = PhasedBackoff::new(Duration::ZERO, Duration::ZERO, asleep);
    R::check::<K, _>("PhasedBackoff over Sleeping, in its sleep", fallback);
    R::check::<K, _>("Step::Sleep, for ever", Always::<false>(Step::Sleep(Duration::MAX)));
}

/// Like [`each_phase`], without sleeps that are too long to wait for.
fn each_phase_that_sees_events<K: Kind, R: Rule>() {
    let (no_time, short) = (Duration::ZERO, Sleeping::default());
    R::check::<K, _>("BusySpin", BusySpin);
    R::check::<K, _>("Yielding, spinning", Yielding { spins: u32::MAX });
    R::check::<K, _>("Yielding, yielding", Yielding { spins: 0 });
    R::check::<K, _>("Sleeping, spinning", Sleeping { spins: u32::MAX, ..short });
    R::check::<K, _>("Sleeping, yielding", Sleeping { spins: 0, yields: u32::MAX, ..short });
    R::check::<K, _>("Sleeping, in short sleeps", Sleeping { spins: 0, yields: 0, ..short });
    R::check::<K, _>("Blocking, yielding", Blocking { yields: u32::MAX });
    R::check::<K, _>("Blocking, parked", PARKED);
    R::check::<K, _>("Adaptive", Adaptive::default());
    R::check::<K, _>("PhasedBackoff, spinning", PhasedBackoff::new(LONG, no_time, PARKED));
    R::check::<K, _>("PhasedBackoff, yielding", PhasedBackoff::new(no_time, LONG, PARKED));
    let over_blocking = PhasedBackoff::new(no_time, no_time, PARKED);
    R::check::<K, _>("PhasedBackoff over Blocking, parked", over_blocking);
    R::check::<K, _>("PhasedBackoff over Sleeping", PhasedBackoff::new(no_time, no_time, short));
    R::check::<K, _>("Step::Poll, no polls", Always::<false>(Step::Poll(0)));
    R::check::<K, _>("Step::Poll, for ever", Always::<false>(Step::Poll(u32::MAX)));
    R::check::<K, _>("Step::Pause, of no length", Always::<false>(Step::Pause(0)));
    R::check::<K, _>("Step::Pause", Always::<false>(Step::Pause(5_000)));
    R::check::<K, _>("Step::Yield", Always::<false>(Step::Yield));
    R::check::<K, _>("Step::Sleep, of no length", Always::<false>(Step::Sleep(no_time)));
    R::check::<K, _>("Step::Park", Always::<true>(Step::Park));
    R::check::<K, _>("Step::Park, not announced", Always::<false>(Step::Park));
    R::check::<K, _>("Adaptive, always at its first step", Forgets(Adaptive::default()));
    let phases = PhasedBackoff::new(no_time, short.sleep, PARKED);
    R::check::<K, _>("PhasedBackoff, always at its first step", Forgets(phases));
}

const PARKED: Blocking = Blocking { yields: 0 };

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

/// Reports when it begins to wait with `W`.
#[derive(Clone)]
struct Announced<W>(Arc<AtomicBool>, W);

impl<W: WaitStrategy> WaitStrategy for Announced<W> {
    const PARKS: bool = W::PARKS;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.0.store(true, Ordering::Relaxed);
        self.1.next(waiting)
    }

    fn ended(&mut self, waited: &Waited) {
        self.1.ended(waited);
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

/// A ring of one slot with two stages in a row. All threads use the same strategy.
struct Ends<K: Kind> {
    producer: ProducerOf<u64, K>,
    first: Poller<u64>,
    second: Poller<u64>,
    running: Running<'static>,
}

impl<K: Kind> Ends<K> {
    /// Nothing is available at `place`.
    fn new(strategy: impl WaitStrategy, place: Place) -> Self {
        let (mut producer, mut consumers) = K::ring(1, || 0_u64)
            .wait(strategy.clone())
            .producer_wait(strategy)
            .stage("first")
            .poller()
            .stage("second")
            .poller()
            .build()
            .unwrap();
        let first = consumers.take_poller("first").unwrap();
        let second = consumers.take_poller("second").unwrap();
        if place == Place::FullRing {
            producer.publish(|_| {}).unwrap();
        }
        Self { producer, first, second, running: consumers.start().unwrap() }
    }

    /// Waits at `place` on another thread, for at most `limit` if there is one. Meanwhile this
    /// thread runs `meanwhile` with the other ends. Returns how and when the wait ended.
    fn wait_at(
        self,
        place: Place,
        limit: Option<Duration>,
        meanwhile: impl FnOnce(Rest<'_, K>),
    ) -> (End, Instant) {
        let Self { mut producer, mut first, mut second, running } = self;
        // Dropped after the wait, because dropping it closes the ring.
        let (producer, first, second, running) = (&mut producer, &mut first, &mut second, &running);
        thread::scope(|scope| {
            let timed = |end: End| (end, Instant::now());
            let (waiter, rest) = match place {
                Place::FirstStage => (
                    scope.spawn(move || timed(wait_for_event(first, limit))),
                    Rest { producer: Some(producer), first: None, second: Some(second), running },
                ),
                Place::LaterStage => (
                    scope.spawn(move || timed(wait_for_event(second, limit))),
                    Rest { producer: Some(producer), first: Some(first), second: None, running },
                ),
                Place::FullRing => (
                    scope.spawn(move || timed(wait_for_slot::<K>(producer, limit))),
                    Rest { producer: None, first: Some(first), second: Some(second), running },
                ),
            };
            meanwhile(rest);
            waiter.join().unwrap()
        })
    }
}

/// The ends of a ring except the one that waits.
struct Rest<'a, K: Kind> {
    producer: Option<&'a mut ProducerOf<u64, K>>,
    first: Option<&'a mut Poller<u64>>,
    second: Option<&'a mut Poller<u64>>,
    running: &'a Running<'static>,
}

impl<K: Kind> Rest<'_, K> {
    /// Provides what the wait is for, and nothing else.
    fn bring(&mut self) {
        if let Some(producer) = &mut self.producer {
            producer.publish(|_| {}).unwrap();
        }
        for poller in [&mut self.first, &mut self.second].into_iter().flatten() {
            // Downstream of a stage that waits, nothing is available.
            let _ = poller.poll().map(|mut batch| batch.consume_all());
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

struct EndsWithAnEvent;

impl Rule for EndsWithAnEvent {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        for place in PLACES {
            let is_waiting = Arc::new(AtomicBool::new(false));
            let announced = Announced(Arc::clone(&is_waiting), strategy.clone());
            let (end, _) = Ends::<K>::new(announced, place).wait_at(place, None, |mut rest| {
                wait_until(|| is_waiting.load(Ordering::Relaxed));
                rest.bring();
            });
            assert_eq!(end, End::There, "{name}, {place:?}");
        }
    }
}

fn an_event_ends_every_wait<K: Kind>() {
    each_phase_that_sees_events::<K, EndsWithAnEvent>();
}

// ---- a halt, a close ----

/// Stops the wait after its phase has lasted for `phase`. Returns how long the wait continued.
fn time_to_stop<K: Kind>(
    strategy: impl WaitStrategy,
    place: Place,
    phase: Duration,
    (stop, expected): (fn(&Running<'static>), RingError),
) -> Duration {
    let is_waiting = Arc::new(AtomicBool::new(false));
    let announced = Announced(Arc::clone(&is_waiting), strategy);
    let mut stopped_at = None;
    let (end, ended_at) = Ends::<K>::new(announced, place).wait_at(place, None, |rest| {
        wait_until(|| is_waiting.load(Ordering::Relaxed));
        thread::sleep(phase);
        stopped_at = Some(Instant::now());
        stop(rest.running);
    });
    assert_eq!(end, End::Stopped(expected));
    ended_at - stopped_at.expect("`stop` has run")
}

/// Stops the wait at its beginning, soon after, and deep in its phase.
fn stops_at_once<K: Kind>(
    name: &str,
    strategy: impl WaitStrategy,
    stop: (fn(&Running<'static>), RingError),
) {
    for place in PLACES {
        for phase in [Duration::ZERO, Duration::from_micros(100), MOMENT] {
            let is_at_once = |_| time_to_stop::<K>(strategy.clone(), place, phase, stop) < AT_ONCE;
            assert!(
                (0..TRIES).any(is_at_once),
                "{name}, {place:?}: {:?} after {phase:?}, longer than {AT_ONCE:?}, tries={TRIES}",
                stop.1
            );
        }
    }
}

struct EndsWithAHalt;

impl Rule for EndsWithAHalt {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        stops_at_once::<K>(
            name,
            strategy,
            (Running::halt, RingError::Halted(HaltCause::Requested)),
        );
    }
}

fn a_halt_ends_every_wait_at_once_in_each_phase<K: Kind>() {
    each_phase::<K, EndsWithAHalt>();
}

struct EndsWithAClose;

impl Rule for EndsWithAClose {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        stops_at_once::<K>(name, strategy, (Running::close, RingError::Closed));
    }
}

fn a_close_ends_every_wait_at_once_in_each_phase<K: Kind>() {
    each_phase::<K, EndsWithAClose>();
}

/// How long a stage waits on after it is stopped, when its phase has lasted for `phase`. It waits
/// for an upstream stage that holds an event, or is the first stage of an empty ring.
fn time_to_leave<K: Kind>(
    strategy: impl WaitStrategy,
    is_first: bool,
    phase: Duration,
) -> Duration {
    let is_waiting = Arc::new(AtomicBool::new(false));
    let stage = Stage::new("waits").wait(Announced(Arc::clone(&is_waiting), strategy));
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

struct EndsWithAStop;

impl Rule for EndsWithAStop {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        for is_first in [true, false] {
            for phase in [Duration::ZERO, MOMENT] {
                let is_at_once =
                    |_| time_to_leave::<K>(strategy.clone(), is_first, phase) < AT_ONCE;
                assert!(
                    (0..TRIES).any(is_at_once),
                    "{name}, is_first={is_first}: a stop after {phase:?}, longer than {AT_ONCE:?}, \
                        tries={TRIES}"
                );
            }
        }
    }
}

fn a_stop_ends_every_wait_of_a_stage_at_once_in_each_phase<K: Kind>() {
    each_phase::<K, EndsWithAStop>();
}

/// After a close, the accepted events must be handled before each stage has slept to its end.
fn miri_a_closed_ring_drains_however_long_its_stages_sleep<K: Kind>() {
    let is_waiting = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
    let stage = |number: usize| {
        let asleep = Sleeping { spins: 0, yields: 0, sleep: LONG };
        let announced = Announced(Arc::clone(&is_waiting[number]), asleep);
        Stage::new(format!("stage {number}")).wait(announced)
    };
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .producer_wait(BusySpin)
        .stage(stage(0))
        .read(|_, _, _| {})
        .stage(stage(1))
        .read(|_, _, _| {})
        .stage(stage(2))
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    wait_until(|| is_waiting.iter().all(|flag| flag.load(Ordering::Relaxed)));
    (0..5).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| stage.processed() == 5), "{report:?}");
}

/// The same for a claim that is published after the close that counted it.
#[test]
fn a_closed_ring_drains_a_late_claim_however_long_its_stages_sleep() {
    watched(|| {
        let (mut producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
            .producer_wait(BusySpin)
            .wait(Sleeping { spins: 0, yields: 0, sleep: LONG })
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
    let stops: [fn(&Running<'static>); 2] = [Running::halt, Running::close];
    for stop in stops {
        let is_waiting = Arc::new(AtomicBool::new(false));
        let asleep = Sleeping { spins: 0, yields: 0, sleep: LONG };
        let (_producer, consumers) = K::ring(8, || 0_u64)
            .wait(Announced(Arc::clone(&is_waiting), asleep))
            .stage("first")
            .on_thread("both")
            .read(|_, _, _| {})
            .stage("second")
            .on_thread("both")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        wait_until(|| is_waiting.load(Ordering::Relaxed));
        thread::sleep(MOMENT);
        stop(&running);
        let report = running.join().unwrap_or_else(|failed| failed.into_report());
        assert_eq!(report.stages().map(|stage| stage.processed()).sum::<u64>(), 0);
    }
}

fn miri_a_halt_ends_a_sleep_without_end<K: Kind>() {
    let asleep = Sleeping { spins: 0, yields: 0, sleep: Duration::MAX };
    for place in PLACES {
        time_to_stop::<K>(
            asleep,
            place,
            MOMENT,
            (Running::halt, RingError::Halted(HaltCause::Requested)),
        );
    }
}

// ---- a time limit ----

struct EndsWithItsTimeLimit;

impl Rule for EndsWithItsTimeLimit {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        for place in PLACES {
            for limit in [Duration::ZERO, Duration::from_micros(80), Duration::from_millis(2)] {
                let time_to_end = || {
                    let start = Instant::now();
                    let ends = Ends::<K>::new(strategy.clone(), place);
                    let (end, ended_at) = ends.wait_at(place, Some(limit), |_| {});
                    assert_eq!(end, End::TimedOut, "{name}, {place:?}, {limit:?}");
                    ended_at - start
                };
                let times: Vec<_> = (0..3).map(|_| time_to_end()).collect();
                assert!(times.iter().all(|time| *time >= limit), "{name}, {place:?}: {times:?}");
                let is_at_once = |time: Duration| time - limit < AT_ONCE;
                assert!(
                    times.into_iter().any(is_at_once)
                        || (3..TRIES).any(|_| is_at_once(time_to_end())),
                    "{name}, {place:?}: longer than {AT_ONCE:?} beyond {limit:?}, tries={TRIES}"
                );
            }
        }
    }
}

fn a_time_limit_ends_every_wait_in_each_phase_and_never_early<K: Kind>() {
    each_phase::<K, EndsWithItsTimeLimit>();
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
        let ends = Ends::<K>::new(Late(Arc::clone(&barrier)), place);
        let (end, _) = ends.wait_at(place, Some(Duration::from_millis(1)), |mut rest| {
            barrier.wait();
            rest.bring();
            barrier.wait();
        });
        assert_eq!(end, End::There, "{place:?}");
    }
}

struct TakesWhatIsThere;

impl Rule for TakesWhatIsThere {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        let mut ends = Ends::<K>::new(strategy, Place::FirstStage);
        let no_time = Some(Duration::ZERO);
        for number in 0..3 {
            let slot = wait_for_slot::<K>(&mut ends.producer, no_time);
            let there = [&mut ends.first, &mut ends.second].map(|poller| {
                let end = wait_for_event(poller, no_time);
                poller.poll().unwrap().consume_all();
                end
            });
            assert_eq!((slot, there), (End::There, [End::There; 2]), "{name}, {number}");
        }
    }
}

fn an_available_event_beats_a_time_limit_of_zero<K: Kind>() {
    each_phase::<K, TakesWhatIsThere>();
}

// ---- the timeout of a stage ----

/// Counts its timeouts, and checks that none comes early.
struct Punctual {
    timeout: Duration,
    last: Instant,
    timeouts: Arc<AtomicU64>,
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

struct TimesOutOnTime;

impl Rule for TimesOutOnTime {
    /// A first stage waits for a publication. A later stage waits for an event that its upstream
    /// stage holds.
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        let timeouts = [(); 2].map(|()| Arc::<AtomicU64>::default());
        let timeout = Duration::from_millis(1);
        let handler = |number: usize| {
            let timeouts = Arc::clone(&timeouts[number]);
            Punctual { timeout, last: Instant::now(), timeouts }
        };
        let stage = |name| Stage::new(name).timeout(timeout).wait(strategy.clone());
        let (mut producer, mut consumers) = K::ring(4, || 0_u64)
            .producer_wait(BusySpin)
            .stage(stage("first"))
            .read_handler(handler(0))
            .stage("holds")
            .wait(BusySpin)
            .poller()
            .stage(stage("later"))
            .read_handler(handler(1))
            .build()
            .unwrap();
        let mut holds = consumers.take_poller("holds").unwrap();
        producer.publish(|_| {}).unwrap();
        let running = consumers.start().unwrap();
        wait_until(|| timeouts.iter().all(|count| count.load(Ordering::Relaxed) >= 2));
        drop(producer);
        while holds.poll().map(|mut batch| batch.consume_all()).is_ok() {}
        drop(holds);
        let report = running.shutdown().unwrap_or_else(|failed| panic!("{name}: {failed}"));
        assert!(report.stages().all(|stage| stage.processed() == 1), "{name}: {report:?}");
    }
}

fn the_timeout_of_a_stage_is_never_early<K: Kind>() {
    each_phase::<K, TimesOutOnTime>();
}

struct HandlesItsBacklogFirst;

impl Rule for HandlesItsBacklogFirst {
    fn check<K: Kind, W: WaitStrategy>(name: &str, strategy: W) {
        let timeouts = Arc::<AtomicU64>::default();
        let timeout = Duration::ZERO;
        let handler = Punctual { timeout, last: Instant::now(), timeouts: Arc::clone(&timeouts) };
        let stage = Stage::new("all there").timeout(timeout).wait(strategy);
        let (mut producer, mut consumers) = K::ring(64, || 0_u64)
            .stage("first")
            .poller()
            .stage(stage.max_batch(3))
            .read_handler(handler)
            .build()
            .unwrap();
        let mut first = consumers.take_poller("first").unwrap();
        producer.publish_batch(64, |_| {}).unwrap();
        first.poll().unwrap().consume_all();
        drop(producer);
        let report = consumers.start().unwrap().shutdown().unwrap();
        assert_eq!(report.stages().next().unwrap().processed(), 64, "{name}");
        assert_eq!(timeouts.load(Ordering::Relaxed), 0, "{name}");
    }
}

fn the_timeout_of_a_stage_is_not_called_while_there_is_a_backlog<K: Kind>() {
    each_phase::<K, HandlesItsBacklogFirst>();
}

// ---- infinite time limits ----

fn a_time_without_end_is_no_limit<K: Kind>() {
    let forever = Duration::MAX;
    let asleep = Sleeping { spins: 0, yields: 0, sleep: forever };
    for place in PLACES {
        let halted = End::Stopped(RingError::Halted(HaltCause::Requested));
        let halt = |rest: Rest<'_, K>| rest.running.halt();
        let ends = Ends::<K>::new(asleep, place);
        assert_eq!(ends.wait_at(place, Some(forever), halt).0, halted);
        let ends = Ends::<K>::new(PARKED, place);
        assert_eq!(ends.wait_at(place, Some(forever), halt).0, halted);
        let ends = Ends::<K>::new(PhasedBackoff::new(forever, forever, PARKED), place);
        assert_eq!(ends.wait_at(place, Some(forever), halt).0, halted);
    }
    let timeouts = Arc::<AtomicU64>::default();
    let handler =
        Punctual { timeout: forever, last: Instant::now(), timeouts: Arc::clone(&timeouts) };
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .stage("never times out")
        .timeout(forever)
        .read_handler(handler)
        .build()
        .unwrap();
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
            .producer_wait(Yielding::default())
            .wait(BusySpin)
            .stage("all")
            .poller()
            .build()
            .unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        producer.publish(|_| {}).unwrap();
        let counts = [(); 2].map(|()| Counted::default());
        let mut second = producer.clone();
        second.set_wait(counts[0].clone());
        let mut third = second.clone();
        third.set_wait(counts[1].clone());
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
