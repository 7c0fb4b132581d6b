//! Workers: several threads share the events of a slow stage. In a second group, all events of one
//! account go to the same worker. A stage after both sees every event in order.
//!
//! ```text
//!                      ┌──> price-0 ──┐   ┌──> risk-0 ──┐
//! producer ──> [ring] ─┼──> price-1 ──┼───┤             ├──> book
//!                      └──> price-2 ──┘   └──> risk-1 ──┘
//!            each event to one worker    to the worker      every event,
//!                                        of its account     in order
//! ```
//!
//! A worker claims a batch of events, changes them, and claims the next batch. A third worker joins
//! when the market opens, and leaves when it is quiet again. The risk of an account depends on the
//! order of its options, so each account has one worker, which needs no lock.

use std::collections::BTreeMap;
use std::error::Error;

use lapwing::{Disruptor, EventHandler, Sequence};

const OPTIONS: u64 = 3_000;
const ACCOUNTS: u64 = 30;

/// An option to be priced.
#[derive(Default)]
struct Quote {
    account: u64,
    strike: f64,
    price: f64,
}

/// The accounts of one worker, each with its total and the last sequence that it received.
#[derive(Default)]
struct Risk(BTreeMap<u64, (f64, Sequence)>);

impl EventHandler<Quote> for Risk {
    fn on_event(&mut self, quote: &Quote, sequence: Sequence, _: bool) {
        let (total, last) = self.0.entry(quote.account).or_insert((0.0, sequence));
        assert!(*last <= sequence, "one after another");
        (*total, *last) = (*total + quote.price, sequence);
    }
}

/// An artificially slow function: a sum with many terms.
fn price(strike: f64) -> f64 {
    (1..500).map(|term| (strike / f64::from(term)).sin().abs()).sum()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut quotes, mut expected) = (Vec::new(), 0.0);
    let (mut market, consumers) = Disruptor::single_producer(256, Quote::default)
        .stage("price")
        .max_batch(8)
        .workers(2)
        .up_to(3)
        .write(|_worker| |quote, _, _| quote.price = price(quote.strike))
        .stage("risk")
        .workers(2)
        .by_key(|quote| quote.account)
        .read_handlers(|_worker| Risk::default())
        .stage("book")
        .read(|quote, sequence, _| quotes.push((sequence, quote.price)))
        .build()?;

    let mut report = std::thread::scope(|scope| {
        let running = consumers.start_scoped(scope)?;
        let workers = running.workers("price").expect("the graph has this group");
        for number in 0..OPTIONS {
            match number {
                1_000 => workers.resize(3)?, // the market opens
                2_000 => workers.resize(1)?, // the market is quiet again
                _ => {}
            }
            let strike = 10.0 + number as f64 / 100.0;
            expected += price(strike);
            market.publish(|quote| (quote.account, quote.strike) = (number % ACCOUNTS, strike))?;
        }
        Ok::<_, Box<dyn Error>>(running.shutdown()?)
    })?;

    for stage in report.stages() {
        println!("{:8} {:5} events", stage.name(), stage.processed());
    }
    let (Risk(one), Risk(other)) = (report.take("risk-0")?, report.take("risk-1")?);
    assert_eq!(one.len() + other.len(), ACCOUNTS as usize, "no account has two workers");
    let at_risk: f64 = one.values().chain(other.values()).map(|(total, _)| total).sum();
    assert!((at_risk - expected).abs() < 1e-6, "each option belongs to one account");
    let in_order = quotes.iter().map(|(sequence, _)| *sequence).eq(0..OPTIONS);
    let sum: f64 = quotes.iter().map(|(_, price)| price).sum();
    assert!(in_order, "the book gets each event once, in order");
    assert!((sum - expected).abs() < 1e-6, "and each was priced once");
    println!("the book has {} prices, in order", quotes.len());
    Ok(())
}
