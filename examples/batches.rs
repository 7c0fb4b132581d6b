//! Batches: a producer claims many slots at once, and a stage reads many events at once as a slice.
//!
//! ```text
//! producer ──> [ring] ──> sum
//!   10 per claim            all available events per slice
//! ```
//!
//! The two batch sizes are independent. The producer publishes ten events at a time. The stage
//! receives all available events as `&[u64]`: the further it is behind, the longer the slice. A
//! slice never crosses the end of the ring, so the available events may come as two slices.

use std::error::Error;
use std::thread;

use lapwing::Disruptor;

const EVENTS: u64 = 10_000;
const EVENTS_PER_CLAIM: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sum = 0_u64;
    let mut slices = 0_u64;
    let mut longest = 0;
    let mut expected_sequence = 0;

    let (mut producer, consumers) = Disruptor::single_producer(256, u64::default)
        .stage("sum")
        .read_batch(|numbers, first_sequence| {
            assert_eq!(first_sequence, expected_sequence, "slices follow each other without a gap");
            expected_sequence += numbers.len() as u64;
            sum += numbers.iter().sum::<u64>();
            slices += 1;
            longest = longest.max(numbers.len());
        })
        .build()?;

    thread::scope(move |scope| -> Result<(), Box<dyn Error>> {
        let running = consumers.start_scoped(scope)?;
        let mut next = 0;
        while next < EVENTS {
            producer.publish_batch(EVENTS_PER_CLAIM, |slots| {
                for slot in slots.iter_mut() {
                    *slot = next;
                    next += 1;
                }
            })?;
        }
        running.shutdown()?;
        Ok(())
    })?;

    println!(
        "{EVENTS} events, {EVENTS_PER_CLAIM} a claim, read as {slices} slices; longest {longest}"
    );
    assert_eq!(sum, (0..EVENTS).sum());
    assert_eq!(expected_sequence, EVENTS);
    Ok(())
}
