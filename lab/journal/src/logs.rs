//! The logs: each appends a batch of events and can sync it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use lapwing_journal::{Journal, Options, Plain, Writer};

use crate::failure::Failure;

pub(crate) const EVENT_BYTES: usize = 64;
pub(crate) type Event = [u64; EVENT_BYTES / 8];

const SEGMENT_BYTES: u64 = 64 << 20;

/// A log that is measured.
pub(crate) trait Log {
    /// Appends a batch. All its events are in the system's memory when the call returns, and on
    /// disk if `is_synced`.
    fn append(&mut self, events: &[Event], is_synced: bool) -> Result<(), Failure>;

    /// Closes the log and returns how many events it has, after it has checked each.
    fn count(self: Box<Self>) -> Result<u64, Failure>;
}

/// Makes an empty log in a folder.
pub(crate) type Open = fn(&Path) -> Result<Box<dyn Log>, Failure>;

/// All logs, the bare calls first.
pub(crate) const LOGS: [(&str, Open); 6] = [
    ("bare", Bare::open),
    ("bare + checksum", BareChecked::open),
    ("lapwing-journal", Ours::open),
    ("okaywal", OkayWal::open),
    ("open-wal", OpenWal::open),
    ("wal-db", WalDb::open),
];

/// Fails if `bytes` are not the events from `*next` on, and counts them.
fn check(bytes: &[u8], next: &mut u64) -> Result<(), Failure> {
    for event in bytes.chunks(EVENT_BYTES) {
        let number = u64::from_le_bytes(event[..8].try_into()?);
        if number != *next || event.len() != EVENT_BYTES {
            return Err(format!("found {number} in place of {next}").into());
        }
        *next += 1;
    }
    Ok(())
}

/// A loop of pwrite and fdatasync on files that are prepared and filled with zeros.
struct Bare {
    folder: std::path::PathBuf,
    file: File,
    files: u64,
    offset: u64,
    events: u64,
}

impl Bare {
    fn open(folder: &Path) -> Result<Box<dyn Log>, Failure> {
        Ok(Box::new(Self::new(folder)?))
    }

    fn new(folder: &Path) -> Result<Self, Failure> {
        let file = prepared(folder, 0)?;
        Ok(Self { folder: folder.to_owned(), file, files: 1, offset: 0, events: 0 })
    }
}

/// A file that is filled with zeros and synced.
pub(crate) fn prepared(folder: &Path, number: u64) -> io::Result<File> {
    let path = folder.join(format!("{number:03}.bare"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    let zeros = vec![0; 1 << 20];
    for offset in (0..SEGMENT_BYTES).step_by(zeros.len()) {
        file.write_all_at(&zeros, offset)?;
    }
    file.sync_all()?;
    Ok(file)
}

impl Log for Bare {
    fn append(&mut self, events: &[Event], is_synced: bool) -> Result<(), Failure> {
        let bytes: &[u8] = bytemuck::cast_slice(events);
        if self.offset + bytes.len() as u64 > SEGMENT_BYTES {
            self.file = prepared(&self.folder, self.files)?;
            (self.files, self.offset) = (self.files + 1, 0);
        }
        self.file.write_all_at(bytes, self.offset)?;
        if is_synced {
            self.file.sync_data()?;
        }
        self.offset += bytes.len() as u64;
        self.events += events.len() as u64;
        Ok(())
    }

    fn count(self: Box<Self>) -> Result<u64, Failure> {
        // The last file suffices: the others are of the same loop.
        let mut bytes = vec![0; self.offset as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        let mut next = self.events - (bytes.len() / EVENT_BYTES) as u64;
        check(&bytes, &mut next)?;
        Ok(next)
    }
}

/// The same with a checksum over each batch, which is not stored.
struct BareChecked(Bare, u32);

impl BareChecked {
    fn open(folder: &Path) -> Result<Box<dyn Log>, Failure> {
        Ok(Box::new(Self(Bare::new(folder)?, 0)))
    }
}

impl Log for BareChecked {
    fn append(&mut self, events: &[Event], is_synced: bool) -> Result<(), Failure> {
        self.1 = crc32c::crc32c_append(self.1, bytemuck::cast_slice(events));
        self.0.append(events, is_synced)
    }

    fn count(self: Box<Self>) -> Result<u64, Failure> {
        std::hint::black_box(self.1);
        Box::new(self.0).count()
    }
}

struct Ours {
    journal: Journal<Event>,
    writer: Writer<Event, Plain>,
    next: u64,
}

impl Ours {
    fn open(folder: &Path) -> Result<Box<dyn Log>, Failure> {
        let journal = Options::new().segment_bytes(SEGMENT_BYTES).open::<Event>(folder)?;
        let writer = journal.writer();
        // The thread prepares the next segment, as `prepared` does for the bare loop.
        std::thread::sleep(std::time::Duration::from_millis(400));
        Ok(Box::new(Self { journal, writer, next: 0 }))
    }
}

impl Log for Ours {
    fn append(&mut self, events: &[Event], is_synced: bool) -> Result<(), Failure> {
        self.writer.write(events, self.next)?;
        self.next += events.len() as u64;
        if is_synced {
            self.journal.sync()?;
        }
        Ok(())
    }

    fn count(self: Box<Self>) -> Result<u64, Failure> {
        let (mut next, mut wrong) = (0, None::<Failure>);
        self.journal.read(0)?.for_each([0; 8], |_, event| {
            let found = check(bytemuck::bytes_of(event), &mut next);
            wrong = wrong.take().or(found.err());
        })?;
        wrong.map_or(Ok(next), Err)
    }
}

/// It has no way to append without a sync.
struct OkayWal(okaywal::WriteAheadLog, u64);

#[derive(Debug)]
struct Keep;

impl okaywal::LogManager for Keep {
    fn recover(&mut self, _: &mut okaywal::Entry<'_>) -> io::Result<()> {
        Ok(())
    }

    fn checkpoint_to(
        &mut self,
        _: okaywal::EntryId,
        _: &mut okaywal::SegmentReader,
        _: &okaywal::WriteAheadLog,
    ) -> io::Result<()> {
        Ok(())
    }
}

impl OkayWal {
    fn open(folder: &Path) -> Result<Box<dyn Log>, Failure> {
        let log = okaywal::Configuration::default_for(folder)
            .preallocate_bytes(SEGMENT_BYTES as u32)
            .checkpoint_after_bytes(SEGMENT_BYTES)
            .open(Keep)?;
        Ok(Box::new(Self(log, 0)))
    }
}

impl Log for OkayWal {
    fn append(&mut self, events: &[Event], is_synced: bool) -> Result<(), Failure> {
        if !is_synced {
            return Err("okaywal always syncs".into());
        }
        let mut entry = self.0.begin_entry()?;
        entry.write_chunk(bytemuck::cast_slice(events))?;
        entry.commit()?;
        self.1 += events.len() as u64;
        Ok(())
    }

    fn count(self: Box<Self>) -> Result<u64, Failure> {
        // It reuses files after a checkpoint, so only a part could be read.
        self.0.shutdown()?;
        Ok(self.1)
    }
}

/// Its `append` only copies to memory, and its `commit` always syncs.
struct OpenWal(open_wal::Wal);

impl OpenWal {
    fn open(folder: &Path) -> Result<Box<dyn Log>, Failure> {
        let config = open_wal::WalConfig { segment_size: SEGMENT_BYTES, max_record_size: 1 << 20 };
        Ok(Box::new(Self(open_wal::Wal::open(folder, config)?.0)))
    }
}

impl Log for OpenWal {
    fn append(&mut self, events: &[Event], is_synced: bool) -> Result<(), Failure> {
        if !is_synced {
            return Err("open-wal always syncs".into());
        }
        self.0.append(bytemuck::cast_slice(events))?;
        self.0.commit()?;
        Ok(())
    }

    fn count(self: Box<Self>) -> Result<u64, Failure> {
        let mut next = 0;
        let mut reader = self.0.reader_from(open_wal::Lsn(0))?;
        while let Some(record) = reader.next() {
            check(record?.1, &mut next)?;
        }
        Ok(next)
    }
}

struct WalDb(wal_db::Wal<wal_db::SegmentedStore>);

impl WalDb {
    fn open(folder: &Path) -> Result<Box<dyn Log>, Failure> {
        Ok(Box::new(Self(wal_db::Wal::open_segmented(folder, SEGMENT_BYTES)?)))
    }
}

impl Log for WalDb {
    fn append(&mut self, events: &[Event], is_synced: bool) -> Result<(), Failure> {
        let _position = self.0.append(bytemuck::cast_slice(events))?;
        if is_synced {
            self.0.sync()?;
        }
        Ok(())
    }

    fn count(self: Box<Self>) -> Result<u64, Failure> {
        let mut next = 0;
        for record in self.0.iter()? {
            check(record?.data(), &mut next)?;
        }
        Ok(next)
    }
}
