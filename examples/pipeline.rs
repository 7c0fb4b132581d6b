//! Pipeline: stages in a row, each working on what the previous one has written.
//!
//! ```text
//! producer ──> [ring] ──> net ──> tax ──> total
//! ```
//!
//! No other stage runs in parallel with `net` or `tax`, so they get `&mut Sale` without a lock. The
//! stages run at the same time on different sales: `total` on one, `tax` on a later one, and `net`
//! on a later one still.

use std::error::Error;

use lapwing::{Disruptor, EventHandler, Sequence};

const SALES: u64 = 1_000;
const TAX_PERCENT: u64 = 20;

/// Amounts are in cents.
#[derive(Default)]
struct Sale {
    pieces: u64,
    unit_price: u64,
    net: u64,
    tax: u64,
}

/// A handler with state. It moves into its stage and is returned in the report.
#[derive(Default)]
struct Total {
    net: u64,
    tax: u64,
}

impl EventHandler<Sale> for Total {
    fn on_event(&mut self, sale: &Sale, _sequence: Sequence, _end_of_batch: bool) {
        self.net += sale.net;
        self.tax += sale.tax;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut producer, consumers) = Disruptor::single_producer(64, Sale::default)
        .stage("net")
        .write(|sale, _, _| sale.net = sale.pieces * sale.unit_price)
        .stage("tax")
        .write(|sale, _, _| sale.tax = sale.net * TAX_PERCENT / 100)
        .stage("total")
        .read_handler(Total::default())
        .build()?;

    let running = consumers.start()?;
    for pieces in 1..=SALES {
        producer.publish(|sale| {
            sale.pieces = pieces;
            sale.unit_price = 5;
        })?;
    }
    let mut report = running.shutdown()?;

    let total = report.take::<Total>("total")?;
    println!("{SALES} sales: net {} cents, tax {} cents", total.net, total.tax);
    let expected_net = 5 * SALES * (SALES + 1) / 2;
    assert_eq!(total.net, expected_net);
    assert_eq!(
        total.tax,
        expected_net * TAX_PERCENT / 100,
        "every tax here is a whole number of cents"
    );
    Ok(())
}
