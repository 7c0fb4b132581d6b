//! Tests of what no user can observe: how often a wait polls, and where each of its phases ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lapwing_core::{Awaited, EventCount};

use super::cpu_load::{CpuLoad, YIELDS};
use super::{Adaptive, Blocking, Pacing, PhasedBackoff, Sleeping, WaitStrategy, Waiting, Yielding};
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

/// The words of a ring of 8 slots.
fn ring() -> Shared {
    Shared::of_graph(8, &[&[]])
}

/// Lets `wait` wait in a ring in which no thread checks for parked threads, for `limit` if there is
/// one.
fn wait_for<R>(
    awaited: &There,
    limit: Option<Duration>,
    wait: impl FnOnce(&Waiting<'_>) -> R,
) -> R {
    wait_beside(&ring(), awaited, limit, wait)
}

/// The same in this `ring`.
fn wait_beside<R>(
    ring: &Shared,
    awaited: &There,
    limit: Option<Duration>,
    wait: impl FnOnce(&Waiting<'_>) -> R,
) -> R {
    let deadline = limit.map(|limit| Instant::now() + limit);
    wait(&Waiting::new(ring, awaited, deadline))
}

/// Records how often it is called and when it was called last, and returns at once.
#[derive(Clone, Default)]
struct Noted(Arc<(AtomicU64, Mutex<Option<Instant>>)>);

impl Noted {
    fn calls(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    fn at(&self) -> Option<Instant> {
        *self.0.1.lock().unwrap()
    }
}

impl WaitStrategy for Noted {
    const PARKS: bool = false;

    fn wait(&mut self, _: &Waiting<'_>) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
        *self.0.1.lock().unwrap() = Some(Instant::now());
    }
}

#[test]
fn the_fallback_of_a_phased_backoff_waits_after_both_phases() {
    let fallback = Noted::default();
    let start = Instant::now();
    let mut backoff = PhasedBackoff::new(2 * MS, 3 * MS, fallback.clone());
    wait_for(&There::never(), None, |waiting| backoff.wait(waiting));
    assert_eq!(fallback.calls(), 1);
    assert!(fallback.at().unwrap() - start >= 5 * MS);
}

#[test]
fn a_phase_of_no_time_is_left_out() {
    let (awaited, fallback) = (There::never(), Noted::default());
    let mut backoff = PhasedBackoff::new(Duration::ZERO, Duration::ZERO, fallback.clone());
    wait_for(&awaited, None, |waiting| backoff.wait(waiting));
    assert_eq!((awaited.looks.get(), fallback.calls()), (0, 1));
}

#[test]
fn each_phase_sees_the_end_of_the_wait_at_its_first_look_after_it() {
    for [spin, yielding] in [[Duration::MAX, Duration::ZERO], [Duration::ZERO, Duration::MAX]] {
        let (awaited, fallback) = (There::at_look(1_000), Noted::default());
        let mut backoff = PhasedBackoff::new(spin, yielding, fallback.clone());
        wait_for(&awaited, None, |waiting| backoff.wait(waiting));
        assert_eq!((awaited.looks.get(), fallback.calls()), (1_000, 0));
    }
}

#[test]
fn each_phase_sees_the_time_limit() {
    for [spin, yielding] in [[Duration::MAX, Duration::ZERO], [Duration::ZERO, Duration::MAX]] {
        let fallback = Noted::default();
        let mut backoff = PhasedBackoff::new(spin, yielding, fallback.clone());
        let is_expired = |waiting: &Waiting<'_>| {
            backoff.wait(waiting);
            waiting.is_expired()
        };
        assert!(wait_for(&There::never(), Some(2 * MS), is_expired));
        assert_eq!(fallback.calls(), 0);
    }
}

/// Without the limit, four thousand million polls would take minutes.
#[test]
fn many_looks_stop_at_the_time_limit() {
    let spin = |waiting: &Waiting<'_>| waiting.spin(u32::MAX) || !waiting.is_expired();
    assert!(!wait_for(&There::never(), Some(MS), spin));
    let yields = |waiting: &Waiting<'_>| waiting.yield_up_to(u32::MAX) || !waiting.is_expired();
    assert!(!wait_for(&There::never(), Some(MS), yields));
    let mut yielding = Yielding { spins: u32::MAX };
    wait_for(&There::never(), Some(MS), |waiting| yielding.wait(waiting));
    let mut sleeping = Sleeping { spins: 0, yields: u32::MAX, sleep: Duration::MAX };
    wait_for(&There::never(), Some(MS), |waiting| sleeping.wait(waiting));
}

#[test]
fn a_number_of_looks_is_exact() {
    for times in [0, 1, 63, 64, 65, 200] {
        let awaited = There::never();
        assert!(!wait_for(&awaited, Some(60_000 * MS), |waiting| waiting.spin(times)));
        assert!(!wait_for(&awaited, None, |waiting| waiting.yield_up_to(times)));
        assert_eq!(awaited.looks.get(), 2 * u64::from(times));
    }
}

/// Yielding instead would use a whole CPU.
#[test]
fn who_parks_where_nobody_looks_for_sleepers_sleeps_between_looks() {
    let (awaited, start) = (There::never(), Instant::now());
    wait_for(&awaited, Some(20 * MS), |waiting| waiting.park());
    let most_sleeps = start.elapsed().as_micros() / 50 + 2;
    assert!(u128::from(awaited.looks.get()) <= 2 * most_sleeps, "looks={}", awaited.looks.get());
}

#[test]
fn who_parks_where_nobody_looks_for_sleepers_sees_the_end_of_the_wait() {
    let awaited = There::at_look(9);
    wait_for(&awaited, None, |waiting| waiting.park());
    assert!(awaited.looks.get() >= 9);
}

#[test]
fn a_sleep_ends_at_the_time_limit_and_not_before_its_own_end() {
    let limited = wait_for(&There::never(), Some(2 * MS), |waiting| {
        while !waiting.is_expired() {
            waiting.sleep(Duration::MAX);
        }
        waiting.is_expired()
    });
    assert!(limited);
    let over = There::at_look(1);
    wait_for(&over, None, |waiting| waiting.sleep(Duration::MAX)); // does not sleep
    assert_eq!(over.looks.get(), 1);
}

/// When the last events of a closed ring arrive, no thread wakes a sleeper that is not counted.
#[test]
fn a_sleep_is_short_once_the_ring_is_closed() {
    let (awaited, ring) = (&There::never(), ring());
    ring.control.close();
    let waiting = Waiting::new(&ring, awaited, Some(Instant::now() + 10_000 * MS));
    waiting.sleep(Duration::MAX);
    assert!(!waiting.is_expired());
}

/// Lets `adaptive` pace its consumer after this many events, in a ring without oversubscription.
fn pace(adaptive: &mut Adaptive, events: u64, is_late: bool) {
    adaptive.pace(&Pacing { events, is_late, load: None });
}

/// The gap between batches after each of `batches`. `None` is a wait that is over after the first
/// yield.
fn paces_after(batches: &[Option<u64>]) -> Vec<u32> {
    let mut adaptive = Adaptive::default();
    let step = |batch: &Option<u64>| {
        match *batch {
            Some(events) => pace(&mut adaptive, events, false),
            None => wait_for(&There::at_look(2), None, |waiting| adaptive.wait(waiting)),
        }
        adaptive.pace_gap()
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
    let mut adaptive = Adaptive::default();
    (0..6).for_each(|_| pace(&mut adaptive, 99, false));
    pace(&mut adaptive, 99, true);
    assert_eq!(adaptive.pace_gap(), 64);
    let gap_after = |is_late: bool| {
        let mut adaptive = Adaptive::default();
        for _ in 0..10 {
            let awaited = There::at_look(1);
            wait_for(&awaited, None, |waiting| adaptive.wait(waiting));
            pace(&mut adaptive, 9_999, is_late);
        }
        adaptive.wait_gap()
    };
    assert_eq!([gap_after(false), gap_after(true)], [1024, 0]);
}

/// A stage that keeps up with its producers never waits. Without a yield here, it would keep its
/// CPU until the ring is full.
#[test]
fn default_does_not_keep_away_when_oversubscribed_where_it_gives_its_cpu_away() {
    let (mut adaptive, control) = (Adaptive::default(), ring());
    let load = CpuLoad::of(&control);
    load.saw_others();
    for _ in 0..6 {
        let load = Some(load);
        adaptive.pace(&Pacing { events: 99, is_late: false, load });
    }
    assert_eq!(adaptive.pace_gap(), 0);
    pace(&mut adaptive, 99, false);
    assert_eq!(adaptive.pace_gap(), 0, "these came while others ran");
    pace(&mut adaptive, 99, false);
    assert_eq!(adaptive.pace_gap(), 8, "the load has gone");
}

/// A yield after each single event would let a whole round of time slices pass, even if the next
/// event has arrived.
#[test]
fn default_when_oversubscribed_looks_for_one_more_lone_event_before_it_gives_its_cpu_away() {
    let (mut adaptive, control) = (Adaptive::default(), ring());
    let load = CpuLoad::of(&control);
    load.saw_others();
    let mut gives_way_after = |events, waits: bool| {
        if waits {
            wait_for(&There::at_look(2), None, |waiting| adaptive.wait(waiting));
        }
        let load = Some(load);
        adaptive.pace(&Pacing { events, is_late: false, load });
        adaptive.has_ended_turn()
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
    let mut adaptive = Adaptive::default();
    assert!(adaptive.stays_awake());
    learn_long_waits(&mut adaptive);
    assert!(!adaptive.stays_awake());
}

/// Makes waits that park. On a busy machine, the yields before some of them take all of their time.
fn learn_long_waits(adaptive: &mut Adaptive) {
    for _ in 0..100 {
        if adaptive.stays_awake() {
            wait_for(&There::never(), Some(50 * MS), |waiting| adaptive.wait(waiting));
        }
    }
}

/// Makes `waits` waits, each for one event. Returns how often the consumer was to poll by itself.
fn own_looks(adaptive: &mut Adaptive, waits: u32) -> u32 {
    let mut looks = 0;
    for _ in 0..waits {
        if adaptive.spins_first(false) {
            looks += 1;
        } else {
            wait_for(&There::at_look(2), None, |waiting| adaptive.wait(waiting));
        }
        pace(adaptive, 1, false);
    }
    looks
}

/// The polls of a strategy see a single event later than those of its consumer: by 45 ns if the
/// CPUs share a cache.
#[test]
fn default_has_its_consumer_look_for_lone_events_and_now_and_then_probes_for_oversubscription() {
    let mut adaptive = Adaptive::default();
    assert_eq!(own_looks(&mut adaptive, 512), 511);
    assert_eq!(own_looks(&mut adaptive, 512), 511);
    assert!(!adaptive.spins_first(true), "when oversubscribed");
}

#[test]
fn default_has_its_consumer_look_for_no_stream() {
    let mut adaptive = Adaptive::default();
    pace(&mut adaptive, 16, false);
    assert!(!adaptive.spins_first(false));
    for _ in 0..4 {
        wait_for(&There::at_look(2), None, |waiting| adaptive.wait(waiting));
        pace(&mut adaptive, 1, false);
    }
    assert!(adaptive.spins_first(false), "the stream has ended");
}

#[test]
fn default_has_its_consumer_look_no_more_where_waits_take_longer_than_parking_costs() {
    let mut adaptive = Adaptive::default();
    learn_long_waits(&mut adaptive);
    assert!(!adaptive.spins_first(false));
}

#[test]
fn default_of_a_wait_that_is_over_looks_once() {
    let awaited = There::at_look(1);
    let mut adaptive = Adaptive::default();
    wait_for(&awaited, None, |waiting| adaptive.wait(waiting));
    assert_eq!(awaited.looks.get(), 1);
}

/// The yields of a wait that is over at its eighth poll.
fn yields_of(mut strategy: impl WaitStrategy, ring: &Shared) -> u64 {
    YIELDS.set(0);
    wait_beside(ring, &There::at_look(8), None, |waiting| strategy.wait(waiting));
    YIELDS.get()
}

#[test]
fn who_looks_before_it_yields_does_not_when_oversubscribed() {
    let rings = [ring(), ring()];
    CpuLoad::of(&rings[1]).saw_others();
    let yielding = Yielding { spins: 10 };
    assert_eq!(rings.each_ref().map(|ring| yields_of(yielding, ring)), [0, 7]);
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

#[test]
fn yields_end_at_once_beside_busy_threads() {
    let (ring, awaited) = (&beside_busy_threads(), There::never());
    assert!(!wait_beside(ring, &awaited, None, |waiting| waiting.yield_up_to(u32::MAX)));
    assert_eq!(awaited.looks.get(), 1);
    let over = There::at_look(1);
    assert!(wait_beside(ring, &over, None, |waiting| waiting.yield_up_to(1)));
}

#[test]
fn every_wait_beside_busy_threads_ends_at_the_time_limit() {
    fn expires(mut strategy: impl WaitStrategy) {
        wait_beside(&beside_busy_threads(), &There::never(), Some(2 * MS), |waiting| {
            while !waiting.is_expired() {
                strategy.wait(waiting);
            }
        });
    }
    expires(Adaptive::default());
    expires(Blocking::default());
    expires(Yielding::default());
    expires(Sleeping::default());
}
