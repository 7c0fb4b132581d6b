//! One thread: a risk check that comes before the match and after it, with one owner for its books; and
//! a ring that keeps nothing of an order that is done.
//!
//! ```text
//! P1 --> [ring] <-- hold <-- match <-- settle <-- clear           arrow: "waits for"
//!                   \___________________/ \_/
//!                    thread "risk"         same thread as settle
//! ```
//!
//! `hold` and `settle` work on the same accounts. On threads of their own they would contend for each
//! one; here they take turns, a batch each, and the lock between them is never waited for.

use std::error::Error;
use std::sync::{Arc, Mutex, Weak};

use lapwing::Disruptor;

const ACCOUNTS: usize = 4;
const ORDERS: usize = 10_000;
const START: i64 = 10_000;

/// An order owns what it was sent with. `clear` takes that out when everybody has seen it.
#[derive(Default)]
struct Order {
    account: usize,
    price: i64,
    is_held: bool,
    is_matched: bool,
    message: Option<Arc<str>>,
}

/// Money of one account: what may be spent, and what waits for the match.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Account {
    free: i64,
    held: i64,
}

/// The two halves of the risk check, and what they work on.
#[derive(Clone)]
struct Risk {
    accounts: Arc<Mutex<[Account; ACCOUNTS]>>,
}

impl Risk {
    /// Before the match: takes the price of each order aside, if the account has as much.
    fn hold(&self, orders: &mut [Order]) {
        let mut accounts = self.accounts.lock().unwrap();
        for order in orders {
            let account = &mut accounts[order.account];
            order.is_held = account.free >= order.price;
            if order.is_held {
                account.free -= order.price;
                account.held += order.price;
            }
        }
    }

    /// After it: the price is spent, or free again where nobody sold.
    fn settle(&self, orders: &[Order]) {
        let mut accounts = self.accounts.lock().unwrap();
        for order in orders.iter().filter(|order| order.is_held) {
            let account = &mut accounts[order.account];
            account.held -= order.price;
            if !order.is_matched {
                account.free += order.price;
            }
        }
    }
}

/// Account and price of an order.
fn order(number: usize) -> (usize, i64) {
    (number % ACCOUNTS, (number % 7) as i64)
}

/// Whether somebody sells for this price.
fn has_seller(price: i64) -> bool {
    price % 3 != 0
}

fn main() -> Result<(), Box<dyn Error>> {
    let accounts = Arc::new(Mutex::new([Account { free: START, held: 0 }; ACCOUNTS]));
    let before = Risk { accounts: Arc::clone(&accounts) };
    let after = before.clone();

    let (mut producer, consumers) = Disruptor::single_producer(256, Order::default)
        .stage("hold")
        .on_thread("risk")
        .write_batch(move |orders, _| before.hold(orders))
        .stage("match")
        .write(|order, _, _| {
            order.is_matched = order.is_held && has_seller(order.price);
        })
        .stage("settle")
        .on_thread("risk")
        .read_batch(move |orders, _| after.settle(orders))
        .clear(|order| order.message = None)
        .build()?;

    let running = consumers.start()?; // the threads "risk" and "match"
    let mut messages: Vec<Weak<str>> = Vec::new();
    for number in 0..ORDERS {
        let message: Arc<str> = format!("order {number}").into();
        messages.push(Arc::downgrade(&message));
        producer.publish(|slot| {
            (slot.account, slot.price) = order(number);
            slot.message = Some(message); // moved in
        })?;
    }
    running.shutdown()?;

    let kept = messages.iter().filter(|message| message.strong_count() > 0).count();
    println!("{ORDERS} orders, {kept} of their messages alive, {:?}", accounts.lock().unwrap());
    assert_eq!(kept, 0, "the ring is still there, and holds none of them");
    for (at, account) in accounts.lock().unwrap().iter().enumerate() {
        let orders = (0..ORDERS).map(order).filter(|&(account, _)| account == at);
        let spent = orders.map(|(_, price)| price).filter(|&price| has_seller(price)).sum::<i64>();
        assert_eq!(*account, Account { free: START - spent, held: 0 });
    }
    drop(producer);
    Ok(())
}
