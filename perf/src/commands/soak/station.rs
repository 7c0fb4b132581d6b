//! The handler of a stage: checks each event, and fails when a fault tells it to.

use std::panic;
use std::sync::Arc;

use lapwing::Sequence;
use thiserror::Error;

use super::board::Count;
use super::checker::{Checker, Numbers, Place};
use super::event::Event;
use super::faults::{Failing, Kind};
use super::orders::{Order, Orders};
use super::plan::Policy;
use super::tally::Share;
use super::violation::Violation;
use super::world::{Failures, World};

/// The error that a fault lets a handler return.
#[derive(Debug, Error)]
#[error("on purpose")]
pub(super) struct OnPurpose;

/// What a handler returns.
pub(super) type Handled = Result<(), OnPurpose>;

/// Fails. The panic does not print: it calls no hook.
#[cold]
fn fail(failing: Failing) -> Handled {
    match failing {
        Failing::Error => Err(OnPurpose),
        Failing::Panic => panic::resume_unwind(Box::new("on purpose")),
    }
}

/// What stages, workers, pollers and guests have in common.
pub(super) struct Post {
    pub(super) world: Arc<World>,
    pub(super) place: Place,
    /// Its name.
    pub(super) name: String,
    handled: Arc<Count>,
}

impl Post {
    /// The post of the stage `id`.
    pub(super) fn of_stage(world: &Arc<World>, id: usize) -> Self {
        let name = world.plan.stages[id].name.clone();
        let (place, handled) = (world.place(id), world.entry.handler());
        Self { world: Arc::clone(world), place, name, handled }
    }

    /// The post of a guest.
    pub(super) fn of_guest(world: &Arc<World>, name: String) -> Self {
        let (place, handled) = (world.place_of_guest(), world.entry.handler());
        Self { world: Arc::clone(world), place, name, handled }
    }

    /// Counts events that were checked.
    #[inline]
    pub(super) fn count(&self, events: u64) {
        self.handled.add(events);
    }

    /// Keeps a violation.
    #[cold]
    pub(super) fn refuse(&self, violation: Violation) {
        self.world.refuse(violation, &self.name);
    }

    /// Follows an order, unless it is to fail. Returns that.
    fn follow(&self, orders: &Orders) -> Option<Failing> {
        match orders.take()? {
            Order::Stall(time) => {
                self.world.board.injected(Kind::Stall);
                self.world.board.stall(time);
                None
            }
            Order::Fail(failing) => Some(failing),
            Order::Lose(_) | Order::Leave => None,
        }
    }
}

/// The handler of a stage that sees everything.
pub(super) struct Station {
    id: usize,
    post: Post,
    checker: Checker,
    failures: Failures,
    /// The numbers at the first event that is not released.
    released: Numbers,
    /// Events below this one were checked before, and are handled again.
    again: Sequence,
}

impl Station {
    /// The handler of the stage `id`.
    pub(super) fn new(world: &Arc<World>, id: usize, orders: Arc<Orders>) -> Self {
        let checker = Checker::new(world.seed, !world.plan.is_multi);
        Self {
            id,
            post: Post::of_stage(world, id),
            released: checker.numbers(),
            checker,
            failures: Failures::new(&world.plan, id, orders),
            again: 0,
        }
    }

    /// Handles a batch.
    #[inline]
    pub(super) fn batch(&mut self, events: &[Event], first: Sequence) -> Handled {
        self.attempt(events.len(), first, |station| station.see_batch(events, first))
    }

    /// Handles a batch, and writes to it.
    #[inline]
    pub(super) fn batch_mut(&mut self, events: &mut [Event], first: Sequence) -> Handled {
        self.attempt(events.len(), first, |station| {
            station.see_batch(events, first);
            events.iter_mut().for_each(Event::write);
        })
    }

    /// Handles one event.
    #[inline]
    pub(super) fn one(&mut self, event: &Event, sequence: Sequence, is_last: bool) -> Handled {
        let handled = self.attempt(1, sequence, |station| station.see(event, sequence));
        if is_last && handled.is_ok() {
            self.released = self.checker.numbers();
        }
        handled
    }

    /// Handles one event, and writes to it.
    #[inline]
    pub(super) fn one_mut(&mut self, event: &mut Event, sequence: Sequence) -> Handled {
        self.attempt(1, sequence, |station| {
            station.see(event, sequence);
            event.write();
        })
    }

    /// Calls `see` for `events` events from `first` on, and fails if that is due. Events that come
    /// again after the failure are not seen yet.
    #[inline]
    fn attempt(&mut self, events: usize, first: Sequence, see: impl FnOnce(&mut Self)) -> Handled {
        let Some(failing) = self.post.follow(&self.failures.orders) else {
            see(self);
            return Ok(());
        };
        self.failures.announce(&self.post.world, failing, events as u64);
        if self.failures.policy().counts() {
            see(self);
        }
        self.prepare(first);
        fail(failing)
    }

    #[inline]
    fn see_batch(&mut self, events: &[Event], first: Sequence) {
        if let Err(violation) = self.checker.slice(&self.post.place, events, first) {
            self.post.refuse(violation);
        }
        self.post.count(events.len() as u64);
    }

    #[inline]
    fn see(&mut self, event: &Event, sequence: Sequence) {
        let is_again = sequence < self.again;
        let place = &self.post.place;
        if let Err(violation) = self.checker.one(place, event, sequence, is_again) {
            self.post.refuse(violation);
        }
        self.post.count(1);
    }

    /// Prepares for the events that come again after a failure at `sequence`.
    #[cold]
    fn prepare(&mut self, sequence: Sequence) {
        if self.failures.policy() == Policy::Rewind {
            self.checker.go_back(self.released);
            self.again = sequence.max(self.again);
        } else {
            self.released = self.checker.numbers(); // the events before it are released
        }
    }
}

impl Drop for Station {
    /// Keeps what it has seen: a handler is dropped when its stage has ended.
    fn drop(&mut self) {
        let seen = self.checker.seen().map(Option::unwrap_or_default);
        self.post.world.stage(self.id).keep(seen);
    }
}

/// The handler of a worker.
pub(super) struct WorkerStation {
    id: usize,
    post: Post,
    share: Share,
    failures: Failures,
}

impl WorkerStation {
    /// The handler of a worker of the stage `id`.
    pub(super) fn new(world: &Arc<World>, id: usize, is_by_key: bool, orders: Arc<Orders>) -> Self {
        let keys = is_by_key.then(|| Arc::clone(&world.stage(id).keys));
        Self {
            id,
            post: Post::of_stage(world, id),
            share: Share::new(world.seed, keys),
            failures: Failures::new(&world.plan, id, orders),
        }
    }

    /// Handles one event.
    #[inline]
    pub(super) fn one(&mut self, event: &Event, sequence: Sequence) -> Handled {
        let failing = self.post.follow(&self.failures.orders);
        if let Some(failing) = failing {
            self.failures.announce(&self.post.world, failing, 1);
        }
        if failing.is_none() || self.failures.policy().counts() {
            if let Err(violation) = self.share.one(&self.post.place, event, sequence) {
                self.post.refuse(violation);
            }
            self.post.count(1);
        }
        failing.map_or(Ok(()), fail)
    }
}

impl Drop for WorkerStation {
    /// Adds what it has seen.
    fn drop(&mut self) {
        self.post.world.stage(self.id).add(self.share.seen());
    }
}
