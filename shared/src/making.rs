//! The steps by which a segment is found, made, and taken over. Each runs under the lock of the folder.
//!
//! Their order ensures that a process can be killed at any step without harm to the others:
//!
//! - A segment is made under another name, and renamed once a writer holds its pipe.
//! - A process holds the pipe of a seat before it takes the seat, and gives up the seat first.
//! - So nobody else holds the pipe of a seat that is taken, and one that is taken and not held
//!   belongs to a dead process (M3).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::directory::{Directory, Locked, MEMORY, Place, Refused, WRITER, pipe};
use crate::error::Difference;
use crate::evidence::Held;
use crate::header::Header;
use crate::holders::{clear_the_dead, free_seat, is_held};
use crate::layout::WRITER_PID;
use crate::limits::MAX_SEATS;
use crate::memory::{Memory, Shape};
use crate::protocol::seats::Side;
use crate::sync::Ordering;

/// How long a process waits for another one that makes or opens a segment in the folder.
pub(crate) const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// How long a process that creates a segment waits for the end of a writer that is there. One that
/// was killed a moment ago holds its pipe until its memory is freed, and one that was dropped while
/// its process starts a program holds it until that program runs.
const WRITER_LIMIT: Duration = Duration::from_millis(50);

/// A segment, and the pipe that this process holds as its writer.
pub(crate) struct Made {
    pub(crate) memory: Arc<Memory>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) held: Arc<Held>,
    /// Whether it was there already.
    pub(crate) was_there: bool,
}

/// Why this process does not become a writer.
pub(crate) enum Unmade {
    HasWriter { pid: u32 },
    Differs(Difference),
    NoSeat { writers: usize },
    System(Refused),
}

impl<T: Into<Refused>> From<T> for Unmade {
    fn from(error: T) -> Self {
        Self::System(error.into())
    }
}

/// Runs an `attempt` to become a writer under the lock of the folder, and returns its outcome. Repeats
/// it while it has none, and for a moment while another writer may be about to end. Releases the lock
/// between attempts.
pub(crate) fn become_writer<T>(
    place: &Place,
    attempt: impl Fn(&Locked<'_>) -> Result<Option<T>, Unmade>,
) -> Result<T, Unmade> {
    let mut first_refusal = None;
    loop {
        let locked = place.lock(LOCK_LIMIT)?;
        match attempt(&locked) {
            Ok(Some(writer)) => return Ok(writer),
            Ok(None) => {}
            Err(unmade) => {
                let start = *first_refusal.get_or_insert_with(Instant::now);
                if !unmade.is_passing() || start.elapsed() > WRITER_LIMIT {
                    return Err(unmade);
                }
            }
        }
        drop(locked);
        sleep(Duration::from_millis(1));
    }
}

impl Unmade {
    /// Whether a later attempt may succeed.
    fn is_passing(&self) -> bool {
        matches!(self, Self::HasWriter { .. } | Self::Differs(_) | Self::NoSeat { .. })
    }
}

/// Checks that nobody writes to the segment.
fn refuse_writers(directory: &Directory) -> Result<(), Unmade> {
    if !has_writer(directory)? {
        return Ok(());
    }
    let mut pid = [0; 4];
    open_memory(directory)?.read_exact_at(&mut pid, WRITER_PID as u64)?;
    Err(Unmade::HasWriter { pid: u32::from_ne_bytes(pid) })
}

/// Checks that nobody writes to a segment that this process cannot join. Says why it cannot, if the
/// segment has a header.
fn refuse_other_writers(directory: &Directory, header: &Header) -> Result<(), Unmade> {
    let refused = refuse_writers(directory);
    if let Err(Unmade::HasWriter { .. }) = refused {
        let found = Header::read(&open_memory(directory)?)?;
        found.and_then(|found| found.check_all(header)).map_err(Unmade::Differs)?;
    }
    refused
}

/// Whether a process holds the pipe of a writer.
fn has_writer(directory: &Directory) -> io::Result<bool> {
    if is_held(directory, WRITER)? == Some(true) {
        return Ok(true);
    }
    for index in 0..writers_of(directory)? {
        if is_held(directory, &pipe(Side::Writers, index))? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns how many seats for writers a segment has, or the maximum if its header does not say.
fn writers_of(directory: &Directory) -> io::Result<usize> {
    let file = match open_memory(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(MAX_SEATS),
        file => file?,
    };
    Ok(Header::read(&file)?.map_or(MAX_SEATS, |header| header.shape.writers))
}

/// What has the name of a segment.
enum Found {
    /// A segment with the same header, which is open.
    Same(Directory, Arc<Memory>),
    /// Another segment, or none.
    Other(Option<(Directory, Arc<Memory>)>),
}

impl Found {
    /// Returns the directory of what has the name, unless it is a segment that is closed. The writer of
    /// such a one writes no more, even if it still holds its pipe.
    fn open_to_writers(&self, locked: &Locked<'_>) -> io::Result<Option<Directory>> {
        match self {
            Self::Other(Some((_, memory))) if memory.shared().is_closed() => Ok(None),
            _ => locked.open(),
        }
    }
}

/// Looks for a segment with this header.
///
/// # Errors
///
/// What the system says.
fn find(locked: &Locked<'_>, header: &Header) -> io::Result<Found> {
    let Some(directory) = locked.open()? else { return Ok(Found::Other(None)) };
    // Only a segment that is known to be another one is removed.
    let file = match open_memory(&directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Other(None)),
        file => file?,
    };
    let Ok(found) = Header::read(&file)? else { return Ok(Found::Other(None)) };
    let memory = map(&file, found.shape)?;
    if found.check_all(header).is_ok() && !memory.shared().is_closed() {
        Ok(Found::Same(directory, memory))
    } else {
        Ok(Found::Other(Some((directory, memory))))
    }
}

/// Takes over the segment of a dead writer if it has this header. Otherwise makes one in place of what
/// there is.
///
/// # Errors
///
/// [`Unmade::HasWriter`], or what the system says.
pub(crate) fn take_over_or_make(locked: &Locked<'_>, header: &Header) -> Result<Made, Unmade> {
    locked.remove_leftovers()?;
    let found = find(locked, header)?;
    if let Some(directory) = found.open_to_writers(locked)? {
        refuse_writers(&directory)?;
    }
    let other = match found {
        Found::Other(other) => other,
        Found::Same(directory, memory) => match hold(&directory, WRITER)? {
            None => Some((directory, memory)),
            Some(held) => return Ok(Made::there(directory, memory, held)),
        },
    };
    Ok(make_in_place_of(other, locked, header, WRITER)?)
}

/// Takes the pipe of a seat beside the writers of a segment with this header, whether or not they live.
/// Otherwise makes one in place of what there is. Returns it with the number of the seat.
///
/// # Errors
///
/// [`Unmade::NoSeat`], [`Unmade::Differs`] if processes write to another segment, or what the system
/// says.
pub(crate) fn join_or_make(locked: &Locked<'_>, header: &Header) -> Result<(Made, usize), Unmade> {
    locked.remove_leftovers()?;
    let found = find(locked, header)?;
    let open = found.open_to_writers(locked)?;
    let other = match found {
        Found::Other(other) => {
            if let Some(directory) = open {
                refuse_other_writers(&directory, header)?;
            }
            other
        }
        Found::Same(directory, memory) => {
            clear_the_dead(&memory, &directory)?;
            if let Some(seat) = free_seat(&memory, &directory, Side::Writers)? {
                let held = Held::hold(&directory, &pipe(Side::Writers, seat))?;
                return Ok((Made::there(directory, memory, Arc::new(held)), seat));
            }
            if has_writer(&directory)? {
                return Err(Unmade::NoSeat { writers: header.shape.writers });
            }
            Some((directory, memory)) // somebody has removed its pipes
        }
    };
    let first = pipe(Side::Writers, 0);
    Ok((make_in_place_of(other, locked, header, &first)?, 0))
}

/// Holds a pipe; `None` if somebody has removed it, as programs do that clean up.
fn hold(directory: &Directory, name: &str) -> io::Result<Option<Arc<Held>>> {
    match Held::hold(directory, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        held => Ok(Some(Arc::new(held?))),
    }
}

impl Made {
    /// A segment that was there.
    fn there(directory: Directory, memory: Arc<Memory>, held: Arc<Held>) -> Self {
        Self { memory, directory: Arc::new(directory), held, was_there: true }
    }

    /// Notes that this process is a writer now, for people.
    pub(crate) fn sign(&self) {
        let life = &self.memory.shared().words.life.0;
        life.writer_pid.store(std::process::id(), Ordering::Relaxed); // P8, Relaxed: for people
        if self.was_there {
            life.takeovers.fetch_add(1, Ordering::Relaxed); // P8, Relaxed: for people
        }
    }
}

/// Removes what has the name, and makes a segment. This process holds the pipe of the name `writer`.
fn make_in_place_of(
    other: Option<(Directory, Arc<Memory>)>,
    locked: &Locked<'_>,
    header: &Header,
    writer: &str,
) -> io::Result<Made> {
    if let Some((directory, memory)) = other {
        // For readers that still have it: after the removal, their watches cannot find the pipes of
        // dead writers.
        clear_the_dead(&memory, &directory)?;
        memory.shared().close();
    }
    locked.remove()?;
    make(locked, header, writer).inspect_err(|_| _ = locked.remove_leftovers())
}

fn make(locked: &Locked<'_>, header: &Header, writer: &str) -> io::Result<Made> {
    let directory = locked.make_draft()?;
    let bytes = header.shape.bytes().ok_or(io::ErrorKind::OutOfMemory)?;
    let file = directory.make_file(MEMORY, bytes)?;
    file.write_all_at(&header.encode(), 0)?;
    make_pipes(&directory, header.shape)?;
    let held = Arc::new(Held::hold(&directory, writer)?);
    let memory = map(&file, header.shape)?;
    locked.publish_draft()?;
    Ok(Made { memory, directory: Arc::new(directory), held, was_there: false })
}

fn make_pipes(directory: &Directory, shape: Shape) -> io::Result<()> {
    if shape.writers == 0 {
        directory.make_pipe(WRITER)?;
    }
    let make =
        |side, seats| (0..seats).try_for_each(|index| directory.make_pipe(&pipe(side, index)));
    make(Side::Writers, shape.writers)?;
    make(Side::Readers, shape.seats)
}

pub(crate) fn open_memory(directory: &Directory) -> io::Result<File> {
    directory.open(MEMORY, OFlags::RDWR)
}

pub(crate) fn map(file: &File, shape: Shape) -> io::Result<Arc<Memory>> {
    // SAFETY: M4: the file has these bytes, as it was made or checked, and the processes of this
    // user are trusted to keep the protocol and not to shorten it.
    unsafe { Memory::map(file, shape) }.map(Arc::new)
}
