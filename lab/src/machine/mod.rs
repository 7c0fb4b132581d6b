//! The threads and processes of a measurement: where they run, and what they use. What is known about the machine itself
//! is in `lapwing_lab_stats`.

pub(crate) mod cpu_time; // CPU time of a run
pub(crate) mod placement; // the CPU of each thread
#[cfg(target_os = "linux")]
pub(crate) mod shared_clock; // a clock that all processes share
pub(crate) mod switches; // context switches of the process
pub(crate) mod threads; // CPU time and switches of each thread

pub(crate) use lapwing_lab_stats::{
    BusyThreads, Machine, Neighbours, OwnChild, cpu, end_with_parent,
};
