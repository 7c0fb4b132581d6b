//! Whole topologies under a controlled scheduler: does each consumer see exactly what was accepted,
//! in every order in which the threads may run?
//!
//! Shuttle runs all threads of a ring on one thread of the system, also those that the library
//! starts. At each atomic operation, lock and wait, it decides which thread runs next. Half of the
//! schedules are random. The others follow PCT, which gives each thread a priority and changes it
//! at two random places. Every atomic operation is sequentially consistent here. The orderings are
//! the subject of the models in `core/src/models` and `lapwing/src/models`.
//!
//! A wait without a time limit ends only by a wake-up. So a lost wake-up is a deadlock, which
//! shuttle reports. A wait with a time limit ends at once. `core/src/sync/virtual_time.rs` says
//! how time passes.
//!
//! `bash ci/schedules.sh` runs all topologies. `LAPWING_SCHEDULES` sets the number of schedules of
//! each topology and scheduler. A failure writes its schedule to a file and prints the path.
//! `LAPWING_SCHEDULE=FILE bash ci/schedules.sh TEST` repeats the schedule in the file.
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
