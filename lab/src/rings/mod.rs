//! Measurement of Lapwing's rings, as a contender and in LMAX's own tests.

pub(crate) mod crew; // threads for the ends of a ring
pub(crate) mod tally; // the state of a ring consumer

use lapwing as library;
