//! Generates a seeded flow of order messages in the format of a market's file, for use without a
//! file.
//!
//! The mix of types is that of an hour of a busy share. Nearly every order is deleted, and one in
//! fifteen messages is a trade. Bids stay below a fixed price and asks above it, so the book is
//! never crossed. Apart from that, prices and sizes are random. A few messages name orders from
//! before the flow. The same seed gives the same flow.

use std::io::{self, Read, Write};

/// Start of trading, 09:30, in nanoseconds after midnight.
const OPENING_NS: u64 = 34_200 * 1_000_000_000;
/// Last nanosecond of the day. The time of a longer flow stops there.
const MIDNIGHT_NS: u64 = 86_400 * 1_000_000_000 - 1;
/// Longest time between two messages, in nanoseconds.
const LONGEST_PAUSE_NS: u64 = 1_000_000;
/// The price between the two sides, in dollars x 10000.
const MIDDLE_PRICE: u64 = 5_850_000;
/// One cent, in dollars x 10000.
const TICK: u64 = 100;
/// Number of price levels per side.
const TICKS_PER_SIDE: u64 = 50;
/// Largest new order, in shares.
const LARGEST_ORDER: u64 = 500;
/// Id of the first new order. Lower ids are from before the flow.
const FIRST_ORDER_ID: u64 = 1_000_000;

/// A resting order.
#[derive(Debug)]
struct OpenOrder {
    id: u64,
    size: u64,
    price: u64,
    /// 1 or -1.
    direction: i8,
}

/// The text of a flow, generated while it is read.
#[derive(Debug)]
pub(crate) struct Flow {
    random: fastrand::Rng,
    /// Number of remaining messages.
    remaining: u64,
    time_ns: u64,
    next_order_id: u64,
    open: Vec<OpenOrder>,
    /// The current line.
    line: Vec<u8>,
    /// Number of bytes of `line` that have been read.
    taken: usize,
}

impl Flow {
    /// Creates a flow of `messages` lines.
    #[must_use]
    pub(crate) fn new(seed: u64, messages: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            remaining: messages,
            time_ns: OPENING_NS,
            next_order_id: FIRST_ORDER_ID,
            open: Vec::new(),
            line: Vec::new(),
            taken: 0,
        }
    }

    /// Replaces `line` with the next message.
    fn next_line(&mut self) -> io::Result<()> {
        self.remaining -= 1;
        self.time_ns = MIDNIGHT_NS.min(self.time_ns + self.random.u64(..LONGEST_PAUSE_NS));
        self.line.clear();
        self.taken = 0;
        // Per thousand messages.
        match self.random.u32(..1_000) {
            0 => self.write(7, &OpenOrder { id: 0, size: 0, price: 0, direction: -1 }),
            1 => self.trade_without_order(6),
            2..25 => self.trade_without_order(5),
            25..30 => self.delete_from_before(),
            30..75 => self.take_part(4),
            75..90 => self.take_part(2),
            90..510 => self.delete(),
            _ => self.add(),
        }
    }

    fn add(&mut self) -> io::Result<()> {
        let away = TICK * self.random.u64(1..=TICKS_PER_SIDE);
        let (direction, price) =
            if self.random.bool() { (1, MIDDLE_PRICE - away) } else { (-1, MIDDLE_PRICE + away) };
        let order = OpenOrder {
            id: self.next_order_id,
            size: self.random.u64(1..=LARGEST_ORDER),
            price,
            direction,
        };
        self.next_order_id += 1;
        let written = self.write(1, &order);
        self.open.push(order);
        written
    }

    /// A partial cancel (2) or an execution (4). An execution may take the whole order.
    fn take_part(&mut self, kind: u8) -> io::Result<()> {
        let Some(mut order) = self.remove_any() else { return self.add() };
        // A partial cancel leaves at least one share, if there are two.
        let most = if kind == 2 { (order.size - 1).max(1) } else { order.size };
        let size = self.random.u64(1..=most);
        let written = self.write(kind, &OpenOrder { size, ..order });
        order.size -= size;
        if order.size > 0 {
            self.open.push(order);
        }
        written
    }

    fn delete(&mut self) -> io::Result<()> {
        match self.remove_any() {
            Some(order) => self.write(3, &order),
            None => self.add(),
        }
    }

    fn delete_from_before(&mut self) -> io::Result<()> {
        let id = self.random.u64(1..FIRST_ORDER_ID);
        self.write(3, &OpenOrder { id, size: 100, price: MIDDLE_PRICE - TICK, direction: 1 })
    }

    /// A hidden execution (5) or a cross trade (6).
    fn trade_without_order(&mut self, kind: u8) -> io::Result<()> {
        let size = self.random.u64(1..=LARGEST_ORDER);
        self.write(kind, &OpenOrder { id: 0, size, price: MIDDLE_PRICE, direction: 1 })
    }

    fn remove_any(&mut self) -> Option<OpenOrder> {
        if self.open.is_empty() {
            return None;
        }
        let index = self.random.usize(..self.open.len());
        Some(self.open.swap_remove(index))
    }

    fn write(&mut self, kind: u8, order: &OpenOrder) -> io::Result<()> {
        let (seconds, fraction_ns) = (self.time_ns / 1_000_000_000, self.time_ns % 1_000_000_000);
        let OpenOrder { id, size, price, direction } = order;
        writeln!(self.line, "{seconds}.{fraction_ns:09},{kind},{id},{size},{price},{direction}")
    }
}

impl Read for Flow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.line.len() && self.remaining > 0 {
            self.next_line()?;
        }
        let count = (&self.line[self.taken..]).read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_flow::order_book::OrderBook;
    use exchange::flows::lobster::message::Message;

    fn text_of(seed: u64, messages: u64) -> String {
        io::read_to_string(Flow::new(seed, messages)).unwrap()
    }

    #[test]
    fn a_flow_is_as_long_as_asked_and_the_same_for_the_same_seed() {
        assert_eq!(text_of(1, 0), "");
        assert_eq!(text_of(1, 1_000).lines().count(), 1_000);
        assert_eq!(text_of(1, 1_000), text_of(1, 1_000));
        assert_ne!(text_of(1, 1_000), text_of(2, 1_000));
    }

    #[test]
    fn a_flow_is_valid_uses_every_type_and_never_crosses_the_book() {
        let mut book = OrderBook::default();
        let mut count_by_type = [0; 8];
        let mut last_time_ns = 0;
        for line in text_of(3, 20_000).lines() {
            let message = Message::parse(line.as_bytes()).unwrap();
            count_by_type[message.kind as usize + 1] += 1;
            assert!(message.time_ns >= last_time_ns, "time goes forward: {line}");
            last_time_ns = message.time_ns;

            book.apply(&message);
            if let (Some(bid), Some(ask)) = (book.best_bid(), book.best_ask()) {
                assert!(bid.price < ask.price, "crossed: {line}");
            }
        }
        assert!(count_by_type[1..].iter().all(|&count| count > 0), "{count_by_type:?}");
        assert!(book.unknown_orders() > 0, "some orders are from before the flow");
        assert_eq!(book.contradictions(), 0);
    }
}
