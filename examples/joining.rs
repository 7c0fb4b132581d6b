//! Joining: consumers join while events flow, start at the event that they choose, and leave again.
//! No other consumer loses an event, and the producer keeps running.
//!
//! ```text
//! producer ──> [ring] ─┬──> ledger
//!                      ├──> dynamic stage 1: audit, from the oldest event, until the end
//!                      └──> dynamic stage 2: one screen after another, each from the next event
//! ```

use std::error::Error;
use std::thread;

use lapwing::Disruptor;
use lapwing::consumer::Outcome;
use lapwing::error::DynamicStageError;
use lapwing::graph::StartAt;

const TRADES: u64 = 200_000;
/// Trades that a screen shows before it leaves.
const TRADES_PER_SCREEN: u64 = 1_000;
const SCREENS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut ledger = 0;
    let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
        .dynamic_stages(2)
        .stage("ledger")
        .read(|price, _, _| ledger += price)
        .build()?;
    let dynamic_stages = consumers.dynamic_stages();

    thread::scope(|scope| {
        let running = consumers.start_scoped(scope)?;
        let feed = scope.spawn(move || {
            (0..TRADES).try_for_each(|trade| producer.publish(|price| *price = trade).map(|_| ()))
        }); // dropping the producer closes the ring

        // Reads the events that the ring still holds, then the new ones, until the ring is drained.
        let audit = dynamic_stages.join("audit", StartAt::Oldest)?;
        let mut next = audit.sequence();
        let first = next;
        let audit = audit.read(move |price, sequence, _| {
            assert_eq!((sequence, *price), (next, next), "the audit has no gap");
            next += 1;
        });
        let audit = scope.spawn(move || audit.run());

        let mut shown = 0;
        for screen in 0..SCREENS {
            // The last screen has left its dynamic stage.
            let mut screen =
                dynamic_stages.join(format!("screen {screen}"), StartAt::Now)?.poller();
            let end = screen.sequence() + TRADES_PER_SCREEN;
            while screen.sequence() < end
                && let Ok(mut trades) = screen.wait()
            {
                for (sequence, price) in trades.iter() {
                    assert_eq!(*price, sequence, "a screen never sees a half-overwritten trade");
                    shown += 1;
                }
            } // also ends when the feed has ended
        } // dropping the poller leaves the dynamic stage

        feed.join().map_err(|_| "the feed panicked")??;
        running.join()?;
        let audit = audit.join().map_err(|_| "the audit's thread panicked")?;
        assert_eq!((audit.outcome(), audit.processed()), (&Outcome::Drained, TRADES - first));
        println!("the audit began at trade {first} and missed none; the screens showed {shown}");

        // A consumer can join a closed ring and read its remaining events, but not the overwritten
        // ones.
        let error = dynamic_stages.join("too late", StartAt::Sequence(0)).unwrap_err();
        assert!(matches!(error, DynamicStageError::OutOfRange { newest: TRADES, .. }), "{error}");
        Ok::<(), Box<dyn Error>>(())
    })?;
    println!("the ledger saw {TRADES} trades worth {ledger}");
    assert_eq!(ledger, TRADES * (TRADES - 1) / 2);
    Ok(())
}
