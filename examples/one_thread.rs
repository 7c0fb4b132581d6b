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

use lapwing::{Disruptor, Stage};

const ACCOUNTS: usize = 4;
const ORDERS: usize = 10_000;
const START: i64 = 10_000;

/// An order owns what it was sent with. `then_clear` takes that out when everybody has seen it.
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

fn main() -> Result<(), Box<dyn Error>> {
    let accounts = Arc::new(Mutex::new([Account { free: START, held: 0 }; ACCOUNTS]));
    let (before, after) = (Arc::clone(&accounts), Arc::clone(&accounts));

    let (mut producer, consumers) = Disruptor::single_producer(256, Order::default)
        .then_batch_mut(Stage::new("hold").on_thread("risk"), move |orders, _| {
            let mut accounts = before.lock().unwrap();
            for order in orders {
                let account = &mut accounts[order.account];
                order.is_held = account.free >= order.price;
                if order.is_held {
                    account.free -= order.price;
                    account.held += order.price;
                }
            }
        })
        .then_mut("match", |order, _, _| order.is_matched = order.is_held && order.price % 3 != 0)
        .then_batch(Stage::new("settle").on_thread("risk"), move |orders, _| {
            let mut accounts = after.lock().unwrap();
            for order in orders.iter().filter(|order| order.is_held) {
                let account = &mut accounts[order.account];
                account.held -= order.price;
                if !order.is_matched {
                    account.free += order.price; // nobody sold
                }
            }
        })
        .then_clear(|order| order.message = None)
        .build()?;

    let running = consumers.start()?; // the threads "risk" and "match"
    let mut messages: Vec<Weak<str>> = Vec::new();
    for number in 0..ORDERS {
        let message: Arc<str> = format!("order {number}").into();
        messages.push(Arc::downgrade(&message));
        producer.publish(|order| {
            (order.account, order.price) = (number % ACCOUNTS, (number % 7) as i64);
            order.message = Some(message); // moved in
        })?;
    }
    running.shutdown()?;

    let kept = messages.iter().filter(|message| message.strong_count() > 0).count();
    println!(
        "{ORDERS} orders, {kept} messages kept alive, accounts: {:?}",
        accounts.lock().unwrap()
    );
    assert_eq!(kept, 0, "the ring still exists, and holds none of them");
    let is_bought = |number: &usize| (number % 7) % 3 != 0;
    for (at, account) in accounts.lock().unwrap().iter().enumerate() {
        let orders = (0..ORDERS).filter(|number| number % ACCOUNTS == at);
        let spent = orders.filter(is_bought).map(|number| (number % 7) as i64).sum::<i64>();
        assert_eq!(*account, Account { free: START - spent, held: 0 });
    }
    drop(producer);
    Ok(())
}
