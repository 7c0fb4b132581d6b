//! After one of several writers has died, the sequences that it had claimed are skipped, so that readers
//! can continue.
//!
//! A sequence that is claimed, and neither published nor skipped, belongs to a dead writer once it is in
//! no record of a living one. It does not matter which of several dead writers had it. Any process
//! may repair, and several may do so at the same time: a sequence is skipped by a compare-and-swap, and
//! the seat of a dead writer is free only after all of its claim is sealed.

use super::Shared;
use super::seats::{Side, Tenure};
use super::stamps::Skip;

impl Shared<'_> {
    /// Skips what these writers, which are dead, have claimed and not published, and frees their
    /// seats. Returns false if a living writer may have one of those sequences. The caller
    /// then repeats the call later, because that writer may have it or may have lost it to a dead one.
    pub(crate) fn repair(self, dead: &[Tenure]) -> bool {
        dead.iter().filter(|&&tenure| !self.repair_one(tenure, dead)).count() == 0
    }

    fn repair_one(self, tenure: Tenure, dead: &[Tenure]) -> bool {
        let seat = &self.writers[tenure.index];
        let claim = seat.claim.0.range();
        if seat.holder.0.tenure() != tenure.number {
            return true; // somebody else has repaired it, and this may be the next writer's claim
        }
        let is_sealed = claim.clone().all(|sequence| self.skip_if_dead(sequence, dead));
        if is_sealed {
            seat.holder.0.clear(tenure.number);
        }
        is_sealed
    }

    /// Skips a sequence unless it is sealed, or not claimed. Returns false if a living writer may
    /// have it.
    fn skip_if_dead(self, sequence: u64, dead: &[Tenure]) -> bool {
        // Before the records: those of all writers that have claimed below the counter are visible.
        if !self.is_claimed(sequence) {
            return true;
        }
        self.skip(sequence, || self.may_be_alive(sequence, dead)) != Skip::Refused
    }

    /// Whether a writer that is not known to be dead may have a sequence.
    pub(crate) fn may_be_alive(self, sequence: u64, dead: &[Tenure]) -> bool {
        let may_have = |tenure: Tenure| {
            let claim = &self.writers[tenure.index].claim.0;
            !dead.contains(&tenure) && claim.range().contains(&sequence)
        };
        self.tenures(Side::Writers).any(may_have)
    }
}
