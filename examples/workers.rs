//! Workers: a stage that is too slow for one thread, shared by several; and a stage after it that gets
//! every event again, in order.
//!
//! ```text
//!                  +-- price-0 --+
//! P1 --> [ring] <--+-- price-1 <-+-- book          arrow: "waits for"
//!                  +-- price-2 --+                 each event goes to one of the three
//! ```
//!
//! A worker claims a batch of events, changes them, and claims the next. One more worker sits down
//! when the market opens and gets up when it is quiet again.

use std::error::Error;

use lapwing::{Disruptor, Stage, Workers};

const OPTIONS: u64 = 3_000;

/// An option to be priced.
#[derive(Default)]
struct Quote {
    strike: f64,
    price: f64,
}

/// Slow on purpose: a sum with many terms.
fn price(strike: f64) -> f64 {
    (1..500).map(|term| (strike / f64::from(term)).sin().abs()).sum()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut quotes, mut expected) = (Vec::new(), 0.0);
    let (mut market, consumers) = Disruptor::single_producer(256, Quote::default)
        .then_workers_mut(Stage::new("price").max_batch(8), Workers::new(2).up_to(3), |_worker| {
            |quote: &mut Quote, _, _| quote.price = price(quote.strike)
        })
        .then("book", |quote, sequence, _| quotes.push((sequence, quote.price)))
        .build()?;

    let shares = std::thread::scope(|scope| {
        let running = consumers.start_scoped(scope)?;
        let workers = running.workers("price").expect("the group above");
        for number in 0..OPTIONS {
            match number {
                1_000 => workers.resize(3)?, // the market opens
                2_000 => workers.resize(1)?, // and is quiet again
                _ => {}
            }
            let strike = 10.0 + number as f64 / 100.0;
            expected += price(strike);
            market.publish(|quote| quote.strike = strike)?;
        }
        let report = running.shutdown()?;
        let share = |stage: &lapwing::Finished| (stage.name().to_owned(), stage.processed());
        Ok::<Vec<_>, Box<dyn Error>>(report.stages().map(share).collect())
    })?;

    for (name, events) in &shares {
        println!("{name:8} {events:5} events");
    }
    let in_order = quotes.iter().map(|(sequence, _)| *sequence).eq(0..OPTIONS);
    let sum: f64 = quotes.iter().map(|(_, price)| price).sum();
    assert!(in_order, "the book gets each event once, in order");
    assert!((sum - expected).abs() < 1e-6, "and each was priced once");
    println!("the book has {} prices, in order", quotes.len());
    Ok(())
}
