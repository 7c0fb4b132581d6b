//! The system calls of a real program, and the disks that a power cut may leave at any of them.
//!
//! A program that is killed loses nothing that it has written, because the system keeps it in
//! memory. So no kill shows that a sync is missing. Here `strace` records what a program asks for,
//! and the calls are repeated on a [`SimulatedDisk`] up to some moment. A crash of that disk leaves
//! what a power cut could leave then, and the real journal opens it.
//!
//! A sync covers the writes that had ended when it began, once it has returned. All else is
//! unsynced.

mod follow; // calls as changes of files
mod strace; // the text of `strace`
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use self::follow::Follower;
use super::SimulatedDisk;
use super::world::{FileId, World};

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

/// A call that a recording does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingError {
    reason: &'static str,
    call: String,
}

/// A number for each file that was made.
type RecordedFile = u64;

#[derive(Debug)]
struct Event {
    act: Act,
    begun: usize,
    ended: usize,
    /// False if the program was ended during the call.
    is_over: bool,
}

#[derive(Debug)]
enum Act {
    Link { path: PathBuf, file: RecordedFile },
    Unlink { path: PathBuf, file: RecordedFile },
    Write { file: RecordedFile, offset: u64, bytes: Vec<u8> },
    Extend { file: RecordedFile, length: u64 },
    Sync { file: RecordedFile },
    SyncFolder { path: PathBuf },
    MakeFolder { path: PathBuf },
    Send { number: i64, bytes: Vec<u8> },
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
        let mut replay = Replay { folder, world: World::default(), files: HashMap::new() };
        for (_, event) in events {
            replay.act(&event.act);
        }
        SimulatedDisk { world: Arc::new(Mutex::new(replay.world)) }
    }
}

impl Event {
    /// When the call has its effect, if it has one before `moment`. A sync that has returned covers
    /// what had ended when it began. Another call may have its effect once it has begun.
    fn position(&self, moment: usize) -> Option<usize> {
        match self.act {
            Act::Sync { .. } | Act::SyncFolder { .. } => {
                (self.is_over && self.ended <= moment).then_some(self.begun)
            }
            _ => (self.begun <= moment).then_some(self.ended.min(moment)),
        }
    }
}

/// Repeats the calls that concern one folder.
struct Replay<'a> {
    folder: &'a Path,
    world: World,
    /// The simulated files.
    files: HashMap<RecordedFile, FileId>,
}

impl Replay<'_> {
    fn act(&mut self, act: &Act) {
        match act {
            Act::Link { path, file } => {
                if let Some(name) = self.name(path) {
                    let world = &mut self.world;
                    let file = *self.files.entry(*file).or_insert_with(|| world.make());
                    world.folder.link(name, file);
                }
            }
            Act::Unlink { path, file } => {
                if let (Some(name), Some(&file)) = (self.name(path), self.files.get(file)) {
                    self.world.folder.unlink(name, file);
                }
            }
            Act::Write { file, offset, bytes } => {
                if let Some(&file) = self.files.get(file) {
                    self.world.contents(file).write(*offset as usize, bytes.clone());
                }
            }
            Act::Extend { file, length } => {
                if let Some(&file) = self.files.get(file) {
                    self.world.contents(file).extend(*length as usize);
                }
            }
            Act::Sync { file } => {
                if let Some(&file) = self.files.get(file) {
                    self.world.contents(file).sync();
                }
            }
            Act::SyncFolder { path } => {
                if path == self.folder {
                    self.world.folder.sync();
                }
            }
            Act::MakeFolder { .. } | Act::Send { .. } => {}
        }
    }

    fn name<'b>(&self, path: &'b Path) -> Option<&'b str> {
        let is_here = path.parent() == Some(self.folder);
        path.file_name().filter(|_| is_here).and_then(|name| name.to_str())
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot follow a recorded call: {}: {}", self.reason, self.call)
    }
}

impl Error for RecordingError {}
