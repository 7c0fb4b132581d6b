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
//! A longer claim is asked for from its own beginning: the next look comes only when all of it is written.
//!
//! A slot that comes round again lies in the cache of the consumer that read it last, and the store to
//! it waits for its line. Lines that are asked for together take hardly longer than one. What asks is
//! the same look that reads the gate, taken more often: a claim that needs none compares two numbers
//! either way. Whether it pays is tried now and then (`trial`), in streams: before a lone event the claim
//! would wait for the lines of others as well. Who gains by it, and how much, is in `perf/results/experiments.md`.

use std::ops::Range;

use super::gate;
use crate::Sequence;
use crate::control::Control;
use crate::error::TryPublishError;
use crate::ring_buffer::Prefetcher;
use crate::trial::{EVENTS_PER_STRETCH, Trial};

/// Bytes of slots that are asked for at once at most: half of the first-level cache where that is smallest, so that
/// they are still there when they are written.
const BYTES_AT_ONCE: u64 = 16 << 10;

/// Most events without a look. What a producer settles now and then, it settles at one.
pub(super) const EVENTS_PER_LOOK: u64 = EVENTS_PER_STRETCH;
/// Where events take longer than this, each is waited for, and would wait for the lines of others: a producer does not ask.
const SLOW_NS: u64 = 100;

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
    /// Slots that are asked for together, while it asks.
    stride: u64,
    /// Most slots that are asked for at once, for a long claim.
    most: u64,
    /// Whether to leave them, the first way, or to ask.
    trial: Trial<SLOW_NS>,
}

impl Runway {
    /// That of a producer that has claimed nothing from `first` on, and may ask for `stride` of the `slots`
    /// together, or for none.
    pub(super) fn new(first: Sequence, slots: Prefetcher, stride: u64) -> Self {
        let most = slots.slots_in(BYTES_AT_ONCE);
        let trial = if stride == 0 { Trial::default() } else { Trial::starting_at(first) };
        Self { near: first, asked: first, limit: first, slots, stride, most, trial }
    }

    /// First sequence that is not claimed without a look.
    pub(super) fn near(&self) -> Sequence {
        self.near
    }

    /// Whether a claim up to `end` needs no look.
    #[inline(always)]
    fn covers(&self, end: Sequence) -> bool {
        end <= self.near
    }

    /// Makes sure that `claim` may be claimed. Never waits.
    ///
    /// # Errors
    ///
    /// As [`gate::refresh`].
    #[inline(always)]
    pub(super) fn reach(
        &mut self,
        control: &Control,
        claim: Range<Sequence>,
    ) -> Result<(), TryPublishError> {
        if !self.covers(claim.end) {
            *self = self.look(control, claim)?;
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
            self.limit = gate::refresh(control, next..next + 1)?;
        }
        let end = wanted.min(self.limit);
        self.reach(control, next..end)?;
        Ok(end)
    }

    /// What is known after a look, if `claim` may then be claimed. By value: the compiler need not read again
    /// what lies beside a producer's runway after a call that has no pointer to it.
    #[cold]
    #[inline(never)]
    fn look(mut self, control: &Control, claim: Range<Sequence>) -> Result<Self, TryPublishError> {
        if claim.end > self.limit {
            self.limit = gate::refresh(control, claim.clone())?;
        }
        if !self.trial.covers(claim.end) {
            self.trial = self.trial.next(claim.start);
        }
        if self.trial.is_first() {
            return Ok(Self { near: self.limit.min(claim.end + EVENTS_PER_LOOK), ..self });
        }
        self.near = self.limit.min(claim.end + self.stride);
        self.ask(control, self.wanted(&claim));
        Ok(self)
    }

    /// What to ask for at `claim` that has not been asked for.
    fn wanted(&self, claim: &Range<Sequence>) -> Range<Sequence> {
        let first = self.asked.max(claim.start);
        // A stride further than `near`, so that there is time for the lines to come.
        let end = self.limit.min(claim.end + 2 * self.stride);
        first..end.min(first + self.most)
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

    /// The runway of a producer of `capacity` slots of 8 bytes, which may ask for four of them together.
    fn runway(capacity: usize) -> Runway {
        let slots = Prefetcher::of_slice(&vec![0_u64; capacity]);
        Runway::new(0, slots, slots.slots_in(32))
    }

    /// The same of one that does ask, where the CPU can be asked.
    fn asking(capacity: usize) -> Runway {
        let runway = runway(capacity);
        let trial = if runway.stride == 0 { runway.trial } else { Trial::always_other() };
        Runway { trial, ..runway }
    }

    #[test]
    fn nothing_is_claimed_beyond_the_gate_however_far_lines_are_asked_for() {
        for capacity in [1, 2, 4, 8, 16, 64] {
            let (mut runway, control) = (asking(capacity as usize), control::<Single>(capacity));
            for finished in 0..3 * capacity {
                let limit = finished + capacity;
                for end in finished + 1..=limit {
                    let claim = end - 1..end;
                    assert_eq!(runway.reach(&control, claim), Ok(()), "{capacity} {end}");
                    assert!(runway.near <= limit && runway.asked <= limit, "{runway:?}");
                }
                let too_far = limit..limit + 1;
                assert_eq!(runway.reach(&control, too_far), Err(TryPublishError::Full));
                control.advance(0, finished + 1);
            }
        }
    }

    #[test]
    fn lines_are_asked_for_a_stride_ahead_and_once() {
        let (mut runway, control) = (asking(64), control::<Single>(64));
        let looks: Vec<_> = (1..=64)
            .filter(|&end| {
                let before = runway.near;
                assert_eq!(runway.reach(&control, end - 1..end), Ok(()));
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

    #[test]
    fn nothing_is_asked_for_until_a_stream_has_tried_it() {
        let (mut runway, control) = (runway(1 << 16), control::<Single>(1 << 16));
        for end in 1..=2 * EVENTS_PER_STRETCH {
            assert_eq!(runway.reach(&control, end - 1..end), Ok(()));
        }
        assert_eq!((runway.asked, runway.trial.is_first()), (0, true));
    }

    #[test]
    fn a_long_claim_is_asked_for_from_its_beginning_and_no_longer_than_it_stays() {
        let runway = Runway { limit: 1_000, stride: 4, most: 64, ..Runway::default() };
        let asked = |asked, claim| {
            let mut runway = runway;
            runway.asked = asked;
            runway.wanted(&claim)
        };
        assert_eq!(asked(0, 0..10), 0..18, "itself, and two strides beyond");
        assert_eq!(asked(18, 10..20), 18..28, "no line twice");
        assert_eq!(asked(18, 100..110), 100..118, "none of those that were claimed without a look");
        assert_eq!(asked(0, 0..500), 0..64, "as many as stay");
        assert_eq!(asked(998, 990..1_000), 998..1_000, "none beyond the gate");
    }

    #[test]
    fn lines_are_not_asked_for_while_a_trial_does_without() {
        let (mut runway, control) = (runway(1 << 16), control::<Single>(1 << 16));
        if runway.stride == 0 {
            return;
        }
        let mut ways = [false; 2];
        for end in 1..=1 << 16 {
            let asked = runway.asked;
            assert_eq!(runway.reach(&control, end - 1..end), Ok(()));
            assert!(!runway.trial.is_first() || runway.asked == asked, "{runway:?}");
            ways[usize::from(runway.trial.is_first())] = true;
        }
        assert_eq!(ways, [true; 2], "both are tried");
    }
}
