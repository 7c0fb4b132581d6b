//! The interface of a hand-off between two roles, and the case of a full hand-off. Nothing here
//! waits, because a role has other work. The hand-offs themselves are in `techniques`.

use std::collections::VecDeque;

use super::order::Order;
use crate::load::paced::Clock;

/// The sending end.
pub(super) trait Outlet<const PAD: usize>: Send {
    /// Hands over `order`, or returns it if the hand-off is full.
    ///
    /// # Errors
    ///
    /// The order.
    fn offer(&mut self, order: Order<PAD>) -> Result<(), Order<PAD>>;
}

/// The receiving end.
pub(super) trait Inlet<const PAD: usize>: Send {
    /// Passes at most `most` available orders to `each`, and returns the number of polled orders. An inlet of a shared
    /// ring also polls those of other receivers.
    fn drain(&mut self, most: usize, each: impl FnMut(Order<PAD>)) -> usize;
}

/// A receiving end that gives one order at a time.
pub(super) trait Pop<const PAD: usize>: Send {
    /// Returns the next order, or `None` if none is available.
    fn pop_one(&mut self) -> Option<Order<PAD>>;
}

impl<const PAD: usize, P: Pop<PAD>> Inlet<PAD> for P {
    #[inline]
    fn drain(&mut self, most: usize, mut each: impl FnMut(Order<PAD>)) -> usize {
        for taken in 0..most {
            match self.pop_one() {
                Some(order) => each(order),
                None => return taken,
            }
        }
        most
    }
}

/// One direction through the orchestrator: from a hand-off to one of several.
pub(super) trait Relay<const PAD: usize>: Send {
    /// Passes on at most `most` available orders, and returns their number. `handle` changes each order and selects its
    /// receiver. Orders that did not fit go first.
    fn relay(
        &mut self,
        clock: &Clock,
        most: usize,
        handle: impl FnMut(&mut Order<PAD>) -> usize,
    ) -> usize;

    /// Returns the pressure so far.
    fn pressure(&self) -> Pressure;
}

/// The pressure on senders: orders that did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pressure {
    /// Orders that were not accepted at once.
    pub(super) full: u64,
    /// The longest time from the first offer of an order to its acceptance, in nanoseconds.
    pub(super) longest_wait_ns: u64,
}

impl Pressure {
    /// Returns the sum of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            full: self.full + other.full,
            longest_wait_ns: self.longest_wait_ns.max(other.longest_wait_ns),
        }
    }
}

/// An outlet, with the orders that did not fit. They keep their stamps and their order.
#[derive(Debug)]
pub(super) struct Sending<const PAD: usize, O> {
    /// The outlet.
    outlet: O,
    /// Orders that did not fit, the oldest first.
    pending: VecDeque<Order<PAD>>,
    /// The pressure so far.
    pressure: Pressure,
}

impl<const PAD: usize, O: Outlet<PAD>> Sending<PAD, O> {
    /// Sends by `outlet`.
    pub(super) fn new(outlet: O) -> Self {
        Self { outlet, pending: VecDeque::new(), pressure: Pressure::default() }
    }

    /// Sends `order`, now or later.
    #[inline]
    pub(super) fn send(&mut self, order: Order<PAD>) {
        let refused = if self.pending.is_empty() { self.outlet.offer(order) } else { Err(order) };
        if let Err(order) = refused {
            self.pressure.full += 1;
            self.pending.push_back(order);
        }
    }

    /// Offers the orders that did not fit again. Returns the number of accepted ones.
    #[inline]
    pub(super) fn retry(&mut self, clock: &Clock) -> usize {
        if self.pending.is_empty() { 0 } else { self.retry_pending(clock) }
    }

    #[cold]
    fn retry_pending(&mut self, clock: &Clock) -> usize {
        let before = self.pending.len();
        while let Some(order) = self.pending.front() {
            if self.outlet.offer(*order).is_err() {
                break;
            }
            let waited = clock.now().saturating_sub(order.stamped_at());
            self.pressure.longest_wait_ns = self.pressure.longest_wait_ns.max(waited);
            self.pending.pop_front();
        }
        before - self.pending.len()
    }

    /// Returns the number of orders that have not been accepted.
    pub(super) fn left(&self) -> usize {
        self.pending.len()
    }

    /// Returns the pressure so far.
    pub(super) const fn pressure(&self) -> Pressure {
        self.pressure
    }
}

/// Both ends that a strategy or a gateway has: to the orchestrator and from it.
#[derive(Debug)]
pub(super) struct Port<const PAD: usize, O, I> {
    /// To the orchestrator.
    pub(super) out: Sending<PAD, O>,
    /// From the orchestrator.
    pub(super) inlet: I,
}

impl<const PAD: usize, O: Outlet<PAD>, I: Inlet<PAD>> Port<PAD, O, I> {
    /// Creates the port with these ends.
    pub(super) fn new((outlet, inlet): (O, I)) -> Self {
        Self { out: Sending::new(outlet), inlet }
    }

    /// Returns the orders that are still here after every strategy has received all of its own.
    pub(super) fn surplus(&mut self) -> u64 {
        let mut arrived = 0;
        while self.inlet.drain(usize::MAX, |_| arrived += 1) > 0 {}
        arrived + self.out.left() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::SMALL;
    use super::*;

    /// Room for `free` orders.
    struct Narrow {
        free: usize,
        taken: Vec<u32>,
    }

    impl Outlet<SMALL> for Narrow {
        fn offer(&mut self, order: Order<SMALL>) -> Result<(), Order<SMALL>> {
            if self.free == 0 {
                return Err(order);
            }
            self.free -= 1;
            self.taken.push(order.number);
            Ok(())
        }
    }

    #[test]
    fn orders_that_find_no_room_are_counted_once_and_stay_in_order() {
        let clock = Clock::new();
        let mut sending = Sending::new(Narrow { free: 1, taken: Vec::new() });
        for number in 0..4 {
            sending.send(Order::new(0, number, 0));
        }
        assert_eq!((sending.retry(&clock), sending.left()), (0, 3));
        sending.outlet.free = 2;
        assert_eq!((sending.retry(&clock), sending.left()), (2, 1));
        sending.outlet.free = 5;
        sending.send(Order::new(0, 4, 0)); // behind the one that waits
        assert_eq!((sending.retry(&clock), sending.left()), (2, 0));

        assert_eq!(sending.outlet.taken, [0, 1, 2, 3, 4]);
        assert_eq!(sending.pressure().full, 4);
    }
}
