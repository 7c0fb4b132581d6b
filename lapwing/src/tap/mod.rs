//! Readers that never slow anybody down: copies of events, for those who may miss some and must
//! know how many.
//!
//! A stage of a ring sees every event, and holds producers back while it lags. A tap is for the
//! others: a screen, a statistic, a sampler. Its writer copies each event into a small ring of its
//! own and never waits for a reader; a reader that is too slow loses events, and every event that
//! it gets says how many were lost before it.
//!
//! ```text
//! P1 --> [ring] <-- book                         arrow: "waits for"; nothing waits for a
//!              ^--- tap ~~copies~~> [slots]      reader of the tap
//!                                      ^~~ any number of readers
//! ```
//!
//! ```
//! use lapwing::Disruptor;
//! use lapwing::tap::{TapReader, tap};
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
//! # What it promises
//!
//! - The writer never waits: [`write`](TapWriter::write) is a copy, two swaps and two stores at
//!   most. Who reads costs it a cache line now and then, who sleeps costs it nothing.
//! - A reader gets events whole, in order, each at most once.
//! - The count is exact: a reader that has caught up has received or missed each event that was
//!   written since it began.
//!
//! An event is missed when the writer has come round before the reader; when it was *passed over*,
//! since a reader was in its slot just then; or when the reader has skipped it for the
//! [`latest`](TapReader::latest). Even the last event can be passed over, if a reader is still at
//! the copy of the one a lap before: `write` says so. More slots make both rarer; with one or two, a
//! writer in full flight is hard to follow at all.

#[deny(unsafe_code)]
mod head;
#[deny(unsafe_code)]
mod reader;
pub(crate) mod slot;
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

/// A tap with `capacity` slots: its writer, and a reader that begins with the first event.
///
/// Clone the reader, or ask the writer for [another](TapWriter::reader): there may be any number. A
/// slot takes 128 bytes, or a multiple for an event that does not fit with 16 bytes beside it.
///
/// ```
/// use lapwing::tap::tap;
///
/// let (mut writer, mut reader) = tap::<(u64, u32)>(2)?;
/// for sequence in 0..3 {
///     writer.write(sequence, &(sequence * 100, 7));
/// }
/// let oldest = reader.try_next()?; // of the two that there is room for
/// assert_eq!((oldest.sequence, oldest.event, oldest.missed), (1, (100, 7), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`BuildError::Capacity`] unless `capacity` is a power of two in `1..=2^30`, and
/// [`BuildError::OutOfMemory`] when the allocator refuses.
pub fn tap<E: Copy>(capacity: usize) -> Result<(TapWriter<E>, TapReader<E>), BuildError> {
    let ring = Arc::new(TapRing { head: Head::new(), slots: Slots::new(capacity)? });
    let writer = TapWriter::new(ring);
    let reader = writer.reader();
    Ok((writer, reader))
}

/// What a writer and its readers share.
#[derive(Debug)]
struct TapRing<E> {
    head: Head,
    slots: Slots<E>,
}

#[cfg(test)]
mod tests;
