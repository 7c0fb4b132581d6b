//! B01 to B27: a test for each defect that LMAX has or had, which fails with it. Where the types
//! make a defect impossible to write down, the test shows what can be written instead.

mod claims;
mod consumers;
mod ends;
mod waits;
