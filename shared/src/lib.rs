//! Processes hand events to each other, through a ring in shared memory.
//!
//! A process that is killed at any instruction harms none of the others. The processes do have to
//! trust each other not to write to the segment except through this crate, and not to shorten its
//! file: a process that does can give the others wrong events, or end them by SIGBUS. For this
//! reason only one user has access to the folder, and all processes run as that user.
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
//! A *segment* is a ring with one writer or several, and some *seats* for readers, in a file that
//! the processes map. Each reader gets every event that is published while it has its seat, in
//! place and without a copy. Writers wait for the slowest reader, so a reader misses none of them.
//! Without readers, a [`Writer`] never waits, and a [`MultiWriter`] waits only for another one that
//! is a lap behind.
//!
//! A segment has one [`Writer`], made by [`Segment::create`], or several [`MultiWriter`]s, made by
//! [`Segment::create_or_join`]. A [`Writer`] is faster. All readers get the events of several
//! writers in the same order:
//!
//! ```
//! use lapwing_shared::Segment;
//!
//! # let folder = tempfile::tempdir()?;
//! # let orders = || Segment::<[u64; 2]>::named("orders").folder(folder.path());
//! # const _: &str = stringify! {
//! let orders = || Segment::<[u64; 2]>::named("orders");
//! # };
//! let mut first = orders().create_or_join(1024)?; // one process
//! let mut second = orders().create_or_join(1024)?; // another one
//! let mut matching = orders().open()?; // a third one
//!
//! first.publish(|order| *order = [1, 100]);
//! second.publish(|order| *order = [2, 101]);
//! drop((first, second)); // the last one closes the segment
//!
//! let mut seen = Vec::new();
//! while let Ok(mut batch) = matching.wait() {
//!     seen.extend(batch.iter().map(|(sequence, order)| (sequence, *order)));
//! }
//! assert_eq!(seen, [(0, [1, 100]), (1, [2, 101])]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Events are plain data, so [`Event`] needs [`bytemuck::Pod`]. A pointer, a `String` or a `Vec`
//! means nothing in another process.
//!
//! Once a segment is closed, the last process to drop its end deletes the files.
//! [`Segment::folder`] documents where they are.
//!
//! # Waits
//!
//! Both ends wait with any strategy of [`lapwing::wait`]. While no thread is parked, publishing
//! makes no call of the system. Each end also has a thread that watches the other processes. It
//! sleeps in the kernel until one of them joins or ends. So an idle segment uses no CPU, unless a
//! strategy polls.
//!
//! This reader outlives its writers:
//!
//! ```
//! use std::time::Duration;
//! use lapwing_shared::{Reader, Segment};
//! use lapwing_shared::error::WaitError;
//!
//! fn sum(reader: &mut Reader<u64>) -> u64 {
//!     let mut sum = 0;
//!     loop {
//!         // The batch borrows the reader until it has been read.
//!         let end = match reader.wait() {
//!             Ok(mut batch) => {
//!                 batch.iter().for_each(|(_, tick)| sum += tick);
//!                 continue;
//!             }
//!             Err(end) => end,
//!         };
//!         match end {
//!             WaitError::WriterGone => while !reader.wait_for_writer(Duration::from_secs(1)) {},
//!             _ => return sum, // closed
//!         }
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let ticks = || Segment::<u64>::named("ticks").folder(folder.path());
//! # const _: &str = stringify! {
//! let ticks = || Segment::<u64>::named("ticks");
//! # };
//! let mut first = ticks().create(1024)?;
//! let mut reader = ticks().open()?;
//! let reading = std::thread::spawn(move || sum(&mut reader));
//! first.publish_all(&[1, 2, 3]);
//! first.hand_over(); // or it is killed
//!
//! let mut second = ticks().create(1024)?;
//! second.publish_all(&[4, 5, 6]);
//! second.close();
//! assert_eq!(reading.join().unwrap(), 21);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What happens if a process ends
//!
//! | what ends | what the others see |
//! |---|---|
//! | a reader is dropped or killed | its seat is free, and the writer goes on |
//! | a writer is dropped or closed | readers get the events that are left, and then [`Closed`](error::PollError::Closed) |
//! | a writer is killed or hands over | readers get the events that it published, and then [`WriterGone`](error::PollError::WriterGone), unless another process has taken over by then |
//! | one of several writers is dropped or killed | the others go on; if it was killed while it wrote an event, that event is skipped, and readers see a gap in the sequences |
//! | the last of several writers is dropped | readers get the events that are left, and then [`Closed`](error::PollError::Closed) |
//! | the last of several writers is killed or hands over | readers get the events that were published, and then [`WriterGone`](error::PollError::WriterGone) |
//! | another process then creates or joins the segment by the same call, with the same capacity, seats and events | it takes the segment over, and readers go on |
//! | the same with anything else | it replaces the segment, and readers of the old one get [`Closed`](error::PollError::Closed) |
//! | a process is stopped by SIGSTOP or a debugger | it keeps its seat or its segment; the others wait once the ring is full or empty, and readers wait at once for one of several writers that is stopped while it publishes |
//! | all are killed | the files stay, and the next writer takes them over or removes them |
//!
//! Each writer and each reader holds a named pipe open for reading. The kernel closes it when the
//! process ends, however it ends, and tells the processes that watch it. Detecting a death
//! therefore needs neither timeouts nor process ids, and it works between containers that share the
//! folder. [`docs::unsafe_code`] lists, for each point at which a process can be killed, the state
//! that remains and what repairs it.
//!
//! The kernel closes the pipe after it has freed the memory of the process. For a process with
//! little memory, that is less than a millisecond after the kill. One with a gigabyte of its own
//! took 85 ms on an EPYC.
//!
//! A process that is stopped inside of [`create`](Segment::create), [`open`](Segment::open) or the
//! drop of an end holds the lock of the folder. Others that create or open a segment there get an
//! error after five seconds.
//!
//! # Children
//!
//! A forked child cannot use its parent's reader or writer. It has no access to the memory, so any
//! call other than dropping the value ends it by SIGSEGV. In exchange, a child that outlives its
//! parent does not keep the parent's seat. A child that is made by a bare `clone` system call,
//! which runs no handler of `pthread_atfork`, keeps it.
//!
//! # What there is not
//!
//! - Stages that wait for stages of other processes. Within a process, the closure of
//!   [`Reader::run`] can publish to a ring of [`lapwing`], which has stages.
//! - Events from a given sequence on. A reader that restarts begins with the next event, or with
//!   the [oldest one](Segment::from_oldest) that is still there.
//! - Anonymous memory (`memfd`). Only the writer could hand it out, so nobody could open or take
//!   over a segment whose writer is stopped or dead.
//! - Support for other systems. The crate compiles there, and exports nothing.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod deadline;
mod limits;
// M7: calls of the system.
#[allow(unsafe_code)]
mod signals;
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
mod watch;

mod holders;

mod attached;
mod batch;
// M4: maps the file that it has checked.
#[allow(unsafe_code)]
mod making;

mod reader;
// M1: which slots a writer may write.
#[allow(unsafe_code)]
mod multi_writer;
#[allow(unsafe_code)]
mod writer;

mod segment;

pub mod docs;

// M1, M2: watches the slots.
#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod models;

pub use batch::{Batch, Iter};
pub use event::Event;
pub use multi_writer::MultiWriter;
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
    /// Number of published events that it has not released. With several writers, events that are
    /// claimed and not yet published count too.
    pub lag: u64,
}

#[doc(hidden)]
pub mod __private {
    pub use bytemuck::Zeroable;

    pub use crate::event::Fields;
}
