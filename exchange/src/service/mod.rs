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
//! - *journal* writes each batch of commands as one frame, *synced* syncs what was written.
//! - *matching* runs beside them. It checks risk, carries out the command and publishes its reports.
//! - *durable* holds a report back until the journal has synced its command. So nothing leaves the
//!   exchange that a crash could undo.
//! - *answers* and *market-data* are the caller's.
//!
//! No thread waits in a circle. A full output ring stops *matching*, and *durable* empties it as the
//! journal goes on, which waits for neither.
//!
//! After a restart, the engine begins with the latest snapshot, and carries out the commands of the
//! journal after it. The rings then begin with the next command.

mod error;
mod events;
mod matching;
mod recovery;
mod settings;
mod snapshotting;
mod stopping;

use std::sync::Arc;
use std::time::Duration;

use lapwing::lifecycle::{Report, Running};
use lapwing::{Action, Disruptor, EventHandler, MultiProducer, Sequence, SingleProducer, Stage};
use lapwing_journal::error::SyncError;
use lapwing_journal::{Journal, Snapshots, SyncPolicy, WaitForSpace};

use self::matching::Matching;
use self::snapshotting::{Snapshotting, Writing};
use crate::engine::Engine;

pub use self::error::ServiceError;
pub use self::events::{Input, Output};
pub use self::recovery::Recovery;
pub use self::settings::Settings;

/// Longest wait for the journal before the stage checks whether its ring has halted.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

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
        let Self { settings, store, engine, .. } = self;
        let journal = store.as_ref().map(|(journal, _)| Arc::clone(journal));
        let (reports, output) = start_output(&settings, journal.clone(), answers, market_data)?;
        let (snapshotting, store) = match store {
            Some((journal, snapshots)) => {
                let every = settings.snapshot_every.max(1);
                let started = Snapshotting::start(every, Arc::clone(&journal), snapshots)?;
                (Some(started.0), Some(Store { journal, writing: started.1 }))
            }
            None => (None, None),
        };
        let matching = Matching::new(engine, reports, snapshotting);
        let (entry, input) = start_input(&settings, journal.as_deref(), matching)?;
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
            return Ok(Opened { settings, store: None, engine, recovery });
        };
        let journal = Journal::open(folder.join("journal"))?;
        let snapshots = Snapshots::open(folder.join("snapshots"))?;
        Self::open_with(settings, journal, snapshots)
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
        let (engine, recovery) = recovery::recover(&journal, &snapshots)?;
        let store = Some((Arc::new(journal), snapshots));
        Ok(Opened { settings, store, engine, recovery })
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
        // The stages and the thread have dropped theirs.
        Arc::into_inner(self.journal).expect("no stage has the journal").close()?;
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
) -> Result<(Entry, Running<'static>), ServiceError> {
    let ring = Disruptor::multi_producer(settings.input_slots, Input::empty).name("input");
    let (entry, consumers) = match journal {
        Some(journal) => ring
            .first_sequence(journal.next_sequence())
            .side_by_side(|side| {
                side.chain(|chain| {
                    chain
                        .stage("journal")
                        .on_error(WaitForSpace::default())
                        .read_batch_handler(journal.writer())
                        .stage("synced")
                        .read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
                })
                .stage("matching")
                .read_handler(matching)
            })
            .build()?,
        None => ring.stage("matching").read_handler(matching).build()?,
    };
    Ok((entry, consumers.start()?))
}

fn start_output(
    settings: &Settings,
    journal: Option<Arc<Journal<Input>>>,
    answers: impl EventHandler<Output> + Send + 'static,
    market_data: impl EventHandler<Output> + Send + 'static,
) -> Result<(SingleProducer<Output>, Running<'static>), ServiceError> {
    let (reports, consumers) = Disruptor::single_producer(settings.output_slots, Output::empty)
        .name("output")
        .stage("durable")
        .read_batch(move |reports, _| wait_until_synced(journal.as_deref(), reports))
        .side_by_side(|side| {
            side.stage(Stage::new("answers").timeout(LONGEST_SILENCE))
                .read_handler(answers)
                .stage(Stage::new("market-data").timeout(LONGEST_SILENCE))
                .read_handler(market_data)
        })
        .build()?;
    Ok((reports, consumers.start()?))
}

/// Holds reports back until the journal has synced the commands that they answer.
fn wait_until_synced(
    journal: Option<&Journal<Input>>,
    reports: &[Output],
) -> Result<Action, SyncError> {
    let (Some(journal), Some(last)) = (journal, reports.last()) else {
        return Ok(Action::Continue);
    };
    let end = last.sequence + 1;
    // Short waits, since a halt of the ring does not end one.
    let synced = journal.wait_synced(end, LONGEST_WAIT)?;
    Ok(if synced >= end { Action::Continue } else { Action::Rewind(Duration::ZERO) })
}
