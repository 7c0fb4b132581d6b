//! The roles of the pipeline, and the threads that run them. A thread runs its roles in turn. Each
//! does a bounded amount at a time, so that no role and neither side of a role starves.

mod gateway; // a venue: holds each order for its delay
mod hold; // orders that wait for their due time
mod idle; // the wait of a thread without work
mod orchestrator; // between strategies and gateways
mod sampler; // counts orders in flight
mod shift; // a thread and its roles
mod strategy; // sends orders and checks the returned ones

pub(super) use self::gateway::Gateway;
pub(super) use self::idle::{Bell, Idle};
pub(super) use self::orchestrator::Orchestrator;
pub(super) use self::sampler::{Flight, Sampler};
pub(super) use self::shift::{Shift, Signals};
pub(super) use self::strategy::{Returns, Strategy};

/// The maximum number of orders that one side of a role handles before the other side continues.
const TURN: usize = 32;

/// The result of a role's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Whether it did any work.
    worked: bool,
    /// The time at which it has work even if no message arrives, or `u64::MAX` if there is none.
    next_at: u64,
}

impl Turn {
    /// No work done and none due. The start value of a sum.
    const NOTHING: Self = Self { worked: false, next_at: u64::MAX };

    /// Returns the sum of both.
    fn and(self, other: Self) -> Self {
        Self { worked: self.worked || other.worked, next_at: self.next_at.min(other.next_at) }
    }
}

/// A role in the pipeline.
pub(super) trait Role: Send {
    /// Starts the run at `epoch`. A role that has no time of its own has nothing to start.
    fn begin(&mut self, _epoch: u64) {}

    /// Does a bounded amount of the available work. `now` is slightly in the past.
    fn turn(&mut self, now: u64) -> Turn;
}
