//! The exchange as two rings.
//!
//! ```text
//!                      input ring                               output ring
//!
//!                   ┌──> journal ──> synced                  ┌──> answers
//! gateway threads ──┤                          ┌──> durable ─┤
//!                   └──> matching ─────────────┘             └──> market-data
//! ```
//!
//! - *journal* writes each batch of commands, *synced* syncs what was written.
//! - *matching* runs in parallel. It checks risk, carries out the command and publishes its reports.
//! - *durable* holds a report back until the journal has synced its command. A crash therefore never
//!   undoes what has left the exchange.
//! - *answers* and *market-data* are the caller's.
//!
//! The threads cannot deadlock. *matching* waits for *durable* when the output ring is full.
//! *durable* waits for the journal, and the journal waits for the disk only.
//!
//! A program can add a stage *ship* downstream of *synced*, which a replica needs, and let *durable*
//! also wait for what another process confirms.
//!
//! After a restart, the engine begins with the latest snapshot, and carries out the commands of the
//! journal after it. The rings then begin with the next command.

mod confirmed;
mod durable;
mod error;
mod events;
mod hooks;
mod matching;
mod recovery;
mod settings;
mod snapshotting;
mod stopping;

use std::sync::Arc;
use std::time::Duration;

use lapwing::lifecycle::{Report, Running};
use lapwing::{Disruptor, EventHandler, MultiProducer, Sequence, SingleProducer, Stage};
use lapwing_journal::{Journal, Latest, Options, Snapshots, SyncPolicy, WaitForSpace};

use self::durable::Durable;
use self::hooks::{AfterSynced, Hooks};
use self::matching::Matching;
use self::snapshotting::{Snapshotting, Writing};
use crate::engine::Engine;
use crate::types::Command;

pub use self::confirmed::{Confirmed, NotConfirmed};
pub use self::error::{NotApplied, ServiceError};
pub use self::events::{Input, Output};
pub use self::hooks::HookError;
pub use self::recovery::Recovery;
pub use self::settings::Settings;

/// After this time without a report, the stages of the caller are called to serve clients that have
/// come or gone.
const LONGEST_SILENCE: Duration = Duration::from_millis(20);

/// The producer of a gateway thread: commands go in here.
pub type Entry = MultiProducer<Input>;

/// A recovered exchange whose threads are not started.
#[derive(Debug)]
pub struct Opened {
    settings: Settings,
    store: Option<(Arc<Journal<Input>>, Snapshots)>,
    engine: Engine,
    recovery: Recovery,
    hooks: Hooks,
}

impl Opened {
    /// Returns what was found.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Returns the sequence of the next command.
    #[must_use]
    pub fn next_sequence(&self) -> Sequence {
        self.store.as_ref().map_or(0, |(journal, _)| journal.next_sequence())
    }

    /// Returns the engine after all commands of the journal.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the command that sets the limit of the memory as the settings say, if it differs.
    pub(crate) fn memory_change(&self) -> Option<Command> {
        let wanted = self.settings.memory.filter(|&limit| limit != self.engine.memory().limit());
        wanted.map(Command::SetMemory)
    }

    /// Starts the threads. `answers` and `market_data` get each report.
    ///
    /// # Errors
    ///
    /// [`ServiceError`] if a ring cannot be started.
    pub fn start(
        self,
        answers: impl EventHandler<Output> + Send + 'static,
        market_data: impl EventHandler<Output> + Send + 'static,
    ) -> Result<(Service, Entry), ServiceError> {
        let Self { settings, store, engine, hooks, .. } = self;
        let journal = store.as_ref().map(|(journal, _)| Arc::clone(journal));
        let Hooks { after_synced, confirmed, watch } = hooks;
        let durable = Durable { journal: journal.clone(), confirmed };
        let (reports, output) = start_output(&settings, durable, answers, market_data)?;
        let (snapshotting, store) = match store {
            Some((journal, snapshots)) => {
                let every = settings.snapshot_every.max(1);
                let started = Snapshotting::start(every, Arc::clone(&journal), snapshots)?;
                (Some(started.0), Some(Store { journal, writing: started.1 }))
            }
            None => (None, None),
        };
        let matching = Matching::new(engine, reports, snapshotting, watch);
        let (entry, input) = start_input(&settings, journal.as_deref(), matching, after_synced)?;
        Ok((Service { input, output, store }, entry))
    }
}

/// A running exchange.
#[derive(Debug)]
pub struct Service {
    input: Running<'static>,
    output: Running<'static>,
    store: Option<Store>,
}

/// What is kept on disk.
#[derive(Debug)]
struct Store {
    journal: Arc<Journal<Input>>,
    writing: Writing,
}

impl Service {
    /// Recovers the exchange from its folder.
    ///
    /// # Errors
    ///
    /// [`ServiceError`] if the folder cannot be used, or holds a damaged journal.
    pub fn open(settings: Settings) -> Result<Opened, ServiceError> {
        let Some(folder) = &settings.folder else {
            let (engine, recovery) = Default::default();
            settings.check_memory(&engine)?;
            return Ok(Opened { settings, store: None, engine, recovery, hooks: Hooks::default() });
        };
        let snapshots = Snapshots::open(folder.join("snapshots"))?;
        let latest = snapshots.latest()?;
        // A snapshot is written once its commands are synced.
        let synced = latest.snapshot.as_ref().map_or(0, |snapshot| snapshot.sequence);
        let journal = Options::new().synced_to(synced).open(folder.join("journal"))?;
        Self::recover(settings, journal, snapshots, latest)
    }

    /// Recovers the exchange from a journal and snapshots, wherever they are.
    ///
    /// # Errors
    ///
    /// [`ServiceError`] if they do not fit each other, or cannot be read.
    pub fn open_with(
        settings: Settings,
        journal: Journal<Input>,
        snapshots: Snapshots,
    ) -> Result<Opened, ServiceError> {
        let latest = snapshots.latest()?;
        Self::recover(settings, journal, snapshots, latest)
    }

    fn recover(
        settings: Settings,
        journal: Journal<Input>,
        snapshots: Snapshots,
        latest: Latest,
    ) -> Result<Opened, ServiceError> {
        let (engine, recovery) = recovery::recover(&journal, latest)?;
        settings.check_memory(&engine)?;
        let store = Some((Arc::new(journal), snapshots));
        Ok(Opened { settings, store, engine, recovery, hooks: Hooks::default() })
    }

    /// Whether a stage or the thread of snapshots has failed. Then [`shutdown`](Self::shutdown) says
    /// why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let has_no_snapshots = self.store.as_ref().is_some_and(|store| store.writing.is_finished());
        has_no_snapshots || [&self.input, &self.output].into_iter().any(stopping::is_halted)
    }

    /// Carries out all commands that are in the ring, delivers all reports, and closes the journal.
    /// Returns the engine.
    ///
    /// After a failure, the commands that the journal does not have are not answered.
    ///
    /// # Errors
    ///
    /// [`ServiceError`] if a stage, the journal or a snapshot has failed.
    ///
    /// # Blocking
    ///
    /// Waits for the stages, and for space on a full disk.
    pub fn shutdown(self) -> Result<Engine, ServiceError> {
        let report = stopping::stop(self.input, self.output)?;
        let engine = take_engine(report);
        if let Some(store) = self.store {
            store.close()?;
        }
        Ok(engine)
    }
}

impl Store {
    /// Closes the journal. All stages have ended.
    fn close(self) -> Result<(), ServiceError> {
        self.writing.join().expect("the thread of snapshots does not panic")?;
        self.journal.close()?;
        Ok(())
    }
}

/// Takes the engine from the stage that has ended.
fn take_engine(mut report: Report) -> Engine {
    let matching: Matching = report.take("matching").expect("the stage has this handler");
    matching.into_engine()
}

fn start_input(
    settings: &Settings,
    journal: Option<&Journal<Input>>,
    matching: Matching,
    after_synced: Option<AfterSynced>,
) -> Result<(Entry, Running<'static>), ServiceError> {
    let first = journal.map_or(0, Journal::next_sequence);
    let ring = Disruptor::multi_producer(settings.input_slots, Input::empty)
        .name("input")
        .first_sequence(first)
        .parallel(|parallel| {
            // An error of the journal is named before that of matching, which follows from it.
            let parallel = parallel.chain(|chain| {
                let chain = match journal {
                    Some(journal) => chain
                        .stage("journal")
                        .may_block()
                        .on_error(WaitForSpace::default())
                        .read_batch_handler(journal.writer())
                        .stage("synced")
                        .may_block()
                        .read_batch_handler(journal.syncer(SyncPolicy::EachBatch)),
                    None => chain,
                };
                match after_synced {
                    Some(handler) => chain.stage("ship").read_batch(handler),
                    None => chain,
                }
            });
            parallel.stage("matching").read_handler(matching)
        });
    let (entry, consumers) = ring.build()?;
    Ok((entry, consumers.start()?))
}

fn start_output(
    settings: &Settings,
    durable: Durable,
    answers: impl EventHandler<Output> + Send + 'static,
    market_data: impl EventHandler<Output> + Send + 'static,
) -> Result<(SingleProducer<Output>, Running<'static>), ServiceError> {
    let (reports, consumers) = Disruptor::single_producer(settings.output_slots, Output::empty)
        .name("output")
        .stage("durable")
        .may_block()
        .read_batch(move |reports, _| durable.hold(reports))
        .parallel(|parallel| {
            parallel
                .stage(Stage::new("answers").timeout_after(LONGEST_SILENCE))
                .read_handler(answers)
                .stage(Stage::new("market-data").timeout_after(LONGEST_SILENCE))
                .read_handler(market_data)
        })
        .build()?;
    Ok((reports, consumers.start()?))
}
