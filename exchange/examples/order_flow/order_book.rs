//! Builds price levels from order messages. Single-threaded; uses neither files nor Lapwing.
//!
//! | type                | what the book does                                            |
//! |---------------------|---------------------------------------------------------------|
//! | 1 new limit order   | the order rests at its price                                  |
//! | 2 partial cancel    | the named order loses `size` shares                           |
//! | 3 delete            | the named order is removed, whatever `size`                   |
//! | 4 visible execution | the named order loses `size` shares                           |
//! | 5 hidden execution  | nothing: a hidden order is in no level                        |
//! | 6 cross trade       | nothing: an auction is not part of the book                   |
//! | 7 halt              | nothing                                                       |
//!
//! An order without shares is removed. If a message and the resting order differ in price or side,
//! the resting order counts.
//!
//! The book begins empty, in the middle of a day, so messages may name earlier orders. They are
//! counted ([`OrderBook::unknown_orders`]) and have no other effect. The book therefore contains
//! the orders added since its first message, not all orders of the market.

use std::collections::{BTreeMap, HashMap, hash_map::Entry};
use std::fmt;

use exchange::flows::lobster::message::{Kind, Message, Side};

/// Price units per dollar.
const UNITS_PER_DOLLAR: i64 = 10_000;

/// A resting order.
#[derive(Debug)]
struct RestingOrder {
    side: Side,
    price: i64,
    /// Remaining shares, at least 1.
    size: u32,
}

/// A price and the shares at that price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Dollars x 10000.
    pub(crate) price: i64,
    /// Total shares of all orders at this price.
    pub(crate) shares: u64,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, units) = (self.price / UNITS_PER_DOLLAR, self.price % UNITS_PER_DOLLAR);
        write!(f, "{dollars}.{units:04} x {}", self.shares)
    }
}

/// Resting orders by id, and both sides by price.
#[derive(Debug, Default)]
pub(crate) struct OrderBook {
    orders: HashMap<i64, RestingOrder>,
    /// Bid shares by price. No level is empty.
    bids: BTreeMap<i64, u64>,
    /// Ask shares by price. No level is empty.
    asks: BTreeMap<i64, u64>,
    unknown_orders: u64,
    contradictions: u64,
}

impl OrderBook {
    /// Applies `message`, by the table above.
    pub(crate) fn apply(&mut self, message: &Message) {
        match message.kind {
            Kind::Add => self.add(message),
            Kind::Cancel | Kind::Execute => self.reduce(message.order_id, Some(message.size)),
            Kind::Delete => self.reduce(message.order_id, None),
            Kind::ExecuteHidden | Kind::Cross | Kind::Halt => {}
        }
    }

    /// Returns the highest bid.
    #[must_use]
    pub(crate) fn best_bid(&self) -> Option<Level> {
        self.bids.last_key_value().map(|(&price, &shares)| Level { price, shares })
    }

    /// Returns the lowest ask.
    #[must_use]
    pub(crate) fn best_ask(&self) -> Option<Level> {
        self.asks.first_key_value().map(|(&price, &shares)| Level { price, shares })
    }

    /// Returns the number of messages so far that named an order that does not rest here.
    #[must_use]
    pub(crate) fn unknown_orders(&self) -> u64 {
        self.unknown_orders
    }

    /// Returns the number of messages so far that contradict the book. Such a message adds an order
    /// with the id of a resting order, which then stays, or takes more shares from an order than it
    /// has, which then loses all.
    #[must_use]
    pub(crate) fn contradictions(&self) -> u64 {
        self.contradictions
    }

    fn add(&mut self, message: &Message) {
        let Entry::Vacant(free) = self.orders.entry(message.order_id) else {
            self.contradictions += 1;
            return;
        };
        let &Message { side, price, size, .. } = message;
        free.insert(RestingOrder { side, price, size });
        *self.levels(side).entry(price).or_default() += u64::from(size);
    }

    /// Takes `shares` from an order, or all its remaining shares.
    fn reduce(&mut self, order_id: i64, shares: Option<u32>) {
        let Some(order) = self.orders.get_mut(&order_id) else {
            self.unknown_orders += 1;
            return;
        };
        let wanted = shares.unwrap_or(order.size);
        let taken = wanted.min(order.size);
        self.contradictions += u64::from(wanted > taken);
        order.size -= taken;

        let &mut RestingOrder { side, price, size } = order;
        if size == 0 {
            self.orders.remove(&order_id);
        }
        self.lower_level(side, price, taken);
    }

    fn lower_level(&mut self, side: Side, price: i64, taken: u32) {
        let levels = self.levels(side);
        if let Some(shares) = levels.get_mut(&price) {
            *shares -= u64::from(taken);
            if *shares == 0 {
                levels.remove(&price);
            }
        }
    }

    fn levels(&mut self, side: Side) -> &mut BTreeMap<i64, u64> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a book after `lines`.
    fn book_after(lines: &[&str]) -> OrderBook {
        let mut book = OrderBook::default();
        for line in lines {
            book.apply(&Message::parse(line.as_bytes()).unwrap());
        }
        book
    }

    fn level(price: i64, shares: u64) -> Option<Level> {
        Some(Level { price, shares })
    }

    /// Two bids at 100.00 and one at 99.00; an ask at 101.00 and one at 102.00.
    const FIVE_ORDERS: [&str; 5] = [
        "1,1,11,10,1000000,1",
        "2,1,12,20,1000000,1",
        "3,1,13,30,990000,1",
        "4,1,21,40,1010000,-1",
        "5,1,22,50,1020000,-1",
    ];

    /// Returns `FIVE_ORDERS` followed by `more`.
    fn five_orders_and(more: &[&str]) -> OrderBook {
        book_after(&[&FIVE_ORDERS, more].concat())
    }

    #[test]
    fn orders_at_one_price_add_up_and_the_best_level_is_the_inner_one() {
        let book = five_orders_and(&[]);
        assert_eq!(book.best_bid(), level(1_000_000, 30));
        assert_eq!(book.best_ask(), level(1_010_000, 40));
        assert_eq!(book_after(&[]).best_bid(), None, "a book starts empty");
    }

    #[test]
    fn cancel_and_execution_take_a_part_and_delete_takes_all() {
        let book =
            five_orders_and(&["6,2,11,4,1000000,1", "7,4,12,5,1000000,1", "8,3,21,1,1010000,-1"]);
        assert_eq!(book.best_bid(), level(1_000_000, 21), "30 - 4 - 5");
        assert_eq!(book.best_ask(), level(1_020_000, 50), "a delete takes the whole order");
        assert_eq!((book.unknown_orders(), book.contradictions()), (0, 0));
    }

    #[test]
    fn an_order_executed_to_its_last_share_is_forgotten() {
        let book =
            five_orders_and(&["6,4,11,10,1000000,1", "7,4,12,20,1000000,1", "8,4,11,1,1000000,1"]);
        assert_eq!(book.best_bid(), level(990_000, 30), "the level went with its last order");
        assert_eq!(book.unknown_orders(), 1, "order 11 was gone at time 8");
    }

    #[test]
    fn hidden_cross_and_halt_leave_the_book_alone() {
        let book =
            five_orders_and(&["6,5,11,10,1000000,1", "7,6,11,10,1000000,1", "8,7,11,0,-1,-1"]);
        assert_eq!(book.best_bid(), level(1_000_000, 30));
        assert_eq!((book.unknown_orders(), book.contradictions()), (0, 0));
    }

    #[test]
    fn an_unknown_order_is_counted_and_changes_nothing() {
        let book =
            five_orders_and(&["6,2,90,5,1000000,1", "7,3,91,5,1000000,1", "8,4,92,5,1010000,-1"]);
        assert_eq!(book.best_bid(), level(1_000_000, 30));
        assert_eq!(book.best_ask(), level(1_010_000, 40));
        assert_eq!(book.unknown_orders(), 3);
    }

    #[test]
    fn a_message_that_cannot_be_true_is_counted() {
        let book = five_orders_and(&["6,1,11,99,1000000,1", "7,4,12,21,1000000,1"]);
        assert_eq!(book.best_bid(), level(1_000_000, 10), "11 keeps its 10, 12 had only 20");
        assert_eq!(book.contradictions(), 2);
    }

    #[test]
    fn the_resting_order_knows_its_price_and_side_better_than_the_message() {
        let book = five_orders_and(&["6,3,11,10,7,-1"]);
        assert_eq!(book.best_bid(), level(1_000_000, 20));
    }

    #[test]
    fn a_level_prints_dollars_with_four_decimals() {
        assert_eq!(Level { price: 5_853_305, shares: 18 }.to_string(), "585.3305 x 18");
        assert_eq!(Level { price: 7, shares: 1 }.to_string(), "0.0007 x 1");
    }
}
