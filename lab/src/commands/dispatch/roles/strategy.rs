//! A strategy. It sends its orders at their due times, records its lateness, and checks that each
//! order returns once and undamaged.

use crossbeam_utils::CachePadded;

use super::{Flight, Role, Signals, TURN, Turn};
use crate::commands::dispatch::hand_off::{Inlet, Outlet, Port, Pressure};
use crate::commands::dispatch::order::{Order, Sample, Segment, saturated};
use crate::load::paced::Clock;

/// The returned orders of a strategy, and their errors.
#[derive(Debug)]
pub(crate) struct Returns {
    /// The times of each correct order, in the order of their return.
    pub(crate) samples: Vec<Sample>,
    /// The lateness of each sent order, in nanoseconds.
    pub(crate) lags: Vec<u32>,
    /// A bit for each returned order.
    seen: Vec<u64>,
    /// Returned orders, correct or not.
    arrivals: u64,
    /// Orders that returned a second time.
    pub(crate) doubled: u64,
    /// Orders that differ from what was sent, or that belong to another strategy.
    pub(crate) damaged: u64,
}

impl Returns {
    /// Creates a record for `orders` orders, with memory that is touched.
    fn of(orders: usize) -> Self {
        let (mut samples, mut lags) = (vec![Sample::UNUSED; orders], vec![u32::MAX; orders]);
        samples.clear();
        lags.clear();
        let mut seen = vec![u64::MAX; orders.div_ceil(64)];
        seen.fill(0);
        Self { samples, lags, seen, arrivals: 0, doubled: 0, damaged: 0 }
    }

    /// Records an order that returned to `strategy`, which has sent `sent` so far.
    #[inline]
    fn enter<const PAD: usize>(&mut self, strategy: u16, sent: usize, order: &Order<PAD>) {
        self.arrivals += 1;
        let number = order.number as usize;
        if !order.is_intact() || order.strategy != strategy || number >= sent {
            self.damaged += 1;
            return;
        }
        let bit = 1 << (number % 64);
        let seen = &mut self.seen[number / 64];
        if *seen & bit != 0 {
            self.doubled += 1;
            return;
        }
        *seen |= bit;
        self.samples.push(order.sample());
    }
}

/// A strategy.
pub(crate) struct Strategy<'a, const PAD: usize, O, I> {
    /// Its number.
    own: u16,
    /// The due times of its orders, relative to the start.
    moments: &'a [u64],
    /// Orders that it has sent.
    sent: usize,
    /// Its hand-offs.
    port: Port<PAD, O, I>,
    /// The orders that came back.
    returns: Returns,
    /// Its orders in flight, for the sampler.
    flight: &'a CachePadded<Flight>,
    /// The start of the run.
    epoch: u64,
    /// The time of the last send or return.
    last_sign_at: u64,
    /// The time without progress after which it treats its orders as lost.
    patience_ns: u64,
    /// Whether it has completed. It polls for as long as others have not completed, because in a
    /// shared ring they would wait for it.
    is_done: bool,
    /// The time.
    clock: &'a Clock,
    /// Tells the others that it has completed.
    signals: &'a Signals,
}

impl<'a, const PAD: usize, O, I> Strategy<'a, PAD, O, I>
where
    O: Outlet<PAD>,
    I: Inlet<PAD>,
{
    /// Creates strategy `own` with these hand-offs, which sends at `moments`.
    pub(crate) fn new(
        own: usize,
        port: Port<PAD, O, I>,
        (moments, flight): (&'a [u64], &'a CachePadded<Flight>),
        patience_ns: u64,
        (clock, signals): (&'a Clock, &'a Signals),
    ) -> Self {
        Self {
            own: own as u16,
            moments,
            sent: 0,
            port,
            returns: Returns::of(moments.len()),
            flight,
            epoch: 0,
            last_sign_at: 0,
            patience_ns,
            is_done: false,
            clock,
            signals,
        }
    }

    /// Returns its pressure as a sender.
    pub(crate) fn pressure(&self) -> Pressure {
        self.port.out.pressure()
    }

    /// Returns the orders that are still here after all have returned.
    pub(crate) fn surplus(&mut self) -> u64 {
        self.port.surplus()
    }

    /// Returns the orders that came back.
    pub(crate) fn into_returns(self) -> Returns {
        self.returns
    }

    /// Sends the orders that are due.
    fn fire(&mut self, now: u64) -> usize {
        for fired in 0..TURN {
            let due = self.next_due();
            if due > now {
                return fired;
            }
            let sent_at = self.clock.now();
            self.returns.lags.push(saturated(sent_at.saturating_sub(due)));
            self.port.out.send(Order::new(self.own, self.sent as u32, sent_at));
            self.sent += 1;
            self.flight.send();
        }
        TURN
    }

    /// Receives returned orders.
    fn take_in(&mut self) -> usize {
        let Self { own, port, returns, sent, clock, flight, .. } = self;
        port.inlet.drain(TURN, |mut order| {
            order.pass(Segment::Return, clock.now());
            returns.enter(*own, *sent, &order);
            flight.come_back();
        })
    }

    /// Returns the due time of the next order, or `u64::MAX` if all are sent.
    fn next_due(&self) -> u64 {
        self.moments.get(self.sent).map_or(u64::MAX, |moment| self.epoch + moment)
    }

    /// Completes if all orders have returned, or if no more will.
    fn end_if_due(&mut self, now: u64, next_due: u64) {
        let all_sent = next_due == u64::MAX;
        let all_back = self.returns.arrivals >= self.moments.len() as u64;
        let lost_patience = now > self.last_sign_at + self.patience_ns;
        if !self.is_done && all_sent && (all_back || lost_patience) {
            self.is_done = true;
            self.signals.strategy_is_done();
        }
    }
}

impl<const PAD: usize, O, I> Role for Strategy<'_, PAD, O, I>
where
    O: Outlet<PAD>,
    I: Inlet<PAD>,
{
    fn begin(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.last_sign_at = epoch;
    }

    fn turn(&mut self, now: u64) -> Turn {
        let before = self.returns.arrivals;
        let sent = self.port.out.retry(self.clock) + self.fire(now);
        let looked_at = self.take_in();
        if sent > 0 || self.returns.arrivals > before {
            self.last_sign_at = now;
        }
        let next_due = self.next_due();
        self.end_if_due(now, next_due);
        Turn { worked: sent + looked_at > 0, next_at: next_due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::dispatch::order::SMALL;

    #[test]
    fn order_that_comes_twice_or_to_the_wrong_one_or_before_it_is_sent_is_no_answer() {
        let mut returns = Returns::of(100);
        let order = |strategy, number| Order::<SMALL>::new(strategy, number, 0);
        returns.enter(1, 100, &order(1, 70));
        returns.enter(1, 100, &order(1, 6));
        returns.enter(1, 100, &order(1, 70));
        returns.enter(1, 100, &order(0, 8));
        let mut damaged = order(1, 8);
        damaged.number = 9;
        returns.enter(1, 100, &damaged);
        returns.enter(1, 100, &order(1, 100));
        returns.enter(1, 100, &order(1, u32::MAX));

        assert_eq!((returns.samples.len(), returns.doubled, returns.damaged), (2, 1, 4));
        assert_eq!(returns.arrivals, 7);
    }
}
