//! The orchestrator does its work for each order, sends it to a venue, and sends back what is done.
//! Both directions alternate, each with a bounded number of orders.

use super::{Role, TURN, Turn};
use crate::commands::dispatch::hand_off::{Pressure, Relay};
use crate::commands::dispatch::order::Segment;
use crate::commands::dispatch::work::Work;
use crate::load::paced::Clock;

/// The orchestrator.
pub(crate) struct Orchestrator<'a, const PAD: usize, R> {
    /// From the strategies to the gateways.
    dispatch: R,
    /// From the gateways to the strategies.
    returning: R,
    /// Its work for each order.
    work: Work,
    /// Venues, which get orders in turn.
    venues: u16,
    /// The venue of the next order.
    next_venue: u16,
    /// The time.
    clock: &'a Clock,
}

impl<'a, const PAD: usize, R: Relay<PAD>> Orchestrator<'a, PAD, R> {
    /// Creates the orchestrator between `dispatch` and `returning`.
    pub(crate) fn new(
        (dispatch, returning): (R, R),
        venues: usize,
        work: Work,
        clock: &'a Clock,
    ) -> Self {
        Self { dispatch, returning, work, venues: venues as u16, next_venue: 0, clock }
    }

    /// Returns its pressure as a sender.
    pub(crate) fn pressure(&self) -> Pressure {
        self.dispatch.pressure().and(self.returning.pressure())
    }

    /// Returns the orders that are still on their way to it after every strategy has received all
    /// of its own.
    pub(crate) fn surplus(&mut self) -> u64 {
        let mut left = 0;
        while self.pass_on() + self.pass_back() > 0 {
            left += 1;
        }
        left
    }

    /// Passes orders on to the gateways.
    fn pass_on(&mut self) -> usize {
        let Self { dispatch, work, venues, next_venue, clock, .. } = self;
        dispatch.relay(clock, TURN, |order| {
            order.pass(Segment::Submit, clock.now());
            work.simulate();
            order.venue = *next_venue;
            *next_venue = if *next_venue + 1 == *venues { 0 } else { *next_venue + 1 };
            order.pass(Segment::OrchPre, clock.now());
            usize::from(order.venue)
        })
    }

    /// Passes orders back to the strategies.
    fn pass_back(&mut self) -> usize {
        let Self { returning, clock, .. } = self;
        returning.relay(clock, TURN, |order| {
            order.pass(Segment::Completion, clock.now());
            order.pass(Segment::OrchPost, clock.now());
            usize::from(order.strategy)
        })
    }
}

impl<const PAD: usize, R: Relay<PAD>> Role for Orchestrator<'_, PAD, R> {
    fn turn(&mut self, _: u64) -> Turn {
        let dealt_with = self.pass_on() + self.pass_back();
        Turn { worked: dealt_with > 0, next_at: u64::MAX }
    }
}
