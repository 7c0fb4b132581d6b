//! The contenders, one adapter each. A new rival with a queue implements [`Queue`](crate::load::queue::Queue) in
//! `queues`, and has one entry in the table of `registry`. Every topology, every channel load and every test then runs
//! over it.
//!
//! ```text
//! Contender --+-- OneRing                this project, tuned or plain: one ring for the whole graph
//!             +-- OverQueues<Q: Queue>   one queue for each arc: queues, bounded_queue,
//!             |                          crossbeam_array_queue
//!             +-- Disruptor              another ring for the whole graph
//!             +-- OverRings<R: Rings>    one ring for each stage that sends: photon_ring, rtrb,
//!             |                          and Lapwing twice more: its rings, its channels
//!             +-- Foreign                a process in Java or C++
//!             +-- WrongAnswer            proves that a wrong answer is refused
//! ```
//!
//! Channels under load carry values of any type for a fixed time. They are in `channels`. Those whose ends are async
//! tasks are in `tasks`, and those whose ends are in different processes in `processes`.

mod bounded_queue; // the paper's baseline: a ring in a mutex with two condition variables
pub(crate) mod channels; // bounded channels under load
mod contender; // the interface of a contender
mod crossbeam_array_queue; // lock-free ring, spinning on both sides
mod disruptor; // another ring for the whole graph
mod foreign; // rivals in other languages
mod lapwing; // Lapwing
mod lapwing_plain; // Lapwing without its tuning
mod name; // the contenders on the command line
mod over_queues; // a rival queue at every arc
mod over_rings; // one ring per sending stage
mod photon_ring; // stamped slots, several readers
#[cfg(target_os = "linux")]
pub(crate) mod processes; // ends in different processes
pub(crate) mod queues; // the queues of other libraries
mod registry; // which contenders exist, and where each takes part
mod roster; // the contenders that take part, and those that cannot
mod rtrb; // a wait-free ring for two threads
pub(crate) mod tasks; // channels and rings between async tasks
#[cfg(test)]
mod tests; // every topology over every contender; loss of a peer
mod wrong_answer; // a contender with wrong answers

pub(crate) use self::contender::{Contender, Entry, Shares};
pub(crate) use self::lapwing::{PlacementName, Setting, WaitName, parallel, ping_pong};
pub(crate) use self::name::{Channel, ChannelName, ContenderName};
pub(crate) use self::roster::Roster;

/// The baseline of all ratios: the queue of the paper.
pub(crate) const BASELINE: &str = "bounded-queue";
