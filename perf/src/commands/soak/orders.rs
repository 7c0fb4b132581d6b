//! How a fault reaches the thread that it meets: a word that the thread reads before each batch.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::faults::{Failing, Losing};

/// What a thread has to do before its next batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Stall for this time.
    Stall(Duration),
    /// Fail at the next event.
    Fail(Failing),
    /// Lose the next claim.
    Lose(Losing),
    /// Leave.
    Leave,
}

/// Bits of the word that say which order it is. The rest is a duration in microseconds.
const KIND_BITS: u32 = 8;

/// The order of one thread. A later order replaces one that is not yet taken. Relaxed throughout:
/// it carries nothing else.
#[derive(Debug, Default)]
pub(super) struct Orders(AtomicU64);

impl Orders {
    /// Gives an order.
    pub(super) fn give(&self, order: Order) {
        self.0.store(order.encoded(), Ordering::Relaxed);
    }

    /// Takes the order, if there is one. Without one, this is a load of a word that nothing else
    /// writes.
    #[inline]
    pub(super) fn take(&self) -> Option<Order> {
        if self.0.load(Ordering::Relaxed) == 0 { None } else { self.taken() }
    }

    #[cold]
    fn taken(&self) -> Option<Order> {
        Order::decoded(self.0.swap(0, Ordering::Relaxed))
    }
}

impl Order {
    fn encoded(self) -> u64 {
        match self {
            Self::Stall(time) => 1 | (time.as_micros() as u64) << KIND_BITS,
            Self::Fail(Failing::Error) => 2,
            Self::Fail(Failing::Panic) => 3,
            Self::Lose(Losing::Drop) => 4,
            Self::Lose(Losing::FillPanic) => 5,
            Self::Lose(Losing::Die) => 6,
            Self::Leave => 7,
        }
    }

    fn decoded(word: u64) -> Option<Self> {
        match word & ((1 << KIND_BITS) - 1) {
            1 => Some(Self::Stall(Duration::from_micros(word >> KIND_BITS))),
            2 => Some(Self::Fail(Failing::Error)),
            3 => Some(Self::Fail(Failing::Panic)),
            4 => Some(Self::Lose(Losing::Drop)),
            5 => Some(Self::Lose(Losing::FillPanic)),
            6 => Some(Self::Lose(Losing::Die)),
            7 => Some(Self::Leave),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_taken_once_as_it_was_given() {
        let orders = Orders::default();
        for order in [
            Order::Stall(Duration::from_micros(77_000)),
            Order::Fail(Failing::Error),
            Order::Fail(Failing::Panic),
            Order::Lose(Losing::Drop),
            Order::Lose(Losing::FillPanic),
            Order::Lose(Losing::Die),
            Order::Leave,
        ] {
            orders.give(order);
            assert_eq!(orders.take(), Some(order));
            assert_eq!(orders.take(), None);
        }
    }
}
