//! Rivals in other languages. Each is a program of this repository around a library (`lab/java`,
//! `lab/cpp`). It is compiled on first use and runs as a process that answers requests, so a JVM
//! stays warm between rounds. If a tool is missing, the table gives the reason, and the command
//! continues.
//!
//! ```text
//! java, cpp --> Program ---start---> Child: a line to its standard input, a line from its output
//!   \-> cache, tool          \          ^
//!                         Rival -------/ one child for each topology, as a JVM learns what it runs
//! ```
//!
//! Requests, with PUBLISH `one` or `batch:N` and PLACEMENT `free` or `pinned:C0,C1,..`:
//!
//! ```text
//! run TOPOLOGY EVENTS RING EVENT_BYTES PUBLISH PLACEMENT  ok ELAPSED_NS CPU_NS BATCHES ANSWER..
//! ping-pong SLOTS EXCHANGES PLACEMENT                     the same
//! share PRODUCERS CONSUMERS EVENTS RING PLACEMENT         the same
//! latency INTERVAL_NS EVENTS RING PLACEMENT               ok ELAPSED_NS CPU_NS ANSWER H1 H2 H3 E2E
//! ```
//!
//! A histogram is `value:count,value:count..`. The reply to an impossible request is `error TEXT`.
//! Not here: the orders to processes of Aeron (`contenders::processes`), whose replies have the same
//! form.

mod cache; // files that are made once and kept
mod child; // a process, its requests and replies
mod cpp; // `lab/cpp` compiled by g++
mod java; // `lab/java` compiled by javac, and its libraries from Maven
mod program; // a compiled program
pub(crate) mod reply; // the contents of a reply
mod rival; // requests of the benchmarks
#[cfg(test)]
mod tests; // children that exit, hang or send invalid replies
mod tool; // compilers and Maven

#[cfg(target_os = "linux")]
pub(crate) use self::child::{Child, ChildError};
pub(crate) use self::cpp::CppRival;
pub(crate) use self::java::JavaRival;
pub(crate) use self::program::Program;
pub(crate) use self::rival::Rival;
pub(crate) use self::tool::ToolError;
