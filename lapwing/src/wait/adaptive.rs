//! The default: spins for as long as that pays, lets others run where they need the CPU, and parks.
//!
//! ```text
//! its consumer's own looks ─┐
//!   no gap, no load        ├─> awake, while that pays ──> park
//! gap ──> near looks ───────┘    │
//!  │       no load              ├ spin: a CPU is spare, no load
//!  │                             └ yield: otherwise
//!  └ learnt from streams         learnt from how long waits take
//! ```
//!
//! Not here: which threads may spin (`spinner`), what oversubscription is (`cpu_load`).

use std::mem;
use std::time::{Duration, Instant};

use super::cpu_load::{CpuLoad, Yield};
use super::spinner::Spinner;
use super::{Pacing, WaitStrategy, Waiting};
use crate::sync::pause;
use crate::tuning::stream;

/// Shortest gap but none, in pause hints.
const SHORTEST_GAP: u32 = 8;
/// Longest gap where events come as fast as somebody sends them, in pause hints: one to four microseconds.
const LONG_GAP: u32 = 128;
/// Longest gap where they come faster than one for each hint, which is as fast as the ring lets them: 15 to 40
/// microseconds, without which events would wait in front of the ring. See `perf/results/experiments.md`.
const LONGEST_GAP: u32 = 1024;
/// Where each look finds fewer events than this, without a wait, it comes too soon: about what is
/// published in the longest gap.
const FEW_EVENTS: u64 = 8192;

/// Looks before the clock is read for the first time: one to three microseconds, in which most answers come.
const NEAR_LOOKS: u32 = 72;
/// What a wait that ended within those counts as, in nanoseconds.
const NEAR_NS: u32 = 1_000;
/// Looks of a spinning waiter between two looks at the clock.
const LOOKS_PER_CLOCK: u32 = 24;

/// What parking and being woken costs both sides together, and so the longest that it pays to stay
/// awake, in nanoseconds: then neither choice is ever far from the better one.
const PARKING_NS: u32 = 50_000;
/// How much of what it knows of waits is the last one: an eighth.
const LEARNING: u32 = 8;
/// What a yield costs that let somebody else run, in nanoseconds: the change of threads. What others did meanwhile is not lost.
const SWITCH_NS: u32 = 500;
/// Who gets its CPU back only after this has somebody beside it who does not give way. It parks: the
/// system lets those in sooner who wake up.
const HOGGED: Duration = Duration::from_millis(1);
/// Of so many waits that need no yield, one begins with one: who spins would not notice a load.
const WAITS_PER_PROBE: u32 = 64;
/// The same where waits are mostly over within the near looks: a yield costs as much as several of those, and all of them
/// together are hardly longer than `WAITS_PER_PROBE` others.
const NEAR_WAITS_PER_PROBE: u32 = 512;

/// Keeps away for a learnt gap, stays awake for a learnt time, then parks: the latency of spinning
/// while events flow, no CPU when they do not.
///
/// It does not look again at once, since a waiter that does takes the very cache line that the other
/// side is writing. The gap before the first look doubles as long as what is waited for is there
/// when it ends, so that a steady stream is taken in batches, and halves when it is not, so that
/// a lone event is not kept waiting.
///
/// A lone event its consumer sees by [itself](WaitStrategy::spins_first), as one that spins does, if it comes within three to
/// eight microseconds. Whoever has no such looks, as a producer, or has a gap to keep, looks for one to three microseconds
/// after it. Then it stays awake for as long as parking costs, 50 µs, if
/// its waits are mostly over by then; if they are not, it parks at once. Awake, it spins if a CPU can
/// be spared: of all that wait so in the process, one fewer may spin than there are CPUs, and none
/// in a ring whose threads want more CPUs than they get. The rest yield between looks, which gives
/// the CPU to the thread that they wait for.
///
/// A consumer that just keeps up never waits, and finds a few events at each look. It
/// [paces](WaitStrategy::pace) itself by a gap between batches, which doubles as long as there is no
/// need to wait afterwards and halves when there is. Both halve when a quarter of the ring was there: in a
/// small ring, a gap that pays in a large one keeps producers waiting.
///
/// Neither gap grows where events come one by one, less than some twenty million a second: there it would cost latency
/// and gain nothing. Beyond one to four microseconds they grow, up to 15 to 40, only while more than one event comes for
/// each pause hint: there producers wait for the ring, and each look costs them more than it finds.
///
/// In a ring whose threads want more CPUs than they get, a stage that could hold up another one does not pace itself but
/// gives its CPU to the next thread, also if events come without end: after each batch of a stream, and after each second lone
/// event.
///
/// So an event is seen about as soon as by a thread that spins, from some 20,000 a second on; below that,
/// each costs a wake-up, 10 to 30 µs, and nothing in between.
///
/// ```
/// use lapwing::Disruptor;
/// use lapwing::wait::{Adaptive, BusySpin, WaitStrategy};
///
/// assert!(Adaptive::PARKS);
/// // The default of stages and producers alike; here for the stages only.
/// let ring = Disruptor::single_producer(8, || 0_u64)
///     .wait(Adaptive::default())
///     .producer_wait(BusySpin)
///     .stage("sum").read(|_, _, _| {})
///     .build();
/// assert!(ring.is_ok());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Adaptive {
    /// Pause hints before the first look of a wait.
    gap: u32,
    /// Pause hints between two batches.
    pace: u32,
    /// What came of the last wait since the last batch.
    last: Wait,
    /// Whether the last events came by ones and not as a stream.
    is_lone: bool,
    /// How long waits take.
    usual_ns: u32,
    /// Number of waits, for what is done in one of many.
    waits: u32,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self { gap: 0, pace: 0, last: Wait::None, is_lone: true, usual_ns: 0, waits: 0 }
    }
}

impl Adaptive {
    #[cfg(all(test, not(loom)))]
    pub(super) fn pace_gap(&self) -> u32 {
        self.pace
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn wait_gap(&self) -> u32 {
        self.gap
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn has_ended_turn(&self) -> bool {
        self.last == Wait::Longer
    }

    /// Nanoseconds to stay awake; none where that does not pay.
    fn budget_ns(&self) -> u32 {
        if self.usual_ns <= PARKING_NS { PARKING_NS } else { 0 }
    }

    /// A wait took so long. Beyond twice the cost of parking, one is as long as another.
    fn learn(&mut self, wait_ns: u32) {
        self.usual_ns = (self.usual_ns * (LEARNING - 1) + wait_ns.min(2 * PARKING_NS)) / LEARNING;
    }

    /// Looks until the wait is over or the budget is spent. Returns what a wait that is over has cost.
    fn stay_awake(&mut self, waiting: &Waiting<'_>) -> Option<u32> {
        let load = waiting.load;
        let mut spinner = None;
        let mut spent_ns = 0_u32;
        loop {
            // The line of that right is everybody's, so who could not use it does not ask.
            spinner =
                if load.is_oversubscribed() { None } else { spinner.or_else(Spinner::try_new) };
            let cost_ns = match spinner {
                Some(_) => spin(waiting),
                None => give_way(load),
            };
            spent_ns = spent_ns.saturating_add(cost_ns);
            if waiting.seems_over() {
                return Some(spent_ns);
            }
            if spent_ns >= self.budget_ns() || waiting.is_expired() {
                return None;
            }
        }
    }

    /// Keeps away for a shorter time from now on: producers may wait for the events that came meanwhile.
    fn hurry(&mut self) {
        self.gap /= 2;
        self.pace /= 2;
    }

    /// Lets the others of a load run: who keeps up with its producers would never wait, and so never give its CPU away.
    /// Not yet after a lone event that it had to wait for. If there is one more by now, that is seen a whole turn of
    /// everybody's sooner; if not, it is about to wait.
    fn end_turn(&mut self, last: Wait, pacing: &Pacing<'_>) {
        if !self.is_lone || last == Wait::None {
            self.last = Wait::Longer; // for the next event: others run first
            pacing.yield_now();
        }
    }

    /// Whether the next wait is one of those that begin with a yield.
    fn is_next_a_probe(&self) -> bool {
        let are_near = self.usual_ns <= 2 * NEAR_NS;
        let waits_per_probe = if are_near { NEAR_WAITS_PER_PROBE } else { WAITS_PER_PROBE };
        self.waits.wrapping_add(1).is_multiple_of(waits_per_probe)
    }

    /// Looks a few times, in which most answers come; whether the wait is over.
    fn look_near(&mut self, waiting: &Waiting<'_>) -> bool {
        let load = waiting.load;
        if !load.is_oversubscribed() && self.is_next_a_probe() {
            give_way(load);
        }
        self.waits = self.waits.wrapping_add(1);
        !load.is_oversubscribed() && waiting.look(NEAR_LOOKS, || pause(1))
    }
}

/// The gap after one of `gap` pause hints in which so many `events` came.
fn learnt(gap: u32, events: u64) -> u32 {
    let longest = if events > gap.into() { LONGEST_GAP } else { LONG_GAP };
    stream::learnt(gap, events, SHORTEST_GAP..=longest)
}

/// Looks a few times with short pauses. Returns how long that took, in nanoseconds.
fn spin(waiting: &Waiting<'_>) -> u32 {
    let start = Instant::now();
    let _ = waiting.look(LOOKS_PER_CLOCK, || pause(1));
    nanoseconds(start.elapsed())
}

/// Lets others run, and notes whether there are any. Returns what that cost, in nanoseconds.
fn give_way(load: CpuLoad<'_>) -> u32 {
    match load.give_way() {
        Yield::Alone(time) => nanoseconds(time),
        Yield::LetRun(time) if time > HOGGED => u32::MAX,
        Yield::LetRun(_) => SWITCH_NS,
    }
}

/// `time` in nanoseconds; as many as fit.
fn nanoseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}

/// What came of a wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Wait {
    /// There was none.
    #[default]
    None,
    /// What it was for was there after the gap.
    There,
    /// It was not.
    Longer,
    /// Its consumer looked by itself, and has not called since.
    Own,
}

impl WaitStrategy for Adaptive {
    const PARKS: bool = true;

    fn spins_first(&mut self, is_oversubscribed: bool) -> bool {
        // In a stream a look takes a line that is being written, and one wait in many probes for a load.
        let is_lone = self.is_lone && self.gap == 0 && self.pace == 0;
        let is_soon = self.budget_ns() > 0;
        let is_first = !is_oversubscribed && is_lone && is_soon && !self.is_next_a_probe();
        if is_first {
            self.waits = self.waits.wrapping_add(1);
            self.last = Wait::Own;
        }
        is_first
    }

    fn wait(&mut self, waiting: &Waiting<'_>) {
        let has_looked = self.last == Wait::Own;
        self.pace /= 2;
        pause(self.gap);
        if waiting.seems_over() {
            self.last = Wait::There;
            return;
        }
        self.last = Wait::Longer;
        self.gap /= 2;
        if !has_looked && self.look_near(waiting) {
            return self.learn(NEAR_NS);
        }
        if let Some(cost_ns) = self.stay_awake(waiting) {
            return self.learn(NEAR_NS.saturating_add(cost_ns));
        }
        let start = Instant::now();
        if !waiting.is_expired() {
            waiting.park();
        }
        self.learn(nanoseconds(start.elapsed()).saturating_add(self.budget_ns()));
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        let last = mem::take(&mut self.last);
        if last == Wait::Own {
            self.learn(NEAR_NS);
        }
        let Pacing { events, is_late, .. } = *pacing;
        self.is_lone = events < stream::FEWEST;
        if is_late {
            return self.hurry();
        }
        if pacing.is_oversubscribed() {
            return self.end_turn(last, pacing);
        }
        match last {
            Wait::There => self.gap = learnt(self.gap, events),
            // As many as that are no sign of haste.
            Wait::None if events >= FEW_EVENTS => self.pace /= 2,
            Wait::None => self.pace = learnt(self.pace, events),
            // Events that had to be waited for came alone, and so may the next.
            Wait::Longer | Wait::Own => {}
        }
        pacing.keep_away(self.pace);
    }
}
