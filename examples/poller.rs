//! Poller: your own loop takes events when it has time. There is no library thread and no callback.
//!
//! ```text
//! producer ──> [ring] ──> screen, polled by main once per frame
//! ```
//!
//! The loop stands for a game or a user interface. Each frame takes at most a few events, so that
//! it stays short. If the ring is empty, the loop does not wait; the next frame polls again.

use std::error::Error;
use std::thread;

use lapwing::Disruptor;
use lapwing::error::PollError;

const KEYS: u64 = 10_000;
/// The maximum number of events per frame.
const KEYS_PER_FRAME: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut producer, mut consumers) =
        Disruptor::single_producer(1024, u64::default).stage("screen").poller().build()?;
    let mut screen = consumers.take_poller("screen")?;

    // The producer is dropped at the end of its thread, which closes the ring.
    let typist = thread::spawn(move || {
        (0..KEYS).try_for_each(|key| producer.publish(|slot| *slot = key).map(|_| ()))
    });

    let mut seen = 0;
    let mut frames = 0_u64;
    loop {
        frames += 1;
        match screen.poll_max(KEYS_PER_FRAME) {
            Ok(mut keys) => {
                for (_sequence, key) in keys.iter() {
                    assert_eq!(*key, seen, "keys arrive once and in order");
                    seen += 1;
                }
            } // dropping the batch releases its slots to the producer
            Err(PollError::Empty) => thread::yield_now(), // draw the frame, then poll again
            Err(PollError::Closed) => break,              // every event has been read
            Err(stopped) => return Err(stopped.into()),
        }
    }

    typist.join().map_err(|_| "the typist panicked")??;
    println!("{seen} keys in {frames} frames, at most {KEYS_PER_FRAME} keys a frame");
    assert_eq!(seen, KEYS);
    Ok(())
}
