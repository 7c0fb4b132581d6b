//! The orchestrator does its work for each order, sends it to a venue, and sends back what is done.
//! Both directions alternate, each with a bounded number of orders.

use super::{Role, Signals, TURN, Turn};
use crate::commands::dispatch::hand_off::{Pressure, Relay};
use crate::commands::dispatch::order::{Order, Segment};
use crate::commands::dispatch::work::Work;
use crate::load::paced::Clock;

/// The orchestrator.
pub(in crate::commands::dispatch) struct Orchestrator<'a, const PAD: usize, D, R> {
    /// From the strategies to the gateways.
    dispatch: D,
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
    /// Set when the run is over.
    signals: &'a Signals,
}

impl<'a, const PAD: usize, D, R> Orchestrator<'a, PAD, D, R>
where
    D: Relay<Order<PAD>>,
    R: Relay<Order<PAD>>,
{
    /// Creates the orchestrator between `dispatch` and `returning`.
    pub(in crate::commands::dispatch) fn new(
        (dispatch, returning): (D, R),
        venues: usize,
        work: Work,
        clock: &'a Clock,
        signals: &'a Signals,
    ) -> Self {
        Self { dispatch, returning, work, venues: venues as u16, next_venue: 0, clock, signals }
    }

    /// Returns its pressure as a sender.
    pub(in crate::commands::dispatch) fn pressure(&self) -> Pressure {
        self.dispatch.pressure().and(self.returning.pressure())
    }

    /// Returns the orders that are still on their way to it after every strategy has received all
    /// of its own.
    pub(in crate::commands::dispatch) fn surplus(&mut self) -> u64 {
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

impl<const PAD: usize, D, R> Role for Orchestrator<'_, PAD, D, R>
where
    D: Relay<Order<PAD>>,
    R: Relay<Order<PAD>>,
{
    fn begin(&mut self, _: u64) {}

    fn turn(&mut self, _: u64) -> Turn {
        let dealt_with = self.pass_on() + self.pass_back();
        Turn { worked: dealt_with > 0, next_at: u64::MAX, done: self.signals.is_over() }
    }
}
