//! Tasks at the ends of channels and rings: futures that are dropped at any poll, polls without a future,
//! threads that wait at several ends, and how a ring ends for a task. Not here: tasks of an executor
//! (`proof/tests/tasks`).
#![cfg(not(loom))]

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod polls;
mod probe;
mod selects;
mod wakers;
