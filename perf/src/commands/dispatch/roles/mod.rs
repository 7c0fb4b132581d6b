//! The roles of the pipeline, and the threads that play them. A thread asks its roles in turn, and
//! each does a bounded amount at a time, so that none of them, and neither of a role's two sides,
//! starves.

mod gateway; // a venue: holds each order for its delay
mod hold; // orders that wait for their due moment
mod idle; // what a thread does when there is nothing to do
mod orchestrator; // between strategies and gateways
mod sampler; // counts orders in flight
mod shift; // a thread and its roles
mod strategy; // fires orders and checks what comes back

pub(super) use self::gateway::Gateway;
pub(super) use self::idle::{Bell, Idle};
pub(super) use self::orchestrator::Orchestrator;
pub(super) use self::sampler::{Flight, Sampler};
pub(super) use self::shift::{Shift, Signals};
pub(super) use self::strategy::{Returns, Strategy};

/// Most orders that one side of a role deals with before the other side has its turn.
const TURN: usize = 32;

/// What a role did in its turn, and what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Whether it found something to do.
    worked: bool,
    /// When it has something to do even if nothing arrives; never, if `u64::MAX`.
    next_at: u64,
    /// Whether it has come to its end.
    done: bool,
}

impl Turn {
    /// Nothing done, nothing to do; what others are added to.
    const NOTHING: Self = Self { worked: false, next_at: u64::MAX, done: true };

    /// Both together.
    fn and(self, other: Self) -> Self {
        Self {
            worked: self.worked || other.worked,
            next_at: self.next_at.min(other.next_at),
            done: self.done && other.done,
        }
    }
}

/// A part in the pipeline.
pub(super) trait Role: Send {
    /// The run begins at `epoch`.
    fn begin(&mut self, epoch: u64);

    /// Does what there is to do, bounded; `now` is a moment ago.
    fn turn(&mut self, now: u64) -> Turn;
}
