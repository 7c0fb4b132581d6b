//! Makes, opens and takes over segments. Not here: where they lie (`directory`), and what the ends do
//! (`writer`, `reader`).
//!
//! The order of the steps is what keeps a death at any of them harmless:
//!
//! - A segment is made under another name, and renamed once a writer holds its pipe.
//! - A reader holds the pipe of a seat before it takes the seat, and gives up the seat before the pipe.
//! - All of that runs under the lock of the folder, which the kernel releases. So nobody else holds
//!   the pipe of a seat that is taken, and one that is taken and not held belongs to a dead reader
//!   (M3).

use std::fmt;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lapwing::wait::{Adaptive, WaitStrategy, WaiterElsewhere};
use rustix::fs::OFlags;

use crate::attached::Attached;
use crate::deadline::look_for;
use crate::directory::{
    Directory, Locked, MEMORY, Place, Refused, WRITER, is_name, seat, usual_folder,
};
use crate::error::{CreateError, OpenError};
use crate::event::Event;
use crate::evidence::{Held, Watched};
use crate::fences::Fences;
use crate::header::Header;
use crate::layout::WRITER_PID;
use crate::limits::{MAX_CAPACITY, MAX_SEATS};
use crate::memory::{Memory, PAGE, Shape};
use crate::protocol::reading::Reading;
use crate::protocol::seats::Start;
use crate::protocol::writing::Writing;
use crate::reader::{self, Reader};
use crate::sync::Ordering;
use crate::watch::{ReadersWatch, WriterWatch};
use crate::writer::{self, Writer};

/// How long a process waits for another one that makes or opens a segment in the folder.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// How long a process that creates a segment waits for the end of a writer that is there. One that
/// was killed a moment ago holds its pipe until its memory is freed, and one that was dropped while
/// its process starts a program holds it until that program runs.
const WRITER_LIMIT: Duration = Duration::from_millis(50);

/// Number of seats, unless the program says otherwise.
const SEATS: usize = 16;

/// The name of a segment, and how this process takes part in it.
///
/// ```
/// use lapwing_shared::Segment;
///
/// # let folder = tempfile::tempdir()?;
/// # let ticks = || Segment::<u64>::named("ticks").folder(folder.path());
/// # const _: &str = stringify! {
/// let ticks = || Segment::<u64>::named("ticks");
/// # };
/// let mut writer = ticks().create(1024)?; // one process
/// let mut reader = ticks().open()?; // others
///
/// writer.publish(|tick| *tick = 7);
/// writer.close();
/// for (sequence, tick) in reader.wait()?.iter() {
///     assert_eq!((sequence, *tick), (0, 7));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "it does nothing before `create` or `open`"]
pub struct Segment<T> {
    name: String,
    folder: Option<PathBuf>,
    seats: usize,
    waits: Option<WaiterElsewhere>,
    start: Start,
    event: PhantomData<fn() -> T>,
}

impl<T: Event> Segment<T> {
    /// Names a segment: 1 to 64 of the characters `a-z A-Z 0-9 . _ -`, not beginning with a dot.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing_shared::Segment;
    /// use lapwing_shared::error::CreateError;
    ///
    /// assert!(matches!(Segment::<u64>::named("../ticks").create(8), Err(CreateError::Name { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            folder: None,
            seats: SEATS,
            waits: None,
            start: Start::Newest,
            event: PhantomData,
        }
    }

    /// Sets the folder in which the segment lies. All processes of a segment must set the same one.
    ///
    /// It must belong to this user, and other users must not be able to write to it.
    /// [`create`](Self::create) makes it if it is missing. A folder in memory (`tmpfs`) is fastest.
    /// On a disk, the system also writes the events to the disk now and then.
    ///
    /// Without this call, the environment variable `LAPWING_DIR` names the folder. Without that, it is
    /// `/dev/shm/lapwing-UID`. In a container, `/dev/shm` often has no more than 64 MiB.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let _writer = ticks().create(8)?;
    /// assert!(folder.path().join("ticks.segment").is_dir());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets how many readers there can be at a time: 1 to 1024, 16 without this call. Only
    /// [`create`](Self::create) uses it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing_shared::error::OpenError;
    ///
    /// let _writer = ticks().seats(1).create(8)?;
    /// let _reader = ticks().open()?;
    /// assert_eq!(ticks().open().err(), Some(OpenError::NoSeat { seats: 1 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seats(mut self, seats: usize) -> Self {
        self.seats = seats;
        self
    }

    /// Sets how this end waits: any strategy of [`lapwing::wait`], [`Adaptive`] without this call.
    ///
    /// Call this before you pin the calling thread to a CPU. The first strategy of a process counts
    /// the CPUs that this thread may use, and with one CPU [`Adaptive`] does not poll.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing::wait::{Blocking, BusySpin};
    ///
    /// let mut writer = ticks().wait_strategy(Blocking::default()).create(8)?;
    /// let mut reader = ticks().wait_strategy(BusySpin).open()?;
    /// writer.publish(|tick| *tick = 7);
    /// assert_eq!(reader.wait()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_strategy(mut self, strategy: impl WaitStrategy) -> Self {
        self.waits = Some(WaiterElsewhere::new(strategy));
        self
    }

    /// Lets a reader begin with an event that is still in its slot, instead of the next one that is
    /// published. Only [`open`](Self::open) uses it.
    ///
    /// The reader gets the events of the last three quarters of the ring at least, or all of them
    /// if there are fewer. The writer may be writing to the other slots. After the death of a
    /// writer, there may be fewer.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// let mut writer = ticks().create(8)?;
    /// writer.publish_all(&[7, 8, 9]);
    /// assert_eq!(ticks().from_oldest().open()?.poll()?.as_slice(), [7, 8, 9]);
    /// assert!(ticks().open()?.poll().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_oldest(mut self) -> Self {
        self.start = Start::Oldest;
        self
    }

    /// Creates the segment, with `capacity` slots, and returns its writing end.
    ///
    /// If there is a segment of this name whose writer ended without closing it, the new writer
    /// takes it over, provided that capacity, seats and layout of the events are the same: readers
    /// keep their seats, and the sequences go on. What the dead writer had not published is lost.
    /// If anything is different, or if the segment was closed, a new one takes its place, and
    /// begins with the sequence 0. Readers of the old one drain it and get
    /// [`Closed`](crate::error::PollError::Closed). [`Writer::has_taken_over`] says which of the
    /// two it was.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing_shared::error::CreateError;
    ///
    /// let _writer = ticks().create(8)?;
    /// assert!(matches!(ticks().create(8), Err(CreateError::HasWriter { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CreateError`]; [`HasWriter`](CreateError::HasWriter) if a living process writes to it, and
    /// still does after 50 ms. Memory for all slots is reserved here, so a full `/dev/shm` is an
    /// error of this call.
    ///
    /// # Blocking
    ///
    /// Waits for another process that makes or opens a segment in the folder, for at most five
    /// seconds.
    pub fn create(self, capacity: usize) -> Result<Writer<T>, CreateError> {
        self.check(capacity)?;
        let place = self.place();
        let failed = |refused| create_error(&place, refused);
        place.make_folder().map_err(|error| failed(error.into()))?;
        let locked = lock_without_writer(&place)?;
        let attach = || {
            let header = Header::of::<T>(capacity, self.seats)?;
            locked.remove_leftovers()?;
            let (made, has_taken_over) = match take_over(&locked, &header)? {
                Some(made) => (made, true),
                None => (make(&locked, &header)?, false),
            };
            let memory = Arc::clone(&made.memory);
            let writer = self.write(made, &place, has_taken_over);
            if writer.is_err() && !has_taken_over {
                memory.shared().close();
                let _ = locked.remove();
            }
            writer
        };
        let writer = attach().map_err(|error| failed(error.into()))?;
        drop(locked);
        writer.populate();
        Ok(writer)
    }

    /// Opens the segment, and returns a reading end. It takes a seat until it is dropped.
    ///
    /// The first event is the next one that is published, unless [`from_oldest`](Self::from_oldest)
    /// says otherwise. From then on, the reader misses none.
    ///
    /// A segment whose writer has ended without closing it can be opened too.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use lapwing_shared::Segment;
    /// use lapwing_shared::error::{Difference, OpenError};
    ///
    /// let _writer = ticks().create(8)?;
    /// let other = Segment::<f64>::named("ticks").folder(folder.path()).open();
    /// let (program, segment) = ("f8".to_owned(), "u8".to_owned());
    /// let expected = Difference::Layout { program, segment };
    /// assert_eq!(other.err(), Some(OpenError::Differs(expected)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`Differs`](OpenError::Differs) says what is different about a segment of another
    /// program.
    ///
    /// # Blocking
    ///
    /// Waits for another process that makes or opens a segment in the folder, for at most five
    /// seconds. Does not wait for a segment to be created; [`open_timeout`](Self::open_timeout) does.
    pub fn open(self) -> Result<Reader<T>, OpenError> {
        if !is_name(&self.name) {
            return Err(OpenError::Name { name: self.name });
        }
        let place = self.place();
        let failed = |refused| open_error(&place, refused);
        let locked = place.lock(LOCK_LIMIT).map_err(failed)?;
        let reader = self.open_in(&locked, &place).map_err(|why| match why {
            Unopened::Refused(error) => error,
            Unopened::System(error) => failed(error.into()),
        })?;
        drop(locked);
        reader.populate();
        Ok(reader)
    }

    fn open_in(self, locked: &Locked<'_>, place: &Place) -> Result<Reader<T>, Unopened> {
        let not_found = || OpenError::NotFound { path: place.directory() };
        let directory = locked.open()?.ok_or_else(not_found)?;
        let file = open_memory(&directory)?;
        let header = Header::read(&file)?.map_err(OpenError::Differs)?;
        let Shape { capacity, seats, .. } = header.shape;
        header.check(&Header::of::<T>(capacity, seats)?).map_err(OpenError::Differs)?;
        if !is_event::<T>() {
            return Err(OpenError::Event.into());
        }
        let memory = map(&file, header.shape)?;
        if memory.shared().is_closed() {
            return Err(OpenError::Closed.into());
        }
        clear_the_dead(&memory, &directory)?;
        let index = free_seat(&memory, &directory)?.ok_or(OpenError::NoSeat { seats })?;
        Ok(self.read((memory, Arc::new(directory)), place, index)?)
    }

    /// Opens the segment like [`open`](Self::open), once it is there. Waits for it for at most
    /// `timeout`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let ticks = || lapwing_shared::Segment::<u64>::named("ticks").folder(folder.path());
    /// use std::{thread, time::Duration};
    /// use lapwing_shared::error::OpenError;
    ///
    /// let reader = ticks().open_timeout(Duration::from_millis(1));
    /// assert!(matches!(reader, Err(OpenError::NotFound { .. })));
    ///
    /// let later = ticks();
    /// let reading = thread::spawn(move || later.open_timeout(Duration::from_secs(10)));
    /// let writer = ticks().create(8)?;
    /// let _reader = reading.join().unwrap()?;
    /// # drop(writer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open); [`NotFound`](OpenError::NotFound) if it is not there when
    /// `timeout` is over.
    ///
    /// # Blocking
    ///
    /// Looks every millisecond.
    pub fn open_timeout(self, timeout: Duration) -> Result<Reader<T>, OpenError> {
        let directory = self.place().directory();
        look_for(timeout, || !is_name(&self.name) || directory.exists());
        self.open() // which says why, if it is not there
    }

    /// Checks what a new segment is asked to be.
    fn check(&self, capacity: usize) -> Result<(), CreateError> {
        if !is_name(&self.name) {
            return Err(CreateError::Name { name: self.name.clone() });
        }
        if !is_event::<T>() {
            return Err(CreateError::Event);
        }
        if !(1..=MAX_SEATS).contains(&self.seats) {
            return Err(CreateError::Seats { requested: self.seats });
        }
        let shape = Shape { capacity, seats: self.seats, event: size_of::<T>() };
        let is_possible = capacity.is_power_of_two() && capacity <= MAX_CAPACITY;
        if !is_possible || shape.bytes().is_none() {
            return Err(CreateError::Capacity { requested: capacity });
        }
        Ok(())
    }

    fn place(&self) -> Place {
        Place::new(&self.folder.clone().unwrap_or_else(usual_folder), &self.name)
    }

    /// Makes the writing end.
    fn write(self, made: Made, place: &Place, has_taken_over: bool) -> io::Result<Writer<T>> {
        let Made { memory, directory, held } = made;
        let shared = memory.shared();
        let writing = Writing::new(shared, Fences::register());
        shared.words.life.0.writer_pid.store(std::process::id(), Ordering::Relaxed); // P8: for people
        let watch =
            ReadersWatch::start(Arc::clone(&memory), Arc::clone(&directory), Arc::clone(&held))?;
        let waits = self.into_waits();
        let attached = Attached::new(memory, directory, place.clone());
        Ok(Writer::new(writer::Parts { writing, waits, watch, held, attached, has_taken_over }))
    }

    /// Takes a seat and makes the reading end.
    fn read(
        self,
        (memory, directory): (Arc<Memory>, Arc<Directory>),
        place: &Place,
        index: usize,
    ) -> io::Result<Reader<T>> {
        // M3: the pipe before the seat. In between, the writer learns that there is a pipe to watch.
        let held = Arc::new(Held::hold(&directory, &seat(index))?);
        let watch =
            WriterWatch::start(Arc::clone(&memory), Arc::clone(&directory), Arc::clone(&held))?;
        let (fences, shared) = (Fences::register(), memory.shared());
        shared.seats[index].holder.0.pid.store(std::process::id(), Ordering::Relaxed); // P8: for people
        let (tenure, sequence) = shared.join(index, self.start, fences.code());
        let reading = Reading::new(tenure, sequence, fences);
        let waits = self.into_waits();
        let attached = Attached::new(memory, directory, place.clone());
        Ok(Reader::new(reader::Parts { reading, waits, watch, held, attached }))
    }

    fn into_waits(self) -> WaiterElsewhere {
        self.waits.unwrap_or_else(|| WaiterElsewhere::new(Adaptive::default()))
    }
}

impl<T> fmt::Debug for Segment<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a segment is not opened.
enum Unopened {
    Refused(OpenError),
    System(io::Error),
}

impl From<OpenError> for Unopened {
    fn from(error: OpenError) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for Unopened {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// A segment whose writer this process is.
struct Made {
    memory: Arc<Memory>,
    directory: Arc<Directory>,
    held: Arc<Held>,
}

/// Locks the folder while nobody writes to the segment. Waits a moment for a writer that ends,
/// without the lock.
fn lock_without_writer(place: &Place) -> Result<Locked<'_>, CreateError> {
    let failed = |refused| create_error(place, refused);
    let start = Instant::now();
    loop {
        let locked = place.lock(LOCK_LIMIT).map_err(failed)?;
        match writer_of(&locked).map_err(|error| failed(error.into()))? {
            None => return Ok(locked),
            Some(_) if start.elapsed() < WRITER_LIMIT => {}
            Some(pid) => return Err(CreateError::HasWriter { pid }),
        }
        drop(locked);
        sleep(Duration::from_millis(1));
    }
}

/// Returns the process that writes to the segment, if one does.
fn writer_of(locked: &Locked<'_>) -> io::Result<Option<u32>> {
    let Some(directory) = locked.open()? else { return Ok(None) };
    if !has_writer(&directory)? {
        return Ok(None);
    }
    let mut pid = [0; 4];
    open_memory(&directory)?.read_exact_at(&mut pid, WRITER_PID as u64)?;
    Ok(Some(u32::from_ne_bytes(pid)))
}

/// Whether a process holds the pipe of the writer. A pipe that was removed is held by nobody.
fn has_writer(directory: &Directory) -> io::Result<bool> {
    match Watched::open(directory, WRITER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        writer => Ok(writer?.is_some()),
    }
}

/// Takes over the segment of a dead writer if it has this header. Otherwise removes what there is.
fn take_over(locked: &Locked<'_>, header: &Header) -> io::Result<Option<Made>> {
    let Some(directory) = locked.open()? else {
        locked.remove()?; // something else may have the name
        return Ok(None);
    };
    // Only a segment that is known to be another one is removed.
    let file = match open_memory(&directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        file => Some(file?),
    };
    let found = file.as_ref().map(Header::read).transpose()?.and_then(Result::ok);
    if let (Some(file), Some(found)) = (file, found) {
        let memory = map(&file, found.shape)?;
        let is_same = found.shape == header.shape && found.check(header).is_ok();
        if is_same && !memory.shared().is_closed() {
            match Held::hold(&directory, WRITER) {
                // Somebody has removed a pipe, as programs do that clean up.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                held => {
                    let (held, directory) = (Arc::new(held?), Arc::new(directory));
                    // P8, Relaxed: for people.
                    memory.shared().words.life.0.takeovers.fetch_add(1, Ordering::Relaxed);
                    return Ok(Some(Made { memory, directory, held }));
                }
            }
        }
        memory.shared().close(); // for readers that still have it
    }
    locked.remove()?;
    Ok(None)
}

/// Makes a segment.
fn make(locked: &Locked<'_>, header: &Header) -> io::Result<Made> {
    let directory = locked.make_draft()?;
    let make = || {
        let bytes = header.shape.bytes().ok_or(io::ErrorKind::OutOfMemory)?;
        let file = directory.make_file(MEMORY, bytes)?;
        file.write_all_at(&header.encode(), 0)?;
        directory.make_pipe(WRITER)?;
        (0..header.shape.seats).try_for_each(|index| directory.make_pipe(&seat(index)))?;
        let held = Arc::new(Held::hold(&directory, WRITER)?);
        let memory = map(&file, header.shape)?;
        locked.publish_draft()?;
        Ok((memory, held))
    };
    match make() {
        Ok((memory, held)) => Ok(Made { memory, directory: Arc::new(directory), held }),
        Err(error) => {
            let _ = locked.remove_leftovers();
            Err(error)
        }
    }
}

fn open_memory(directory: &Directory) -> io::Result<File> {
    directory.open(MEMORY, OFlags::RDWR)
}

fn map(file: &File, shape: Shape) -> io::Result<Arc<Memory>> {
    // SAFETY: M4: the file has these bytes, as it was made or checked, and the processes of this
    // user are trusted to keep the protocol and not to shorten it.
    unsafe { Memory::map(file, shape) }.map(Arc::new)
}

/// Whether a segment can have such events: its slots begin on a page.
fn is_event<T>() -> bool {
    size_of::<T>() > 0 && align_of::<T>() <= PAGE
}

/// Clears the seats of dead readers. The watch of the writer does so too, unless there is no writer.
fn clear_the_dead(memory: &Memory, directory: &Directory) -> io::Result<()> {
    let shared = memory.shared();
    for (tenure, _) in shared.held() {
        let is_dead = Watched::open(directory, &seat(tenure.index))?.is_none();
        if is_dead && shared.clear(tenure) {
            shared.words.slots.0.wake_all();
        }
    }
    Ok(())
}

/// Returns a seat that is free and whose pipe nobody holds: a reader that is about to leave has
/// given up its seat, and still holds the pipe.
fn free_seat(memory: &Memory, directory: &Directory) -> io::Result<Option<usize>> {
    for index in memory.shared().free_seats() {
        if Watched::open(directory, &seat(index))?.is_none() {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn create_error(place: &Place, refused: Refused) -> CreateError {
    match refused {
        Refused::Busy => CreateError::Busy { folder: place.folder().into() },
        Refused::Foreign => CreateError::Folder { path: place.folder().into() },
        Refused::File(error) => CreateError::File { path: place.directory(), kind: error.kind() },
    }
}

fn open_error(place: &Place, refused: Refused) -> OpenError {
    match refused {
        Refused::Busy => OpenError::Busy { folder: place.folder().into() },
        Refused::Foreign => OpenError::Folder { path: place.folder().into() },
        Refused::File(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenError::NotFound { path: place.directory() }
        }
        Refused::File(error) => OpenError::File { path: place.directory(), kind: error.kind() },
    }
}
