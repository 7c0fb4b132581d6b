//! How far a producer may claim without a look: up to the gate, and no further than it has asked for the
//! lines of the slots.
//!
//! ```text
//!     next claim           near            asked                limit
//!  ───────┼──────────────────┼────────────────┼───────────────────┼───
//!         │    these lines are on their way   │                   └ the gate, when it was last read
//!         └ a claim up to `near` is one comparison
//! ```
//!
//! A slot that comes round again lies in the cache of the consumer that read it last, and the store to
//! it waits for its line. Lines that are asked for together take hardly longer than one. What asks is
//! the same look that reads the gate, taken more often: a claim that needs none compares two numbers
//! either way. Who gains by it, and how much, is in `perf/results/experiments.md`.

use std::ops::Range;

use super::gate;
use crate::Sequence;
use crate::control::Control;
use crate::error::TryPublishError;
use crate::ring_buffer::Prefetcher;

/// What one producer knows of the slots before it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Runway {
    /// First sequence that is not claimed without a look; at most `limit`.
    near: Sequence,
    /// First sequence whose line was not asked for.
    asked: Sequence,
    /// First sequence that could not be claimed when the gate was last read; never too high.
    limit: Sequence,
    slots: Prefetcher,
    /// Slots that are asked for together; 0 if none are.
    stride: u64,
}

impl Runway {
    /// That of a producer that has claimed nothing from `first` on, and asks for `stride` of the `slots`
    /// together, or for none.
    pub(super) fn new(first: Sequence, slots: Prefetcher, stride: u64) -> Self {
        Self { near: first, asked: first, limit: first, slots, stride }
    }

    /// Makes sure that sequences below `end` may be claimed. Never waits.
    ///
    /// # Errors
    ///
    /// As [`gate::refresh`].
    #[inline(always)]
    pub(super) fn reach(
        &mut self,
        control: &Control,
        end: Sequence,
    ) -> Result<(), TryPublishError> {
        if end > self.near {
            *self = self.look(control, end)?;
        }
        Ok(())
    }

    /// The first sequence up to `wanted` that cannot be claimed, beyond `next`.
    ///
    /// # Errors
    ///
    /// As [`gate::refresh`], if `next` itself cannot be claimed.
    pub(super) fn reach_up_to(
        &mut self,
        control: &Control,
        next: Sequence,
        wanted: Sequence,
    ) -> Result<Sequence, TryPublishError> {
        if wanted > self.limit {
            self.limit = gate::refresh(control, next + 1)?;
        }
        Ok(wanted.min(self.limit))
    }

    /// What is known after a look, if sequences below `end` may then be claimed. By value: the compiler need
    /// not read again what lies beside a producer's runway after a call that has no pointer to it.
    #[cold]
    #[inline(never)]
    fn look(mut self, control: &Control, end: Sequence) -> Result<Self, TryPublishError> {
        if end > self.limit {
            self.limit = gate::refresh(control, end)?;
        }
        if self.stride == 0 {
            return Ok(Self { near: self.limit, ..self });
        }
        self.near = self.limit.min(end + self.stride);
        // A stride further than that, so that there is time for the lines to come.
        self.ask(control, self.asked.max(end)..self.limit.min(end + 2 * self.stride));
        Ok(self)
    }

    /// Asks for the lines of these slots and of their stamps.
    fn ask(&mut self, control: &Control, slots: Range<Sequence>) {
        if slots.is_empty() {
            return;
        }
        self.asked = slots.end;
        if let Some(stamps) = &control.stamps {
            stamps.prefetcher().fetch_to_write(slots.clone());
        }
        self.slots.fetch_to_write(slots);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sequencer::Single;
    use crate::sequencer::tests::control;

    /// The runway of a producer of `capacity` slots of 8 bytes, which asks for four of them together
    /// where the CPU can be asked.
    fn runway(capacity: usize) -> Runway {
        let slots = Prefetcher::of_slice(&vec![0_u64; capacity]);
        Runway::new(0, slots, slots.slots_in(32))
    }

    #[test]
    fn nothing_is_claimed_beyond_the_gate_however_far_lines_are_asked_for() {
        for capacity in [1, 2, 4, 8, 16, 64] {
            let (mut runway, control) = (runway(capacity as usize), control::<Single>(capacity));
            for finished in 0..3 * capacity {
                let limit = finished + capacity;
                for end in finished + 1..=limit {
                    assert_eq!(runway.reach(&control, end), Ok(()), "{capacity} {end}");
                    assert!(runway.near <= limit && runway.asked <= limit, "{runway:?}");
                }
                assert_eq!(runway.reach(&control, limit + 1), Err(TryPublishError::Full));
                control.advance(0, finished + 1);
            }
        }
    }

    #[test]
    fn lines_are_asked_for_a_stride_ahead_and_once() {
        let (mut runway, control) = (runway(64), control::<Single>(64));
        let looks: Vec<_> = (1..=64)
            .filter(|&end| {
                let before = runway.near;
                assert_eq!(runway.reach(&control, end), Ok(()));
                runway.near != before
            })
            .collect();
        if runway.stride == 0 {
            assert_eq!(looks, [1], "the gate is read once");
            return;
        }
        assert_eq!(looks, (0..64).step_by(5).map(|n| n + 1).collect::<Vec<_>>());
        assert_eq!(runway.asked, 64);
    }
}
