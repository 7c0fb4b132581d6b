//! The description of a group: how it is built, run and ended.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::book::Book;
use crate::common::Kind;
use crate::feed::{Feed, Trade};
use crate::handlers::{Call, Calls, Check, Does, Notices, Said, Turn, Worker};
use lapwing::consumer::{Outcome, StageReport};
use lapwing::lifecycle::WorkerGroup;
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Builder, Consumers, Report, Running, Sequence, Stage};

/// How the workers of a group share the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Each event goes to any worker.
    Any,
    /// Events with the same key go to the same worker.
    ByKey,
}

impl Sharing {
    pub(crate) const BOTH: [Self; 2] = [Self::Any, Self::ByKey];
}

/// A wait strategy of a ring, for its stages and its producers alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Adaptive,
    Blocking,
    ParksAtOnce,
    BusySpin,
    Sleeping,
    Yielding,
}

impl Wait {
    pub(crate) const ALL: [Self; 6] = [
        Self::Adaptive,
        Self::Blocking,
        Self::ParksAtOnce,
        Self::BusySpin,
        Self::Sleeping,
        Self::Yielding,
    ];

    fn of<K: Kind>(self, ring: RingOf<K>) -> RingOf<K> {
        fn both<K: Kind>(ring: RingOf<K>, strategy: impl WaitStrategy) -> RingOf<K> {
            ring.wait_strategy(strategy.clone()).producer_wait_strategy(strategy)
        }
        match self {
            Self::Adaptive => both::<K>(ring, Adaptive::default()),
            Self::Blocking => both::<K>(ring, Blocking::default()),
            Self::ParksAtOnce => both::<K>(ring, Blocking { yields: 0 }),
            Self::BusySpin => both::<K>(ring, BusySpin),
            Self::Sleeping => both::<K>(ring, Sleeping::default()),
            Self::Yielding => both::<K>(ring, Yielding::default()),
        }
    }

    /// Returns fewer events than `events` if the threads of the ring never leave their CPU.
    pub(crate) fn few_if_it_spins(self, events: u64) -> u64 {
        if self == Self::BusySpin { events.div_ceil(10) } else { events }
    }
}

/// What is upstream of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    Stage,
    Group,
}

pub(crate) type RingOf<K> = Builder<'static, Trade, <K as Kind>::Sequencer>;

type Key = Arc<dyn Fn(&Trade) -> u64 + Send + Sync>;
/// A ring with the group "work".
pub(crate) struct Group {
    pub sharing: Sharing,
    /// The key of an event, if the workers share by key. By default that is its field.
    pub key: Key,
    pub capacity: usize,
    pub first_sequence: Sequence,
    pub dynamic_stages: usize,
    pub wait: Wait,
    /// The settings of the stage "work".
    pub stage: Stage,
    pub workers: usize,
    pub up_to: Option<usize>,
    pub before: Before,
    /// A stage downstream of the group that checks what the workers wrote. Without it, the group
    /// is the gate of the producers.
    pub check: Option<Stage>,
    /// The number of workers of another group downstream, which checks the same.
    pub checkers: usize,
    /// How many events the book has lines for.
    pub events: u64,
    /// What a worker says to an event. By default the handler returns `()`.
    pub does: Option<Does>,
    /// Gets the other calls of the handler of each worker.
    pub notices: Option<Notices>,
}

/// What each worker of a group does with an event.
pub(crate) fn does(says: impl Fn(&Turn) -> Said + Send + Sync + 'static) -> Option<Does> {
    Some(Arc::new(says))
}

/// What each worker of a group does in its other calls, of which it gets its number and the call.
pub(crate) fn notices(call: impl Fn(usize, &Call) + Send + Sync + 'static) -> Option<Notices> {
    Some(Arc::new(call))
}

impl Group {
    pub(crate) fn of(workers: usize, sharing: Sharing) -> Self {
        Self {
            sharing,
            key: Arc::new(|trade| trade.key),
            capacity: 8,
            first_sequence: 0,
            dynamic_stages: 0,
            wait: Wait::Adaptive,
            stage: Stage::new("work"),
            workers,
            up_to: None,
            before: Before::Nothing,
            check: None,
            checkers: 0,
            events: 64,
            does: None,
            notices: None,
        }
    }

    pub(crate) fn build<K: Kind>(self) -> Ready<K> {
        let book = Arc::new(Book::new(self.sharing, self.first_sequence, self.events));
        let ring = K::ring(self.capacity, Trade::default).first_sequence(self.first_sequence);
        let ring = self.wait.of::<K>(ring.dynamic_stages(self.dynamic_stages));
        let ring = match self.before {
            Before::Nothing => ring,
            Before::Stage => ring.stage("before").read(nothing),
            Before::Group => ring.stage("before").workers(2).read(|_| nothing),
        };
        let key = self.key;
        let mut group = ring.stage(self.stage).workers(self.workers);
        if let Some(max) = self.up_to {
            group = group.up_to(max);
        }
        if self.sharing == Sharing::ByKey {
            group = group.by_key(move |trade| key(trade));
        }
        let has_answers = self.does.is_some();
        let worker = |index| Worker {
            index,
            book: Arc::clone(&book),
            does: self.does.clone(),
            notices: self.notices.clone(),
            calls: Calls::default(),
            batch: Vec::new(),
        };
        let ring = if has_answers {
            group.write_handlers::<_, Said>(worker)
        } else {
            group.write_handlers::<_, ()>(worker)
        };
        let ring = match self.check {
            None => ring,
            Some(stage) => ring.stage(stage).read_handler(Check::new(&book)),
        };
        let ring = match self.checkers {
            0 => ring,
            workers => ring.stage("checks").workers(workers).read_handlers(|_| Check::new(&book)),
        };
        let (producer, consumers) = ring.build().unwrap();
        Ready { feed: Feed::new(producer, &book, self.first_sequence), consumers, book }
    }

    pub(crate) fn start<K: Kind>(self) -> Run<K> {
        self.build::<K>().start()
    }

    /// Runs the group until it has handled `events` events, and checks that it has.
    pub(crate) fn share<K: Kind>(self, events: u64) -> End {
        let mut run = Self { events, ..self }.start::<K>();
        run.feed.publish_all(events);
        run.drain()
    }
}

pub(crate) fn nothing(_: &Trade, _: Sequence, _: bool) {}

/// A group that is built and not started.
pub(crate) struct Ready<K: Kind> {
    pub feed: Feed<K>,
    pub consumers: Consumers<'static, Trade>,
    pub book: Arc<Book>,
}

impl<K: Kind> Ready<K> {
    pub(crate) fn start(self) -> Run<K> {
        let Self { feed, consumers, book } = self;
        Run { feed, running: consumers.start().unwrap(), book }
    }
}

/// A group that runs.
pub(crate) struct Run<K: Kind> {
    pub feed: Feed<K>,
    pub running: Running<'static>,
    pub book: Arc<Book>,
}

impl<K: Kind> Run<K> {
    pub(crate) fn group(&self) -> WorkerGroup {
        self.running.workers("work").unwrap()
    }

    pub(crate) fn resize(&self, workers: usize) {
        self.book.keys_may_move();
        self.group().resize(workers).unwrap();
    }

    pub(crate) fn stop(&self, worker: usize) {
        self.book.keys_may_move();
        self.running.stop_handle(&format!("work-{worker}")).unwrap().stop();
    }

    /// Shuts the ring down, and checks that the workers have handled every event.
    pub(crate) fn drain(self) -> End {
        let end = self.end();
        assert_eq!(end.error, None);
        end.assert_each_once_but(&[]);
        assert_eq!(end.processed(), end.published);
        assert!(
            end.outcomes().iter().all(|one| [Outcome::Drained, Outcome::Stopped].contains(one))
        );
        end
    }

    /// Shuts the ring down.
    pub(crate) fn end(self) -> End {
        let published = self.feed.published();
        let (report, error) = match self.running.shutdown() {
            Ok(report) => (report, None),
            Err(failed) => {
                let text = failed.to_string();
                (failed.into_report(), Some(text))
            }
        };
        End { report, error, book: self.book, published }
    }
}

/// How a run has ended.
pub(crate) struct End {
    pub report: Report,
    /// The text of the error of the shutdown.
    pub error: Option<String>,
    pub book: Arc<Book>,
    /// How many events the workers got. With several producers, these are all claims.
    pub published: u64,
}

impl End {
    fn workers(&self) -> impl Iterator<Item = &StageReport> {
        self.report.stages().filter(|stage| stage.name().starts_with("work-"))
    }

    /// Returns how the workers ended, in their order.
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        self.workers().map(|worker| worker.outcome().clone()).collect()
    }

    pub(crate) fn count(&self, outcome: &Outcome) -> usize {
        self.workers().filter(|worker| worker.outcome() == outcome).count()
    }

    pub(crate) fn processed(&self) -> u64 {
        self.workers().map(StageReport::processed).sum()
    }

    pub(crate) fn skipped(&self) -> u64 {
        self.workers().map(StageReport::skipped).sum()
    }

    /// Returns the calls that each worker got.
    pub(crate) fn calls(&mut self) -> Vec<Calls> {
        let names: Vec<_> = self.workers().map(|worker| worker.name().to_owned()).collect();
        names.iter().map(|name| self.report.take::<Worker>(name).unwrap().calls).collect()
    }

    /// Returns how many events, and how many failed ones, each consumer downstream got.
    pub(crate) fn downstream(&mut self) -> Vec<(u64, u64)> {
        let names = self.report.stages().map(|stage| stage.name().to_owned());
        let names: Vec<_> = names.filter(|name| name.starts_with("check")).collect();
        let checks = names.iter().map(|name| self.report.take::<Check>(name).unwrap());
        checks.map(|check| (check.events, check.failed)).collect()
    }

    /// Checks that each event was finished once, but for `lost` ones, which were not, and for
    /// those that a worker skipped.
    #[track_caller]
    pub(crate) fn assert_each_once_but(&self, lost: &[Sequence]) {
        self.book.assert_no_faults();
        for (sequence, line) in (self.book.first..).zip(&self.book.lines) {
            let is_due = line.is_published.load(Relaxed) && !lost.contains(&sequence);
            let done = line.finished.load(Relaxed) + line.skipped.load(Relaxed);
            assert_eq!(done, u64::from(is_due), "sequence={sequence}");
        }
    }
}
