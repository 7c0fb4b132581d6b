//! The kinds of faults, and how often each was injected.

use std::sync::atomic::{AtomicU64, Ordering};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A handler or receiver does not return for a time.
    Stall,
    /// A handler returns an error.
    Error,
    /// A handler panics.
    Panic,
    /// A claim is dropped.
    ClaimDropped,
    /// The closure that fills a claim panics, or a claim is dropped by a panic.
    FillPanic,
    /// A producer is dropped by a panic while it has a claim.
    ProducerDied,
    /// A worker group gets another size.
    Resize,
    /// A stage or a worker is stopped.
    Stopped,
    /// A consumer takes a dynamic stage.
    Joined,
    /// A consumer leaves the graph or its dynamic stage.
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

impl Fault {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 17] = [
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
    #[must_use]
    pub const fn name(self) -> &'static str {
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
pub struct Counts([AtomicU64; Fault::ALL.len()]);

impl Counts {
    /// Counts one fault. Relaxed suffices: a figure.
    pub(super) fn add(&self, fault: Fault) {
        self.0[fault as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns each fault, and how often it was injected.
    pub fn each(&self) -> impl Iterator<Item = (Fault, u64)> {
        Fault::ALL.into_iter().map(|fault| (fault, self.0[fault as usize].load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_own_count() {
        let counts = Counts::default();
        counts.add(Fault::Halt);
        counts.add(Fault::Halt);
        assert_eq!(counts.each().find(|(fault, _)| *fault == Fault::Halt), Some((Fault::Halt, 2)));
        assert_eq!(counts.each().map(|(_, count)| count).sum::<u64>(), 2);
        assert!(Fault::ALL.iter().enumerate().all(|(place, fault)| *fault as usize == place));
    }
}
