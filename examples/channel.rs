//! Channel: no graph, no slots to fill; values go in at one end and come out at the other.
//!
//! ```text
//! desk 1 --+
//! desk 2 --+--> [channel] --> till          arrow: where a sale goes
//! desk 3 --+
//! ```
//!
//! Each desk has a clone of the sender. The till takes whatever is there at once, so the further it
//! is behind, the more it gets for one look. When it has seen enough it closes: a desk that still
//! has a sale gets it back with the error.

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
    println!("a channel of {} sales", sender.capacity()); // the next power of two

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
    drop(sender); // the till would end by itself if every desk did

    let mut sold = [0; DESKS];
    let (mut batches, mut left) = (0, SALES);
    while left > 0 {
        for sale in till.recv_batch()?.take(left) {
            assert_eq!(sale.number, sold[sale.desk], "the sales of a desk come once and in order");
            sold[sale.desk] += 1;
            left -= 1;
        }
        batches += 1;
    }
    drop(till); // what is still in the channel is dropped here

    for (desk, thread) in desks.into_iter().enumerate() {
        let unsold = thread.join().map_err(|_| "a desk panicked")?.ok_or("a desk has no end")?;
        assert_eq!(unsold.desk, desk);
        assert!(unsold.number >= sold[desk], "what came back was not received");
        println!("desk {desk}: {} sales, had number {} back", sold[desk], unsold.number);
    }
    println!("{SALES} sales in {batches} batches");
    assert_eq!(sold.iter().sum::<u64>(), SALES as u64);
    Ok(())
}
