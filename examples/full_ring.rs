//! A full ring: each call chooses what happens to an event that finds no free slot, and each
//! producer has its own wait strategy.
//!
//! ```text
//! orders    wait, by spinning                  ──┐
//! replies   wait for 1 ms, then return an error ─┼──> [ring] ──> book, which is slow at first
//! prices    drop the new event and count it    ──┘
//! ```
//!
//! The second part shows a handler that publishes to the ring that it holds up itself. It gets the
//! error `WouldDeadlock`.

use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lapwing::error::{PublishError, WhenFullError};
use lapwing::producer::WhenFull;
use lapwing::wait::{BusySpin, Sleeping};
use lapwing::{Disruptor, MultiProducer};

const SLOTS: usize = 8;
const ORDERS: u64 = 1_000;
const PRICES: u64 = 1_000;

#[derive(Default, Clone, Copy)]
enum Message {
    #[default]
    Nothing,
    Order,
    Reply,
    Price,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut booked_orders, mut booked_prices) = (0, 0);
    let (orders_booked, prices_booked) = (&mut booked_orders, &mut booked_prices);
    let (open, is_open) = mpsc::channel::<()>();
    let (mut orders, consumers) = Disruptor::multi_producer(SLOTS, || Message::Nothing)
        .stage("book")
        .read(move |message, sequence, _| {
            if sequence == 0 {
                let _ = is_open.recv(); // waits until the ring is full
            }
            match message {
                Message::Order => *orders_booked += 1,
                Message::Price => *prices_booked += 1,
                Message::Reply | Message::Nothing => {}
            }
        })
        .build()?;

    let mut prices = orders.clone();
    let mut replies = orders.clone();
    replies.set_wait_strategy(Sleeping::default());
    orders.set_wait_strategy(BusySpin);

    let dropped = thread::scope(|scope| {
        let running = consumers.start_scoped(scope)?;
        // No event is booked yet: the first prices fill the ring, and the others are dropped.
        for _ in 0..PRICES {
            // The next price replaces this one.
            prices.publish_or(WhenFull::DropNew, |message| *message = Message::Price)?;
        }
        let patience = WhenFull::Timeout(Duration::from_millis(1));
        let late = replies.publish_or(patience, |message| *message = Message::Reply);
        assert_eq!(late, Err(WhenFullError::TimedOut));
        open.send(())?;
        for _ in 0..ORDERS {
            orders.publish(|message| *message = Message::Order)?; // waits as long as necessary
        }
        running.shutdown()?;
        Ok::<_, Box<dyn Error>>(prices.dropped())
    })?;

    println!("{booked_orders} orders and {booked_prices} prices booked, {dropped} prices dropped");
    assert_eq!(booked_orders, ORDERS);
    assert_eq!((booked_prices, dropped), (SLOTS as u64, PRICES - SLOTS as u64));
    publish_from_a_handler()
}

/// A handler publishes to its own ring. If a slot is free, this works. If the ring is full, only
/// this handler could free a slot, so the call returns an error instead of waiting for ever.
fn publish_from_a_handler() -> Result<(), Box<dyn Error>> {
    let (hand_over, handed_over) = mpsc::channel::<MultiProducer<u64>>();
    let mut own = None;
    let (mut producer, consumers) = Disruptor::multi_producer(2, || 0_u64)
        .stage("echo")
        .read(move |event, sequence, _| {
            let own = own.get_or_insert_with(|| handed_over.recv().expect("main sends it"));
            if sequence == 0 {
                let answers = [(); 2].map(|()| own.publish(|answer| *answer = event + 1));
                assert_eq!(answers, [Ok(1), Err(PublishError::WouldDeadlock)]);
                own.close();
            }
        })
        .build()?;
    hand_over.send(producer.clone())?;
    producer.publish(|event| *event = 1)?;
    let report = consumers.start()?.join()?;
    let echoed = report.stages().map(|stage| stage.processed()).sum::<u64>();
    println!("the handler got WouldDeadlock and continued: {echoed} events");
    assert_eq!(echoed, 2);
    Ok(())
}
