//! Whole topologies under a controlled scheduler: does each consumer see exactly what was accepted, in every order in
//! which the threads may run?
//!
//! Shuttle runs all threads of a ring on one thread of the system, also those that the library starts. It decides at each
//! atomic operation, lock and wait which thread goes on. Half of the schedules are random. The others follow PCT, which
//! gives each thread a priority and changes it at a few random places. Every operation is sequentially consistent here.
//! The orderings are the subject of the models in `lapwing/src/models`.
//!
//! A wait without a time limit ends only by a wake-up, so a lost wake-up is a deadlock, which shuttle reports. A wait with
//! a time limit ends at once. `lapwing/src/sync/virtual_time.rs` says how time passes.
//!
//! `bash ci/schedules.sh` runs this. `LAPWING_SCHEDULES` sets the number of schedules of each topology. A failure writes
//! its schedule to a file and prints the path. `LAPWING_SCHEDULE=PATH bash ci/schedules.sh NAME` repeats that schedule of
//! the test `NAME`.
#![cfg(lapwing_shuttle)]

mod channel;
mod diamond;
mod endings;
mod event;
mod explore;
mod feed;
mod joining;
mod keyed_workers;
mod monitor;
mod outcomes;
mod pipeline;
mod record;
mod tap;
mod wake_ups;
mod workers;
