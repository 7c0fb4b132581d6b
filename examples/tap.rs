//! Tap: a screen shows the newest price and never slows the market down.
//!
//! ```text
//!                      ┌──> book
//! producer ──> [ring] ─┤
//!                      └──> tap ──> [slots] ──> screen      no other thread waits for the screen
//! ```
//!
//! The book sees every price, and would hold back the producer if it were slow. The screen is slow:
//! it draws a frame every few milliseconds. It takes the newest price from a tap, whose writer
//! copies each price and never waits. The reader counts the prices that the screen has missed, so
//! that none is unaccounted for.

use std::error::Error;
use std::thread;
use std::time::Duration;

use lapwing::Disruptor;
use lapwing::error::TapError;
use lapwing::tap::{TapReader, tap};

const PRICES: u64 = 200_000;
/// Prices between two pauses of the market.
const PRICES_PER_BURST: u64 = 10_000;
const PAUSE: Duration = Duration::from_millis(1);
/// The time between two frames.
const FRAME: Duration = Duration::from_millis(4);

/// An event of a tap is `Copy`.
#[derive(Debug, Clone, Copy, Default)]
struct Quote {
    bid: u64,
    ask: u64,
}

/// Shows the newest quote once per frame until the market closes. Returns the number of frames with
/// a new quote.
fn draw(prices: &mut TapReader<Quote>) -> u64 {
    let mut frames = 0;
    loop {
        match prices.latest() {
            Ok(newest) => {
                let Quote { bid, ask } = newest.event;
                assert_eq!(ask, bid + 2, "a quote is whole");
                println!("{bid:>8} {ask:>8}   after {} not shown", newest.missed);
                frames += 1;
            }
            Err(TapError::Empty) => {} // nothing new in this frame
            Err(TapError::Closed) => return frames,
        }
        thread::sleep(FRAME);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (writer, mut prices) = tap::<Quote>(64)?;
    let mut seen_by_book = 0;
    let (mut market, consumers) = Disruptor::single_producer(1024, Quote::default)
        .parallel(|parallel| {
            parallel
                .stage("book")
                .read(|_, _, _| seen_by_book += 1)
                .stage("tap")
                .read_handler(writer)
        })
        .build()?;

    let frames = thread::scope(|scope| -> Result<u64, Box<dyn Error>> {
        let screen = scope.spawn(|| draw(&mut prices));
        let running = consumers.start_scoped(scope)?;
        for number in 0..PRICES {
            market.publish(|quote| *quote = Quote { bid: number, ask: number + 2 })?;
            if number % PRICES_PER_BURST == 0 {
                thread::sleep(PAUSE);
            }
        }
        running.shutdown()?; // the end of the stage closes the tap
        screen.join().map_err(|_| "the screen panicked".into())
    })?;

    println!("{seen_by_book} prices in the book, {frames} on the screen");
    assert_eq!(seen_by_book, PRICES);
    assert_eq!(prices.received(), frames);
    assert_eq!(prices.received() + prices.missed(), PRICES);
    Ok(())
}
