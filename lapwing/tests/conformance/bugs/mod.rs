//! B01 to B27: a test for each defect that LMAX has or had. If the types rule the defect out, the
//! test shows the closest possible code.

mod claims;
mod consumers;
mod ends;
mod waits;
