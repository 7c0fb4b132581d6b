//! The interface of a hand-off between two roles, and the case of a full hand-off. Nothing here
//! waits, because a role has other work. The hand-offs themselves are in `techniques`.

use std::collections::VecDeque;

use super::order::Order;
use crate::load::paced::Clock;

/// The sending end.
pub(super) trait Outlet<T>: Send {
    /// Hands over `message`, or returns it if the hand-off is full.
    ///
    /// # Errors
    ///
    /// The message.
    fn offer(&mut self, message: T) -> Result<(), T>;
}

/// The receiving end.
pub(super) trait Inlet<T>: Send {
    /// Passes at most `most` available messages to `each`, and returns the number of polled
    /// messages. An inlet of a shared ring also polls those of other receivers.
    fn drain(&mut self, most: usize, each: impl FnMut(T)) -> usize;
}

/// One direction through the orchestrator: from a hand-off to one of several.
pub(super) trait Relay<T>: Send {
    /// Passes on at most `most` available messages, and returns their number. `handle` changes each
    /// message and selects its receiver. Messages that did not fit go first.
    fn relay(&mut self, clock: &Clock, most: usize, handle: impl FnMut(&mut T) -> usize) -> usize;

    /// Returns the pressure so far.
    fn pressure(&self) -> Pressure;
}

/// The pressure on senders: messages that did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pressure {
    /// Messages that were not accepted at once.
    pub(super) full: u64,
    /// The longest time from the first offer of a message to its acceptance, in nanoseconds.
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

impl<const PAD: usize, O: Outlet<Order<PAD>>> Sending<PAD, O> {
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

#[cfg(test)]
mod tests {
    use super::super::order::SMALL;
    use super::*;

    /// Room for `free` orders.
    struct Narrow {
        free: usize,
        taken: Vec<u32>,
    }

    impl Outlet<Order<SMALL>> for Narrow {
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
