//! Placement: the same graph on different numbers of threads.
//!
//! ```text
//! producer ──> [ring] ──> decode ──> risk ──> match ──> journal
//!
//! a thread per stage     decode | risk | match | journal
//! two threads            decode, risk, match | journal (on its own: it blocks on a file)
//! automatic              as many threads as this machine has CPUs for them
//! a group                decode, match | risk | journal
//! ```
//!
//! Stages that share a thread take turns in the order of the graph. Each handles a batch, and the
//! next one finds its events in the cache. Names, order, life cycle and report stay the same.

use std::error::Error;

use lapwing::Disruptor;
use lapwing::graph::Placement;

const ORDERS: u64 = 10_000;

#[derive(Default)]
struct Order {
    text: u64,
    price: u64,
    is_accepted: bool,
    is_matched: bool,
}

/// Runs all orders through the graph and returns the number of matched orders in the journal.
fn run(title: &str, placement: Placement) -> Result<u64, Box<dyn Error>> {
    let mut matched = 0;
    let (mut orders, consumers) = Disruptor::single_producer(256, Order::default)
        .name("orders")
        .placement(placement)
        .stage("decode")
        .write(|order, _, _| order.price = order.text % 100)
        .stage("risk")
        .write(|order, _, _| order.is_accepted = order.price < 90)
        .stage("match")
        .write(|order, _, _| {
            order.is_matched = order.is_accepted && order.price % 3 == 0;
        })
        .stage("journal")
        .may_block()
        .read(|order, _, _| {
            matched += u64::from(order.is_matched); // a real journal writes to a file
        })
        .build()?;

    println!("{title}:");
    for (thread, stages) in consumers.threads() {
        println!("    {thread}: {}", stages.join(", "));
    }
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let running = consumers.start_scoped(scope)?;
        let mut orders = move |text| orders.publish(|order| order.text = text);
        for number in 0..ORDERS {
            orders(number)?;
        }
        running.shutdown()?;
        Ok(())
    })?;
    Ok(matched)
}

fn main() -> Result<(), Box<dyn Error>> {
    let expected = (0..ORDERS).map(|text| text % 100).filter(|p| *p < 90 && p % 3 == 0).count();
    let group = Placement::thread_per_stage().group("core", ["decode", "match"]);
    for (title, placement) in [
        ("a thread for each stage", Placement::thread_per_stage()),
        ("two threads", Placement::threads(2)),
        ("automatic", Placement::automatic().producers(1)),
        ("a group", group),
    ] {
        assert_eq!(run(title, placement)?, expected as u64);
    }
    Ok(())
}
