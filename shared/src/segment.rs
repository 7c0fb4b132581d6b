//! The name of a segment, how a process takes part in it, and how it gets an end. Not here: the steps
//! under the lock of the folder (`making`), where a segment lies (`directory`), and what the ends do
//! (`writer`, `multi_writer`, `reader`).

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use lapwing::wait::{Adaptive, WaitStrategy, WaiterElsewhere};

use crate::attached::Attached;
use crate::deadline::look_for;
use crate::directory::{Directory, Locked, Place, Refused, is_name, pipe, usual_folder};
use crate::error::{CreateError, OpenError};
use crate::event::Event;
use crate::evidence::Held;
use crate::fences::Fences;
use crate::header::Header;
use crate::holders::{clear_the_dead, free_seat};
use crate::limits::{MAX_CAPACITY, MAX_SEATS};
use crate::making::{
    LOCK_LIMIT, Made, Unmade, become_writer, join_or_make, map, open_memory, take_over_or_make,
};
use crate::memory::{Memory, PAGE, Shape};
use crate::multi_writer::{self, MultiWriter};
use crate::protocol::Shared;
use crate::protocol::claiming::Claiming;
use crate::protocol::reading::Reading;
use crate::protocol::seats::{Side, Start};
use crate::protocol::writing::Writing;
use crate::reader::{self, Reader};
use crate::sync::Ordering;
use crate::watch::{End, PeersWatch, Watch, WriterWatch};
use crate::writer::{self, Writer};

/// Number of seats of each side, unless the program says otherwise.
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
    writers: usize,
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
            writers: SEATS,
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

    /// Sets how many readers there can be at a time: 1 to 1024, 16 without this call.
    /// [`open`](Self::open) takes the number from the segment.
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

    /// Sets how many writers there can be at a time: 1 to 1024, 16 without this call. Only
    /// [`create_or_join`](Self::create_or_join) uses it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// use lapwing_shared::error::CreateError;
    ///
    /// let _writer = orders().writers(1).create_or_join(8)?;
    /// let other = orders().writers(1).create_or_join(8);
    /// assert_eq!(other.err(), Some(CreateError::NoSeat { writers: 1 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn writers(mut self, writers: usize) -> Self {
        self.writers = writers;
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
    /// takes it over, provided that it was made by this call, and that capacity, seats and layout of
    /// the events are the same: readers
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
    pub fn create(mut self, capacity: usize) -> Result<Writer<T>, CreateError> {
        let place = self.place_for(capacity, 0)?;
        let attach = || {
            place.make_folder()?;
            let header = self.header(capacity, 0)?;
            become_writer(&place, |locked| {
                let made = take_over_or_make(locked, &header)?;
                made.or_remove(locked, write_alone).map(Some)
            })
        };
        let (made, (writing, watch)) = attach().map_err(|unmade| create_error(&place, unmade))?;
        let Made { memory, directory, held, was_there: has_taken_over } = made;
        let (waits, attached) = (self.take_waits(), Attached::new(memory, directory, place));
        let parts = writer::Parts { writing, waits, watch, held, attached, has_taken_over };
        let writer = Writer::new(parts);
        writer.populate();
        Ok(writer)
    }

    /// Joins the segment as one of its writers, or creates it with `capacity` slots if it does not
    /// exist.
    ///
    /// All writers must set the same capacity, seats, [`writers`](Self::writers) and events. The
    /// segment is closed when the last of them is dropped. If all writers were killed or have
    /// [handed over](MultiWriter::hand_over), the next one to join continues the sequences.
    ///
    /// A closed segment is replaced by a new one. A segment with other settings, or one that
    /// [`create`](Self::create) made, is replaced too if no living process writes to it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let orders = || lapwing_shared::Segment::<u64>::named("orders").folder(folder.path());
    /// let mut first = orders().create_or_join(8)?;
    /// let mut second = orders().create_or_join(8)?; // in another process
    /// let mut reader = orders().open()?;
    ///
    /// assert_eq!(first.publish(|order| *order = 7), 0);
    /// assert_eq!(second.publish(|order| *order = 8), 1);
    /// assert_eq!(reader.poll()?.as_slice(), [7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CreateError`]; [`NoSeat`](CreateError::NoSeat) if all seats of writers are taken, and
    /// [`Differs`](CreateError::Differs) if living processes write to a segment of this name that
    /// has other settings, both if that is still so after 50 ms.
    ///
    /// # Blocking
    ///
    /// Waits for another process that makes or opens a segment in the folder, for at most five
    /// seconds.
    pub fn create_or_join(mut self, capacity: usize) -> Result<MultiWriter<T>, CreateError> {
        let writers = self.writers;
        if !(1..=MAX_SEATS).contains(&writers) {
            return Err(CreateError::Writers { requested: writers });
        }
        let place = self.place_for(capacity, writers)?;
        let attach = || {
            place.make_folder()?;
            let header = self.header(capacity, writers)?;
            become_writer(&place, |locked| {
                let (made, seat) = join_or_make(locked, &header)?;
                let (made, end) = made.or_remove(locked, |made| write_beside_others(made, seat))?;
                Ok(end.map(|end| (made, end)))
            })
        };
        let (made, (claiming, watch)) = attach().map_err(|unmade| create_error(&place, unmade))?;
        let Made { memory, directory, held, was_there: has_joined } = made;
        let (waits, attached) = (self.take_waits(), Attached::new(memory, directory, place));
        let parts = multi_writer::Parts { claiming, waits, watch, held, attached, has_joined };
        let writer = MultiWriter::new(parts);
        writer.populate();
        Ok(writer)
    }

    /// Opens the segment, and returns a reading end. It takes a seat until it is dropped.
    ///
    /// The first event is the next one that is published, unless [`from_oldest`](Self::from_oldest)
    /// says otherwise. With several writers, it is the next one that is claimed: the reader does not
    /// get an event that was claimed before, even if it is published later. From then on, the reader
    /// misses none.
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
    pub fn open(mut self) -> Result<Reader<T>, OpenError> {
        self.try_to_open()
    }

    fn try_to_open(&mut self) -> Result<Reader<T>, OpenError> {
        if !is_name(&self.name) {
            return Err(OpenError::Name { name: self.name.clone() });
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

    fn open_in(&mut self, locked: &Locked<'_>, place: &Place) -> Result<Reader<T>, Unopened> {
        let not_found = || OpenError::NotFound { path: place.directory() };
        let directory = locked.open()?.ok_or_else(not_found)?;
        let file = open_memory(&directory)?;
        let header = Header::read(&file)?.map_err(OpenError::Differs)?;
        header.check(&Header::of::<T>(header.shape)?).map_err(OpenError::Differs)?;
        if !is_event::<T>() {
            return Err(OpenError::Event.into());
        }
        let memory = map(&file, header.shape)?;
        if memory.shared().is_closed() {
            return Err(OpenError::Closed.into());
        }
        clear_the_dead(&memory, &directory)?;
        let seats = header.shape.seats;
        let index = free_seat(&memory, &directory, Side::Readers)?;
        let index = index.ok_or(OpenError::NoSeat { seats })?;
        Ok(self.read((memory, Arc::new(directory)), place, index)?)
    }

    /// Opens the segment like [`open`](Self::open), once it is there. Waits for it for at most
    /// `timeout`, and also for one in place of a segment that is closed.
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
    /// Those of [`open`](Self::open); [`NotFound`](OpenError::NotFound) or
    /// [`Closed`](OpenError::Closed) if no open segment is there when `timeout` is over.
    ///
    /// # Blocking
    ///
    /// Looks every millisecond.
    pub fn open_timeout(mut self, timeout: Duration) -> Result<Reader<T>, OpenError> {
        let mut opened = self.try_to_open();
        let directory = self.place().directory();
        look_for(timeout, || {
            let may_come = matches!(opened, Err(OpenError::NotFound { .. } | OpenError::Closed));
            if may_come && directory.exists() {
                opened = self.try_to_open();
            }
            opened.is_ok() || !may_come
        });
        opened
    }

    /// Checks what a new segment is asked to be. Returns where it lies.
    fn place_for(&self, capacity: usize, writers: usize) -> Result<Place, CreateError> {
        if !is_name(&self.name) {
            return Err(CreateError::Name { name: self.name.clone() });
        }
        if !is_event::<T>() {
            return Err(CreateError::Event);
        }
        if !(1..=MAX_SEATS).contains(&self.seats) {
            return Err(CreateError::Seats { requested: self.seats });
        }
        let is_possible = capacity.is_power_of_two() && capacity <= MAX_CAPACITY;
        if !is_possible || self.shape(capacity, writers).bytes().is_none() {
            return Err(CreateError::Capacity { requested: capacity });
        }
        Ok(self.place())
    }

    fn shape(&self, capacity: usize, writers: usize) -> Shape {
        Shape { capacity, seats: self.seats, writers, event: size_of::<T>() }
    }

    fn header(&self, capacity: usize, writers: usize) -> io::Result<Header> {
        Header::of::<T>(self.shape(capacity, writers))
    }

    fn place(&self) -> Place {
        Place::new(&self.folder.clone().unwrap_or_else(usual_folder), &self.name)
    }

    /// Takes a seat and makes the reading end.
    fn read(
        &mut self,
        (memory, directory): (Arc<Memory>, Arc<Directory>),
        place: &Place,
        index: usize,
    ) -> io::Result<Reader<T>> {
        // M3: the pipe before the seat. In between, writers learn that there is a pipe to watch.
        let held = Arc::new(Held::hold(&directory, &pipe(Side::Readers, index))?);
        let watch = if memory.shared().has_one_writer() {
            WriterWatch::start(Arc::clone(&memory), Arc::clone(&directory), Arc::clone(&held))?
        } else {
            start_watch(&memory, &directory, &held, End::Reader)?
        };
        let (fences, shared) = (Fences::register(), memory.shared());
        sit(shared, Side::Readers, index);
        let (tenure, sequence) = shared.join(index, self.start, fences.code());
        let reading = Reading::new(tenure, sequence, fences);
        let waits = self.take_waits();
        let attached = Attached::new(memory, directory, place.clone());
        Ok(Reader::new(reader::Parts { reading, waits, watch, held, attached }))
    }

    fn take_waits(&mut self) -> WaiterElsewhere {
        self.waits.take().unwrap_or_else(|| WaiterElsewhere::new(Adaptive::default()))
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

impl Made {
    /// Makes the parts of an end. If that fails, removes a segment that is new.
    fn or_remove<E>(
        self,
        locked: &Locked<'_>,
        end: impl FnOnce(&Self) -> io::Result<E>,
    ) -> Result<(Self, E), Unmade> {
        let end = end(&self);
        if end.is_err() && !self.was_there {
            self.memory.shared().close();
            let _ = locked.remove();
        }
        Ok((self, end?))
    }
}

/// Begins to write alone.
fn write_alone(made: &Made) -> io::Result<(Writing, Watch)> {
    let Made { memory, directory, held, .. } = made;
    let writing = Writing::new(memory.shared(), Fences::register());
    made.sign();
    let (watch, _) = start_watch(memory, directory, held, End::Writer)?;
    Ok((writing, watch))
}

/// Takes a seat beside other writers; `None` if the last one has closed the segment meanwhile.
fn write_beside_others(made: &Made, seat: usize) -> io::Result<Option<(Claiming, Watch)>> {
    let Made { memory, directory, held, .. } = made;
    made.sign();
    // M3: the pipe before the seat. In between, the others learn that there is a pipe to watch.
    let (watch, _) = start_watch(memory, directory, held, End::OneOfWriters(seat))?;
    let (fences, shared) = (Fences::register(), memory.shared());
    sit(shared, Side::Writers, seat);
    Ok(Claiming::join(shared, seat, fences).map(|claiming| (claiming, watch)))
}

fn start_watch(
    memory: &Arc<Memory>,
    directory: &Arc<Directory>,
    held: &Arc<Held>,
    end: End,
) -> io::Result<(Watch, Arc<AtomicBool>)> {
    PeersWatch::start(Arc::clone(memory), Arc::clone(directory), Arc::clone(held), end)
}

/// Stores the process id of the next holder of a seat, for debugging.
fn sit(shared: Shared<'_>, side: Side, index: usize) {
    // P8, Relaxed: for people.
    shared.holder(side, index).pid.store(std::process::id(), Ordering::Relaxed);
}

/// Whether a segment can have such events: its slots begin on a page.
fn is_event<T>() -> bool {
    size_of::<T>() > 0 && align_of::<T>() <= PAGE
}

fn create_error(place: &Place, unmade: Unmade) -> CreateError {
    match unmade {
        Unmade::HasWriter { pid } => CreateError::HasWriter { pid },
        Unmade::Differs(difference) => CreateError::Differs(difference),
        Unmade::NoSeat { writers } => CreateError::NoSeat { writers },
        Unmade::System(Refused::Busy) => CreateError::Busy { folder: place.folder().into() },
        Unmade::System(Refused::Foreign) => CreateError::Folder { path: place.folder().into() },
        Unmade::System(Refused::File(error)) => {
            CreateError::File { path: place.directory(), kind: error.kind() }
        }
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
