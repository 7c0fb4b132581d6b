//! The subcommands. An experiment is a file, or a folder if it has mechanics of its own: its flags, what its rows run, and
//! how their records are shown.

#[cfg(unix)]
pub(crate) mod aeron; // events through Aeron
pub(crate) mod campaign; // every experiment, and the page
pub(crate) mod channels; // bounded channels under load
pub(crate) mod contention; // the cost of one increment, with and without contention
mod delays; // a carrier of timed events
pub(crate) mod dispatch; // the order-dispatch pipeline
mod graph; // a contender in one of the paper's configurations
pub(crate) mod idle; // the cost of waiting
#[cfg(unix)]
pub(crate) mod journal; // what is in a journal
pub(crate) mod latency; // delays at a given rate
pub(crate) mod limits; // the limits of this machine
pub(crate) mod neighbours; // graphs beside busy threads of another process
pub(crate) mod oversubscribed; // more threads than CPUs
pub(crate) mod perftest; // LMAX's own tests
pub(crate) mod ping_pong; // a number to another thread and back
#[cfg(target_os = "linux")]
pub(crate) mod processes; // events between processes
mod session; // what all commands have in common
pub(crate) mod sweep; // delays against the rate
pub(crate) mod tasks; // ends that async tasks await
pub(crate) mod throughput; // the benchmark of the paper's five configurations

use crate::view::View;

/// How the records of each experiment are shown, in the order of the page.
pub(crate) const VIEWS: &[View] = &[
    throughput::VIEW,
    latency::VIEW,
    sweep::VIEW,
    oversubscribed::VIEW,
    channels::VIEW,
    tasks::VIEW,
    neighbours::VIEW,
    idle::VIEW,
    ping_pong::VIEW,
    #[cfg(target_os = "linux")]
    processes::VIEW,
    limits::VIEW,
    contention::VIEW,
    dispatch::VIEW,
    perftest::VIEW,
];
