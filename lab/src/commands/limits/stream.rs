//! The stream: events from one thread to another at the memory speed of safe Rust.
//!
//! ```text
//! producer --> [ block | block | block | .. ] --> consumer      one release store for each block
//! ```
//!
//! Each block is in a mutex, because safe code cannot write shared memory otherwise. No thread
//! waits for that lock. The producer touches a block only before its publication and the consumer
//! only after it, and the two cursors separate these times. So `try_lock` always succeeds; if it
//! fails, the run fails.
//!
//! The consumer can acquire the cache lines of a block before it releases the block, as the last
//! stage of a ring does. The benchmark tries both ways, and several sizes.
//!
//! This is an upper bound for any hand-off of single events. The same words are written and folded.
//! But the costs of cursors, bounds and the lock are paid once for hundreds of events, and the
//! compiler can vectorise the loops over a block.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use crossbeam_utils::CachePadded;

use super::leisure::LINE;
use crate::load::event::Event;
use crate::load::fold::Fold;
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, Disconnected, RunError};
use crate::measure::run::Pass;

/// Sizes of a block to try.
const BLOCK_BYTES: [usize; 3] = [4 << 10, 16 << 10, 64 << 10];
/// Sizes of buffers that fit a core's own cache, and the cache that cores share. The better one
/// depends on how the machine transfers a cache line between cores. Each buffer has several blocks
/// of any size.
const BUFFER_BYTES: [usize; 2] = [256 << 10, 4 << 20];
/// Slots of the ring whose memory the other buffer has, as in most tables.
const RING_SLOTS: usize = 65_536;
/// Pause hints between two polls of a cursor, about a microsecond. A thread that polls without a
/// break takes the cache line from its writer.
const PAUSES: u32 = 64;
/// Polls of a cursor before the thread yields the CPU.
const LOOKS: u32 = 16;

/// The division of the memory between the two threads, and how it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Whether the consumer acquires the cache lines of a block before it releases it, by storing
    /// words with their own values. The producer then need not take them from the consumer.
    pub(super) takes_lines: bool,
    /// Size of a block.
    pub(super) block_bytes: usize,
    /// Size of all blocks together.
    pub(super) buffer_bytes: usize,
}

impl Shape {
    /// Returns the candidates for events of this size.
    pub(super) fn candidates(event_bytes: usize) -> Vec<Self> {
        let mut buffers = BUFFER_BYTES.to_vec();
        buffers.push(RING_SLOTS * event_bytes);
        buffers.sort_unstable();
        buffers.dedup();
        buffers.into_iter().flat_map(Self::of_buffer).collect()
    }

    /// Returns the candidates with exactly the memory of a ring in most tables.
    pub(super) fn of_a_ring(event_bytes: usize) -> Vec<Self> {
        Self::of_buffer(RING_SLOTS * event_bytes).collect()
    }

    /// Returns the candidates with blocks of any size.
    fn of_buffer(buffer_bytes: usize) -> impl Iterator<Item = Self> {
        let both = move |block_bytes| {
            [false, true].map(|takes_lines| Self { takes_lines, block_bytes, buffer_bytes })
        };
        BLOCK_BYTES.into_iter().flat_map(both)
    }
}

/// Streams the events numbered `0..events` once. The answer is that of the unicast topology.
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(super) fn run<const PAD: usize>(
    shape: Shape,
    events: u32,
    placement: Placement,
) -> Result<Pass, RunError> {
    let stream = Arc::new(Stream::<PAD>::new(shape));
    let block_events = stream.block_events;
    let (producer, consumer) = (End(Arc::clone(&stream)), End(stream));
    let takes_lines = shape.takes_lines;
    let mut crew = Crew::new(placement);
    crew.enlist("producer", move || producer.0.produce(events));
    crew.enlist("consumer", move || consumer.0.consume(events, takes_lines));
    let events_per_batch = f64::from(events.min(block_events));
    Ok(Pass { events_per_batch, ..Pass::one_by_one(crew.run()?) })
}

/// The shared state of the two threads.
struct Stream<const PAD: usize> {
    /// The events, block by block.
    blocks: Vec<CachePadded<Mutex<Vec<Event<PAD>>>>>,
    /// Events of a block.
    block_events: u32,
    /// Blocks that the producer has filled.
    filled: Cursor,
    /// Blocks that the consumer has folded.
    folded: Cursor,
    /// Whether one of the threads failed.
    gone: AtomicBool,
}

/// A number of blocks on its own cache lines. One thread advances it, and the other polls it.
#[derive(Default)]
struct Cursor(CachePadded<AtomicU64>);

/// A thread's handle of the stream. It is dropped before the other thread has ended only if its own
/// job failed.
struct End<const PAD: usize>(Arc<Stream<PAD>>);

impl<const PAD: usize> Drop for End<PAD> {
    fn drop(&mut self) {
        // Relaxed suffices: the flag orders nothing.
        self.0.gone.store(true, Ordering::Relaxed);
    }
}

impl<const PAD: usize> Stream<PAD> {
    /// Creates a stream whose memory was touched.
    fn new(shape: Shape) -> Self {
        let block_events = shape.block_bytes / size_of::<Event<PAD>>();
        let block = || CachePadded::new(Mutex::new(vec![Event::default(); block_events]));
        Self {
            blocks: (0..shape.buffer_bytes / shape.block_bytes).map(|_| block()).collect(),
            block_events: block_events as u32,
            filled: Cursor::default(),
            folded: Cursor::default(),
            gone: AtomicBool::new(false),
        }
    }

    /// Fills the blocks in order.
    fn produce(&self, events: u32) -> Result<Answers, Disconnected> {
        let laps_ahead = self.blocks.len() as u64;
        let (mut next, mut block, mut free_until) = (0, 0, laps_ahead);
        while next < events {
            if block == free_until {
                free_until = laps_ahead + self.wait_for(&self.folded, block + 1 - laps_ahead)?;
            }
            let end = next + self.block_events.min(events - next);
            fill(&mut self.open(block)?, next, end);
            next = end;
            block += 1;
            self.filled.set(block);
        }
        Ok(Answers::new())
    }

    /// Folds block after block, and acquires the cache lines of each if requested.
    fn consume(&self, events: u32, takes_lines: bool) -> Result<Answers, Disconnected> {
        let mut fold = Fold::new();
        let (mut left, mut block, mut filled) = (events, 0, 0);
        while left > 0 {
            if block == filled {
                filled = self.wait_for(&self.filled, block + 1)?;
            }
            let count = self.block_events.min(left);
            let mut messages = self.open(block)?;
            messages[..count as usize].iter().for_each(|message| fold.add(message.digest()));
            if takes_lines {
                take_lines(&mut messages[..count as usize]);
            }
            drop(messages);
            left -= count;
            block += 1;
            self.folded.set(block);
        }
        Ok(vec![fold.answer()])
    }

    /// Returns the block of this number, which the caller's cursor allows.
    fn open(&self, block: u64) -> Result<MutexGuard<'_, Vec<Event<PAD>>>, Disconnected> {
        let index = block as usize % self.blocks.len();
        self.blocks[index].try_lock().map_err(|_| Disconnected)
    }

    /// Polls until `cursor` has reached `blocks`, and returns its value.
    fn wait_for(&self, cursor: &Cursor, blocks: u64) -> Result<u64, Disconnected> {
        loop {
            for _ in 0..LOOKS {
                let seen = cursor.get();
                if seen >= blocks {
                    return Ok(seen);
                }
                (0..PAUSES).for_each(|_| hint::spin_loop());
            }
            // Relaxed suffices: as at the store.
            if self.gone.load(Ordering::Relaxed) {
                return Err(Disconnected);
            }
            thread::yield_now();
        }
    }
}

impl Cursor {
    fn get(&self) -> u64 {
        // Acquire: pairs with `set`; a thread that sees the number may open the block.
        self.0.load(Ordering::Acquire)
    }

    fn set(&self, blocks: u64) {
        self.0.store(blocks, Ordering::Release);
    }
}

/// Stores one word of each cache line of `block` with its own value.
fn take_lines<const PAD: usize>(block: &mut [Event<PAD>]) {
    let events_per_line = (LINE / size_of::<Event<PAD>>()).max(1);
    block.iter_mut().step_by(events_per_line).for_each(Event::store_as_it_is);
}

/// Writes the events numbered `next..end`.
fn fill<const PAD: usize>(block: &mut [Event<PAD>], next: u32, end: u32) {
    for (slot, value) in block.iter_mut().zip(next..end) {
        *slot = Event::new(value, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::event::{PAD_8, PAD_256};
    use crate::load::topologies::unicast;

    /// Few and small blocks, so that a few events fill several laps.
    const SMALL: Shape = Shape { takes_lines: true, block_bytes: 1_024, buffer_bytes: 2_048 };

    #[test]
    fn stream_has_the_answer_of_unicast_whatever_the_last_block_has() {
        for events in [1, 127, 128, 129, 1_000, 5_000] {
            let pass = run::<PAD_8>(SMALL, events, Placement::Free).unwrap();
            assert_eq!(pass.answers, unicast::expected::<PAD_8>(events), "events={events}");
            let pass = run::<PAD_256>(SMALL, events, Placement::Free).unwrap();
            assert_eq!(pass.answers, unicast::expected::<PAD_256>(events), "events={events}");
        }
    }

    #[test]
    fn a_thread_that_is_left_alone_gives_up() {
        let stream = Arc::new(Stream::<PAD_8>::new(SMALL));
        drop(End(Arc::clone(&stream)));
        assert_eq!(stream.consume(1, false), Err(Disconnected));
        assert_eq!(stream.produce(1_000), Err(Disconnected));
    }

    #[test]
    fn a_block_that_somebody_holds_ends_the_run() {
        let stream = Stream::<PAD_8>::new(SMALL);
        let _held = stream.open(0).unwrap();
        assert_eq!(stream.produce(1), Err(Disconnected));
    }

    #[test]
    fn every_candidate_has_blocks_enough_for_two_threads() {
        for event_bytes in [8, 32, 64, 256] {
            for shape in Shape::candidates(event_bytes) {
                assert!(shape.buffer_bytes / shape.block_bytes >= 4, "{shape:?}");
            }
            for shape in Shape::of_a_ring(event_bytes) {
                assert!(Shape::candidates(event_bytes).contains(&shape), "{shape:?}");
            }
        }
    }
}
