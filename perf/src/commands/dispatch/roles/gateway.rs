//! A gateway and its venue. It holds each order for a random delay, in its own memory and not in a
//! slot of a ring, and records how late it releases the order.

use super::hold::Hold;
use super::{Role, Signals, TURN, Turn};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Outlet, Pressure, Sending};
use crate::commands::dispatch::order::{Order, Segment};
use crate::commands::dispatch::random::Random;
use crate::load::paced::Clock;

/// The seed of the delays of venue 0, as in the original. Another venue mixes its number in.
const SEED: u64 = 0xD1CE_0000;
/// Orders that fit a gateway without allocation, relative to the expected number.
const ROOM: f64 = 1.5;

/// A gateway.
pub(in crate::commands::dispatch) struct Gateway<'a, const PAD: usize, I, O> {
    /// The inlet for orders.
    inbox: I,
    /// The outlet for orders.
    completion: Sending<PAD, O>,
    /// Orders at the venue.
    hold: Hold<PAD>,
    /// Delays.
    random: Random,
    /// The shortest delay.
    d_min_ns: u64,
    /// The range of a delay above its minimum.
    d_range_ns: u64,
    /// The time.
    clock: &'a Clock,
    /// Set when the run is over.
    signals: &'a Signals,
}

impl<'a, const PAD: usize, I, O> Gateway<'a, PAD, I, O>
where
    I: Inlet<Order<PAD>>,
    O: Outlet<Order<PAD>>,
{
    /// Creates the gateway of `venue`, between `(inbox, completion)`.
    pub(in crate::commands::dispatch) fn new(
        venue: usize,
        (inbox, completion): (I, O),
        config: &Config,
        clock: &'a Clock,
        signals: &'a Signals,
    ) -> Self {
        let room = config.expected_in_flight() / config.m_venues as f64 * ROOM;
        Self {
            inbox,
            completion: Sending::new(completion),
            hold: Hold::with_room_for(room as usize),
            random: Random::new(SEED ^ venue as u64),
            d_min_ns: config.d_min_ns(),
            d_range_ns: config.d_max_ns() - config.d_min_ns(),
            clock,
            signals,
        }
    }

    /// Returns its pressure as a sender.
    pub(in crate::commands::dispatch) fn pressure(&self) -> Pressure {
        self.completion.pressure()
    }

    /// Returns the orders that are still here after every strategy has received all of its own.
    pub(in crate::commands::dispatch) fn surplus(&mut self) -> u64 {
        let mut arrived = 0;
        while self.inbox.drain(usize::MAX, |_| arrived += 1) > 0 {}
        arrived + (self.hold.len() + self.completion.left()) as u64
    }

    /// Takes orders in.
    fn take_in(&mut self) -> usize {
        let Self { inbox, hold, random, clock, .. } = self;
        let (shortest, range) = (self.d_min_ns, self.d_range_ns);
        inbox.drain(TURN, |mut order| {
            let now = clock.now();
            order.pass(Segment::Dispatch, now);
            hold.insert(now + shortest + random.below(range + 1), order);
        })
    }

    /// Releases the orders that are due.
    fn let_go(&mut self, now: u64) -> usize {
        for done in 0..TURN {
            let Some((due, mut order)) = self.hold.take_due(now) else { return done };
            order.leave_venue(due, self.clock.now());
            self.completion.send(order);
        }
        TURN
    }
}

impl<const PAD: usize, I, O> Role for Gateway<'_, PAD, I, O>
where
    I: Inlet<Order<PAD>>,
    O: Outlet<Order<PAD>>,
{
    fn begin(&mut self, _: u64) {}

    fn turn(&mut self, now: u64) -> Turn {
        let dealt_with = self.completion.retry(self.clock) + self.let_go(now) + self.take_in();
        Turn { worked: dealt_with > 0, next_at: self.hold.next_due(), done: self.signals.is_over() }
    }
}
