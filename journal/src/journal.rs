//! How programs open a journal, and the open journal as they hold it.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lapwing::Sequence;

use crate::core::Core;
use crate::encoding::{Encoding, Plain};
use crate::error::{FileError, OpenError, ReadError, SyncError, WriteError};
use crate::options::Options;
use crate::reader::Reader;
use crate::recovery::Recovered;
use crate::replay::Replay;
use crate::retention;
use crate::storage::Storage;
use crate::storage::disk::Disk;
use crate::syncer::{SyncPolicy, Syncer};
use crate::writer::Writer;

/// An open journal of events `E`, encoded by `T`.
///
/// The folder is locked until [`close`](Self::close), or until the journal and its [`Writer`] and
/// [`Syncer`] are dropped. The last drop closes the journal and ignores errors.
#[derive(Debug)]
pub struct Journal<E, T = Plain> {
    core: Arc<Core>,
    events: PhantomData<fn(T) -> E>,
}

impl<E> Journal<E>
where
    Plain: Encoding<E>,
{
    /// Opens a journal of plain events with the default [`Options`], or creates it. What was never
    /// synced and is not complete is cut.
    ///
    /// ```
    /// use lapwing_journal::{Journal, error::OpenError};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let journal = Journal::<u64>::open(folder.path())?;
    /// let second = Journal::<u64>::open(folder.path());
    /// assert!(matches!(second, Err(OpenError::Locked { file }) if file.ends_with("lock")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`OpenError::Locked`] if the journal is open for writing elsewhere.
    /// - [`OpenError::Damaged`] if synced events are unreadable or missing. Nothing was changed.
    /// - [`OpenError::OtherShape`] and [`OpenError::Version`] if another program, or a later version
    ///   of this crate, wrote the journal.
    /// - [`OpenError::File`] if the system refused a call.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Options::new().open(folder)
    }
}

impl Options {
    /// Opens a journal of plain events, or creates it.
    ///
    /// # Errors
    ///
    /// Those of [`Journal::open`], and [`SegmentBytes`](OpenError::SegmentBytes).
    pub fn open<E>(self, folder: impl AsRef<Path>) -> Result<Journal<E>, OpenError>
    where
        Plain: Encoding<E>,
    {
        self.open_with::<E, Plain>(folder)
    }

    /// Opens a journal of events with an encoding of their own, or creates it. [`Encoding`] has an
    /// example.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_with<E, T: Encoding<E>>(
        self,
        folder: impl AsRef<Path>,
    ) -> Result<Journal<E, T>, OpenError> {
        self.check::<E, T>()?;
        let disk = Disk::create(folder.as_ref())?;
        Journal::on_storage(Arc::new(disk), &self)
    }

    /// Opens a journal on a simulated disk.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_simulated<E, T: Encoding<E>>(
        self,
        disk: &crate::faults::SimulatedDisk,
    ) -> Result<Journal<E, T>, OpenError> {
        self.check::<E, T>()?;
        Journal::on_storage(disk.storage(), &self)
    }
}

impl<E, T: Encoding<E>> Journal<E, T> {
    pub(crate) fn on_storage(
        storage: Arc<dyn Storage>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let core = Arc::new(Core::open(storage, options.shape::<E, T>(), options)?);
        Ok(Self { core, events: PhantomData })
    }

    /// Returns what was found when the journal was opened.
    #[must_use]
    pub fn recovered(&self) -> &Recovered {
        self.core.recovered()
    }

    /// Returns the sequence after the last event that is written.
    ///
    /// Before the graph starts, this is where the ring begins. If a [`Replay`] publishes into the
    /// ring, the ring begins where the replay does.
    #[must_use]
    pub fn next_sequence(&self) -> Sequence {
        self.core.syncing().written()
    }

    /// Returns the sequence after the last event that is synced.
    #[must_use]
    pub fn synced(&self) -> Sequence {
        self.core.syncing().durable()
    }

    /// Waits until the events below `end` are synced, for at most `timeout`. Returns the value of
    /// [`synced`](Self::synced). If it is below `end`, the wait timed out.
    ///
    /// Use it where no stage downstream of the [`Syncer`] can do the work, for example in a stage of
    /// another ring.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let journal = lapwing_journal::Journal::<u64>::open(folder.path())?;
    /// journal.writer().write(&[7, 8], 0)?;
    /// assert_eq!(journal.wait_synced(2, Duration::from_millis(1))?, 0);
    /// journal.sync()?;
    /// assert_eq!(journal.wait_synced(2, Duration::MAX)?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SyncError`] if a sync has failed.
    ///
    /// # Blocking
    ///
    /// Waits for the thread that syncs.
    pub fn wait_synced(&self, end: Sequence, timeout: Duration) -> Result<Sequence, SyncError> {
        self.core.syncing().wait(end, timeout)
    }

    /// Returns the writer, for one stage. It writes each batch as one frame, or as several if it is
    /// large.
    #[must_use]
    pub fn writer(&self) -> Writer<E, T> {
        Writer::new(Arc::clone(&self.core))
    }

    /// Returns the syncer, for one stage downstream of the writer.
    ///
    /// ```
    /// use lapwing::Action;
    /// use lapwing_journal::{Journal, SyncPolicy};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let journal = Journal::<u64>::open(folder.path())?;
    /// let mut syncer = journal.syncer(SyncPolicy::EachBatch);
    /// journal.writer().write(&[7, 8], 0)?;
    /// assert_eq!(syncer.sync(2)?, Action::Continue);
    /// assert_eq!(journal.synced(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Without a syncer, full segments are synced in the background, and the last one by
    /// [`close`](Self::close).
    #[must_use]
    pub fn syncer(&self, policy: SyncPolicy) -> Syncer {
        Syncer::new(Arc::clone(&self.core), policy)
    }

    /// Syncs all that is written when the call begins, and returns the end of it. For programs
    /// without a syncer.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let journal = lapwing_journal::Journal::<u64>::open(folder.path())?;
    /// journal.writer().write(&[7, 8], 0)?;
    /// assert_eq!(journal.synced(), 0);
    /// assert_eq!(journal.sync()?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SyncError`] if this sync has failed, or one before it.
    ///
    /// # Blocking
    ///
    /// Waits for the disk.
    pub fn sync(&self) -> Result<Sequence, SyncError> {
        self.core.syncing().sync()
    }

    /// Returns a reader of the recorded events from `from` on, up to what is written now.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let journal = lapwing_journal::Journal::<u64>::open(folder.path())?;
    /// journal.writer().write(&[7, 8], 0)?;
    /// let mut events = Vec::new();
    /// journal.read(1)?.for_each(0, |sequence, event| events.push((sequence, *event)))?;
    /// assert_eq!(events, [(1, 8)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReadError::NotRecorded`] if `from` is older than what is kept, or after the end.
    pub fn read(&self, from: Sequence) -> Result<Reader<E, T>, ReadError> {
        Reader::new(Arc::clone(self.core.storage()), from, self.next_sequence())
    }

    /// Returns a replay of the recorded events from `from` on, up to what is written now.
    ///
    /// # Errors
    ///
    /// [`ReadError::NotRecorded`] if `from` is older than what is kept, or after the end.
    pub fn replay(&self, from: Sequence) -> Result<Replay<E, T>, ReadError> {
        Ok(Replay::new(Arc::clone(&self.core), self.read(from)?))
    }

    /// Removes the segments whose events are all below `sequence` and synced. Returns their number.
    /// The segment that is written is never removed.
    ///
    /// Call it with the sequence of the oldest [snapshot](crate::Snapshots) that is kept.
    ///
    /// ```
    /// use lapwing_journal::Options;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let journal = Options::new().segment_bytes(4096).open::<u64>(folder.path())?;
    /// let mut writer = journal.writer();
    /// for event in 0..1000 {
    ///     writer.write(&[event], event)?;
    /// }
    /// journal.sync()?;
    /// assert_eq!(journal.remove_before(500)?, 8);
    /// assert!(journal.read(0).is_err() && journal.read(500).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A stage may call it while the ring runs: share the journal in an `Arc`. The writer and the
    /// syncer do not wait for the call, and [`close`](Self::close) does. A second thread that removes
    /// or archives waits for the first one.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use lapwing::Disruptor;
    /// use lapwing_journal::{Options, SyncPolicy};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let journal = Arc::new(Options::new().segment_bytes(4096).open::<u64>(folder.path())?);
    /// let keeper = Arc::clone(&journal);
    /// let (mut producer, consumers) = Disruptor::single_producer(64, || 0_u64)
    ///     .stage("journal").may_block().read_batch_handler(journal.writer())
    ///     .stage("synced").may_block().read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
    ///     .stage("state").read(move |_, sequence, _| {
    ///         if sequence % 1000 == 999 {
    ///             keeper.remove_before(sequence - 500)?; // a snapshot has the older ones
    ///         }
    ///         Ok::<(), lapwing_journal::error::FileError>(())
    ///     })
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for event in 0..5_000 {
    ///     producer.publish(|slot| *slot = event)?;
    /// }
    /// running.shutdown()?;
    /// journal.close()?;
    /// assert!(journal.read(0).is_err() && journal.read(4_499).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call. Some segments may be removed, the oldest first.
    /// With the kind [`NotConnected`](std::io::ErrorKind::NotConnected) if the journal is closed.
    pub fn remove_before(&self, sequence: Sequence) -> Result<usize, FileError> {
        self.core.with_folder(|storage| retention::remove(storage, sequence.min(self.synced())))
    }

    /// Moves the segments whose events are all below `sequence` and synced to `archive`. Returns
    /// their number.
    ///
    /// The folder `archive` must exist, on the same file system, and take hard links. It takes the
    /// segments of one journal, and no file in it is ever written over. A segment is durable there
    /// before it is removed here, so after a crash it may be in both folders. The next call goes on
    /// from there.
    ///
    /// ```
    /// use lapwing_journal::{Options, inspect::inspect};
    ///
    /// let (folder, archive) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// let journal = Options::new().segment_bytes(4096).open::<u64>(folder.path())?;
    /// let mut writer = journal.writer();
    /// for event in 0..100 {
    ///     writer.write(&[event], event)?;
    /// }
    /// journal.sync()?;
    /// assert_eq!(journal.archive_before(100, archive.path())?, 1);
    /// assert_eq!(inspect(archive.path(), |_| {})?.end, 61);
    /// assert!(journal.read(60).is_err() && journal.read(61).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FileError`] if the system refused a call, or with the kind
    /// [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if the archive has another file of the
    /// same name, or segments of another journal. Some segments may be moved, the oldest first. With
    /// the kind [`NotConnected`](std::io::ErrorKind::NotConnected) if the journal is closed.
    pub fn archive_before(
        &self,
        sequence: Sequence,
        archive: impl AsRef<Path>,
    ) -> Result<usize, FileError> {
        let archive = archive.as_ref();
        self.core.with_folder(|storage| {
            retention::archive(storage, sequence.min(self.synced()), archive)
        })
    }

    /// Syncs all that is written, marks the end as synced, takes no more events, and unlocks the
    /// folder.
    ///
    /// Call it when the graph has ended. With the mark, damage to the last frames is noticed. The
    /// journal need not be owned, so a program that shares it in an `Arc` closes it while stages still
    /// have theirs. A writer then gets [`WriteError::Closed`]. What was written can still be read.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let journal = lapwing_journal::Journal::<u64>::open(folder.path())?;
    /// journal.writer().write(&[7], 0)?;
    /// journal.close()?;
    /// assert!(lapwing_journal::inspect::inspect(folder.path(), |_| {})?.is_closed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`WriteError::SyncFailed`] if a sync has failed, [`WriteError::File`] if the mark was not
    /// written. What [`synced`](Self::synced) returns is safe in any case. [`WriteError::Closed`] if
    /// an earlier call has closed the journal, also if that call returned an error.
    pub fn close(&self) -> Result<(), WriteError> {
        self.core.close()
    }
}
