//! The description of a group, the handler of its workers, and the book in which they enter their
//! events.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::{hint, thread};

use crate::common::{Kind, Lcg, ProducerOf, wait_until};
use lapwing::consumer::{Exclusive, Failure, IntoAction, Outcome, StageReport};
use lapwing::error::PublishError;
use lapwing::lifecycle::WorkerGroup;
use lapwing::producer::Slots;
use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Action, Builder, Consumers, EventHandler, MultiProducer, Report, Running};
use lapwing::{Sequence, Stage};

/// The events of a [`Feed`] have keys below this.
pub(crate) const KEYS: u64 = 7;

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

/// What a worker says to an event.
pub(crate) type Said = Result<Action, &'static str>;

type Key = Arc<dyn Fn(&Trade) -> u64 + Send + Sync>;
pub(crate) type Does = Arc<dyn Fn(&Turn) -> Said + Send + Sync>;
type Notices = Arc<dyn Fn(usize, &Call) + Send + Sync>;

/// A ring with the group "work".
pub(crate) struct Group {
    pub sharing: Sharing,
    /// The key of an event, if the workers share by key. By default that is its field.
    pub key: Key,
    pub capacity: usize,
    pub first_sequence: Sequence,
    pub seats: usize,
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

/// An event as its worker finds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub worker: usize,
    /// How many events this worker was given before.
    pub turn: u64,
    pub key: u64,
    /// The number of the event among those of its key.
    pub number: u64,
    pub sequence: Sequence,
    pub end_of_batch: bool,
}

/// A call of a handler other than for an event.
#[derive(Debug)]
pub(crate) enum Call {
    Start,
    Batch,
    Timeout(Sequence),
    Restart,
}

impl Group {
    pub(crate) fn of(workers: usize, sharing: Sharing) -> Self {
        Self {
            sharing,
            key: Arc::new(|trade| trade.key),
            capacity: 8,
            first_sequence: 0,
            seats: 0,
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
        let ring = self.wait.of::<K>(ring.seats(self.seats));
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

// ---- events, and where they come from ----

/// An event. Its words are its sequence until its worker has finished it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trade {
    pub key: u64,
    /// Among the events of its key, if they come from one feed.
    pub number: u64,
    words: [u64; 4],
}

impl Trade {
    pub(crate) fn new(key: u64, number: u64, sequence: Sequence) -> Self {
        Self { key, number, words: [sequence; 4] }
    }
}

/// Publishes events of random keys.
pub(crate) struct Feed<K: Kind> {
    pub producer: ProducerOf<Trade, K>,
    book: Arc<Book>,
    numbers: [u64; KEYS as usize],
    first: Sequence,
    next: Sequence,
    chance: Lcg,
}

impl<K: Kind> Feed<K> {
    fn new(producer: ProducerOf<Trade, K>, book: &Arc<Book>, first: Sequence) -> Self {
        let (numbers, chance) = ([0; KEYS as usize], Lcg(first));
        Self { producer, book: Arc::clone(book), numbers, first, next: first, chance }
    }

    pub(crate) fn publish(&mut self, key: u64) -> Result<Sequence, PublishError> {
        let trade = Trade::new(key, self.numbers[key as usize], self.next);
        self.book.publishes(self.next);
        let result = self.producer.publish(|event| *event = trade);
        if result == Err(PublishError::WouldDeadlock) {
            self.book.line(self.next).is_published.store(false, Relaxed);
        }
        let sequence = result?;
        assert_eq!(sequence, self.next);
        self.next += 1;
        self.numbers[key as usize] += 1;
        Ok(sequence)
    }

    /// Publishes `events` events of random keys, and calls `meanwhile` after each of them with the
    /// number of those published before.
    pub(crate) fn publish_and(&mut self, events: u64, mut meanwhile: impl FnMut(u64)) {
        for event in 0..events {
            let key = self.chance.below(KEYS);
            self.publish(key).unwrap();
            meanwhile(event);
        }
    }

    pub(crate) fn publish_all(&mut self, events: u64) {
        self.publish_and(events, |_| {});
    }

    pub(crate) fn publish_of(&mut self, key: u64, events: u64) {
        (0..events).for_each(|_| _ = self.publish(key).unwrap());
    }

    /// Publishes events of one key together.
    pub(crate) fn publish_batch(&mut self, events: usize) {
        let Self { producer, book, numbers, next, .. } = self;
        let fill = |slots: &mut Slots<'_, Trade>| {
            for slot in slots.iter_mut() {
                book.publishes(*next);
                *slot = Trade::new(0, numbers[0], *next);
                (*next, numbers[0]) = (*next + 1, numbers[0] + 1);
            }
        };
        producer.publish_batch(events, fill).unwrap();
    }

    /// Publishes events of one key until the ring has ended.
    pub(crate) fn publish_until_the_end(&mut self) -> PublishError {
        loop {
            if let Err(error) = self.publish(0) {
                return error;
            }
        }
    }

    /// Claims an event, changes it, and gives it up.
    pub(crate) fn give_up(&mut self) {
        let mut claim = self.producer.claim().unwrap();
        *claim = Trade::new(self.next % KEYS, u64::MAX, u64::MAX);
        drop(claim);
        self.next += u64::from(K::IS_MULTI); // a single producer claims the same event again
    }

    pub(crate) fn published(&self) -> u64 {
        self.next - self.first
    }
}

/// Publishes `events` events of the key `key`, beside other threads that publish.
pub(crate) fn publish_beside_others(
    producer: &mut MultiProducer<Trade>,
    book: &Book,
    key: u64,
    events: u64,
) {
    for number in 0..events {
        let mut claim = producer.claim().unwrap();
        let sequence = claim.sequence();
        *claim = Trade::new(key, number, sequence);
        book.publishes(sequence);
        claim.publish().unwrap();
    }
}

// ---- what happened to the events ----

/// What has happened to each event and to each key. Checks the claims of the library whenever a
/// worker makes an entry. All accesses are relaxed, so that the book orders nothing that the
/// library should order.
pub(crate) struct Book {
    sharing: Sharing,
    first: Sequence,
    lines: Vec<Line>,
    keys: [Account; KEYS as usize],
    keys_may_move: AtomicBool,
    finished: AtomicU64,
    faults: Mutex<Vec<String>>,
}

/// What has happened to an event.
#[derive(Default)]
struct Line {
    is_published: AtomicBool,
    tries: AtomicU64,
    finished: AtomicU64,
    skipped: AtomicU64,
    rewinds: AtomicU64,
}

/// What has happened to the events of a key.
#[derive(Default)]
struct Account {
    next_number: AtomicU64,
    /// One more than the worker that had the last event; zero at first.
    owner: AtomicUsize,
    is_in_a_handler: AtomicBool,
}

/// Holds the key of an event while a worker has the event.
struct Alone<'a> {
    book: &'a Book,
    account: &'a Account,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.account.is_in_a_handler.store(false, Relaxed);
        if thread::panicking() {
            self.book.keys_may_move(); // the policy may end the worker
        }
    }
}

impl Book {
    fn new(sharing: Sharing, first: Sequence, events: u64) -> Self {
        Self {
            sharing,
            first,
            lines: (0..events).map(|_| Line::default()).collect(),
            keys: Default::default(),
            keys_may_move: AtomicBool::new(false),
            finished: AtomicU64::new(0),
            faults: Mutex::default(),
        }
    }

    /// From now on, a key may get another worker.
    pub(crate) fn keys_may_move(&self) {
        self.keys_may_move.store(true, Relaxed);
    }

    /// Returns how many events are finished.
    pub(crate) fn finished(&self) -> u64 {
        self.finished.load(Relaxed)
    }

    pub(crate) fn wait_for(&self, finished: u64) {
        wait_until(|| self.finished() == finished);
    }

    /// Returns how many times a worker was given the event.
    pub(crate) fn tries(&self, sequence: Sequence) -> u64 {
        self.line(sequence).tries.load(Relaxed)
    }

    #[track_caller]
    pub(crate) fn assert_no_faults(&self) {
        let faults = self.faults.lock().unwrap();
        assert!(faults.is_empty(), "{:?}: {:#?}", self.sharing, &faults[..faults.len().min(5)]);
    }

    pub(crate) fn publishes(&self, sequence: Sequence) {
        self.line(sequence).is_published.store(true, Relaxed);
    }

    fn line(&self, sequence: Sequence) -> &Line {
        &self.lines[(sequence - self.first) as usize]
    }

    /// Notes a fault instead of panicking, which a policy of the group would hide.
    fn check(&self, is_right: bool, fault: impl FnOnce() -> String) {
        if !is_right {
            self.faults.lock().unwrap().push(fault());
        }
    }

    fn begin(&self, event: &Trade, turn: &Turn) -> Alone<'_> {
        let (line, account) = (self.line(turn.sequence), &self.keys[event.key as usize]);
        line.tries.fetch_add(1, Relaxed);
        self.check(line.is_published.load(Relaxed), || format!("not published: {turn:?}"));
        self.check(line.finished.load(Relaxed) == 0, || format!("handled twice: {turn:?}"));
        let is_rewound = line.rewinds.load(Relaxed) > 0;
        let word = if is_rewound { !turn.sequence } else { turn.sequence };
        self.check(event.words == [word; 4], || format!("another event: {event:?}, {turn:?}"));
        let is_in_a_handler = account.is_in_a_handler.swap(true, Relaxed);
        if self.sharing == Sharing::ByKey {
            self.check(!is_in_a_handler, || format!("two workers at once: {turn:?}"));
            let next = account.next_number.load(Relaxed);
            self.check(next <= event.number, || format!("not {next}, out of order: {turn:?}"));
            let owner = account.owner.swap(turn.worker + 1, Relaxed);
            let is_owner = [0, turn.worker + 1].contains(&owner);
            let is_right = is_owner || self.keys_may_move.load(Relaxed);
            self.check(is_right, || format!("another worker than {owner}: {turn:?}"));
        }
        Alone { book: self, account }
    }

    fn finish(&self, event: &mut Trade, turn: &Turn) {
        let before = event.words;
        (0..turn.sequence % 3 * 10).for_each(|_| hint::spin_loop());
        self.check(event.words == before, || format!("overwritten: {event:?}, {turn:?}"));
        event.words.fill(!turn.sequence);
        self.keys[event.key as usize].next_number.store(event.number + 1, Relaxed);
        self.line(turn.sequence).finished.fetch_add(1, Relaxed);
        self.finished.fetch_add(1, Relaxed);
    }

    fn skip(&self, turn: &Turn) {
        self.line(turn.sequence).skipped.fetch_add(1, Relaxed);
    }

    /// The worker will get these events again.
    fn rewind(&self, batch: &[Turn]) {
        for turn in batch.iter().rev() {
            let line = self.line(turn.sequence);
            line.finished.fetch_sub(1, Relaxed);
            line.rewinds.fetch_add(1, Relaxed);
            self.finished.fetch_sub(1, Relaxed);
            self.keys[turn.key as usize].next_number.store(turn.number, Relaxed);
        }
    }
}

// ---- workers, and the stage that checks them ----

/// The calls that a worker got.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub starts: u64,
    pub shutdowns: u64,
    pub events: u64,
    /// The size of each batch, and the depth of the queue that came with it.
    pub batches: Vec<(u64, u64)>,
    /// The name of the thread that started it.
    pub thread: String,
}

/// The handler of a worker.
pub(crate) struct Worker {
    index: usize,
    book: Arc<Book>,
    does: Option<Does>,
    notices: Option<Notices>,
    calls: Calls,
    /// The finished events of the batch that may not be released.
    batch: Vec<Turn>,
}

impl Worker {
    fn notice(&self, call: &Call) {
        if let Some(notices) = &self.notices {
            notices(self.index, call);
        }
    }

    fn handle(&mut self, event: &mut Trade, sequence: Sequence, end_of_batch: bool) -> Said {
        let (key, number) = (event.key, event.number);
        let (worker, turn) = (self.index, self.calls.events);
        let turn = Turn { worker, turn, key, number, sequence, end_of_batch };
        let is_between = (self.calls.starts, self.calls.shutdowns) == (1, 0);
        self.book.check(is_between, || format!("not started or ended: {turn:?}"));
        self.calls.events += 1;
        let _alone = self.book.begin(event, &turn);
        let said = self.does.as_ref().map_or(Ok(Action::Continue), |does| does(&turn));
        match said {
            Ok(Action::Continue) => {
                self.book.finish(event, &turn);
                self.batch.push(turn);
            }
            Ok(Action::Rewind(_)) => self.book.rewind(&self.batch),
            _ => {
                match said {
                    Ok(Action::ReleaseNow) => self.book.finish(event, &turn),
                    Ok(Action::Skip | Action::SkipAndStop) => self.book.skip(&turn),
                    _ => {}
                }
                if matches!(said, Err(_) | Ok(Action::Stop | Action::SkipAndStop)) {
                    self.book.keys_may_move();
                }
                self.batch.clear();
            }
        }
        said
    }
}

/// What the handlers of a group return: nothing, or what the group says.
pub(crate) trait Answer: IntoAction {
    fn of(said: Said) -> Self;
}

impl Answer for () {
    fn of(_: Said) {}
}

impl Answer for Said {
    fn of(said: Said) -> Self {
        said
    }
}

impl<R: Answer> EventHandler<Trade, Exclusive, R> for Worker {
    fn on_start(&mut self) {
        self.calls.starts += 1;
        self.calls.thread = thread::current().name().unwrap_or_default().to_owned();
        self.notice(&Call::Start);
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.batch.clear();
        self.calls.batches.push((batch_size, queue_depth));
        self.notice(&Call::Batch);
    }

    fn on_event(&mut self, event: &mut Trade, sequence: Sequence, end_of_batch: bool) -> R {
        R::of(self.handle(event, sequence, end_of_batch))
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        self.notice(&Call::Timeout(next_sequence));
    }

    fn on_restart(&mut self) {
        self.notice(&Call::Restart);
    }

    fn on_shutdown(&mut self) {
        self.calls.shutdowns += 1;
    }
}

/// Checks what the group wrote, and that the events come in their order.
pub(crate) struct Check {
    book: Arc<Book>,
    next: Sequence,
    events: u64,
    failed: u64,
}

impl Check {
    pub(crate) fn new(book: &Arc<Book>) -> Self {
        Self { book: Arc::clone(book), next: book.first, events: 0, failed: 0 }
    }

    fn see(&mut self, event: &Trade, sequence: Sequence, is_finished: bool) {
        let Self { book, next, .. } = self;
        book.check(*next <= sequence, || format!("downstream: {sequence} after {next}"));
        *next = sequence + 1;
        let finished = book.line(sequence).finished.load(Relaxed) == 1;
        let word = if is_finished { !sequence } else { sequence };
        let is_right = finished == is_finished && event.words == [word; 4];
        book.check(is_right, || format!("downstream: sequence={sequence}, {event:?}"));
    }
}

impl EventHandler<Trade> for Check {
    fn on_event(&mut self, event: &Trade, sequence: Sequence, _: bool) {
        self.events += 1;
        self.see(event, sequence, true);
    }

    fn on_failed_event(&mut self, event: &Trade, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.failed += 1;
        self.see(event, sequence, false);
    }
}
