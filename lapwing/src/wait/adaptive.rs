//! The default strategy: polls while that pays, yields under oversubscription, and parks.
//!
//! ```text
//! polls of the consumer ────┐
//!   no gap, no load         ├──> awake, while that pays ──> park
//! gap ──> near polls ───────┤     │
//!  │        no load         │     ├ spin: a CPU is spare, no load
//!  │                        │     └ yield: otherwise
//!  │                        │     learnt from how long waits take
//!  └ learnt from streams    │
//!                           └──> beside busy threads: spin ──> sleep once ──> park
//!                                                     skipped while they do not pay
//! ```
//!
//! Not here: which threads may spin (`spinner`), what oversubscription is (`cpu_load`), the wait
//! where a yield takes a time slice (`beside_busy_threads`).

use std::mem;
use std::time::Duration;

use super::beside_busy_threads::BesideBusyThreads;
use super::cpu_load::{CpuLoad, Yield};
use super::polls::{LOOKS_PER_CLOCK, PARKING};
use super::spinner::Spinner;
use super::{Pacing, WaitStrategy, Waiting};
use crate::sync::{now, pause};
use crate::tuning::stream;

/// Shortest gap other than none, in pause hints.
const SHORTEST_GAP: u32 = 8;
/// Longest gap while events arrive at the rate of their producers, in pause hints: one to four
/// microseconds.
const LONG_GAP: u32 = 128;
/// Longest gap while more than one event arrives for each pause hint, which is as fast as the ring
/// allows: 15 to 40 microseconds. With a shorter gap, producers would wait for free slots. See
/// E22 in `perf/results/experiments.md`.
const LONGEST_GAP: u32 = 1024;
/// A consumer that finds fewer events than this in each poll, without a wait, polls too often.
/// About the number of events that are published in the longest gap.
const FEW_EVENTS: u64 = 8192;

/// Polls before the first read of the clock: one to three microseconds, in which most answers
/// arrive.
const NEAR_LOOKS: u32 = 72;
/// The assumed length of a wait that ended within those polls, in nanoseconds.
const NEAR_NS: u32 = 1_000;
/// [`PARKING`] in nanoseconds. Staying awake longer does not pay.
const PARKING_NS: u32 = PARKING.as_nanos() as u32;
/// Weight of the last wait in the estimate: an eighth.
const LEARNING: u32 = 8;
/// The cost of a yield that let another thread run, in nanoseconds: the context switch. The time
/// that the other thread ran is not lost.
const SWITCH_NS: u32 = 500;
/// Polls before a yield under oversubscription, in a ring of several producers: half a microsecond,
/// which is the cost of a yield.
///
/// If the other side runs on another CPU, it answers in that time. Otherwise, the yield of each
/// waiting producer would let one event pass, or as many as a small ring has slots. With 16 slots
/// and eight producers, these polls make a channel five times as fast. The stages of a graph wait
/// for batches of each other, which take longer.
const LOOKS_BEFORE_A_YIELD: u32 = 20;
/// One in this many waits that need no yield begins with a yield: a thread that only polls would
/// not notice a load.
const WAITS_PER_PROBE: u32 = 64;
/// The same if most waits end within the near polls. A yield then costs as much as several such
/// waits, and this many of them take little longer than `WAITS_PER_PROBE` others.
const NEAR_WAITS_PER_PROBE: u32 = 512;

/// A strategy that polls while that pays, and parks when it does not. It has the latency of polling
/// while events flow, and uses no CPU while they do not.
///
/// # A wait
///
/// 1. **Gap.** A consumer that waits in a stream does not poll at once, since a poll would acquire
///    the cache line that the other side is writing. It first backs off for a gap. The gap doubles
///    if a batch is available at its end, so a steady stream is taken in batches. Otherwise it
///    halves, so a single event is not delayed. A producer has no gap.
/// 2. **Near polls.** A consumer that waits for single events, mostly for less than 50 µs, polls
///    for three to eight microseconds [by itself](WaitStrategy::spins_first), as a spinning
///    consumer does. Any other thread polls for one to three microseconds after the gap. Under
///    oversubscription, this step is skipped.
/// 3. **Awake.** If its waits mostly end within 50 µs, the cost of parking, the thread stays awake
///    for that long. It polls if a CPU is spare: of all threads that wait this way, one fewer than
///    the process has CPUs may poll at a time. The others yield between polls, and so do all
///    threads of a ring under oversubscription.
/// 4. **Park.** Otherwise, or after that time, the thread parks.
///
/// At about 20,000 events a second or more, an event is seen about as soon as by a spinning thread.
/// At lower rates, each event costs a wake-up, 10 to 30 µs.
///
/// # Between batches
///
/// A consumer that just keeps up with its producers never waits, and finds only a few events in
/// each poll. It [paces](WaitStrategy::pace) itself by a gap between batches, which doubles while
/// no wait follows it and halves when one does.
///
/// Both gaps halve when the consumer finds a quarter of the ring or more: in a small ring, a gap
/// that pays in a large one makes producers wait. Neither gap grows if events arrive one by one, at
/// less than about twenty million a second, since it would only add latency. A gap grows beyond one
/// to four microseconds, up to 15 to 40, only while more than one event arrives for each pause
/// hint. That is as fast as the ring allows. A shorter gap would make producers wait.
///
/// # Busy CPUs
///
/// Under oversubscription, a stage that could hold up another one does not pace itself. It yields
/// its CPU even if events arrive without end: after each batch of a stream that is less than a
/// quarter of the ring, and after every second single event.
///
/// [Beside busy threads](super#beside-busy-threads) of other programs, a yield takes a time slice
/// of some milliseconds, so the thread does not yield. It polls for up to 50 µs if a CPU is spare,
/// or up to 100 µs if the last such polls found nothing. Then it sleeps once, for about 65 µs, and
/// parks. It skips the polls and the sleep, more and more often, while they do not pay.
///
/// ```
/// use lapwing::{Disruptor, wait::{Adaptive, BusySpin}};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .wait(BusySpin) // instead of the default, `Adaptive`
///     .stage("hot").poller()
///     .stage("log").wait(Adaptive::default()).poller()
///     .build()?;
/// let mut hot = consumers.take_poller("hot")?;
/// let mut log = consumers.take_poller("log")?;
/// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
/// hot.wait()?.consume_all();
/// assert_eq!(log.wait()?.as_slice(), [7]);
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Adaptive {
    /// Pause hints before the first poll of a wait.
    gap: u32,
    /// Pause hints between two batches.
    pace: u32,
    /// The result of the last wait since the last batch.
    last: Wait,
    /// Whether the last events arrived one by one and not as a stream.
    is_lone: bool,
    /// Estimate of the length of a wait, in nanoseconds.
    usual_ns: u32,
    /// Number of waits, to choose those that probe for a load.
    waits: u32,
    /// How it waits beside busy threads.
    beside: BesideBusyThreads,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self {
            gap: 0,
            pace: 0,
            last: Wait::None,
            is_lone: true,
            usual_ns: 0,
            waits: 0,
            beside: BesideBusyThreads::default(),
        }
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

    /// Whether it pays to stay awake.
    pub(super) fn stays_awake(&self) -> bool {
        self.usual_ns <= PARKING_NS
    }

    /// Nanoseconds to stay awake; 0 if that does not pay.
    fn budget_ns(&self) -> u32 {
        if self.stays_awake() { PARKING_NS } else { 0 }
    }

    /// Updates the estimate with a wait of `wait_ns`. The estimate counts a wait as at most twice
    /// the cost of parking.
    fn learn(&mut self, wait_ns: u32) {
        self.usual_ns = (self.usual_ns * (LEARNING - 1) + wait_ns.min(2 * PARKING_NS)) / LEARNING;
    }

    /// Polls until the wait is over or the budget is spent. Returns the cost of a wait that is
    /// over, in nanoseconds.
    fn stay_awake(&mut self, waiting: &Waiting<'_>) -> Option<u32> {
        let load = waiting.load;
        if load.is_oversubscribed()
            && load.has_several_producers()
            && Spinner::is_ever_granted()
            && waiting.look(LOOKS_BEFORE_A_YIELD, || pause(1))
        {
            return Some(0);
        }
        let mut spinner = None;
        let mut spent_ns = 0_u32;
        loop {
            // All threads share the cache line of this right. A thread that cannot use it does not
            // request it.
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
                break;
            }
        }
        // A thread that only polls would not notice that other threads wait for its CPU.
        if spinner.is_some() {
            give_way(load);
        }
        None
    }

    /// Shortens both gaps: producers may be waiting for free slots.
    fn hurry(&mut self) {
        self.gap /= 2;
        self.pace /= 2;
    }

    /// Yields under oversubscription: a consumer that keeps up with its producers never waits, and
    /// would never yield its CPU.
    ///
    /// Does not yield after a single event that it had to wait for. If the next event has arrived,
    /// it is handled a whole round of time slices sooner. If not, the consumer is about to wait
    /// anyway.
    fn end_turn(&mut self, last: Wait, pacing: &Pacing<'_>) {
        if !self.is_lone || last == Wait::None {
            self.last = Wait::Longer; // no yield after the next single event
            pacing.yield_now();
        }
    }

    /// Whether the next wait begins with a yield.
    fn is_next_a_probe(&self) -> bool {
        let are_near = self.usual_ns <= 2 * NEAR_NS;
        let waits_per_probe = if are_near { NEAR_WAITS_PER_PROBE } else { WAITS_PER_PROBE };
        self.waits.wrapping_add(1).is_multiple_of(waits_per_probe)
    }

    /// Polls a few times, in which most answers arrive. Returns whether the wait is over.
    fn look_near(&mut self, waiting: &Waiting<'_>) -> bool {
        let load = waiting.load;
        if !load.is_oversubscribed() && self.is_next_a_probe() {
            give_way(load);
        }
        self.waits = self.waits.wrapping_add(1);
        !load.is_oversubscribed() && waiting.look(NEAR_LOOKS, || pause(1))
    }
}

/// The gap that follows a gap of `gap` pause hints in which `events` arrived.
fn learnt(gap: u32, events: u64) -> u32 {
    let longest = if events > gap.into() { LONGEST_GAP } else { LONG_GAP };
    stream::learnt(gap, events, SHORTEST_GAP..=longest)
}

/// Polls a few times with short pauses. Returns how long that took, in nanoseconds.
fn spin(waiting: &Waiting<'_>) -> u32 {
    let start = now();
    let _ = waiting.look(LOOKS_PER_CLOCK, || pause(1));
    nanoseconds(now() - start)
}

/// Yields, and records whether another thread ran. Returns the cost in nanoseconds, which is more
/// than any budget if a yield takes a time slice.
fn give_way(load: CpuLoad<'_>) -> u32 {
    match load.give_way() {
        Yield::Alone(time) => nanoseconds(time),
        Yield::LetRun => SWITCH_NS,
        Yield::Slice | Yield::Refused => u32::MAX,
    }
}

/// `time` in nanoseconds, saturating.
fn nanoseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}

/// The result of a wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Wait {
    /// There was no wait.
    #[default]
    None,
    /// Over when the gap ended.
    There,
    /// Not over when the gap ended.
    Longer,
    /// The consumer polls by itself, and has not called `wait` since.
    Own,
}

impl WaitStrategy for Adaptive {
    const PARKS: bool = true;

    fn spins_first(&mut self, is_oversubscribed: bool) -> bool {
        // In a stream, a poll acquires a cache line that is being written. One wait in many probes
        // for a load instead.
        let is_lone = self.is_lone && self.gap == 0 && self.pace == 0;
        let is_first =
            !is_oversubscribed && is_lone && self.stays_awake() && !self.is_next_a_probe();
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
        if waiting.load.is_beside_busy_threads() {
            return self.beside.wait(waiting);
        }
        if let Some(cost_ns) = self.stay_awake(waiting) {
            return self.learn(NEAR_NS.saturating_add(cost_ns));
        }
        let start = now();
        if !waiting.is_expired() {
            waiting.park();
        }
        self.learn(nanoseconds(now() - start).saturating_add(self.budget_ns()));
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
            // With this many events, the consumer does not poll too often.
            Wait::None if events >= FEW_EVENTS => self.pace /= 2,
            Wait::None => self.pace = learnt(self.pace, events),
            // Events that ended a wait arrived one by one, and so may the next.
            Wait::Longer | Wait::Own => {}
        }
        pacing.keep_away(self.pace);
    }
}
