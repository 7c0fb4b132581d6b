//! A journal does the steps beside the model.

use lapwing_journal::error::{FileError, WriteError};
use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
use lapwing_journal::{Journal, Options, Writer};

use super::events::Kind;
use super::model::Model;
use super::steps::{Fault, Step, Then};

type JournalOf<K> = Journal<<K as Kind>::Event, <K as Kind>::Encoding>;
type WriterOf<K> = Writer<<K as Kind>::Event, <K as Kind>::Encoding>;

/// Does the steps, and checks the journal after each opening.
pub(crate) fn play<K: Kind>(segment_bytes: u64, ahead: bool, steps: &[Step]) {
    let mut player = Player::<K>::new(segment_bytes, ahead);
    for step in steps {
        player.step(*step);
    }
    // What is synced must survive without anything else.
    player.crash(Crash::Power { seed: 0, loss: Loss::All }, None);
}

pub(crate) struct Player<K: Kind> {
    pub(crate) disk: SimulatedDisk,
    options: Options,
    /// Whether a thread prepares segments. It could get a fault that is meant for the writer.
    is_ahead: bool,
    /// `None` only between two openings.
    journal: Option<JournalOf<K>>,
    writer: Option<WriterOf<K>>,
    pub(crate) model: Model<K>,
    /// The oldest event that was kept.
    oldest: u64,
    /// Whether a write has failed or was cut, which may leave bytes after the end.
    may_have_rest: bool,
}

impl<K: Kind> Player<K> {
    pub(crate) fn new(segment_bytes: u64, ahead: bool) -> Self {
        let options = Options::new().segment_bytes(segment_bytes).prepare_ahead(ahead);
        let (disk, model) = (SimulatedDisk::new(), Model::new());
        let mut player = Self {
            disk,
            options,
            is_ahead: ahead,
            journal: None,
            writer: None,
            model,
            oldest: 0,
            may_have_rest: false,
        };
        player.open(0);
        player
    }

    pub(crate) fn step(&mut self, step: Step) {
        match step {
            Step::Append { count, filler, gap } => assert!(self.append(count, filler, gap)),
            Step::FailWrite { .. }
            | Step::FailSync
            | Step::FailFolderSync { .. }
            | Step::Cut { .. }
                if self.is_ahead => {}
            Step::FailWrite { count, filler, kept } => {
                self.disk.fail_write(kept);
                assert!(!self.append(count, filler, 0));
            }
            Step::Full { count, filler } => {
                self.disk.set_space(Some(0));
                self.append(count, filler, 0);
                self.disk.set_space(None);
            }
            Step::Sync => self.sync(),
            Step::FailSync => self.fail_sync(),
            Step::FailFolderSync { count, filler, percent } => {
                self.fail_folder_sync(count, filler, percent);
            }
            Step::Remove { percent } => _ = self.remove(percent).expect("no fault"),
            Step::Close => self.close(),
            Step::Crash { crash, fault } => self.crash(crash, fault),
            Step::Cut { calls, crash, count, filler, then } => {
                self.disk.crash_after(calls, crash);
                let _ = self.try_append(count, filler, 0);
                self.do_until_crash(then);
                self.crash(crash, None);
            }
            Step::NewWriter => {
                self.writer = Some(self.journal().writer());
                self.model.give_up();
            }
        }
    }

    fn journal(&self) -> &JournalOf<K> {
        self.journal.as_ref().expect("open")
    }

    /// Writes a batch. Returns whether that succeeded.
    fn append(&mut self, count: usize, filler: usize, gap: u64) -> bool {
        let written = self.try_append(count, filler, gap);
        if let Err(error) = &written {
            assert!(matches!(error, WriteError::File(_)), "{error}");
        }
        written.is_ok()
    }

    fn try_append(&mut self, count: usize, filler: usize, gap: u64) -> Result<(), WriteError> {
        let (first, events) = self.model.batch(count, filler, gap);
        let written = self.writer.as_mut().expect("open").write(&events, first);
        let next = self.journal().next_sequence();
        self.may_have_rest |= written.is_err();
        self.model.wrote(first, written.is_ok(), next);
        written
    }

    fn sync(&mut self) {
        let end = self.journal().sync().expect("no fault");
        assert_eq!(end, self.model.written);
        self.model.synced = end;
    }

    /// A sync fails: one that was asked for, or that of the writer before it writes over a batch
    /// that was given up.
    fn fail_sync(&mut self) {
        let synced = self.journal().synced();
        self.disk.fail_syncs(1);
        let has_stopped = if self.model.must_erase() {
            matches!(self.try_append(1, 0, 0), Err(WriteError::SyncFailed(_)))
        } else {
            synced < self.model.written && self.journal().sync().is_err()
        };
        self.disk.fail_syncs(0);
        if has_stopped {
            self.stop(synced);
        }
    }

    /// The sync of a new segment's name fails, or that of a removal. The latter is only reported.
    fn fail_folder_sync(&mut self, count: usize, filler: usize, percent: u64) {
        assert!(self.append(count, filler, 0));
        let synced = self.journal().synced();
        self.disk.fail_folder_syncs(1);
        let has_stopped = self.journal().sync().is_err();
        if has_stopped {
            self.stop(synced);
        } else {
            let _ = self.remove(percent);
        }
        self.disk.fail_folder_syncs(0);
    }

    /// A sync has failed, and the program ends.
    fn stop(&mut self, synced: u64) {
        assert_eq!(self.journal().synced(), synced);
        self.check_stopped();
        self.crash(Crash::Process, None);
    }

    /// Does more, which a crash may cut, and notes what it has confirmed.
    fn do_until_crash(&mut self, then: Then) {
        match then {
            Then::Sync => _ = self.journal().sync(),
            Then::Remove { percent } => _ = self.remove(percent),
            Then::Close => {
                self.model.synced = self.model.synced.max(self.journal().synced());
                self.writer = None;
                if self.journal.take().expect("open").close().is_ok() {
                    self.model.synced = self.model.written;
                }
            }
        }
    }

    /// After a failed sync nothing is written, and no sync succeeds.
    fn check_stopped(&mut self) {
        assert!(self.journal().sync().is_err(), "a failed sync is never repeated");
        let event = K::event(0, 0, 0);
        let written = self.journal().writer().write(&[event], self.model.written);
        assert!(matches!(written, Err(WriteError::SyncFailed(_))), "{written:?}");
    }

    fn remove(&mut self, percent: u64) -> Result<usize, FileError> {
        // The writer syncs too, before it writes over a batch that was given up.
        self.model.synced = self.journal().synced();
        self.journal().remove_before(self.model.written * percent / 100)
    }

    fn close(&mut self) {
        self.writer = None;
        self.journal.take().expect("open").close().expect("no fault");
        let (written, may_have_rest) = (self.model.written, self.may_have_rest);
        self.open(written);
        assert_eq!(self.model.written, written, "what was not written does not come back");
        let cut = self.journal().recovered().cut_bytes;
        assert!(cut == 0 || may_have_rest, "nothing is cut after a close");
        assert_eq!(self.journal().recovered().resynced_events, 0, "all is known to be synced");
    }

    pub(crate) fn crash(&mut self, crash: Crash, fault: Option<Fault>) {
        let at_least = if crash == Crash::Process { self.model.written } else { 0 };
        self.end(crash);
        if let Some(fault) = fault {
            self.fail_to_open(fault);
        }
        self.open(if fault.is_none() { at_least } else { 0 });
    }

    /// Ends the program. What it still does has no effect. What it has reported as synced must
    /// survive.
    fn end(&mut self, crash: Crash) {
        let reported = self.journal.as_ref().map_or(0, Journal::synced);
        self.model.synced = self.model.synced.max(reported);
        self.disk.crash(crash);
        (self.writer, self.journal) = (None, None);
    }

    /// Recovery meets a fault, and then the program is ended: by the crash that was the fault, or by
    /// a power cut.
    fn fail_to_open(&mut self, fault: Fault) {
        match fault {
            // The thread would make some of the calls, perhaps while the test reads.
            Fault::Crash { .. } if self.is_ahead => {}
            Fault::Write { kept } => self.disk.fail_write(kept),
            Fault::Sync => self.disk.fail_syncs(1),
            Fault::FolderSync => self.disk.fail_folder_syncs(1),
            Fault::Crash { calls, crash } => self.disk.crash_after(calls, crash),
        }
        let opened = self.options.clone().open_simulated::<K::Event, K::Encoding>(&self.disk);
        if let Ok(journal) = opened {
            // It met no fault. Then what it found is safe.
            self.check(&journal, 0);
            self.journal = Some(journal);
        }
        self.end(match fault {
            Fault::Crash { crash, .. } => crash,
            _ => Crash::Power { seed: 1, loss: Loss::Sectors },
        });
    }

    /// Opens the journal and checks everything. It must have the events below `at_least`.
    fn open(&mut self, at_least: u64) {
        let opened = self.options.clone().open_simulated::<K::Event, K::Encoding>(&self.disk);
        let journal = opened.unwrap_or_else(|error| panic!("{error}"));
        self.check(&journal, at_least);
        self.may_have_rest = journal.recovered().cut.is_some();
        self.writer = Some(journal.writer());
        self.journal = Some(journal);
    }

    /// Compares the journal with the model. It must have the events below `at_least`.
    fn check(&mut self, journal: &JournalOf<K>, at_least: u64) {
        let (end, oldest) = (journal.next_sequence(), journal.recovered().oldest);
        assert!(end >= at_least, "end={end}, written={at_least}");
        assert_eq!(journal.synced(), end, "an open journal is synced");
        assert!(oldest >= self.oldest && oldest <= self.model.synced);
        self.oldest = oldest;
        let mut found = Vec::new();
        let reader = journal.read(oldest).expect("it has its oldest event");
        reader
            .for_each(K::Event::default(), |sequence, event| found.push((sequence, event.clone())))
            .expect("all frames are readable");
        self.model.opened(oldest, end, &found);
    }
}
