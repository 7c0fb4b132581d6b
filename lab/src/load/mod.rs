//! Workloads: the data, its path between threads, and the computation of each thread, which exposes
//! a wrong answer.

pub(crate) mod after_idle; // single events after idle periods
pub(crate) mod bare; // two words between two threads, without a queue
pub(crate) mod event; // the event and its sizes
pub(crate) mod exchange; // round trips of numbers, over any carrier
pub(crate) mod fold; // the computation of a consumer, which exposes loss and disorder
pub(crate) mod increments; // the cases of contention
pub(crate) mod paced; // the three-stage pipeline under a load, and its delays
#[cfg(target_os = "linux")]
pub(crate) mod processes; // ends that can be in different processes
pub(crate) mod queue; // the interface of a rival queue
pub(crate) mod sharing; // each event to one of several consumers
pub(crate) mod tasks; // ends that async tasks await
pub(crate) mod topologies; // the five configurations
pub(crate) mod traffic; // values through a channel, for a fixed time
pub(crate) mod value; // values of a channel
pub(crate) mod workload; // number, size and slots of events
