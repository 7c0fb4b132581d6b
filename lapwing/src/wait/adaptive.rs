//! The default strategy: polls while that pays, yields under oversubscription, and parks.
//!
//! ```text
//! single events: Single ──────────────────┐
//! other waits:   Gap ──> [Probe] ──> Near ┴┬─> [Glance] ──> Awake ──> [Leaving] ──> Parked ──> Near
//!                                          └─> Beside ──> Near
//! ```
//!
//! Not here: which threads may spin (`spinner`), what oversubscription is (`cpu_load`), whether it
//! pays to stay awake (`usual_wait`), the wait where a yield takes a time slice
//! (`beside_busy_threads`).

use std::mem;
use std::time::Instant;

use super::beside_busy_threads::BesideBusyThreads;
use super::spinner::Spinner;
use super::usual_wait::{POLLS_PER_CLOCK, UsualWait, cost_of, nanoseconds};
use super::{Pacing, Step, WaitStrategy, Waited, Waiting};
use crate::sync::now;
use crate::tuning::stream;

/// Shortest gap other than none, in pause hints.
const SHORTEST_GAP: u32 = 8;
/// Longest gap while events arrive at the rate of their producers, in pause hints: one to four
/// microseconds.
const LONG_GAP: u32 = 128;
/// Longest gap while more than one event arrives for each pause hint, which is as fast as the ring
/// allows: 15 to 40 microseconds. With a shorter gap, producers would wait for free slots. See
/// E22 in `lab/results/experiments.md`.
const LONGEST_GAP: u32 = 1024;
/// A consumer that finds fewer events than this in each poll, without a wait, polls too often.
/// About the number of events that are published in the longest gap.
const FEW_EVENTS: u64 = 8192;

/// Polls before the first read of the clock: one to three microseconds, in which most answers
/// arrive.
const NEAR_POLLS: u32 = 72;
/// The same for a consumer of single events, if its polls take what they find: 3 to 8 µs.
const SINGLE_POLLS: u32 = 1024;
/// Polls before a yield under oversubscription, in a ring of several producers: half a microsecond,
/// which is the cost of a yield.
///
/// If the other side runs on another CPU, it answers in that time. Otherwise, the yield of each
/// waiting producer would let one event pass, or as many as a small ring has slots. With 16 slots
/// and eight producers, these polls make a channel five times as fast. The stages of a graph wait
/// for batches of each other, which take longer.
const POLLS_BEFORE_A_YIELD: u32 = 20;
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
/// 2. **Near polls.** A stage with a thread of its own that waits for single events, mostly for less
///    than 50 µs, polls for three to eight microseconds. Any other thread polls for one to three
///    microseconds after the gap. Under oversubscription, these polls are skipped.
/// 3. **Awake.** If its waits mostly end within 50 µs, the cost of parking, the thread stays awake
///    for that long. It polls if a CPU is spare: of all threads that wait this way, one fewer than
///    the process has CPUs may poll at a time. The others yield between polls, and so do all
///    threads of a ring under oversubscription.
/// 4. **Park.** Otherwise, or after that time, the thread parks.
///
/// At about 20,000 events a second or more, an event is seen about as soon as by a spinning thread.
/// At lower rates, each event costs a wake-up, some 20 to 40 µs if it is on another CPU.
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
/// of some milliseconds, so the thread does not yield. [A table](super#the-default-and-busy-cpus) has
/// the steps of a wait there.
///
/// ```
/// use lapwing::{Disruptor, wait::{Adaptive, BusySpin}};
///
/// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
///     .wait_strategy(BusySpin) // instead of the default, `Adaptive`
///     .stage("hot").poller()
///     .stage("log").wait_strategy(Adaptive::default()).poller()
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
    /// The phase of the wait, or that in which the last wait ended.
    phase: Phase,
    /// The result of the last wait since the last batch.
    last: LastWait,
    /// Whether the last events arrived one by one and not as a stream.
    is_lone: bool,
    /// Whether it has paced a consumer. A producer is never paced.
    consumes: bool,
    /// How long its waits usually take.
    usual: UsualWait,
    /// Number of waits, to choose those that probe for a load.
    waits: u32,
    /// What the wait has spent awake, in nanoseconds.
    spent_ns: u32,
    /// When the polls of the last step began, if it polled while awake.
    polls_since: Option<Instant>,
    /// How it waits beside busy threads.
    beside: BesideBusyThreads,
}

/// The phases of a wait, in this order. A wait skips some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Backs off.
    Gap,
    /// Yields, to probe for a load.
    Probe,
    /// Polls without a read of the clock.
    Near,
    /// The same for a consumer of single events.
    Single,
    /// Waits as [`BesideBusyThreads`] does.
    Beside,
    /// Polls before the first yield.
    Glance,
    /// Polls or yields while that costs less than to park.
    Awake,
    /// Yields after it has polled: it would not notice that other threads wait for its CPU.
    Leaving,
    Parked,
}

/// The result of a wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LastWait {
    /// There was no wait.
    #[default]
    None,
    /// Over when the gap ended.
    There,
    /// Not over when the gap ended.
    Longer,
    /// Over within the polls for a single event.
    Single,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self {
            gap: 0,
            pace: 0,
            phase: Phase::Gap,
            last: LastWait::None,
            is_lone: true,
            consumes: false,
            usual: UsualWait::default(),
            waits: 0,
            spent_ns: 0,
            polls_since: None,
            beside: BesideBusyThreads::default(),
        }
    }
}

#[cfg(all(test, not(loom)))]
impl Adaptive {
    pub(super) fn pace_gap(&self) -> u32 {
        self.pace
    }

    pub(super) fn stays_awake(&self) -> bool {
        self.usual.is_short()
    }

    pub(super) fn wait_gap(&self) -> u32 {
        self.gap
    }

    pub(super) fn has_ended_turn(&self) -> bool {
        self.last == LastWait::Longer
    }
}

/// The phases of a wait.
impl Adaptive {
    fn enter(&mut self, phase: Phase, step: Step) -> Step {
        self.phase = phase;
        step
    }

    /// The first step of a wait.
    fn begin(&mut self, waiting: &Waiting<'_>) -> Step {
        if self.keeps_the_other_side_from_its_cpu(waiting) {
            (self.gap, self.pace) = (0, 0);
            return self.stay(waiting);
        }
        if waiting.takes && self.expects_one(waiting) {
            self.waits = self.waits.wrapping_add(1);
            return self.enter(Phase::Single, Step::Poll(SINGLE_POLLS));
        }
        self.pace /= 2;
        self.enter(Phase::Gap, Step::Pause(self.gap))
    }

    /// Whether the next event is likely to arrive alone and soon. In a stream, a poll acquires a
    /// cache line that is being written. One wait in many probes for a load instead.
    fn expects_one(&self, waiting: &Waiting<'_>) -> bool {
        let is_lone = self.is_lone && self.gap == 0 && self.pace == 0;
        let is_due = self.usual.is_short() && !self.is_next_a_probe();
        is_lone && is_due && !waiting.is_oversubscribed()
    }

    /// Whether the next wait probes for a load with a yield.
    fn is_next_a_probe(&self) -> bool {
        let are_near = self.usual.is_near();
        let waits_per_probe = if are_near { NEAR_WAITS_PER_PROBE } else { WAITS_PER_PROBE };
        self.waits.wrapping_add(1).is_multiple_of(waits_per_probe)
    }

    /// Whether it shares its CPU with the other side, beside a busy thread. A wait after one that was
    /// not beside busy threads does not ask, so that a single event costs no load more.
    fn keeps_the_other_side_from_its_cpu(&self, waiting: &Waiting<'_>) -> bool {
        self.phase == Phase::Beside && waiting.load.keeps_the_other_side_from_its_cpu()
    }

    fn poll_near(&mut self, waiting: &Waiting<'_>) -> Step {
        if waiting.is_oversubscribed() || self.keeps_the_other_side_from_its_cpu(waiting) {
            return self.stay(waiting);
        }
        self.enter(Phase::Near, Step::Poll(NEAR_POLLS))
    }

    /// The first step of a wait that takes longer than the near polls.
    fn stay(&mut self, waiting: &Waiting<'_>) -> Step {
        let load = waiting.load;
        if load.is_beside_busy_threads() {
            let step = self.beside.begin(load, self.consumes);
            return self.enter(Phase::Beside, step);
        }
        self.spent_ns = 0;
        let may_be_answered = || load.has_several_producers() && Spinner::is_ever_granted();
        if load.is_oversubscribed() && may_be_answered() {
            return self.enter(Phase::Glance, Step::Poll(POLLS_BEFORE_A_YIELD));
        }
        self.stay_awake(waiting)
    }

    /// One more step awake: polls if a CPU is spare, or yields.
    fn stay_awake(&mut self, waiting: &Waiting<'_>) -> Step {
        let is_oversubscribed = waiting.is_oversubscribed();
        if is_oversubscribed {
            waiting.spin_no_more();
        }
        let may_spin = !is_oversubscribed && waiting.may_spin();
        self.polls_since = may_spin.then(now);
        let step = if may_spin { Step::Poll(POLLS_PER_CLOCK) } else { Step::Yield };
        self.enter(Phase::Awake, step)
    }

    /// Stays awake, or parks once that costs too much.
    fn stay_awake_or_park(&mut self, waiting: &Waiting<'_>) -> Step {
        let cost_ns = match self.polls_since {
            Some(start) => nanoseconds(now() - start),
            None => waiting.last_yield().map_or(0, cost_of),
        };
        self.spent_ns = self.spent_ns.saturating_add(cost_ns);
        if self.spent_ns < self.usual.budget_ns() {
            return self.stay_awake(waiting);
        }
        if waiting.spin_no_more() {
            return self.enter(Phase::Leaving, Step::Yield);
        }
        self.enter(Phase::Parked, Step::Park)
    }
}

/// What it does between batches.
impl Adaptive {
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
    fn end_turn(&mut self, last: LastWait, pacing: &Pacing<'_>) {
        if !self.is_lone || last == LastWait::None {
            self.last = LastWait::Longer; // no yield after the next single event
            pacing.yield_now();
        }
    }
}

/// The gap that follows a gap of `gap` pause hints in which `events` arrived.
fn learnt(gap: u32, events: u64) -> u32 {
    let longest = if events > gap.into() { LONGEST_GAP } else { LONG_GAP };
    stream::learnt(gap, events, SHORTEST_GAP..=longest)
}

impl WaitStrategy for Adaptive {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        if waiting.steps() == 0 {
            return self.begin(waiting);
        }
        match self.phase {
            Phase::Gap => {
                self.gap /= 2;
                let is_probe = self.is_next_a_probe();
                self.waits = self.waits.wrapping_add(1);
                let is_needless =
                    waiting.is_oversubscribed() || waiting.load.is_beside_busy_threads();
                if is_probe && !is_needless {
                    return self.enter(Phase::Probe, Step::Yield);
                }
                self.poll_near(waiting)
            }
            Phase::Probe => self.poll_near(waiting),
            Phase::Near | Phase::Single => self.stay(waiting),
            Phase::Beside => match self.beside.next(waiting) {
                Some(step) => step,
                None => self.poll_near(waiting),
            },
            Phase::Glance => self.stay_awake(waiting),
            Phase::Awake => self.stay_awake_or_park(waiting),
            Phase::Leaving => self.enter(Phase::Parked, Step::Park),
            Phase::Parked => {
                self.usual.learn_parked(waiting.slept());
                self.poll_near(waiting)
            }
        }
    }

    fn ended(&mut self, waited: &Waited) {
        self.last = match self.phase {
            Phase::Gap => LastWait::There,
            Phase::Single => LastWait::Single,
            _ => LastWait::Longer,
        };
        match self.phase {
            Phase::Parked => self.usual.learn_parked(waited.slept()),
            _ if waited.is_expired() => {}
            Phase::Gap | Phase::Beside => {}
            Phase::Probe | Phase::Near | Phase::Single => self.usual.learn_near(),
            Phase::Glance | Phase::Awake | Phase::Leaving => {
                let last_ns = waited.last_yield.map_or(0, cost_of);
                self.usual.learn_awake(self.spent_ns.saturating_add(last_ns));
            }
        }
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        let last = mem::take(&mut self.last);
        let Pacing { events, is_late, .. } = *pacing;
        self.is_lone = events < stream::FEWEST;
        self.consumes = true;
        if is_late {
            return self.hurry();
        }
        if pacing.is_oversubscribed() {
            return self.end_turn(last, pacing);
        }
        match last {
            LastWait::There => self.gap = learnt(self.gap, events),
            // With this many events, the consumer does not poll too often.
            LastWait::None if events >= FEW_EVENTS => self.pace /= 2,
            LastWait::None => self.pace = learnt(self.pace, events),
            // Events that ended a wait arrived one by one, and so may the next.
            LastWait::Longer | LastWait::Single => {}
        }
        pacing.pause(self.pace);
    }
}
