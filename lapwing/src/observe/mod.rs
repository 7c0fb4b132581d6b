//! Observes the rings of other processes, from outside: their figures, and what holds them up.
//!
//! A ring that is built with [`observable`](crate::Builder::observable) keeps the atomic variables that
//! monitors read (its words: sequences, counters and states) in a mapped file. [`ring_files`] lists
//! these files, and an [`Observer`] opens one. Its [`Monitor`](crate::monitor::Monitor) has all calls
//! that the monitors inside the process have, with the same results. The observer cannot change the
//! ring. Each snapshot costs the threads of the ring a few cache misses. This works also if the
//! process is stopped, hangs in a handler, or was killed; [`Observer::process`] says which.
//!
//! The command `lapwing top`, from the crate `lapwing-cli`, shows the same in a terminal.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use lapwing::{Disruptor, observe::{self, ProcessState}};
//!
//! let (mut producer, _consumers) = Disruptor::multi_producer(8, || 0_u64)
//!     .observable("example-quotes")
//!     .stage("ticks").poller()
//!     .build()?;
//! producer.publish_batch(3, |_| {})?;
//!
//! let own = |file: &&observe::RingFile| {
//!     file.name() == "example-quotes" && file.pid() == std::process::id()
//! };
//! let files = observe::ring_files()?;
//! let observer = files.iter().find(own).unwrap().observe()?;
//! let snapshot = observer.monitor().snapshot();
//! assert_eq!((snapshot.ring.as_str(), snapshot.published), ("example-quotes", 3));
//! assert_eq!((snapshot.stages[0].name.as_str(), snapshot.stages[0].lag), ("ticks", 3));
//! assert_eq!(observer.process()?, ProcessState::Running);
//!
//! drop((producer, _consumers)); // the ring is gone, and so is its file
//! assert_eq!(observer.process()?, ProcessState::Dropped);
//! assert_eq!(observer.monitor().snapshot().published, 3); // as it was at the end
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files
//!
//! A file is named `NAME.PID.NUMBER`. It lies in the folder that the environment variable
//! `LAPWING_DIR` names, or else in `/dev/shm/lapwing-UID`, with the number of the user; where there is
//! no `/dev/shm`, the folder for temporary files replaces it. The file has mode 0600.
//! [`folder`] returns that folder. It should be in memory (tmpfs): on a disk, a store may cause a
//! page fault while the kernel writes the page back. Its memory is reserved when the ring is built, so a
//! file system that is full is an error of `build`. The file takes 6 KiB, 512 bytes for each stage,
//! acknowledgement and worker, 640 for each dynamic stage, 4 for each slot if several producers
//! publish, and the names. The events are not in it.
//!
//! The file is removed when the last producer, consumer and monitor of the ring are dropped. Until then
//! it takes a file descriptor. If the process is killed, or ends without dropping them, the file stays.
//! It shows the last state of the ring until the same user builds the next ring of this name, which
//! removes it.
//!
//! Whether the process lives is decided by an exclusive lock on the file (`flock`), which the kernel
//! releases when the process ends.
//!
//! Build a ring after the last `fork`. A child that was forked shares the words and the lock: it must not
//! use or drop the ring, and as long as it has not called `exec`, the ring counts as one of a process
//! that lives.
//!
//! # Layout
//!
//! Another program may read the file itself. It begins with 64 bytes:
//!
//! | offset | content |
//! |---|---|
//! | 0 | `LAPWRING`, or zeros while the ring is being built |
//! | 8 | `u32`: the version of this layout, 1 |
//! | 12 | `u32`: the process, as it knows itself |
//! | 16 | `u64`: when the process began, in clock ticks since the machine started |
//! | 24 | `u64`: when the ring was made, in nanoseconds since 1970 |
//! | 32 | `u64`: where the description begins |
//! | 40 | `u32`: bytes of the description |
//! | 44 | `u8`: 1 once the ring was dropped |
//!
//! The words lie between byte 4096 and the description, beside data that only the process of the ring
//! uses. The description says where. It never changes, and has these fields one after another. A text
//! and a list begin with their length as `u32`.
//!
//! | field | type |
//! |---|---|
//! | name of the ring; number of slots; 1 if several producers publish | text, `u64`, `u8` |
//! | the stages: name, threads, number of workers, 1 if acknowledged, direct upstream stages | list of text, list of texts, `u32`, `u8`, list of `u32` |
//! | number of dynamic stages; 1 if they follow a stage, and which | `u32`, `u8`, `u32` |
//! | offsets of the cursor, the life, the stamps (0 if there are none), the waiting producers and the dropped events | 5 `u64` |
//! | offsets of the sequences, of the activities, and of the names | 3 lists of `u64` |
//!
//! Sequences and activities have an entry for each stage, then for each acknowledgement, then for each
//! worker, then for each dynamic stage. The words at these offsets:
//!
//! | words | type | content |
//! |---|---|---|
//! | cursor | `u64` | the first sequence that is not published; with several producers, not claimed, and bit 63 once closed |
//! | life | 3 `u64` | state (bit 0 closing, bit 1 halted); the first refused sequence, or 2⁶⁴ − 1; producers |
//! | stamps | `u32` each slot | (lap + 1) × 2 once published, and 1 more if the claim was given up |
//! | waiting producers, dropped events | `u64` | |
//! | sequence | `u64` | the first sequence that is not finished; 2⁶⁴ − 1 if it has left, 2⁶⁴ − 2 for a worker without an event |
//! | activity | 3 `u64` | batches × 16 + what it does, below; parks; wake-ups |
//! | name | 16 `u64` | version × 65536 + 256 if it has a handler + length, odd while it changes; then 120 bytes of UTF-8 |
//!
//! What a stage does: 0 nothing yet, 1 is between two batches, 2 waits, 3 is parked, 4 pauses before it
//! retries an event, 5 handles a batch, 6 has drained the ring, 7 is halted, 8 has failed. A group has
//! the least sequence of its own and of its workers' words.
//!
//! Numbers in the header and the description are little-endian, words have the byte order of the
//! machine. Each word is stored atomically, but there is no atomic view of several words. Load the
//! sequences of downstream stages before those of their upstream stages, and the cursor last: then no
//! stage appears ahead of what it depends on.

mod error;

mod observer;

pub use error::ObserveError;
pub use observer::{Observer, ProcessState, RingFile, folder, ring_files};
