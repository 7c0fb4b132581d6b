//! One thread: two stages share a thread because they share their data, and the ring clears each
//! event after its last stage.
//!
//! ```text
//! producer ──> [ring] ──> hold ──> match ──> settle, clear
//!
//! thread "risk"    hold, settle
//! thread "match"   match
//! ```
//!
//! `hold` and `settle` work on the same accounts. On separate threads they would contend for the
//! lock. On one thread they take turns, one batch each, so the lock is always free.

use std::error::Error;
use std::sync::{Arc, Mutex, Weak};

use lapwing::Disruptor;

const ACCOUNTS: usize = 4;
const ORDERS: usize = 10_000;
const START: i64 = 10_000;

/// An order owns its message. `clear` drops the message after the last stage.
#[derive(Default)]
struct Order {
    account: usize,
    price: i64,
    is_held: bool,
    is_matched: bool,
    message: Option<Arc<str>>,
}

/// The money of one account: free, and held until the match.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Account {
    free: i64,
    held: i64,
}

/// The shared state of the two risk stages.
#[derive(Clone)]
struct Risk {
    accounts: Arc<Mutex<[Account; ACCOUNTS]>>,
}

impl Risk {
    /// Before the match: holds the price of each order, if the account has enough money.
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

    /// After the match: spends the held price, or frees it if there was no seller.
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

/// Returns the account and the price of an order.
fn order(number: usize) -> (usize, i64) {
    (number % ACCOUNTS, (number % 7) as i64)
}

/// Whether there is a seller at this price.
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
    assert_eq!(kept, 0, "the ring still exists and holds no message");
    for (at, account) in accounts.lock().unwrap().iter().enumerate() {
        let orders = (0..ORDERS).map(order).filter(|&(account, _)| account == at);
        let spent = orders.map(|(_, price)| price).filter(|&price| has_seller(price)).sum::<i64>();
        assert_eq!(*account, Account { free: START - spent, held: 0 });
    }
    drop(producer);
    Ok(())
}
