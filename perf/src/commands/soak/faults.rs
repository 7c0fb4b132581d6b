//! The faults: their kinds, how often each was injected, and when the next ones are due. Not here:
//! how a fault reaches a handler or a producer (`orders`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;

/// Shortest and longest stall of a handler, in microseconds. Short ones are as frequent as long ones
/// of ten times the length.
const STALL_US: (f64, f64) = (1.0, 100_000.0);

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A handler or receiver does not return for a time.
    Stall,
    /// A handler returns an error.
    Error,
    /// A handler panics.
    Panic,
    /// A claim is dropped.
    ClaimDropped,
    /// The closure that fills a claim panics.
    FillPanic,
    /// A producer is dropped by a panic while it has a claim.
    ProducerDied,
    /// A worker group gets another size.
    Resize,
    /// A stage or a worker is stopped.
    Stopped,
    /// A consumer takes a seat.
    Joined,
    /// A consumer leaves its seat, or a poller is dropped.
    Left,
    /// A receiver of a channel is dropped while values are sent.
    ReceiverDropped,
    /// The ring is halted.
    Halt,
    /// The ring is closed while producers publish.
    Close,
    /// The same ring is built and started again.
    Restart,
    /// All threads have one CPU.
    OneCpu,
    /// Busy threads of another process run.
    BusyThreads,
    /// `SIGSTOP`, and `SIGCONT` after a time.
    Stop,
}

impl Kind {
    /// All of them, in the order of a report.
    pub(super) const ALL: [Self; 17] = [
        Self::Stall,
        Self::Error,
        Self::Panic,
        Self::ClaimDropped,
        Self::FillPanic,
        Self::ProducerDied,
        Self::Resize,
        Self::Stopped,
        Self::Joined,
        Self::Left,
        Self::ReceiverDropped,
        Self::Halt,
        Self::Close,
        Self::Restart,
        Self::OneCpu,
        Self::BusyThreads,
        Self::Stop,
    ];

    /// Returns its name in a report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Stall => "stall",
            Self::Error => "error",
            Self::Panic => "panic",
            Self::ClaimDropped => "claim-dropped",
            Self::FillPanic => "fill-panic",
            Self::ProducerDied => "producer-died",
            Self::Resize => "resize",
            Self::Stopped => "stopped",
            Self::Joined => "joined",
            Self::Left => "left",
            Self::ReceiverDropped => "receiver-dropped",
            Self::Halt => "halt",
            Self::Close => "close",
            Self::Restart => "restart",
            Self::OneCpu => "one-cpu",
            Self::BusyThreads => "busy-threads",
            Self::Stop => "sigstop",
        }
    }
}

/// How often each fault was injected.
#[derive(Debug, Default)]
pub(super) struct Counts([AtomicU64; Kind::ALL.len()]);

impl Counts {
    /// Counts one fault. Relaxed suffices: a figure.
    pub(super) fn add(&self, kind: Kind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counts by name.
    pub(super) fn by_name(&self) -> BTreeMap<String, u64> {
        let count = |kind: Kind| self.0[kind as usize].load(Ordering::Relaxed);
        Kind::ALL.iter().map(|kind| (kind.name().to_owned(), count(*kind))).collect()
    }
}

/// A fault during the life of a ring. `target` selects a consumer or producer, by its number
/// modulo how many there are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// When, from the start of the ring.
    pub(super) at: Duration,
    /// Which thread it meets.
    pub(super) target: usize,
    /// What it does.
    pub(super) deed: Deed,
}

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Deed {
    /// A consumer stalls.
    Stall(Duration),
    /// A handler returns an error or panics. The policy of its stage decides.
    Fail(Failing),
    /// A producer loses a claim.
    Lose(Losing),
    /// A worker group gets this size, modulo what is allowed.
    Resize(usize),
    /// A stage that may leave is stopped.
    StopStage,
    /// A consumer joins, and leaves after this many events, if any.
    Join {
        /// When it leaves.
        leaves_after: Option<u64>,
        /// Whether it polls.
        is_poller: bool,
        /// Whether it begins with the oldest event.
        from_oldest: bool,
    },
}

/// How a handler fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    /// It returns an error.
    Error,
    /// It panics.
    Panic,
}

/// How a producer loses a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Losing {
    /// The claim is dropped.
    Drop,
    /// The closure that fills it panics.
    FillPanic,
    /// The producer is dropped with it, by a panic.
    Die,
}

/// Draws a duration so that each power of ten is as frequent as any other.
pub(super) fn log_uniform(draw: &mut Rng, least_us: f64, most_us: f64) -> Duration {
    let exponent = least_us.ln() + draw.f64() * (most_us.ln() - least_us.ln());
    Duration::from_nanos((exponent.exp() * 1_000.0) as u64)
}

impl Deed {
    fn draw(draw: &mut Rng) -> Self {
        match draw.u32(0..20) {
            0..5 => Self::Stall(log_uniform(draw, STALL_US.0, STALL_US.1)),
            5..8 => Self::Fail(Failing::Error),
            8..11 => Self::Fail(Failing::Panic),
            11 | 12 => Self::Lose(Losing::Drop),
            13 => Self::Lose(Losing::FillPanic),
            14 => Self::Lose(Losing::Die),
            15 | 16 => Self::Resize(draw.usize(..)),
            17 => Self::StopStage,
            _ => Self::Join {
                leaves_after: draw.bool().then(|| draw.u64(0..5_000)),
                is_poller: draw.bool(),
                from_oldest: draw.bool(),
            },
        }
    }
}

/// Draws `count` faults within `time`, in the order of their times.
pub(super) fn schedule(draw: &mut Rng, time: Duration, count: usize) -> Vec<Fault> {
    let fault = |draw: &mut Rng| {
        let at = time.mul_f64(draw.f64());
        Fault { at, target: draw.usize(..), deed: Deed::draw(draw) }
    };
    let mut faults: Vec<_> = (0..count).map(|_| fault(draw)).collect();
    faults.sort_by_key(|fault| fault.at);
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seed: u64) -> Vec<Fault> {
        schedule(&mut Rng::with_seed(seed), Duration::from_secs(1), 1_000)
    }

    #[test]
    fn a_seed_gives_the_same_faults_each_time() {
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }

    #[test]
    fn faults_are_of_each_kind_in_order_and_within_the_time() {
        let faults = of(1);
        assert!(faults.is_sorted_by_key(|fault| fault.at));
        assert!(faults.iter().all(|fault| fault.at < Duration::from_secs(1)));
        let has = |is_it: fn(&Deed) -> bool| faults.iter().any(|fault| is_it(&fault.deed));
        assert!(has(|deed| matches!(deed, Deed::Fail(Failing::Panic))));
        assert!(has(|deed| matches!(deed, Deed::Lose(Losing::Die))));
        assert!(has(|deed| matches!(deed, Deed::Resize(_))));
        assert!(has(|deed| matches!(deed, Deed::Stall(time) if time.as_millis() >= 10)));
        assert!(has(|deed| matches!(deed, Deed::Stall(time) if time.as_micros() < 10)));
    }

    #[test]
    fn counts_are_reported_by_name() {
        let counts = Counts::default();
        counts.add(Kind::Halt);
        counts.add(Kind::Halt);
        assert_eq!(counts.by_name()["halt"], 2);
        assert_eq!(counts.by_name().len(), Kind::ALL.len());
        assert!(Kind::ALL.iter().enumerate().all(|(place, kind)| *kind as usize == place));
    }
}
