//! A full ring: each call says what becomes of an event that finds no slot, and each producer has its
//! own way to wait.
//!
//! ```text
//! orders    waits, by spinning                 --+
//! replies   waits for a moment, then complains --+--> [ring] <-- book, which is slow for a while
//! prices    drops the newest, and counts them  --+
//! ```
//!
//! And what a handler is told that publishes to the ring that it holds up itself: `WouldDeadlock`.

use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lapwing::error::{OfferError, PublishError};
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
                let _ = is_open.recv(); // until the ring is full
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
    replies.set_wait(Sleeping::default());
    orders.set_wait(BusySpin);

    let dropped = thread::scope(|scope| {
        let running = consumers.start_scoped(scope)?;
        // Nothing is booked yet, so these fill the ring, and the rest is dropped.
        for _ in 0..PRICES {
            // The next price is a better one.
            prices.offer(WhenFull::DropNew, |message| *message = Message::Price)?;
        }
        let patience = WhenFull::Timeout(Duration::from_millis(1));
        let late = replies.offer(patience, |message| *message = Message::Reply);
        assert_eq!(late, Err(OfferError::TimedOut));
        open.send(())?;
        for _ in 0..ORDERS {
            orders.publish(|message| *message = Message::Order)?; // each one, however long it takes
        }
        running.shutdown()?;
        Ok::<_, Box<dyn Error>>(prices.dropped())
    })?;

    println!("{booked_orders} orders and {booked_prices} prices booked, {dropped} prices dropped");
    assert_eq!(booked_orders, ORDERS);
    assert_eq!((booked_prices, dropped), (SLOTS as u64, PRICES - SLOTS as u64));
    publish_from_a_handler()
}

/// A handler answers into its own ring. While there is room, that is fine; when there is none, it is the
/// one who would have to make some.
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
    println!("the handler was told that it would deadlock, and went on: {echoed} events");
    assert_eq!(echoed, 2);
    Ok(())
}
