//! A durable journal as a stage of a [Lapwing](lapwing) graph.
//!
//! A stage writes each batch of events. A second stage, downstream of it, syncs. Place each later
//! stage after the one whose guarantee it needs: after *journal* an event survives a crash of the
//! program, after *synced* it survives a power failure.
//!
//! ```text
//! producer --> [ring] --> journal --> synced --> confirm
//!                |           |          |
//!                |           | one      | one fdatasync for all that was
//!                |           | pwrite   | written during the last one
//!                |           v          v
//!                |         [ segments of the folder ]
//!                \--> match, report, ...  (side by side with the journal)
//! ```
//!
//! An event has the same sequence in the ring and in the journal: the ring begins with
//! [`Journal::next_sequence`]. If a [`Replay`] publishes recorded events into the graph after a
//! restart, the ring begins with the first of them, and the writer writes none of them again.
//! [`Snapshots`] shorten the replay.
//!
//! ```
//! use lapwing::Disruptor;
//! use lapwing_journal::{Journal, SyncPolicy};
//!
//! let folder = tempfile::tempdir()?;
//! let journal = Journal::<u64>::open(folder.path())?;
//! let mut confirmed = 0;
//! let (mut producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
//!     .first_sequence(journal.next_sequence())
//!     .stage("journal").may_block().read_batch_handler(journal.writer())
//!     .stage("synced").may_block().read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
//!     .stage("confirm").read(|_, _, _| confirmed += 1) // on disk
//!     .build()?;
//! std::thread::scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
//!     let running = consumers.start_scoped(scope)?;
//!     for event in 0..5_000 {
//!         producer.publish(|slot| *slot = event)?;
//!     }
//!     running.shutdown()?;
//!     Ok(())
//! })?;
//! assert_eq!((confirmed, journal.synced()), (5_000, 5_000));
//! journal.close()?;
//!
//! let journal = Journal::<u64>::open(folder.path())?;
//! let mut sum = 0;
//! journal.read(0)?.for_each(0, |_, event| sum += event)?;
//! assert_eq!(sum, (0..5_000).sum());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! - An event that the stage *synced* has released is there after a crash of the program or of the
//!   machine, in order and once. The disk must keep what a sync has confirmed, and must write a
//!   sector of 512 bytes as a whole.
//! - An event that is read after a restart was published with this sequence.
//! - After a crash, what was never synced may be cut. [`Journal::recovered`] says so. If synced
//!   events are unreadable, the journal is not opened, the [error](error::Damage) names file and
//!   offset, and nothing is changed.
//! - A [failed sync](error::SyncError) stops the journal and is never repeated.
//! - A full disk is an [error of the writer](error::WriteError::is_full) that loses nothing. With the
//!   policy [`WaitForSpace`], the graph continues once there is space.
//!
//! What cannot be noticed: damage to frames at the very end of a journal that was not closed, or
//! their absence. It looks like a write that was never synced. A journal that was closed must have
//! all events up to the end that its file `closed` has.
//!
//! [`format`](mod@format) describes the bytes on disk.
#![forbid(unsafe_code)]
#![cfg(unix)]

// The map, as each `mod.rs` has one. Blank lines divide layers, the lowest first. A file imports
// from lower layers.

pub mod error; // why an operation failed
pub mod format; // the bytes on disk
mod mutex; // how this crate locks

mod encoding; // one event as bytes
mod full_disk; // the policy that waits for space
mod storage; // what is asked of a disk

mod body; // the events of a frame as bytes
mod closed; // the file that says where the journal ended
#[cfg(feature = "faults")]
pub mod faults; // a simulated disk, and the calls of real programs on it
mod options; // settings
mod syncing; // how far the journal is written and synced

mod segments; // the files of segments
mod snapshots; // the state of a stage at a sequence

mod reader; // recorded events, in order
mod recovery; // what is done when a journal is opened
mod retention; // old segments are removed or archived
mod writing; // where frames are written

mod core; // an open journal, as its ends share it
pub mod inspect; // what is in a folder

mod replay; // recorded events into a ring
mod syncer; // the stage that syncs
mod writer; // the stage that writes

mod journal; // the open journal, for programs

pub use encoding::{Encoding, Plain};
pub use full_disk::WaitForSpace;
pub use journal::Journal;
pub use options::Options;
pub use reader::{Frame, Reader, read_range};
pub use recovery::Recovered;
pub use replay::{Pace, Replay};
pub use snapshots::{Latest, Snapshot, Snapshots};
pub use syncer::{SyncPolicy, Syncer};
pub use writer::Writer;

/// The examples of the README run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
