//! The subcommands. Each has a folder with its flags, timed work, record and table.

#[cfg(unix)]
pub(crate) mod aeron; // events through Aeron
pub(crate) mod campaign; // every benchmark, and the report
pub(crate) mod channels; // bounded channels under load
pub(crate) mod contention; // the cost of one increment, with and without contention
mod delays; // rows, records and files of delays
pub(crate) mod dispatch; // the order-dispatch pipeline
pub(crate) mod idle; // the cost of waiting
#[cfg(unix)]
pub(crate) mod journal; // what is in a journal
pub(crate) mod latency; // delays at a given rate
pub(crate) mod limits; // the limits of this machine
pub(crate) mod neighbours; // graphs beside busy threads of another process
pub(crate) mod oversubscribed; // more threads than CPUs
pub(crate) mod perftest; // LMAX's own tests
pub(crate) mod ping_pong; // a number to another thread and back
mod session; // what all commands have in common
pub(crate) mod sweep; // delays against the rate
pub(crate) mod throughput; // the benchmark of the paper's five configurations
