//! What a waiter gets to do before what it waits for comes.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// A time before an event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pause {
    /// Spent on the CPU.
    Busy(Duration),
    /// Spent off it, so that the waiter may have it.
    Asleep(Duration),
}

/// Different ones, for a waiter to be in different phases of its wait: looking, on its way to sleep,
/// asleep.
pub(crate) const PAUSES: [Pause; 4] = [
    Pause::Busy(Duration::ZERO),
    Pause::Busy(Duration::from_micros(10)),
    Pause::Asleep(Duration::from_micros(100)),
    Pause::Asleep(Duration::from_millis(3)),
];

impl Pause {
    pub(crate) fn pass(self) {
        match self {
            Self::Busy(time) => {
                let start = Instant::now();
                while start.elapsed() < time {
                    hint::spin_loop();
                }
            }
            Self::Asleep(time) => thread::sleep(time),
        }
    }
}
