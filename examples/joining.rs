//! Joining: consumers that come while events flow, start where they like, and leave again. Nobody
//! else loses an event, and the producer is not stopped.
//!
//! ```text
//! P1 --> [ring] <--+-- ledger                                       arrow: "waits for"
//!                  +-- seat 1: audit, from the oldest event, until the end
//!                  +-- seat 2: one screen after another, from now, for a while
//! ```

use std::error::Error;
use std::thread;

use lapwing::Disruptor;
use lapwing::consumer::Outcome;
use lapwing::error::SeatError;
use lapwing::graph::StartAt;

const TRADES: u64 = 200_000;
/// Trades that a screen shows before it is switched off.
const TRADES_PER_SCREEN: u64 = 1_000;
const SCREENS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut ledger = 0;
    let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
        .seats(2)
        .stage("ledger")
        .read(|price, _, _| ledger += price)
        .build()?;
    let seats = consumers.seats();

    thread::scope(|scope| {
        let running = consumers.start_scoped(scope)?;
        let feed = scope.spawn(move || {
            (0..TRADES).try_for_each(|trade| producer.publish(|price| *price = trade).map(|_| ()))
        }); // dropping the producer closes the ring

        // Reads what the ring still holds, then what comes, until the ring is drained.
        let audit = seats.take("audit", StartAt::Oldest)?;
        let mut next = audit.sequence();
        let first = next;
        let audit = audit.read(move |price, sequence, _| {
            assert_eq!((sequence, *price), (next, next), "the audit has no gap");
            next += 1;
        });
        let audit = scope.spawn(move || audit.run());

        let mut shown = 0;
        for screen in 0..SCREENS {
            // The seat of the last screen is free again.
            let mut screen = seats.take(format!("screen {screen}"), StartAt::Now)?.poller();
            let end = screen.sequence() + TRADES_PER_SCREEN;
            while screen.sequence() < end
                && let Ok(mut trades) = screen.wait()
            {
                for (sequence, price) in trades.iter() {
                    assert_eq!(*price, sequence, "a screen never sees a trade half overwritten");
                    shown += 1;
                }
            } // ends early when the feed has
        } // dropping the poller leaves the seat

        feed.join().map_err(|_| "the feed panicked")??;
        running.join()?;
        let audit = audit.join().map_err(|_| "the audit's thread panicked")?;
        assert_eq!((audit.outcome(), audit.processed()), (&Outcome::Drained, TRADES));
        println!("the audit began at trade {first} and saw all after it; screens showed {shown}");

        // The ring is closed, and can still be joined to read what it holds; but not everything.
        let error = seats.take("too late", StartAt::Sequence(0)).unwrap_err();
        assert!(matches!(error, SeatError::OutOfRange { newest: TRADES, .. }), "{error}");
        Ok::<(), Box<dyn Error>>(())
    })?;
    println!("the ledger saw {TRADES} trades worth {ledger}");
    assert_eq!(ledger, TRADES * (TRADES - 1) / 2);
    Ok(())
}
