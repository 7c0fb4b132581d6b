//! What the yields of a ring's threads show about the CPUs that they run on. Not here: how many
//! threads may spin (`spinner`).
//!
//! | yields | the ring is | waiting threads |
//! |---|---|---|
//! | let no other thread run | alone | spin |
//! | let other threads run, and return soon | oversubscribed | yield at once: the threads of the ring take turns |
//! | take a time slice | beside busy threads | do not yield: they spin, sleep once, and park (`beside_busy_threads`) |
//!
//! A yield beside a thread that never yields gives it a time slice, which is 4 ms on Linux at 250
//! Hz. A thread that sleeps is scheduled within microseconds of its wake-up instead, as long as it
//! has used less than its share of the CPU. A yield that took more than a millisecond therefore
//! bans yields in the whole ring: for 8 ms at first, and for up to a second if it happens again.
//! Then one thread tries a yield.
//!
//! Each thread measures how long its own yields take, and records the result in two words of the
//! ring, so all threads of the ring know. Otherwise a thread with a CPU to itself would spin there
//! while two others share the next CPU.

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, Instant};

use super::meeting;
use super::spinner::{Spinner, cpus};
use crate::Sequence;
#[cfg(not(all(test, not(loom))))]
use crate::cpu::cpu_time;
use crate::ring::Shared;
use crate::sync::{Figure, Ordering, now, yield_now};

/// After a yield that let another thread run, this many yields must let none run before the
/// oversubscription is over: half a millisecond.
const YIELDS_ALONE: u64 = 1024;
/// One store records this many yields of one thread. All threads load that cache line: with a store
/// for each yield, they would wait for the cache line each time.
const YIELDS_PER_STORE: u64 = 32;
/// A longer yield may have let another thread run. A yield that lets none run takes half a
/// microsecond, but one in a few hundred takes this long on some virtual machines. See E78
/// in `lab/results/experiments.md`.
const LONG: Duration = Duration::from_nanos(1_500);
/// A longer yield gave a time slice to a thread that does not yield.
const SLICE: Duration = Duration::from_millis(1);
/// If this many laps of the ring or more were claimed during a long yield, the other thread belongs
/// to the ring and made good use of its time slice.
const PRODUCTIVE_LAPS: u64 = 2;

thread_local! {
    /// Yields of this thread that let no other run and are not recorded yet.
    static UNNOTED: Cell<u64> = const { Cell::new(0) };
}

#[cfg(all(test, not(loom)))]
thread_local! {
    /// Yields of this thread.
    pub(super) static YIELDS: Cell<u64> = const { Cell::new(0) };
    /// Whether this thread assumes that another one is ready to run on its CPU.
    static IS_ANOTHER_READY: Cell<bool> = const { Cell::new(true) };
}

/// The result of a yield, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Yield {
    /// No other thread ran.
    Alone(Duration),
    /// Another thread ran.
    LetRun,
    /// Another thread ran for a time slice.
    Slice,
    /// There was no yield, since it would take a time slice.
    Refused,
}

/// What the estimate has to know about the ring, or about [whatever else](super::Elsewhere) the
/// threads work at. Advice only.
pub(super) trait Workplace: Sync {
    /// Whether it has several producers.
    fn has_several_producers(&self) -> bool;

    /// Returns the number of threads that work at it.
    fn threads(&self) -> u64;

    /// Whether an event may wake several threads at once.
    fn has_siblings(&self) -> bool;

    /// Returns the number of events that were claimed.
    fn claimed(&self) -> Sequence;

    /// Returns the number of slots: at least one.
    fn capacity(&self) -> u64;

    /// Returns when its time began, in which a [`Ban`] ends.
    fn made_at(&self) -> Instant;
}

impl Workplace for Shared {
    fn has_several_producers(&self) -> bool {
        self.control.is_multi()
    }

    fn threads(&self) -> u64 {
        Self::threads(self)
    }

    fn has_siblings(&self) -> bool {
        Self::has_siblings(self)
    }

    fn claimed(&self) -> Sequence {
        self.control.claimed()
    }

    fn capacity(&self) -> u64 {
        self.control.capacity()
    }

    fn made_at(&self) -> Instant {
        self.made_at
    }
}

/// What the threads of one ring have recorded about their yields.
#[derive(Clone, Copy)]
pub(crate) struct CpuLoad<'a> {
    /// The ring. Called only where a call through a pointer does not matter: around a yield, and
    /// by a thread that has polled for a microsecond.
    workplace: &'a dyn Workplace,
    /// How many yields must let no other thread run until the oversubscription is over; 0 if there
    /// is none.
    yields_left: &'a Figure,
    /// Until when no thread yields, as a [`Ban`]; 0 if yields are allowed.
    ban: &'a Figure,
    /// The last wait beside busy threads, as `meeting` records it.
    meeting: &'a Figure,
}

impl<'a> CpuLoad<'a> {
    /// The load of the ring of `shared`.
    pub(crate) fn of(shared: &'a Shared) -> Self {
        Self::new(shared, &shared.cpu_load)
    }

    /// The load at this workplace, whose threads record it in these words.
    pub(super) fn new(workplace: &'a dyn Workplace, words: &'a [Figure; 3]) -> Self {
        let [yields_left, ban, meeting] = words;
        Self { workplace, yields_left, ban, meeting }
    }

    /// Whether the threads of the ring take turns on their CPUs: yields let another thread run and
    /// return soon. Always true if the process has one CPU, since a turn there is too short to be
    /// distinguished from a yield that let no other thread run.
    pub(super) fn is_oversubscribed(self) -> bool {
        let takes_turns = self.left() > 0 || !Spinner::is_ever_granted();
        takes_turns && !self.is_beside_busy_threads()
    }

    /// Whether the ring has several producers.
    pub(super) fn has_several_producers(self) -> bool {
        self.workplace.has_several_producers()
    }

    /// Whether each thread of the ring can have a CPU: the process has as many, and the scheduler does
    /// not run all of them on one.
    pub(super) fn has_a_cpu_for_each_thread(self) -> bool {
        self.workplace.threads() <= cpus() && !meeting::is_on_one_cpu(self.meeting)
    }

    /// Records the CPU of a thread that begins to wait beside busy threads.
    pub(super) fn record_cpu(self, consumes: bool) {
        // The address of the word says which ring it is.
        let ring = std::ptr::from_ref(self.meeting).addr() / align_of::<Figure>();
        meeting::record(self.meeting, consumes, ring as u64);
    }

    /// Whether the thread that the caller waits for runs on the same CPU, beside a busy thread: it
    /// cannot run while the caller polls or pauses.
    pub(super) fn keeps_the_other_side_from_its_cpu(self) -> bool {
        self.is_beside_busy_threads() && meeting::is_on_one_cpu(self.meeting)
    }

    /// Whether a thread that parks hands its CPU to the one that it waits for. A consumer that waits
    /// for the same event as others does not: the first event of a batch would wake all of them, and
    /// each would find that event only.
    pub(super) fn hands_over_its_cpu(self) -> bool {
        meeting::is_on_one_cpu(self.meeting) && !self.workplace.has_siblings()
    }

    /// Whether a yield would take a time slice.
    pub(super) fn is_beside_busy_threads(self) -> bool {
        Ban::of(self.ban).is_some()
    }

    /// Yields, and records whether another thread ran. Does nothing if the yield would take a time
    /// slice.
    pub(super) fn give_way(self) -> Yield {
        let before = Ban::of(self.ban);
        if !self.may_yield(before) {
            return Yield::Refused;
        }
        let (start, claimed) = (now(), self.workplace.claimed());
        let end = after_yield(start);
        self.note(start, end, self.laps_since(claimed), before)
    }

    /// Whether yields are allowed. After a ban has passed, they are allowed for the first thread
    /// that asks.
    fn may_yield(self, ban: Option<Ban>) -> bool {
        let Some(ban) = ban else { return true };
        let now = self.now_ms();
        ban.has_passed(now) && ban.again(now).replaces(ban, self.ban)
    }

    /// Records a yield. `laps` is how many laps of the ring were claimed meanwhile. `before`
    /// is the ban that had passed before it, if any. A long yield is oversubscription only if a
    /// further one shows it.
    fn note(self, start: Instant, end: Instant, laps: u64, before: Option<Ban>) -> Yield {
        let time = end - start;
        if time > SLICE && laps < PRODUCTIVE_LAPS {
            self.saw_a_slice(before);
            return Yield::Slice;
        }
        if let Some(ban) = Ban::of(self.ban) {
            ban.after_turn(self.now_ms())
                .map_or_else(|| Ban::lift(self.ban), |ban| ban.store(self.ban));
        }
        if time <= LONG {
            self.saw_nobody();
            return Yield::Alone(time);
        }
        // Store rarely, since the other threads load this cache line before each wait.
        if self.left() < YIELDS_ALONE / 2 {
            if !is_another_thread_ready() {
                return Yield::Alone(time);
            }
            self.saw_others();
        }
        Yield::LetRun
    }

    /// How many laps of the ring were claimed since `claimed`.
    fn laps_since(self, claimed: Sequence) -> u64 {
        self.workplace.claimed().saturating_sub(claimed) / self.workplace.capacity()
    }

    /// Records that a yield took a time slice. `before` is the ban that had passed before the
    /// yield, if any. Overlapping slices of several threads count once, so that a host that stops
    /// all CPUs for a moment causes a short ban.
    pub(super) fn saw_a_slice(self, before: Option<Ban>) {
        if before.is_some() || Ban::of(self.ban).is_none() {
            Ban::after_slice(before, self.now_ms()).store(self.ban);
        }
    }

    /// Forbids yields for longer than any test takes.
    #[cfg(all(test, not(loom)))]
    pub(super) fn forbid_yields(self) {
        let until_ms = self.now_ms() + 3_600_000;
        Ban { until_ms, level: Ban::HIGHEST }.store(self.ban);
    }

    /// Pretends that the threads of the ring wait on one CPU.
    #[cfg(all(test, not(loom)))]
    pub(super) fn run_on_one_cpu(self) {
        meeting::tests::pretend_one_cpu(self.meeting);
    }

    /// Records that another thread ran.
    pub(super) fn saw_others(self) {
        UNNOTED.set(0);
        self.set(YIELDS_ALONE);
    }

    /// Records that a yield let no other thread run.
    pub(super) fn saw_nobody(self) {
        let left = self.left();
        if left == 0 {
            return;
        }
        let unnoted = UNNOTED.get() + 1;
        UNNOTED.set(unnoted % YIELDS_PER_STORE);
        if unnoted == YIELDS_PER_STORE {
            self.set(left.saturating_sub(unnoted));
        }
    }

    /// Milliseconds since the ring was made.
    fn now_ms(self) -> u64 {
        u64::try_from((now() - self.workplace.made_at()).as_millis()).unwrap_or(u64::MAX)
    }

    fn left(self) -> u64 {
        // O13, Relaxed: a figure. If a store of another thread overwrites one, the next corrects it.
        self.yields_left.load(Ordering::Relaxed)
    }

    fn set(self, left: u64) {
        // O13, Relaxed: a figure, see `left`.
        self.yields_left.store(left, Ordering::Relaxed);
    }
}

impl fmt::Debug for CpuLoad<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("CpuLoad");
        shown.field("yields_left", self.yields_left).field("ban", &Ban::of(self.ban));
        shown.finish_non_exhaustive()
    }
}

/// Yields at `start`; returns the time afterwards.
#[cfg(not(all(test, not(loom))))]
fn after_yield(_start: Instant) -> Instant {
    yield_now();
    now()
}

/// The same in a test: pretends that the yield let no other thread run, however busy the machine
/// is.
#[cfg(all(test, not(loom)))]
fn after_yield(start: Instant) -> Instant {
    yield_now();
    YIELDS.set(YIELDS.get() + 1);
    start + Duration::from_nanos(500)
}

/// Yields once more, and returns whether another thread ran meanwhile: then the yield takes longer
/// than the CPU time that this thread uses. Where the system does not say how much that is, a second
/// long yield is believed.
#[cfg(not(all(test, not(loom))))]
fn is_another_thread_ready() -> bool {
    let used_before = cpu_time();
    let start = now();
    yield_now();
    let time = now() - start;
    match (used_before, cpu_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before) < time,
        _ => time > LONG,
    }
}

/// The same in a test, independent of the machine.
#[cfg(all(test, not(loom)))]
fn is_another_thread_ready() -> bool {
    IS_ANOTHER_READY.get()
}

/// A period without yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ban {
    /// When it ends.
    until_ms: u64,
    /// How often a yield took a time slice recently. Each level doubles the length of the next ban.
    level: u32,
}

impl Ban {
    /// Length of the first ban: twice a time slice.
    const FIRST_MS: u64 = 8;
    /// Level of the longest ban: a second. One yield in a second then takes a time slice, which is
    /// 0.4 % of the time of one thread.
    const HIGHEST: u32 = 7;
    /// What a yield that took a time slice adds to the level. A yield that did not take one
    /// subtracts one level. So the level also rises if every second yield takes a time slice.
    const STEP: u32 = 2;
    /// The word holds the level in its lowest bits.
    const LEVELS: u64 = 8;

    /// The ban in `word`, passed or not.
    fn of(word: &Figure) -> Option<Self> {
        // O13, Relaxed: a figure.
        Self::decode(word.load(Ordering::Relaxed))
    }

    fn decode(word: u64) -> Option<Self> {
        let (until_ms, level) = (word / Self::LEVELS, (word % Self::LEVELS) as u32);
        (word != 0).then_some(Self { until_ms, level })
    }

    fn encode(self) -> u64 {
        self.until_ms * Self::LEVELS + u64::from(self.level)
    }

    fn new(now_ms: u64, level: u32) -> Self {
        Self { until_ms: now_ms + (Self::FIRST_MS << level), level }
    }

    /// The ban after a yield that took a time slice.
    fn after_slice(before: Option<Self>, now_ms: u64) -> Self {
        let level = before.map_or(0, |ban| (ban.level + Self::STEP).min(Self::HIGHEST));
        Self::new(now_ms, level)
    }

    /// The ban after a yield that took no time slice. It has already passed, so the next thread may
    /// try as well. `None` after enough such yields.
    fn after_turn(self, now_ms: u64) -> Option<Self> {
        let level = self.level.checked_sub(1)?;
        Some(Self { until_ms: now_ms.max(1), level })
    }

    /// The same ban once more, while one thread tries a yield.
    fn again(self, now_ms: u64) -> Self {
        Self::new(now_ms, self.level)
    }

    fn has_passed(self, now_ms: u64) -> bool {
        now_ms >= self.until_ms
    }

    fn store(self, word: &Figure) {
        // O13, Relaxed: a figure. If several threads store at once, one value remains.
        word.store(self.encode(), Ordering::Relaxed);
    }

    fn lift(word: &Figure) {
        // O13, Relaxed: a figure, see `store`.
        word.store(0, Ordering::Relaxed);
    }

    /// Stores this ban in place of `other`. Returns false if another thread was first.
    fn replaces(self, other: Self, word: &Figure) -> bool {
        let (from, to) = (other.encode(), self.encode());
        // O13, Relaxed: the modification order of the word decides which thread tries.
        word.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;
    use crate::wait::spinner::HAS_SPARE_CPU;

    /// The words of a ring of 8 slots.
    fn ring() -> Shared {
        Shared::of_graph(8, &[&[]])
    }

    /// Records yields that take this many nanoseconds.
    fn note(ring: CpuLoad<'_>, yields: impl IntoIterator<Item = u64>) {
        let start = Instant::now();
        for ns in yields {
            _ = ring.note(start, start + Duration::from_nanos(ns), 0, None);
        }
    }

    /// Records a yield of `time` in which this many `laps` were claimed.
    fn note_laps(ring: CpuLoad<'_>, time: Duration, laps: u64) -> Yield {
        // As if the claims had been made before the yield.
        let start = Instant::now();
        ring.note(start, start + time, laps, Ban::of(ring.ban))
    }

    /// A virtual machine is slow for a moment now and then, and so is a yield with a tick of the
    /// system clock in it.
    #[test]
    fn long_yields_are_oversubscription_if_another_thread_runs_meanwhile() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        IS_ANOTHER_READY.set(false);
        note(ring, [400, 4_000, 400, 2_000, 2_000]);
        assert!(!ring.is_oversubscribed());
        IS_ANOTHER_READY.set(true);
        note(ring, [400, 400]);
        assert!(!ring.is_oversubscribed());
        note(ring, [2_000]);
        assert!(ring.is_oversubscribed());
    }

    #[test]
    fn yields_that_let_nobody_run_are_noted_many_at_a_time() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        ring.saw_others();
        let left_after = |yields: u64| {
            (0..yields).for_each(|_| ring.saw_nobody());
            ring.left()
        };
        let noted = thread::scope(|scope| {
            let yields = [YIELDS_PER_STORE - 1, 1, YIELDS_PER_STORE];
            scope.spawn(move || yields.map(left_after)).join().unwrap()
        });
        let after = |stores| YIELDS_ALONE - stores * YIELDS_PER_STORE;
        assert_eq!(noted, [after(0), after(1), after(2)]);
    }

    #[test]
    fn oversubscription_that_fades_is_not_renewed_by_a_tick() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        note(ring, [4_000]);
        assert_eq!(ring.left(), YIELDS_ALONE);
        IS_ANOTHER_READY.set(false);
        note(ring, (0..YIELDS_ALONE / 2 + YIELDS_PER_STORE).map(|_| 400));
        note(ring, [4_000]);
        assert_eq!(ring.left(), YIELDS_ALONE / 2 - YIELDS_PER_STORE);
        IS_ANOTHER_READY.set(true);
        note(ring, [4_000]);
        assert_eq!(ring.left(), YIELDS_ALONE);
    }

    /// With a time slice lost in each wait of each stage, a ring of 1,024 slots makes one lap in 4
    /// ms for each stage.
    #[test]
    fn a_yield_that_takes_a_time_slice_is_the_last_for_a_while() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        ring.saw_others();
        assert_eq!(note_laps(ring, 2 * SLICE, 0), Yield::Slice);
        assert!(ring.is_beside_busy_threads() && !ring.is_oversubscribed());
        YIELDS.set(0);
        assert_eq!((ring.give_way(), YIELDS.get()), (Yield::Refused, 0));
    }

    /// On one CPU, a turn of the other thread may be shorter than what counts as a long yield.
    #[test]
    fn a_ring_on_one_cpu_is_oversubscribed() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        assert!(!ring.is_oversubscribed());
        HAS_SPARE_CPU.set(false);
        assert!(ring.is_oversubscribed());
        ring.saw_a_slice(None);
        assert!(!ring.is_oversubscribed());
    }

    /// For example, a sender that fills the ring again and again while the other senders wait.
    #[test]
    fn a_time_slice_that_the_ring_made_good_use_of_is_no_reason_not_to_yield() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        ring.saw_others();
        assert_ne!(note_laps(ring, 2 * SLICE, PRODUCTIVE_LAPS), Yield::Slice);
        assert!(ring.is_oversubscribed());
    }

    #[test]
    fn yields_are_forbidden_for_longer_and_longer_and_one_thread_tries_again() {
        let slice = |ban: Option<Ban>, now_ms| Ban::after_slice(ban, now_ms);
        let mut ban = slice(None, 0);
        let mut lengths = vec![ban.until_ms];
        for _ in 0..5 {
            let before = ban.until_ms;
            ban = slice(Some(ban), before);
            lengths.push(ban.until_ms - before);
        }
        assert_eq!(lengths, [8, 32, 128, 512, 1024, 1024]);

        let control = ring();
        let ring = CpuLoad::of(&control);
        slice(None, 0).store(ring.ban);
        while !slice(None, 0).has_passed(ring.now_ms()) {
            yield_now();
        }
        let tries: [_; 3] = std::array::from_fn(|_| ring.may_yield(Ban::of(ring.ban)));
        assert_eq!(
            tries,
            [true, false, false],
            "the first of those that ask tries for all of them"
        );
    }

    /// A host may stop all threads at once. Counting each of four slices would ban yields for half
    /// a second.
    #[test]
    fn time_slices_that_overlap_count_once() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        (0..4).for_each(|_| ring.saw_a_slice(None));
        assert_eq!(Ban::of(ring.ban).map(|ban| ban.level), Some(0));
    }

    #[test]
    fn yields_that_take_no_time_slice_are_allowed_again_one_level_at_a_time() {
        let control = ring();
        let ring = CpuLoad::of(&control);
        let level = || Ban::of(ring.ban).map(|ban| ban.level);
        (0..2).for_each(|_| _ = note_laps(ring, 2 * SLICE, 0));
        assert_eq!(level(), Some(2));
        let after: [_; 3] = std::array::from_fn(|_| {
            _ = note_laps(ring, Duration::ZERO, 0);
            level()
        });
        assert_eq!(after, [Some(1), Some(0), None]);
        assert!(ring.may_yield(Ban::of(ring.ban)) && !ring.is_beside_busy_threads());
    }
}
