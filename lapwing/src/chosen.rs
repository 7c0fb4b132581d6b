//! Selects the advice of the ends of a ring: tuned, or plain with `--cfg lapwing_plain`. No other
//! file chooses between the two.

#[cfg(lapwing_plain)]
use lapwing_core::advice::{Plain as ClaimsAdvice, Plain as ReadsAdvice};
use lapwing_core::{MultiClaims, SingleClaims, StageIndex};

use crate::ring::Ring;
#[cfg(not(lapwing_plain))]
use crate::tuning::{TunedClaims as ClaimsAdvice, TunedReads as ReadsAdvice};

/// The claims of the only producer of a ring.
pub(crate) type Single = SingleClaims<ClaimsAdvice>;
/// The claims of one of several producers.
pub(crate) type Multi = MultiClaims<ClaimsAdvice>;
/// The reading end of one stage.
pub(crate) type Reader<E> = lapwing_core::Reader<E, ReadsAdvice>;

/// The advice of a reading end.
pub(crate) type Reads = ReadsAdvice;

/// Returns the advice for a new producer of `ring`.
#[cfg(not(lapwing_plain))]
pub(crate) fn claims_of<E>(ring: &Ring<E>) -> ClaimsAdvice {
    ClaimsAdvice::of(ring)
}

/// Returns the advice for the reader of `stage`.
#[cfg(not(lapwing_plain))]
pub(crate) fn reads_of<E>(ring: &Ring<E>, stage: StageIndex) -> ReadsAdvice {
    ReadsAdvice::of(ring, stage)
}

#[cfg(lapwing_plain)]
pub(crate) fn claims_of<E>(_: &Ring<E>) -> ClaimsAdvice {
    ClaimsAdvice
}

#[cfg(lapwing_plain)]
pub(crate) fn reads_of<E>(_: &Ring<E>, _: StageIndex) -> ReadsAdvice {
    ReadsAdvice
}
