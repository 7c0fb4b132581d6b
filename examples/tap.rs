//! Tap: a screen that shows the newest price and must never slow the market down.
//!
//! ```text
//!                +-- book                                    arrow: "waits for"
//! P1 --> [ring] <+
//!                +-- tap ~~copies~~> [slots] <~~ screen      nobody waits for the screen
//! ```
//!
//! The book sees every price, and would hold the producer back if it were slow. The screen is slow:
//! it draws a frame every few milliseconds. It takes the newest price of a tap, whose writer copies
//! and never waits, and says how many prices it has not shown; together they are all.

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
/// Time that the screen takes for a frame.
const FRAME: Duration = Duration::from_millis(4);

/// What must be copied: a few plain words.
#[derive(Debug, Clone, Copy, Default)]
struct Quote {
    bid: u64,
    ask: u64,
}

/// Shows the newest quote once a frame until the market closes; returns the number of frames that
/// had a new one.
fn draw(prices: &mut TapReader<Quote>) -> u64 {
    let mut frames = 0;
    loop {
        match prices.latest() {
            Ok(newest) => {
                let Quote { bid, ask } = newest.event;
                assert_eq!(ask, bid + 2, "a quote comes whole");
                println!("{bid:>8} {ask:>8}   after {} that were not shown", newest.missed);
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
        .side_by_side(|side| {
            side.stage("book").read(|_, _, _| seen_by_book += 1).stage("tap").read_handler(writer)
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
        running.shutdown()?; // the end of its stage closes the tap
        screen.join().map_err(|_| "the screen panicked".into())
    })?;

    println!("{seen_by_book} prices in the book, {frames} on the screen");
    assert_eq!(seen_by_book, PRICES);
    assert_eq!(prices.received(), frames);
    assert_eq!(prices.received() + prices.missed(), PRICES);
    Ok(())
}
