//! The rhythm of a producer: which phase it is in, and when it pauses. Producers of rings and senders
//! of channels have it in common.

use std::time::{Duration, Instant};

use super::board::Board;
use super::plan::{Pattern, Phase};

/// Longest sleep before the end of the ring is checked again.
const NAP: Duration = Duration::from_millis(5);

/// Where a producer is in its phases.
pub(super) struct Pace {
    phases: Vec<Phase>,
    current: usize,
    /// The end of the current phase.
    ends_at: Instant,
    /// Batches since the last pause.
    batches: u32,
}

impl Pace {
    /// Begins with the first phase.
    pub(super) fn new(phases: &[Phase]) -> Self {
        let ends_at = Instant::now() + phases[0].time;
        Self { phases: phases.to_vec(), current: 0, ends_at, batches: 0 }
    }

    /// Returns the current phase, after the pause that is due. `None` in silence: there is nothing
    /// to send yet.
    #[inline]
    pub(super) fn next(&mut self, board: &Board) -> Option<Phase> {
        self.batches += 1;
        if matches!(self.phases[self.current].pattern, Pattern::Saturation)
            && !self.batches.is_multiple_of(16)
        {
            return Some(self.phases[self.current]); // reads the clock at times only
        }
        if Instant::now() >= self.ends_at {
            self.current = (self.current + 1) % self.phases.len();
            self.ends_at = Instant::now() + self.phases[self.current].time;
        }
        let phase = self.phases[self.current];
        match phase.pattern {
            Pattern::Saturation => Some(phase),
            Pattern::Bursts { batches, pause } => {
                if self.batches.is_multiple_of(batches) {
                    board.stall(pause.min(NAP));
                }
                Some(phase)
            }
            Pattern::Trickle { pause } => {
                board.stall(pause.min(NAP));
                Some(Phase { batch: 1, ..phase })
            }
            Pattern::Silence => {
                board.stall(NAP);
                None
            }
        }
    }
}
