//! How long the waits of a thread usually take, and whether it therefore pays to stay awake. Not
//! here: what the thread does while it is awake (`adaptive`).

use std::time::Duration;

use super::cpu_load::Yield;

/// The cost of a park and a wake-up for both sides together. A thread that spins for this long
/// before it parks never spends more than twice the time of the better choice.
pub(super) const PARKING: Duration = Duration::from_micros(50);
/// [`PARKING`] in nanoseconds. Staying awake longer does not pay.
const PARKING_NS: u32 = PARKING.as_nanos() as u32;
/// Polls between two reads of the clock while a thread stays awake.
pub(super) const POLLS_PER_CLOCK: u32 = 24;
/// The assumed length of a wait that ended within the first polls, in nanoseconds.
const NEAR_NS: u32 = 1_000;
/// Weight of the last wait in the estimate: an eighth.
const LEARNING: u32 = 8;
/// The cost of a yield that let another thread run, in nanoseconds: the context switch. The time
/// that the other thread ran is not lost.
const SWITCH_NS: u32 = 500;

/// An estimate of the length of a wait, in nanoseconds. It counts a wait as at most twice the cost
/// of parking.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UsualWait(u32);

impl UsualWait {
    /// Whether most waits are over before a park would pay.
    pub(super) fn is_short(self) -> bool {
        self.0 <= PARKING_NS
    }

    /// Whether most waits end within the first polls.
    pub(super) fn is_near(self) -> bool {
        self.0 <= 2 * NEAR_NS
    }

    /// Nanoseconds to stay awake; 0 if that does not pay.
    pub(super) fn budget_ns(self) -> u32 {
        if self.is_short() { PARKING_NS } else { 0 }
    }

    /// Learns from a wait that ended within the first polls.
    pub(super) fn learn_near(&mut self) {
        self.learn(NEAR_NS);
    }

    /// Learns from a wait that ended after it had spent this time awake.
    pub(super) fn learn_awake(&mut self, spent_ns: u32) {
        self.learn(NEAR_NS.saturating_add(spent_ns));
    }

    /// Learns from a wait in which the thread was parked for this time.
    pub(super) fn learn_parked(&mut self, slept: Duration) {
        self.learn(nanoseconds(slept).saturating_add(self.budget_ns()));
    }

    fn learn(&mut self, wait_ns: u32) {
        self.0 = (self.0 * (LEARNING - 1) + wait_ns.min(2 * PARKING_NS)) / LEARNING;
    }
}

/// The cost of a yield in nanoseconds. It is more than any budget if a yield takes a time slice.
pub(super) fn cost_of(result: Yield) -> u32 {
    match result {
        Yield::Alone(time) => nanoseconds(time),
        Yield::LetRun => SWITCH_NS,
        Yield::Slice | Yield::Refused => u32::MAX,
    }
}

/// `time` in nanoseconds, saturating.
pub(super) fn nanoseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}
