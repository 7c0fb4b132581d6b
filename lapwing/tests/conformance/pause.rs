//! What a waiting thread can do before its event comes.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// A time before an event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pause {
    /// Spent on the CPU.
    Busy(Duration),
    /// Spent off the CPU, so that the waiting thread can use it.
    Asleep(Duration),
}

/// Different pauses, so that the event finds the waiting thread in different phases: polling, about
/// to sleep, asleep.
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
