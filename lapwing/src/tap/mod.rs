//! Taps: copies of events for readers that never hold up the ring.
//!
//! A stage of a ring sees every event, and holds back the producers while it lags. A tap is for
//! consumers that may miss events, for instance a display, statistics or a sampler. Its writer
//! copies each event into a small ring of its own and never waits for a reader. A reader that is
//! too slow loses events. Each [`Reading`] says how many events were missed before it.
//!
//! ```text
//! producer ──> [ring] ─┬─> book
//!                      └─> writer of the tap ──> [slots] ──> any number of readers
//! ```
//!
//! ```
//! use lapwing::{Disruptor, tap::tap};
//!
//! let (writer, mut prices) = tap::<u64>(64)?;
//! let (mut producer, consumers) = Disruptor::single_producer(1024, || 0)
//!     .stage("tap")
//!     .read_handler(writer) // a stage of its own; any handler can call `write` as well
//!     .build()?;
//! let running = consumers.start()?;
//! for price in 1..=1000 {
//!     producer.publish(|slot| *slot = price)?;
//! }
//! let _report = running.shutdown()?; // the end of the stage closes the tap
//!
//! let newest = prices.latest()?;
//! assert_eq!((newest.event, newest.sequence, newest.missed), (1000, 999, 999));
//! assert_eq!(prices.received() + prices.missed(), 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - The writer never waits: [`write`](TapWriter::write) is a copy, two swaps and two stores at
//!   most. Each read or poll of a reader can cost it a cache-line transfer. A reader that sleeps
//!   costs it nothing.
//! - A reader receives whole events, in order, each at most once.
//! - The count is exact. A reader that has caught up has received or missed each event that was
//!   written since it began.
//!
//! A reader misses an event in one of three cases:
//!
//! - The writer has overwritten it: it is a whole lap ahead of the reader. A reader that is
//!   overtaken repeatedly also [jumps](TapReader::try_next) past events that are not overwritten.
//! - The writer *passed it over*, because a reader was copying from its slot at that moment. This
//!   can happen to the last event too, if a reader is still copying the event one lap before it.
//!   [`write`](TapWriter::write) then returns `false`.
//! - The reader skipped it with [`latest`](TapReader::latest).
//!
//! More slots make the first two cases rarer. With one or two slots, a reader can hardly follow a
//! writer at full speed.

#[deny(unsafe_code)]
mod head;
pub(crate) mod slot;

#[deny(unsafe_code)]
mod reader;

#[deny(unsafe_code)]
mod waiting;
#[deny(unsafe_code)]
mod writer;

pub use reader::{Reading, TapReader, TryIter};
pub use writer::TapWriter;

use crate::error::BuildError;
use crate::sync::Arc;
use head::Head;
use slot::Slots;

/// Creates a tap with `capacity` slots: its writer, and a reader that begins with the first event.
///
/// For further readers, clone the reader or ask the writer for [another](TapWriter::reader). A slot
/// takes 128 bytes, or a multiple of that if the event, 16 bytes and padding do not fit into 128.
///
/// ```
/// use lapwing::tap::tap;
///
/// let (mut writer, mut reader) = tap::<(u64, u32)>(2)?;
/// for sequence in 0..3 {
///     writer.write(sequence, &(sequence * 100, 7));
/// }
/// let oldest = reader.try_next()?; // of the two that fit
/// assert_eq!((oldest.sequence, oldest.event, oldest.missed), (1, (100, 7), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// - [`BuildError::Capacity`] unless `capacity` is a power of two in `1..=2^30`.
/// - [`BuildError::OutOfMemory`] if the allocator fails.
pub fn tap<E: Copy>(capacity: usize) -> Result<(TapWriter<E>, TapReader<E>), BuildError> {
    let ring = Arc::new(TapRing { head: Head::new(), slots: Slots::new(capacity)? });
    let writer = TapWriter::new(ring);
    let reader = writer.reader();
    Ok((writer, reader))
}

/// What the writer and its readers share.
#[derive(Debug)]
struct TapRing<E> {
    head: Head,
    slots: Slots<E>,
}

#[cfg(test)]
mod tests;
