//! Both ends against Aeron's Java media driver: what is carried, and what happens at each failure.
//!
//! Each test has a time limit, so that a hang is a failure. Without Java or the jar of Aeron, the
//! tests pass and say that they did not run.

mod carried;
mod fixture;
mod publications;
mod restart;
mod subscribers;
