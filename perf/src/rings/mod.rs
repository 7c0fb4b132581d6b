//! What Lapwing's rings need to be measured, as a contender and in LMAX's own tests.

pub(crate) mod crew; // threads for the ends of a ring
pub(crate) mod tally; // what a consumer of a ring keeps

use lapwing as library;
