//! The system calls of a real program, and the disks that a power cut may leave at any of them.
//!
//! A program that is killed loses nothing that it has written, because the system keeps it in
//! memory. So no kill shows that a sync is missing. Here `strace` records what a program asks for,
//! and the calls are repeated on a [`SimulatedDisk`] up to some moment. A crash of that disk leaves
//! what a power cut could leave then, and the real journal opens it.
//!
//! A sync covers the writes that had ended when it began, once it has returned. All else is
//! unsynced.

mod act; // what a call does
mod error; // why a call is not understood

mod replay; // the calls, repeated on a simulated disk
mod strace; // the text of `strace`

mod follow; // calls as changes of files
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::Command;

pub use error::RecordingError;

use self::act::{Act, Event};
use self::follow::Follower;
use self::replay::Replay;
use super::disk::SimulatedDisk;

/// What one or more programs asked of the system, in order. A moment is the number of a line of the
/// traces.
///
/// ```
/// use std::path::Path;
/// use lapwing_journal::faults::{Crash, Loss, Recording};
///
/// let folder = Path::new("/j");
/// let mut recording = Recording::new(&[folder]);
/// recording.add(r#"
/// 7 openat(AT_FDCWD, "\x2f\x6a\x2f\x61", O_WRONLY|O_CREAT, 0666) = 3
/// 7 write(3, "\x41", 1) = 1
/// 7 fdatasync(3) = 0
/// 7 write(1, "\x6f\x6b", 2) = 2
/// "#)?;
/// let (at, number, bytes) = recording.sent().next().unwrap();
/// assert_eq!((number, bytes), (1, &b"ok"[..]));
/// let disk = recording.disk(folder, at);
/// assert_eq!(disk.contents("a").unwrap(), b"A");
/// // The folder was not synced.
/// disk.crash(Crash::Power { seed: 1, loss: Loss::All });
/// assert_eq!(disk.contents("a"), None);
/// # Ok::<(), lapwing_journal::faults::RecordingError>(())
/// ```
#[derive(Debug)]
pub struct Recording {
    follower: Follower,
    events: Vec<Event>,
    /// The number of lines of all traces.
    lines: usize,
}

impl Recording {
    /// Returns an empty recording that follows the files of these folders. They do not exist, or are
    /// empty. Their paths are those that the program uses, and absolute.
    #[must_use]
    pub fn new(folders: &[&Path]) -> Self {
        let folders = folders.iter().map(|&folder| folder.to_owned()).collect();
        Self { follower: Follower::new(folders), events: Vec::new(), lines: 0 }
    }

    /// Returns a command that runs `strace`, which writes to the file `trace`. Add the program and
    /// its arguments.
    ///
    /// Syncs take at least `sync_us` microseconds. So what does not wait for them is seen to be
    /// earlier.
    #[must_use]
    pub fn strace(trace: &Path, sync_us: u64) -> Command {
        let mut command = Command::new("strace");
        command.args(["-f", "--seccomp-bpf", "-qq", "-xx", "-s", strace::LONGEST_WRITE]);
        command.args(["-e", "signal=none", "-e", strace::TRACED]);
        if sync_us > 0 {
            command.args(["-e", &format!("inject=fsync,fdatasync:delay_enter={sync_us}")]);
        }
        command.arg("-o").arg(trace);
        command
    }

    /// Adds what a further program has asked for, after the end of the one before it.
    ///
    /// # Errors
    ///
    /// [`RecordingError`] if a call is not understood. Some calls may be added.
    pub fn add(&mut self, trace: &str) -> Result<(), RecordingError> {
        let calls = strace::calls(trace, self.lines)?;
        self.lines += trace.lines().count();
        self.follower.follow(calls, &mut self.events)
    }

    /// Returns the moments at which a call began or ended, sorted.
    #[must_use]
    pub fn moments(&self) -> Vec<usize> {
        let mut moments: Vec<_> =
            self.events.iter().flat_map(|event| [event.begun, event.ended]).collect();
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// Returns what was sent or printed: the moment at which the call began, the file descriptor and
    /// the bytes.
    pub fn sent(&self) -> impl Iterator<Item = (usize, i64, &[u8])> {
        self.events.iter().filter_map(|event| match &event.act {
            Act::Send { number, bytes } => Some((event.begun, *number, &bytes[..])),
            _ => None,
        })
    }

    /// Returns a folder that was made before `moment`, and may be lost then with all that it
    /// contains, because the folder that contains it was not synced.
    #[must_use]
    pub fn unsynced_folder(&self, moment: usize) -> Option<&Path> {
        let made = self.events.iter().filter(|event| event.begun <= moment);
        made.filter_map(|event| match &event.act {
            Act::MakeFolder { path } if !self.is_synced(path.parent()?, event.ended, moment) => {
                Some(path.as_path())
            }
            _ => None,
        })
        .next()
    }

    /// Whether a sync of the folder has begun and ended between the two moments.
    fn is_synced(&self, folder: &Path, from: usize, to: usize) -> bool {
        let mut between = self
            .events
            .iter()
            .filter(|event| event.begun > from && event.is_over && event.ended <= to);
        between.any(|event| matches!(&event.act, Act::SyncFolder { path } if path == folder))
    }

    /// Returns a folder as programs saw it at `moment`. A [crash](SimulatedDisk::crash) shows what a
    /// power cut could leave.
    #[must_use]
    pub fn disk(&self, folder: &Path, moment: usize) -> SimulatedDisk {
        let mut events: Vec<_> = self
            .events
            .iter()
            .filter_map(|event| event.position(moment).map(|position| (position, event)))
            .collect();
        events.sort_by_key(|(position, _)| *position);
        let mut replay = Replay::new(folder);
        for (_, event) in events {
            replay.act(&event.act);
        }
        replay.into_disk()
    }
}
