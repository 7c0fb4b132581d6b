//! The resting orders that a file names, with the names that the exchange uses.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::message::{Kind, Message, Side as MessageSide};

use super::UNITS_PER_TICK;
use crate::types::{AccountId, OrderId, OrderRef, Price, Quantity, Side};

/// Orders that only take. They never rest, so they never meet each other.
pub(super) const TAKER: AccountId = AccountId(0);
/// Orders that rest belong to accounts 1 to this one, in turn.
pub(super) const MAKERS: u32 = 1_000;

/// The exchange's name of an order, and its present total.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) id: OrderRef,
    pub(super) total: Quantity,
}

/// Gives orders their names.
#[derive(Debug)]
pub(super) struct Orders {
    known: HashMap<i64, Known>,
    /// How many names have been given.
    names: u64,
}

impl Orders {
    pub(super) fn new() -> Self {
        Self { known: HashMap::new(), names: 0 }
    }

    /// Names an order that rests in the book.
    pub(super) fn add(&mut self, file_id: i64, total: Quantity) -> OrderRef {
        let id = self.next_name();
        self.known.insert(file_id, Known { id, total });
        id
    }

    /// Names an order that trades before it rests. Its account is that of no order that it meets, if
    /// there is such an account.
    pub(super) fn add_incoming(
        &mut self,
        file_id: i64,
        total: Quantity,
        makers: &[OrderRef],
    ) -> OrderRef {
        let mut id = self.next_name();
        for _ in 0..MAKERS {
            if makers.iter().all(|maker| maker.account != id.account) {
                break;
            }
            id = self.next_name();
        }
        self.known.insert(file_id, Known { id, total });
        id
    }

    /// Names an order that never rests.
    pub(super) fn taker(&mut self) -> OrderRef {
        self.names += 1;
        OrderRef { account: TAKER, order: OrderId(self.names) }
    }

    /// Whether the order has a name.
    pub(super) fn is_known(&self, file_id: i64) -> bool {
        self.known.contains_key(&file_id)
    }

    pub(super) fn get_mut(&mut self, file_id: i64) -> Option<&mut Known> {
        self.known.get_mut(&file_id)
    }

    fn next_name(&mut self) -> OrderRef {
        self.names += 1;
        let account = u32::try_from(self.names % u64::from(MAKERS)).unwrap_or(0) + 1;
        OrderRef { account: AccountId(account), order: OrderId(self.names) }
    }
}

/// An order that is older than its first message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier {
    pub(super) side: Side,
    pub(super) price: Price,
    pub(super) quantity: Quantity,
}

/// Returns the orders that are older than their first message, by id. The quantity of an order that is
/// never added is what the file takes from it.
pub(super) fn earlier_orders(messages: &[Message]) -> BTreeMap<i64, Earlier> {
    let mut added = HashSet::new();
    let mut newest = i64::MIN;
    let mut earlier: BTreeMap<i64, Earlier> = BTreeMap::new();
    for message in messages {
        let is_earlier = match message.kind {
            Kind::Add => added.insert(message.order_id) && message.order_id < newest,
            Kind::Cancel | Kind::Delete | Kind::Execute => !added.contains(&message.order_id),
            Kind::ExecuteHidden | Kind::Cross | Kind::Halt => false,
        };
        if is_earlier {
            let new = Earlier { side: side_of(message), price: ticks_of(message), quantity: 0 };
            let order = earlier.entry(message.order_id).or_insert(new);
            order.quantity = order.quantity.saturating_add(message.size);
        }
        if message.kind == Kind::Add {
            newest = newest.max(message.order_id);
        }
    }
    earlier
}

pub(super) fn side_of(message: &Message) -> Side {
    match message.side {
        MessageSide::Buy => Side::Buy,
        MessageSide::Sell => Side::Sell,
    }
}

/// Returns the price in ticks. A price that is too large is 0, which no book has.
pub(super) fn ticks_of(message: &Message) -> Price {
    Price::try_from(message.price / UNITS_PER_TICK).unwrap_or(0)
}
