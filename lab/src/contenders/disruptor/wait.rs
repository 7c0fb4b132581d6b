//! The waits of its threads: the three strategies of the crate, and ways to free the CPU, which the
//! trait of the crate allows its users. These matter if threads outnumber CPUs.

use std::thread;
use std::time::Duration;

use disruptor::wait_strategies::WaitStrategy;
use disruptor::{BusySpin, BusySpinWithSpinLoopHint, Sequence, Sleep};

/// The shortest sleep that can be requested. The system sleeps for about 60 µs.
const SHORTEST: Duration = Duration::from_nanos(1);
/// A sleep during which a ring of the usual size does not quite fill.
const LONGER: Duration = Duration::from_micros(250);

/// A wait strategy of consumers, and the wait of producers for a slot. It is one type for all
/// strategies, so that each topology is compiled once. The branch on the strategy is in a loop that
/// waits anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// `BusySpin`.
    BusySpin,
    /// `BusySpinWithSpinLoopHint`.
    SpinLoopHint,
    /// Yields the CPU.
    Yield,
    /// `Sleep` with the shortest time.
    Sleep,
    /// The same, while producers spin, as those of the crate do. Beside busy threads of other programs this
    /// is faster than to yield, which loses a time slice.
    SleepSpin,
    /// `Sleep` with a quarter of a millisecond.
    LongSleep,
}

impl Wait {
    /// All of them.
    pub(super) const ALL: [Self; 6] = [
        Self::BusySpin,
        Self::SpinLoopHint,
        Self::Yield,
        Self::Sleep,
        Self::SleepSpin,
        Self::LongSleep,
    ];

    /// Returns the name in every report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::BusySpin => "busy-spin",
            Self::SpinLoopHint => "spin-hint",
            Self::Yield => "yield",
            Self::Sleep => "sleep",
            Self::SleepSpin => "sleep-spin",
            Self::LongSleep => "sleep-250us",
        }
    }

    /// Runs one iteration of a producer that waits for a slot. The crate's own `publish` spins
    /// without a hint, whatever the strategy of the consumers. This loop frees the CPU if they do.
    #[inline]
    pub(super) fn wait_for_slot(self) {
        match self {
            Self::BusySpin | Self::SleepSpin => {}
            Self::SpinLoopHint => BusySpinWithSpinLoopHint.wait_for(0),
            Self::Yield | Self::Sleep | Self::LongSleep => thread::yield_now(),
        }
    }
}

impl WaitStrategy for Wait {
    #[inline]
    fn wait_for(&self, sequence: Sequence) {
        match self {
            Self::BusySpin => BusySpin.wait_for(sequence),
            Self::SpinLoopHint => BusySpinWithSpinLoopHint.wait_for(sequence),
            Self::Yield => thread::yield_now(),
            Self::Sleep | Self::SleepSpin => Sleep::new(SHORTEST).wait_for(sequence),
            Self::LongSleep => Sleep::new(LONGER).wait_for(sequence),
        }
    }
}
