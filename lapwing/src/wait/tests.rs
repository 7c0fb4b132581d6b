//! Tests of what no user can observe: how often a wait polls, and where each of its phases ends.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use lapwing_core::{Awaited, EventCount};

use super::cpu_load::{CpuLoad, YIELDS};
use super::{
    Adaptive, Blocking, Goal, Pacing, PhasedBackoff, Sleeping, Step, WaitStrategy, Waited, Waiter,
    Waiting, Yielding,
};
use crate::deadline::has_passed;
use crate::ring::Shared;

const MS: Duration = Duration::from_millis(1);

/// An event that is available from the poll with a given number on. Counts the polls.
struct There {
    at: u64,
    looks: Cell<u64>,
    place: EventCount,
}

impl There {
    fn at_look(at: u64) -> Self {
        Self { at, looks: Cell::new(0), place: EventCount::default() }
    }

    fn never() -> Self {
        Self::at_look(u64::MAX)
    }
}

impl Awaited for There {
    fn is_over(&self) -> bool {
        self.looks.set(self.looks.get() + 1);
        self.looks.get() >= self.at
    }

    fn event_count(&self) -> Option<&EventCount> {
        Some(&self.place)
    }
}

/// A goal whose polls take what they find, as those of a stage with a thread of its own.
struct Taken<'a>(&'a There);

impl Goal for Taken<'_> {
    const TAKES: bool = true;

    fn awaited(&self) -> &dyn Awaited {
        self.0
    }
}

/// A strategy that the test can look into while a waiter uses it.
#[derive(Clone, Default)]
struct Seen<S>(Arc<Mutex<S>>);

impl<S> Seen<S> {
    fn get(&self) -> MutexGuard<'_, S> {
        self.0.lock().unwrap()
    }
}

impl<S: WaitStrategy> WaitStrategy for Seen<S> {
    const PARKS: bool = S::PARKS;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.get().next(waiting)
    }

    fn ended(&mut self, waited: &Waited) {
        self.get().ended(waited);
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        self.get().pace(pacing);
    }
}

/// A strategy that answers these steps in this order, then the last one again and again.
#[derive(Clone)]
struct Steps<const N: usize>([Step; N]);

impl<const N: usize> WaitStrategy for Steps<N> {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.0[(waiting.steps() as usize).min(N - 1)]
    }
}

fn waiter(strategy: impl WaitStrategy) -> Waiter {
    Waiter::new(Box::new(strategy))
}

/// The words of a ring of 8 slots.
fn ring() -> Shared {
    Shared::of_graph(8, &[&[]])
}

/// Waits as the ends of a ring do: for what is awaited, or for `limit` if there is one. Nothing ends
/// the wait if it is there only at a look that is never made.
fn wait_in<G: Goal>(
    ring: &Shared,
    waiter: &mut Waiter,
    (mut goal, there): (G, &There),
    limit: Option<Duration>,
) {
    let deadline = limit.map(|limit| Instant::now() + limit);
    waiter.begin();
    while there.looks.get() < there.at && !has_passed(deadline) {
        waiter.wait(&mut goal, ring, deadline, None);
    }
}

/// The same in a ring in which no thread checks for parked threads.
fn wait_for(waiter: &mut Waiter, awaited: &There, limit: Option<Duration>) {
    wait_in(&ring(), waiter, (awaited, awaited), limit);
}

/// Counts the steps that it is asked for, and notes when it was first asked. Polls once each time.
#[derive(Clone, Default)]
struct Noted {
    steps: u64,
    first_at: Option<Instant>,
}

impl WaitStrategy for Noted {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        assert_eq!(waiting.steps(), self.steps, "its own steps");
        self.steps += 1;
        self.first_at.get_or_insert_with(Instant::now);
        Step::Poll(1)
    }
}

fn phased(spin: Duration, yielding: Duration) -> (Waiter, Seen<Noted>) {
    let fallback = Seen::<Noted>::default();
    (waiter(PhasedBackoff::new(spin, yielding, fallback.clone())), fallback)
}

#[test]
fn the_fallback_of_a_phased_backoff_waits_after_both_phases() {
    let start = Instant::now();
    let (mut waiter, fallback) = phased(2 * MS, 3 * MS);
    wait_for(&mut waiter, &There::never(), Some(60 * MS));
    assert!(fallback.get().first_at.unwrap() - start >= 5 * MS);
}

#[test]
fn a_phase_of_no_time_is_left_out() {
    let (mut waiter, fallback) = phased(Duration::ZERO, Duration::ZERO);
    wait_for(&mut waiter, &There::at_look(1), None);
    assert_eq!(fallback.get().steps, 1);
}

#[test]
fn each_phase_sees_the_end_of_the_wait_at_its_first_look_after_it() {
    for [spin, yielding] in [[Duration::MAX, Duration::ZERO], [Duration::ZERO, Duration::MAX]] {
        let (awaited, (mut waiter, fallback)) = (There::at_look(1_000), phased(spin, yielding));
        wait_for(&mut waiter, &awaited, None);
        assert_eq!((awaited.looks.get(), fallback.get().steps), (1_000, 0));
    }
}

#[test]
fn each_phase_sees_the_time_limit() {
    for [spin, yielding] in [[Duration::MAX, Duration::ZERO], [Duration::ZERO, Duration::MAX]] {
        let (mut waiter, fallback) = phased(spin, yielding);
        wait_for(&mut waiter, &There::never(), Some(2 * MS));
        assert_eq!(fallback.get().steps, 0);
    }
}

/// Without the limit, four thousand million polls would take minutes.
#[test]
fn many_looks_stop_at_the_time_limit() {
    let wait = |strategy: &mut Waiter| wait_for(strategy, &There::never(), Some(MS));
    wait(&mut waiter(Steps([Step::Poll(u32::MAX)])));
    wait(&mut waiter(Steps([Step::Yield])));
    wait(&mut waiter(Yielding { spins: u32::MAX }));
    wait(&mut waiter(Sleeping { spins: 0, yields: u32::MAX, sleep: Duration::MAX }));
}

/// One check follows each 256 polls, and the last.
#[test]
fn a_number_of_looks_is_exact() {
    for (times, checks) in [(0, 1), (1, 1), (255, 1), (256, 1), (257, 2), (600, 3)] {
        for limit in [None, Some(60_000 * MS)] {
            // The sleep looks once more, and is over.
            let awaited = There::at_look(times + checks + 1);
            let steps = Steps([Step::Poll(times as u32), Step::Sleep(Duration::MAX)]);
            wait_for(&mut waiter(steps), &awaited, limit);
            assert_eq!(awaited.looks.get(), awaited.at);
        }
    }
}

/// Yielding instead would use a whole CPU.
#[test]
fn who_parks_where_nobody_looks_for_sleepers_sleeps_between_looks() {
    let (awaited, start) = (There::never(), Instant::now());
    wait_for(&mut waiter(Steps([Step::Park])), &awaited, Some(20 * MS));
    let most_sleeps = start.elapsed().as_micros() / 50 + 2;
    assert!(u128::from(awaited.looks.get()) <= 2 * most_sleeps, "looks={}", awaited.looks.get());
}

#[test]
fn who_parks_where_nobody_looks_for_sleepers_sees_the_end_of_the_wait() {
    let awaited = There::at_look(9);
    wait_for(&mut waiter(Steps([Step::Park])), &awaited, None);
    assert!(awaited.looks.get() >= 9);
}

#[test]
fn a_sleep_ends_at_the_time_limit_and_not_before_its_own_end() {
    let start = Instant::now();
    wait_for(&mut waiter(Steps([Step::Sleep(Duration::MAX)])), &There::never(), Some(2 * MS));
    assert!(start.elapsed() >= 2 * MS);
    let over = There::at_look(1);
    wait_for(&mut waiter(Steps([Step::Sleep(Duration::MAX)])), &over, None); // does not sleep
    assert_eq!(over.looks.get(), 1);
}

/// When the last events of a closed ring arrive, no thread wakes a sleeper that is not counted.
#[test]
fn a_sleep_is_short_once_the_ring_is_closed() {
    let (awaited, ring, start) = (&There::never(), ring(), Instant::now());
    ring.control.close();
    let deadline = Some(start + 10_000 * MS);
    waiter(Steps([Step::Sleep(Duration::MAX)])).wait(&mut { awaited }, &ring, deadline, None);
    assert!(start.elapsed() < 10_000 * MS);
}

/// Records how its waits ended.
#[derive(Clone, Default)]
struct Ends(Vec<(Duration, bool)>);

impl WaitStrategy for Ends {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Sleep(MS)
    }

    fn ended(&mut self, waited: &Waited) {
        self.0.push((waited.slept(), waited.is_expired()));
    }
}

#[test]
fn a_strategy_learns_how_each_wait_with_a_step_ended() {
    let ends = Seen::<Ends>::default();
    let mut waiter = waiter(ends.clone());
    waiter.begin();
    assert_eq!(ends.get().0, [], "no step");
    let awaited = &There::never();
    waiter.wait(&mut { awaited }, &ring(), None, None);
    assert_eq!(ends.get().0, [], "not yet");
    wait_for(&mut waiter, &There::never(), Some(2 * MS));
    waiter.begin();
    waiter.begin();
    let ends = &ends.get().0;
    assert_eq!(ends.len(), 2, "ends={ends:?}");
    assert!(ends[0].0 >= MS && !ends[0].1, "ends={ends:?}");
    assert!(ends[1].1, "ends={ends:?}");
}

/// A wait that found what it waited for is not expired because its step before was.
#[test]
fn a_wait_that_goes_on_after_a_limit_of_the_library_is_not_expired() {
    let (ends, awaited, ring) = (Seen::<Ends>::default(), &There::at_look(3), ring());
    let mut waiter = waiter(ends.clone());
    waiter.wait(&mut { awaited }, &ring, Some(Instant::now()), None);
    waiter.wait(&mut { awaited }, &ring, None, None);
    waiter.begin();
    assert_eq!(ends.get().0.iter().map(|end| end.1).collect::<Vec<_>>(), [false]);
}

/// The default strategy, and how its consumer waits with it.
fn adaptive() -> (Waiter, Seen<Adaptive>) {
    let adaptive = Seen::<Adaptive>::default();
    (waiter(adaptive.clone()), adaptive)
}

/// Paces a consumer after this many events, in a ring without oversubscription.
fn pace(waiter: &mut Waiter, events: u64, is_late: bool) {
    waiter.pace(&Pacing { events, is_late, load: None });
}

/// The gap between batches after each of `batches`. `None` is a wait that is over after the first
/// yield.
fn paces_after(batches: &[Option<u64>]) -> Vec<u32> {
    let (mut waiter, adaptive) = adaptive();
    let step = |batch: &Option<u64>| {
        match *batch {
            Some(events) => pace(&mut waiter, events, false),
            None => wait_for(&mut waiter, &There::at_look(2), None),
        }
        adaptive.get().pace_gap()
    };
    batches.iter().map(step).collect()
}

#[test]
fn default_keeps_away_between_batches_of_a_stream_without_a_wait() {
    assert_eq!(paces_after(&[Some(99); 6]), [8, 16, 32, 64, 128, 128]);
}

#[test]
fn default_keeps_away_less_from_events_that_come_slowly() {
    let batches = [Some(99), Some(99), Some(99), Some(9), Some(3), Some(1), Some(1), Some(1)];
    assert_eq!(paces_after(&batches), [8, 16, 32, 16, 8, 4, 2, 1]);
}

#[test]
fn default_keeps_away_less_when_it_came_late() {
    let (mut waiter, seen) = adaptive();
    (0..6).for_each(|_| pace(&mut waiter, 99, false));
    pace(&mut waiter, 99, true);
    assert_eq!(seen.get().pace_gap(), 64);
    let gap_after = |is_late: bool| {
        let (mut waiter, seen) = adaptive();
        for _ in 0..10 {
            wait_for(&mut waiter, &There::at_look(1), None);
            pace(&mut waiter, 9_999, is_late);
        }
        seen.get().wait_gap()
    };
    assert_eq!([gap_after(false), gap_after(true)], [1024, 0]);
}

/// A stage that keeps up with its producers never waits. Without a yield here, it would keep its
/// CPU until the ring is full.
#[test]
fn default_does_not_keep_away_when_oversubscribed_where_it_gives_its_cpu_away() {
    let ((mut waiter, seen), control) = (adaptive(), ring());
    let load = CpuLoad::of(&control);
    load.saw_others();
    for _ in 0..6 {
        let load = Some(load);
        waiter.pace(&Pacing { events: 99, is_late: false, load });
    }
    assert_eq!(seen.get().pace_gap(), 0);
    pace(&mut waiter, 99, false);
    assert_eq!(seen.get().pace_gap(), 0, "these came while others ran");
    pace(&mut waiter, 99, false);
    assert_eq!(seen.get().pace_gap(), 8, "the load has gone");
}

/// A yield after each single event would let a whole round of time slices pass, even if the next
/// event has arrived.
#[test]
fn default_when_oversubscribed_looks_for_one_more_single_event_before_it_gives_its_cpu_away() {
    let ((mut waiter, seen), control) = (adaptive(), ring());
    let load = CpuLoad::of(&control);
    load.saw_others();
    let mut gives_way_after = |events, waits: bool| {
        if waits {
            wait_for(&mut waiter, &There::at_look(2), None);
        }
        let load = Some(load);
        waiter.pace(&Pacing { events, is_late: false, load });
        seen.get().has_ended_turn()
    };
    assert!(!gives_way_after(1, true));
    assert!(gives_way_after(1, false));
    assert!(!gives_way_after(1, false), "others ran");
    assert!(gives_way_after(1, false));
    assert!(gives_way_after(99, true), "a stream's");
    assert!(gives_way_after(99, false));
}

#[test]
fn default_keeps_away_for_long_only_where_events_come_as_fast_as_the_ring_lets_them() {
    let long = [8, 16, 32, 64, 128, 256, 512, 1024, 1024];
    assert_eq!(paces_after(&[Some(1_025); 9]), long);
    assert_eq!(paces_after(&[Some(128); 9])[4..], [128; 5], "one for each hint, no more");
    let slower = [vec![Some(1_025); 8], vec![Some(300), Some(38), Some(33)]].concat();
    assert_eq!(
        paces_after(&slower)[7..],
        [1024, 128, 128, 64],
        "the same stream, slower and slower"
    );
}

#[test]
fn default_keeps_away_less_when_many_events_are_there_or_none() {
    let batches = [Some(99), Some(99), Some(99), Some(8_192), None, None, None, None];
    assert_eq!(paces_after(&batches), [8, 16, 32, 16, 8, 4, 2, 1]);
}

#[test]
fn default_keeps_away_from_no_event_that_comes_alone() {
    assert_eq!(paces_after(&[None, Some(1), None, Some(1), None, Some(2)]), [0; 6]);
}

#[test]
fn default_stays_awake_no_more_where_waits_take_longer_than_parking_costs() {
    let (mut waiter, seen) = adaptive();
    assert!(seen.get().stays_awake());
    learn_long_waits(&mut waiter, &seen);
    assert!(!seen.get().stays_awake());
}

/// Makes waits that park. On a busy machine, the yields before some of them take all of their time.
fn learn_long_waits(waiter: &mut Waiter, seen: &Seen<Adaptive>) {
    for _ in 0..100 {
        if seen.get().stays_awake() {
            wait_for(waiter, &There::never(), Some(50 * MS));
            waiter.begin();
        }
    }
}

/// Makes `waits` waits of a stage with a thread of its own, each for one event. Returns how often it
/// polled for the event without a step before.
fn polls_at_once(waiter: &mut Waiter, waits: u32) -> u32 {
    (0..waits).filter(|_| polls_at_once_in(waiter, &ring())).count() as u32
}

fn polls_at_once_in(waiter: &mut Waiter, ring: &Shared) -> bool {
    // A gap or a yield is over after one look, polls after as many as it takes.
    let awaited = There::at_look(2);
    waiter.begin();
    waiter.wait(&mut Taken(&awaited), ring, None, None);
    let steps = waiter.steps();
    pace(waiter, 1, false);
    steps == 1
}

/// The polls of a strategy see a single event later than those of its consumer: by 45 ns if the
/// CPUs share a cache.
#[test]
fn default_polls_for_single_events_at_once_and_now_and_then_probes_for_oversubscription() {
    let (mut waiter, _) = adaptive();
    assert_eq!(polls_at_once(&mut waiter, 512), 511);
    assert_eq!(polls_at_once(&mut waiter, 512), 511);
    let ring = ring();
    CpuLoad::of(&ring).saw_others();
    assert!(!polls_at_once_in(&mut waiter, &ring), "when oversubscribed");
}

/// The polls of a producer, or of a thread that runs several stages, take nothing.
#[test]
fn default_polls_for_long_only_where_a_poll_takes_what_it_finds() {
    let (mut waiter, _) = adaptive();
    wait_for(&mut waiter, &There::at_look(2), None);
    assert_eq!(waiter.steps(), 2);
}

#[test]
fn default_does_not_poll_at_once_for_a_stream() {
    let (mut waiter, _) = adaptive();
    pace(&mut waiter, 16, false);
    assert_eq!(polls_at_once(&mut waiter, 4), 0);
    assert_eq!(polls_at_once(&mut waiter, 1), 1, "the stream has ended");
}

#[test]
fn default_does_not_poll_at_once_where_waits_take_longer_than_parking_costs() {
    let (mut waiter, seen) = adaptive();
    learn_long_waits(&mut waiter, &seen);
    assert_eq!(polls_at_once(&mut waiter, 1), 0);
}

#[test]
fn default_of_a_wait_that_is_over_looks_once() {
    let awaited = There::at_look(1);
    wait_for(&mut adaptive().0, &awaited, None);
    assert_eq!(awaited.looks.get(), 1);
}

/// The yields of a wait that is over at its eighth poll.
fn yields_of(strategy: impl WaitStrategy, ring: &Shared) -> u64 {
    YIELDS.set(0);
    let awaited = There::at_look(8);
    wait_in(ring, &mut waiter(strategy), (&awaited, &awaited), None);
    YIELDS.get()
}

#[test]
fn who_looks_before_it_yields_does_not_when_oversubscribed() {
    let rings = [ring(), ring()];
    CpuLoad::of(&rings[1]).saw_others();
    let yielding = Yielding { spins: 10 };
    assert_eq!(rings.each_ref().map(|ring| yields_of(yielding, ring)), [0, 8]);
    let sleeping = Sleeping::default();
    assert_eq!(rings.each_ref().map(|ring| yields_of(sleeping, ring)), [0, 7]);
}

#[test]
fn oversubscription_is_there_until_many_yields_let_nobody_run() {
    let ring = ring();
    let load = CpuLoad::of(&ring);
    load.saw_nobody();
    assert!(!load.is_oversubscribed());
    load.saw_others();
    (1..1024).for_each(|_| load.saw_nobody());
    assert!(load.is_oversubscribed());
    load.saw_nobody();
    assert!(!load.is_oversubscribed());
}

#[test]
fn one_that_sees_others_now_and_then_keeps_the_oversubscription_there() {
    let ring = ring();
    let load = CpuLoad::of(&ring);
    for _ in 0..10 {
        load.saw_others();
        (0..1_000).for_each(|_| load.saw_nobody());
        assert!(load.is_oversubscribed());
    }
}

/// A ring in which a yield has just taken a time slice.
fn beside_busy_threads() -> Shared {
    let ring = ring();
    CpuLoad::of(&ring).saw_others();
    CpuLoad::of(&ring).forbid_yields();
    ring
}

/// A yield would take a time slice in each wait.
#[test]
fn no_strategy_yields_beside_busy_threads() {
    let ring = &beside_busy_threads();
    let backoff = PhasedBackoff::new(Duration::ZERO, MS, Blocking::default());
    let yields = [
        yields_of(Adaptive::default(), ring),
        yields_of(Blocking::default(), ring),
        yields_of(Yielding::default(), ring),
        yields_of(Sleeping::default(), ring),
        yields_of(backoff, ring),
    ];
    assert_eq!(yields, [0; 5]);
}

/// The steps of the second wait by `Adaptive` in `ring`, up to its first park.
fn steps_until_parked(ring: &Shared) -> Vec<Step> {
    #[derive(Clone, Default)]
    struct Recorded(Adaptive, Arc<Mutex<Vec<Step>>>);

    impl WaitStrategy for Recorded {
        const PARKS: bool = true;

        fn next(&mut self, waiting: &Waiting<'_>) -> Step {
            let step = self.0.next(waiting);
            self.1.lock().unwrap().push(step);
            step
        }
    }

    let strategy = Recorded::default();
    let (steps, awaited) = (Arc::clone(&strategy.1), There::never());
    let mut waiter = waiter(strategy);
    for _ in 0..2 {
        steps.lock().unwrap().clear();
        wait_in(ring, &mut waiter, (&awaited, &awaited), Some(5 * MS));
    }
    let steps = steps.lock().unwrap();
    let parked = steps.iter().position(|step| *step == Step::Park).unwrap();
    steps[..=parked].to_vec()
}

#[test]
fn default_sleeps_once_and_parks_beside_busy_threads() {
    let steps = steps_until_parked(&beside_busy_threads());
    let sleeps = steps.iter().filter(|step| matches!(step, Step::Sleep(_))).count();
    assert_eq!(sleeps, 1, "{steps:?}");
    assert!(matches!(steps[steps.len() - 2..], [Step::Sleep(_), Step::Park]), "{steps:?}");
}

/// A poll or a sleep would keep the other side from its CPU.
#[test]
#[cfg(target_os = "linux")]
fn default_parks_at_once_beside_busy_threads_if_the_ring_has_one_cpu() {
    let ring = beside_busy_threads();
    CpuLoad::of(&ring).run_on_one_cpu();
    assert_eq!(steps_until_parked(&ring), [Step::Yield, Step::Park]);
}

#[test]
fn yields_beside_busy_threads_are_sleeps() {
    let (ring, awaited) = (&beside_busy_threads(), There::at_look(u64::from(u32::MAX)));
    let (mut waiter, start) = (waiter(Steps([Step::Yield])), Instant::now());
    wait_in(ring, &mut waiter, (&awaited, &awaited), Some(20 * MS));
    let most_sleeps = start.elapsed().as_micros() / 50 + 2;
    assert!(u128::from(awaited.looks.get()) <= 3 * most_sleeps, "looks={}", awaited.looks.get());
}

#[test]
fn blocking_parks_at_once_beside_busy_threads() {
    let (ring, awaited) = (&beside_busy_threads(), There::at_look(3));
    let mut waiter = waiter(Blocking::default());
    wait_in(ring, &mut waiter, (&awaited, &awaited), None);
    assert_eq!(waiter.steps(), 2, "the yield that was refused, and the park");
}

#[test]
fn blocking_yields_again_after_a_park_that_did_not_end_the_wait() {
    let (ring, mut waiter) = (ring(), waiter(Blocking { yields: 3 }));
    waiter.begin();
    for _ in 0..3 {
        YIELDS.set(0);
        waiter.wait(&mut &There::never(), &ring, Some(Instant::now() + 20 * MS), None);
        assert_eq!(YIELDS.get(), 3);
    }
}

#[test]
fn the_first_refused_yield_after_a_sleep_does_nothing() {
    let (ring, steps) = (beside_busy_threads(), [Step::Yield, Step::Park, Step::Yield, Step::Park]);
    let mut waiter = waiter(Steps(steps));
    waiter.begin();
    for parked_at in [2, 4] {
        waiter.wait(&mut &There::never(), &ring, Some(Instant::now() + MS), None);
        assert_eq!(waiter.steps(), parked_at);
    }
}

#[test]
fn every_wait_beside_busy_threads_ends_at_the_time_limit() {
    fn expires(strategy: impl WaitStrategy) {
        let awaited = There::never();
        let goal = (&awaited, &awaited);
        wait_in(&beside_busy_threads(), &mut waiter(strategy), goal, Some(2 * MS));
    }
    expires(Adaptive::default());
    expires(Blocking::default());
    expires(Yielding::default());
    expires(Sleeping::default());
}
