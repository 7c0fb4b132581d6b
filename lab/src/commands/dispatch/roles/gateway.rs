//! A gateway and its venue. It holds each order for a random delay, in its own memory and not in a
//! slot of a ring, and records how late it releases the order.

use super::hold::Hold;
use super::{Role, TURN, Turn};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Outlet, Port, Pressure};
use crate::commands::dispatch::order::Segment;
use crate::commands::dispatch::random::Random;
use crate::load::paced::Clock;

/// The seed of the delays of venue 0, as in the original. Another venue mixes its number in.
const SEED: u64 = 0xD1CE_0000;
/// Orders that fit a gateway without allocation, relative to the expected number.
const ROOM: f64 = 1.5;

/// A gateway.
pub(crate) struct Gateway<'a, const PAD: usize, O, I> {
    /// Its hand-offs.
    port: Port<PAD, O, I>,
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
}

impl<'a, const PAD: usize, O, I> Gateway<'a, PAD, O, I>
where
    O: Outlet<PAD>,
    I: Inlet<PAD>,
{
    /// Creates the gateway of `venue` with these hand-offs.
    pub(crate) fn new(
        venue: usize,
        port: Port<PAD, O, I>,
        config: &Config,
        clock: &'a Clock,
    ) -> Self {
        let room = config.expected_in_flight() / config.m_venues as f64 * ROOM;
        Self {
            port,
            hold: Hold::with_room_for(room as usize),
            random: Random::new(SEED ^ venue as u64),
            d_min_ns: config.d_min_ns(),
            d_range_ns: config.d_max_ns() - config.d_min_ns(),
            clock,
        }
    }

    /// Returns its pressure as a sender.
    pub(crate) fn pressure(&self) -> Pressure {
        self.port.out.pressure()
    }

    /// Returns the orders that are still here after every strategy has received all of its own.
    pub(crate) fn surplus(&mut self) -> u64 {
        self.port.surplus() + self.hold.len() as u64
    }

    /// Takes orders in.
    fn take_in(&mut self) -> usize {
        let Self { port, hold, random, clock, .. } = self;
        let (shortest, range) = (self.d_min_ns, self.d_range_ns);
        port.inlet.drain(TURN, |mut order| {
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
            self.port.out.send(order);
        }
        TURN
    }
}

impl<const PAD: usize, O, I> Role for Gateway<'_, PAD, O, I>
where
    O: Outlet<PAD>,
    I: Inlet<PAD>,
{
    fn turn(&mut self, now: u64) -> Turn {
        let dealt_with = self.port.out.retry(self.clock) + self.let_go(now) + self.take_in();
        Turn { worked: dealt_with > 0, next_at: self.hold.next_due() }
    }
}
