//! Channel: several threads send values, one thread receives them. There is no graph.
//!
//! ```text
//! desk 1 ──┐
//! desk 2 ──┼──> [channel] ──> till
//! desk 3 ──┘
//! ```
//!
//! Each desk has a clone of the sender. The till receives all available sales at once: the further
//! it is behind, the larger the batch. After a number of sales it drops its end. A desk that sends
//! afterwards gets its sale back with the error.

use std::error::Error;
use std::thread;

use lapwing::channel::{self, SendError};

const DESKS: usize = 3;
/// Sales that the till takes before it closes.
const SALES: usize = 10_000;

struct Sale {
    desk: usize,
    number: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (sender, mut till) = channel::mpsc::<Sale>(1000)?;
    println!("a channel of {} sales", sender.capacity()); // rounded up to a power of two

    let desks: Vec<_> = (0..DESKS)
        .map(|desk| {
            let mut sender = sender.clone();
            thread::spawn(move || {
                let sell = |number| sender.send(Sale { desk, number });
                let unsold = (0..).map(sell).find_map(Result::err);
                unsold.map(|SendError(sale)| sale)
            })
        })
        .collect();
    drop(sender); // otherwise the channel would stay open after the last desk

    let mut sold = [0; DESKS];
    let (mut batches, mut left) = (0, SALES);
    while left > 0 {
        for sale in till.recv_batch()?.take(left) {
            assert_eq!(
                sale.number, sold[sale.desk],
                "the sales of a desk arrive once and in order"
            );
            sold[sale.desk] += 1;
            left -= 1;
        }
        batches += 1;
    }
    drop(till); // drops the remaining values

    for (desk, thread) in desks.into_iter().enumerate() {
        let unsold =
            thread.join().map_err(|_| "a desk panicked")?.ok_or("a desk ended without an error")?;
        assert_eq!(unsold.desk, desk);
        assert!(unsold.number >= sold[desk], "a returned sale was not received");
        println!("desk {desk}: {} sales, number {} returned", sold[desk], unsold.number);
    }
    println!("{SALES} sales in {batches} batches");
    assert_eq!(sold.iter().sum::<u64>(), SALES as u64);
    Ok(())
}
