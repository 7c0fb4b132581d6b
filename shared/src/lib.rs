//! One process hands events to others, through a ring in shared memory.
//!
//! A process that is killed at any instruction harms none of the others. In one respect they trust each other: none
//! of them writes to the memory of the segment but through this crate, and none shortens its file. A process that
//! does so can give the others wrong events, or end them by SIGBUS. So all of them run as one user.
//!
//! ```
//! use lapwing_shared::Segment;
//!
//! # let folder = tempfile::tempdir()?;
//! # let ticks = || Segment::<u64>::named("ticks").folder(folder.path());
//! # const _: &str = stringify! {
//! let ticks = || Segment::<u64>::named("ticks");
//! # };
//! let mut writer = ticks().create(1024)?; // one process
//! let mut reader = ticks().open()?; // any of the others
//!
//! writer.publish(|tick| *tick = 7);
//! writer.publish_all(&[8, 9]);
//! writer.close();
//!
//! let mut seen = Vec::new();
//! while let Ok(mut batch) = reader.wait() {
//!     seen.extend(batch.iter().map(|(sequence, tick)| (sequence, *tick)));
//! }
//! assert_eq!(seen, [(0, 7), (1, 8), (2, 9)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Segments
//!
//! A *segment* is a ring with one writer and some *seats* for readers, in a file that the processes map. Each
//! reader gets each event that is published while it has its seat, in place and without a copy. The writer
//! waits for the slowest reader, so no event is lost. Without readers it does not wait.
//!
//! Events are plain data, so [`Event`] needs [`bytemuck::Pod`]. A pointer, a `String` or a `Vec` means nothing in
//! another process.
//!
//! The last end of a closed segment removes it. [`Segment::folder`] says where it lies.
//!
//! # Waits
//!
//! Both ends wait with any strategy of [`lapwing::wait`]. While nobody is parked, publishing costs the same
//! instructions as in a ring of one process, and no call of the system. Each end also has a thread that watches
//! the other processes. It sleeps in the kernel until one of them joins or ends, so an idle segment
//! uses no CPU.
//!
//! # What happens if a process ends
//!
//! | | |
//! |---|---|
//! | a reader is dropped or killed | its seat is free, and the writer goes on |
//! | a writer is dropped or closed | readers get the events that are left, and then [`Closed`](error::PollError::Closed) |
//! | a writer is killed | readers get the events that it published, and then [`WriterGone`](error::PollError::WriterGone) |
//! | another process creates the segment then | it takes the segment over, if capacity, seats and events are the same; readers go on |
//! | a process is stopped by SIGSTOP or a debugger | it keeps its seat or its segment; the others wait once the ring is full or empty |
//! | all are killed | the files stay, and the next [`create`](Segment::create) uses or removes them |
//!
//! Each end holds one end of a named pipe. The kernel closes it when the process ends, however it ends, and tells
//! the processes that watch it. So it takes neither a timeout nor the number of a process to find that another
//! one is dead, and it works from any container that sees the folder. [`docs::unsafe_code`] has
//! a table of what each death leaves, and what mends it.
//!
//! # Children
//!
//! A child that is forked without `exec` does not take part. The memory is not there, so a call of an end other than
//! its drop ends the child by SIGSEGV, and the child does not keep the seat of a dead parent. A child by a
//! bare `clone` system call, which runs no handler of `pthread_atfork`, keeps it until the child ends.
//!
//! # What there is not
//!
//! - Several writers. Two processes that publish use two segments.
//! - Stages that wait for stages of other processes. Within a process, [`Reader::run`] can publish to a ring
//!   of [`lapwing`], which has stages.
//! - Memory without a name (`memfd`): it has to be handed over by the writer, so it could not be opened
//!   while that is stopped or dead, and no other process could take it over.
//! - Other systems than Linux. There, the crate is empty.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod limits;
mod sync;

pub mod error;
mod event;
mod event_count;
mod fences;
// M7: what a forked child does first.
#[allow(unsafe_code)]
mod fork;

mod words;

mod protocol;

mod directory;
// M4: maps a file.
#[allow(unsafe_code)]
mod memory;

mod evidence;
mod header;
mod layout;
// M4, M5: turns slots into references.
#[allow(unsafe_code)]
mod slots;

// M2: which slots a reader may read.
#[allow(unsafe_code)]
mod source;
// M7: blocks signals.
#[allow(unsafe_code)]
mod watch;

mod attached;
mod batch;

mod reader;
// M1: which slots the writer may write.
#[allow(unsafe_code)]
mod writer;

// M4: maps the file that it has checked.
#[allow(unsafe_code)]
mod segment;

pub mod docs;

// M1, M2: watches the slots.
#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod models;

pub use batch::{Batch, Iter};

pub use event::Event;
pub use reader::Reader;
pub use segment::Segment;
pub use writer::Writer;

/// The number of an event in its segment. The first one is 0.
pub type Sequence = u64;

/// A reader, as the writer sees it: a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// Its process, as it is numbered in its own namespace.
    pub pid: u32,
    /// Its seat.
    pub seat: usize,
    /// The sequence of the first event that it has not released.
    pub sequence: Sequence,
    /// Number of published events that it has not released.
    pub lag: u64,
}

#[doc(hidden)]
pub mod __private {
    pub use bytemuck::Zeroable;

    pub use crate::event::Fields;
}
