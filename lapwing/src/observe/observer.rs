//! Finds the files of rings, and opens one to look at its ring.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lapwing_core::{Graph, Mapping, Placed, View, Word};

use super::ObserveError;
use crate::activity::Activity;
use crate::dynamic_names::DynamicNames;
use crate::monitor::Monitor;
use crate::ring_file::{self, Description, Header, MAX_DESCRIPTION, Malformed, MonitorWords};
use crate::shape::{description_of, graph_of};
use crate::watched::Watched;

/// Returns the folder in which rings of this user have their files, whether it exists or not.
///
/// ```
/// // Unless the environment has `LAPWING_DIR`, something like /dev/shm/lapwing-1000.
/// assert!(lapwing::observe::folder().is_absolute() || std::env::var_os("LAPWING_DIR").is_some());
/// ```
#[must_use]
pub fn folder() -> PathBuf {
    ring_file::folder()
}

/// Returns the files of rings in [`folder`], by name, process and age: those of rings in use, and those
/// that dead processes have left.
///
/// # Errors
///
/// What the system says. A folder that does not exist has no files. The default folder is refused if it
/// is another user's.
///
/// ```
/// for file in lapwing::observe::ring_files()? {
///     println!("{} of process {}", file.name(), file.pid());
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn ring_files() -> io::Result<Vec<RingFile>> {
    let folder = ring_file::folder();
    if ring_file::named_folder().is_none() {
        ring_file::check_owner(&folder)?;
    }
    let files = ring_file::file_names(&folder)?.into_iter().filter_map(|file| {
        let (name, pid, _) = ring_file::parts_of(&file)?;
        Some(RingFile { name: name.to_owned(), pid, path: folder.join(&file) })
    });
    Ok(files.collect())
}

/// The file of an observable ring, by its name. Returned by [`ring_files`].
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use lapwing::{Disruptor, observe};
///
/// let (_producer, _consumers) = Disruptor::single_producer(8, || 0_u64)
///     .observable("example-file").stage("all").poller().build()?;
/// let file = observe::ring_files()?.into_iter().find(|file| file.name() == "example-file");
/// assert!(file.unwrap().path().starts_with(observe::folder()));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingFile {
    name: String,
    pid: u32,
    path: PathBuf,
}

impl RingFile {
    /// Returns the name under which the ring is [observable](crate::Builder::observable).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the process that made the ring, as that process knows it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the ring, to look at it.
    ///
    /// # Errors
    ///
    /// [`ObserveError`]. It is [`Io`](ObserveError::Io) with
    /// [`NotFound`](io::ErrorKind::NotFound) if the ring was dropped meanwhile.
    pub fn observe(&self) -> Result<Observer, ObserveError> {
        Observer::open(&self.path)
    }
}

/// Whether the process that made a ring still has it.
///
/// ```
/// use lapwing::observe::ProcessState;
///
/// assert_eq!(ProcessState::Stopped.to_string(), "stopped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProcessState {
    /// It lives, and has the ring.
    Running,
    /// It has the ring, and its main thread is stopped. By SIGSTOP and by a terminal, all its threads
    /// are. A debugger may have stopped the main thread alone.
    Stopped,
    /// It has ended without dropping the ring: it was killed, for example.
    Ended,
    /// It has dropped the ring. The process itself may live.
    Dropped,
}

impl fmt::Display for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Ended => "ended",
            Self::Dropped => "dropped",
        })
    }
}

/// A look from outside at a ring, which another process or this one has made observable.
///
/// The ring is not affected: the file is open for reading only. See [the module](super) for an
/// example.
pub struct Observer {
    file: File,
    header: Header,
    monitor: Monitor,
}

impl Observer {
    /// Opens the file of a ring, which may lie in any folder.
    ///
    /// The owner of the file is trusted: a load from a file that has been shortened ends this process by
    /// SIGBUS. A process that has a ring never shortens its file.
    ///
    /// # Errors
    ///
    /// [`ObserveError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ObserveError> {
        let mut file = match ring_file::open(path.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(ObserveError::NotARing);
            }
            file => file?,
        };
        let header = read_header(&mut file)?;
        let watched = read_ring(&mut file, &header)?;
        Ok(Self { file, header, monitor: Monitor::of(watched) })
    }

    /// Returns a monitor of the ring, which has the calls of the ring's own monitors.
    ///
    /// Once the process is stopped or has ended, the figures stay as they are. The monitor may outlive
    /// the observer, the ring and the process.
    #[must_use]
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Returns the number of the process that made the ring, as that process knows it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.header.pid
    }

    /// Returns when the ring was made.
    #[must_use]
    pub fn made_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.header.made_at)
    }

    /// Returns what has become of the process.
    ///
    /// A process of another pid namespace, such as one in a container, is never shown as stopped.
    ///
    /// # Errors
    ///
    /// What the system says about the lock of the file.
    pub fn process(&self) -> io::Result<ProcessState> {
        if ring_file::is_closed(&self.file)? {
            return Ok(ProcessState::Dropped);
        }
        if !ring_file::holds_lock(&self.file)? {
            // The process may have dropped the ring in between: it says so before it unlocks the file.
            let is_closed = ring_file::is_closed(&self.file)?;
            return Ok(if is_closed { ProcessState::Dropped } else { ProcessState::Ended });
        }
        let is_it = |began: Option<u64>| began == Some(self.header.began);
        let is_stopped = ring_file::stat_of(self.header.pid)
            .is_some_and(|(state, began)| is_it(began) && "Tt".contains(state));
        Ok(if is_stopped { ProcessState::Stopped } else { ProcessState::Running })
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer")
            .field("pid", &self.header.pid)
            .field("monitor", &self.monitor)
            .finish_non_exhaustive()
    }
}

fn read_header(file: &mut File) -> Result<Header, ObserveError> {
    let mut bytes = Vec::new();
    // The process writes the magic last, so the rest is read after it.
    file.take(Header::MAGIC_BYTES as u64).read_to_end(&mut bytes)?;
    file.take((Header::BYTES - Header::MAGIC_BYTES) as u64).read_to_end(&mut bytes)?;
    Header::decode(&bytes).map_err(|fault| match fault {
        Malformed::NoRing => ObserveError::NotARing,
        Malformed::NotReady => ObserveError::NotReady,
        Malformed::Version(found) => ObserveError::Version { found },
        Malformed::Damaged => ObserveError::Damaged,
    })
}

/// Reads the description, and finds the words.
fn read_ring(file: &mut File, header: &Header) -> Result<Watched, ObserveError> {
    if header.description_bytes as usize > MAX_DESCRIPTION {
        return Err(ObserveError::Damaged);
    }
    file.seek(SeekFrom::Start(header.description))?;
    let mut bytes = Vec::new();
    file.take(u64::from(header.description_bytes)).read_to_end(&mut bytes)?;
    let described = Description::decode(&bytes).ok_or(ObserveError::Damaged)?;
    let graph = graph_of(&described).ok_or(ObserveError::Damaged)?;
    let capacity = usize::try_from(described.capacity).map_err(|_| ObserveError::Damaged)?;
    lapwing_core::memory::check_capacity(capacity).map_err(|_| ObserveError::Damaged)?;
    let mapping = Arc::new(Mapping::observed(file, bytes_of_words(file, header)?)?);
    find_words(&mapping, described, graph, capacity).ok_or(ObserveError::Damaged)
}

/// Returns the number of bytes to map: up to the description.
fn bytes_of_words(file: &File, header: &Header) -> Result<usize, ObserveError> {
    let bytes = usize::try_from(header.description).map_err(|_| ObserveError::Damaged)?;
    let is_whole = bytes > 0 && header.description <= file.metadata()?.len();
    if is_whole { Ok(bytes) } else { Err(ObserveError::Damaged) }
}

/// Finds the words of a ring that a file describes. `None` if they cannot lie there.
fn find_words(
    mapping: &Arc<Mapping>,
    described: Description,
    graph: Graph,
    capacity: usize,
) -> Option<Watched> {
    let (stages, dynamic_stages) = (graph.words(), graph.dynamic_stages());
    let offsets = &described.offsets;
    let is_complete = offsets.activities.len() == stages
        && offsets.names.len() == dynamic_stages
        && offsets.protocol.stamps.is_some() == described.is_multi;
    let view = View::observed(mapping, &offsets.protocol, graph, capacity)?;
    let activities = offsets.activities.iter().map(|&at| Some(Activity::of(word(mapping, at)?)));
    let of_monitors = MonitorWords {
        waiting_producers: word(mapping, offsets.waiting_producers)?,
        dropped: word(mapping, offsets.dropped)?,
        activities: activities.collect::<Option<_>>()?,
    };
    let names = offsets.names.iter().map(|&at| word(mapping, at)).collect::<Option<Vec<_>>>()?;
    let names = DynamicNames::of(stages - dynamic_stages, names.into_iter());
    let description = description_of(&described, names);
    is_complete.then(|| Watched::new(view, description, of_monitors, None))
}

/// Returns the word at `offset`, if one can lie there.
fn word<T: Word>(mapping: &Arc<Mapping>, offset: u64) -> Option<Placed<T>> {
    Placed::observed(mapping, usize::try_from(offset).ok()?)
}
