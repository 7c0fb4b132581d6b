//! A simulated disk: it loses, tears and reorders unsynced writes when the power is cut, crashes at
//! any call, fails syncs and writes, and runs out of space. A [`Recording`] of a real program shows
//! which syncs are missing. For tests of programs that use a journal.
//!
//! It keeps two contents of each file: what a program reads, and what the disk has. A write changes
//! the first. A sync brings the writes to the disk. A power cut brings any of the sectors of
//! unsynced writes there and drops the rest. The same holds for the names of files and a sync of
//! the folder.
//!
//! ```
//! use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
//! use lapwing_journal::{Options, Plain};
//!
//! let (disk, options) = (SimulatedDisk::new(), Options::new().segment_bytes(4096));
//! let journal = options.clone().open_simulated::<u64, Plain>(&disk)?;
//! let mut writer = journal.writer();
//! writer.write(&[7], 0)?;
//! journal.sync()?;
//! writer.write(&[8], 1)?; // not synced
//! disk.crash(Crash::Power { seed: 1, loss: Loss::All });
//!
//! let journal = options.clone().open_simulated::<u64, Plain>(&disk)?;
//! assert_eq!(journal.next_sequence(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod crash; // what ends a program, and what is lost
mod random; // which writes survive

mod file; // the contents of one file
mod folder; // the names
mod plan; // what will go wrong

mod world; // the state of a disk

mod view; // a disk as a program sees it

mod disk; // a disk as a test sees it

mod recording; // the calls of a real program
#[cfg(test)]
mod tests;

pub use crash::{Crash, Loss};
pub use disk::SimulatedDisk;
pub use recording::{Recording, RecordingError};
