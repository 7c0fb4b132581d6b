//! Poller: no thread of the library's, no callback. A loop of your own takes events when it has
//! time.
//!
//! ```text
//! P1 --> [ring] <-- screen (polled by main, once a frame)          arrow: "waits for"
//! ```
//!
//! The loop stands for a game or a user interface: each frame it draws, and takes at most a few
//! events so that the frame stays short. An empty ring is no reason to wait; the next frame looks
//! again.

use std::error::Error;
use std::thread;

use lapwing::Disruptor;
use lapwing::error::PollError;

const KEYS: u64 = 10_000;
/// Events that one frame has time for.
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
            } // dropping the batch here gives its slots back to the producer
            Err(PollError::Empty) => thread::yield_now(), // draw, then look again
            Err(PollError::Closed) => break,              // closed, and everything has been read
            Err(stopped) => return Err(stopped.into()),
        }
    }

    typist.join().map_err(|_| "the typist panicked")??;
    println!("{seen} keys in {frames} frames, at most {KEYS_PER_FRAME} keys a frame");
    assert_eq!(seen, KEYS);
    Ok(())
}
