//! The readers of a tap: whole events, in order, and an exact count of those that were missed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use lapwing::tap::{self, TapReader, TapWriter};

use super::event::{Event, seal};
use super::station::Post;
use super::violation::{Checked, Violation};
use super::world::World;

/// What a tap carries: an event without its marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    number: u64,
    seal: u64,
    lane: u32,
}

/// The writing end, in the handler of a stage. It numbers what it writes.
pub(super) struct Writer {
    tap: TapWriter<Copied>,
    written: Arc<AtomicU64>,
}

impl Writer {
    /// Copies an event for the readers, if it `is_done`.
    #[inline]
    pub(super) fn write(&mut self, event: &Event, is_done: bool) {
        if is_done {
            let (number, seal, lane) = (event.number(), event.seal(), event.lane());
            self.tap.write(self.tap.written(), &Copied { number, seal, lane });
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.written.store(self.tap.written(), Ordering::Relaxed);
    }
}

/// Makes a tap, and starts its readers.
pub(super) fn tap(
    world: &Arc<World>,
    slots: usize,
    readers: usize,
) -> (Writer, Vec<JoinHandle<()>>) {
    let (tap, first) = tap::tap(slots).expect("the number of slots is a power of two");
    let written = Arc::new(AtomicU64::new(0));
    let spawn = |number: usize| {
        let reader = first.clone();
        let post = Post::of_guest(world, format!("reader {number} of the tap"));
        let written = Arc::clone(&written);
        thread::spawn(move || {
            if let Err(violation) = read(&post, reader, &written) {
                post.refuse(violation);
            }
        })
    };
    let threads = (0..readers).map(spawn).collect();
    (Writer { tap, written }, threads)
}

/// Reads until the tap is closed.
fn read(post: &Post, mut reader: TapReader<Copied>, written: &AtomicU64) -> Checked {
    let mut next = 0;
    for reading in reader.by_ref() {
        let Copied { number, seal: found, lane } = reading.event;
        if found != seal(post.world.seed, lane, number) {
            return Err(Violation::Torn { number, lane, seal: found });
        }
        let (expected, found) = (next + reading.missed, reading.sequence);
        if found != expected {
            return Err(Violation::Report { what: "missed", reported: expected, counted: found });
        }
        next = found + 1;
        post.count(1);
    }
    let counted = written.load(Ordering::Relaxed);
    let reported = reader.received() + reader.missed();
    // The writer counts before it closes, when both are dropped.
    if counted == reported {
        return Ok(());
    }
    Err(Violation::Report { what: "received and missed", reported, counted })
}
