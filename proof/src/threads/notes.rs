//! The notes that a run takes. Nothing is judged here.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use lapwing::consumer::{Cause, Failure, FailurePolicy};
use lapwing::{Action, Sequence};

use super::event::{Event, Payload};
use super::faults::Fault;
use super::past::Decision;
use super::program::{Policy, Program, Stages, Verdict};
use super::will::{Will, decide};
use super::witness::{Call, Observer, Pen, Told, Witness};

/// The seed of the payloads.
const SEED: u64 = 0x5eed;

/// An event as a consumer saw it, and what the consumer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) sequence: Sequence,
    pub(super) id: u64,
    pub(super) is_whole: bool,
    pub(super) written: Stages,
    /// The marks of other consumers, and its own one if it was there before.
    pub(super) marks: Stages,
    /// Whether it was announced as failed.
    pub(super) is_failed: bool,
    pub(super) is_last: bool,
    pub(super) verdict: Verdict,
    /// When the call began and ended, on the clock of the stage.
    pub(super) time: (u64, u64),
}

/// One call of a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    Event(Seen),
    /// The call of a closure or a handler for a batch.
    Batch(Vec<Seen>),
    /// The decision of a policy.
    Policy(Decision),
    /// What a poller got, of which it consumed so many.
    Polled(Vec<Seen>, u64),
    /// A call without events.
    Call(Call),
}

/// The notes of one thread, which writes them.
#[derive(Debug)]
pub(super) struct Log<N>(Arc<Mutex<Vec<N>>>);

impl<N> Default for Log<N> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<N> Clone for Log<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<N> Log<N> {
    fn lock(&self) -> MutexGuard<'_, Vec<N>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> u64 {
        self.lock().len() as u64
    }

    pub(super) fn take(&self) -> Vec<N> {
        std::mem::take(&mut self.lock())
    }
}

impl Log<Note> {
    fn push(&self, note: Note) {
        let mut notes = self.lock();
        // An idle stage has any number of timeouts.
        let is_timeout = matches!(note, Note::Call(Call::Timeout(_)));
        if !is_timeout || notes.last() != Some(&note) {
            notes.push(note);
        }
    }
}

/// What became of the slots of a call.
#[derive(Debug, Clone)]
pub(super) enum Slots {
    /// The call with this index returned without an error.
    Accepted(Vec<Accepted>),
    GivenUp(Range<Sequence>),
}

/// An accepted event, and what its slot had before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accepted {
    pub(super) sequence: Sequence,
    pub(super) id: u64,
    pub(super) found: Found,
}

/// What a producer found in a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) id: u64,
    pub(super) marks: Stages,
}

/// The notes of a run.
#[derive(Debug, Clone)]
pub(super) struct Notes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    stages: Vec<StageNotes>,
    guests: Mutex<BTreeMap<usize, Log<Note>>>,
    producers: Vec<Log<Slots>>,
    /// Number of calls of producers.
    calls: Vec<Arc<AtomicU64>>,
}

#[derive(Debug)]
struct StageNotes {
    workers: Vec<Log<Note>>,
    clock: Arc<AtomicU64>,
}

impl Notes {
    pub(super) fn new(program: &Program) -> Self {
        let of_stage = |consumers: usize| StageNotes {
            workers: (0..consumers).map(|_| Log::default()).collect(),
            clock: Arc::default(),
        };
        Self(Arc::new(Inner {
            stages: program.stages.iter().map(|stage| of_stage(stage.consumers())).collect(),
            guests: Mutex::default(),
            producers: program.producers.iter().map(|_| Log::default()).collect(),
            calls: program.producers.iter().map(|_| Arc::default()).collect(),
        }))
    }

    /// The notes of the consumers of a stage, by worker.
    pub(super) fn of_stage(&self, stage: usize) -> Vec<Vec<Note>> {
        self.0.stages[stage].workers.iter().map(Log::take).collect()
    }

    pub(super) fn of_guest(&self, number: usize) -> Vec<Note> {
        self.guests().get(&number).map_or_else(Vec::new, Log::take)
    }

    /// What became of the slots of each producer.
    pub(super) fn of_producers(&self) -> Vec<Vec<Slots>> {
        self.0.producers.iter().map(Log::take).collect()
    }

    fn guests(&self) -> MutexGuard<'_, BTreeMap<usize, Log<Note>>> {
        self.0.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Notes {
    type Witness = NoteTaker;
    type Policy = NotingPolicy;
    type Pen = NotingPen;

    fn witness(&self, stage: usize, worker: usize) -> NoteTaker {
        let StageNotes { workers, clock } = &self.0.stages[stage];
        let (log, clock) = (workers[worker].clone(), Arc::clone(clock));
        NoteTaker { stage: Some(stage), log, clock }
    }

    fn guest(&self, number: usize, _: Sequence) -> NoteTaker {
        let log = Log::default();
        self.guests().insert(number, log.clone());
        NoteTaker { stage: None, log, clock: Arc::default() }
    }

    fn policy(&self, stage: usize, policy: Policy) -> NotingPolicy {
        NotingPolicy { policy, logs: self.0.stages[stage].workers.clone() }
    }

    fn pen(&self, lane: usize) -> NotingPen {
        let (log, calls) = (self.0.producers[lane].clone(), Arc::clone(&self.0.calls[lane]));
        NotingPen { lane: lane as u32, next: 0, found: Vec::new(), log, calls }
    }

    fn seed(&self) -> u64 {
        SEED
    }

    fn stops(&self, _: usize) {}

    fn injected(&self, _: Fault) {}

    fn steps(&self) -> u64 {
        let stages = self.0.stages.iter().flat_map(|stage| &stage.workers);
        let notes: u64 = stages.chain(self.guests().values()).map(Log::len).sum();
        notes + self.0.calls.iter().map(|calls| calls.load(Ordering::Relaxed)).sum::<u64>()
    }

    fn is_over(&self) -> Option<bool> {
        None
    }
}

/// Takes the notes of a consumer.
#[derive(Debug)]
pub(super) struct NoteTaker {
    stage: Option<usize>,
    log: Log<Note>,
    /// Orders the calls of the consumers of a stage.
    clock: Arc<AtomicU64>,
}

impl NoteTaker {
    /// The next moment on the clock of the stage.
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn see(&self, event: &Event, sequence: Sequence) -> Seen {
        let marks = event.marks();
        if let Some(stage) = self.stage {
            event.mark(stage);
        }
        let (is_failed, is_last) = (false, false);
        let verdict = Verdict::Says(Action::Continue);
        let (id, is_whole) = (event.id(), event.payload().is_whole(SEED));
        let (written, time) = (event.written(), (0, 0));
        Seen { sequence, id, is_whole, written, marks, is_failed, is_last, verdict, time }
    }

    fn decide(&self, sequence: Sequence, will: &mut Will) -> Verdict {
        will.decide(sequence, self.tick(), thread::sleep)
    }
}

impl Witness for NoteTaker {
    fn event(&mut self, event: &Event, told: Told, will: &mut Will) -> Verdict {
        let Told { sequence, is_last, is_failed } = told;
        let began = self.tick();
        let seen = self.see(event, sequence);
        let verdict = self.decide(sequence, will);
        let time = (began, self.tick());
        self.log.push(Note::Event(Seen { is_last, is_failed, verdict, time, ..seen }));
        verdict
    }

    fn batch(
        &mut self,
        events: &[Event],
        first: Sequence,
        is_failed: bool,
        will: &mut Will,
    ) -> (Verdict, Sequence) {
        let (mut decided, mut decided_at) = (Verdict::Says(Action::Continue), first);
        let mut notes = Vec::new();
        for (event, sequence) in events.iter().zip(first..) {
            let mut seen = Seen { is_failed, ..self.see(event, sequence) };
            if decided.continues() {
                (decided, decided_at) = (self.decide(sequence, will), sequence);
                seen.verdict = decided;
            }
            notes.push(seen);
        }
        self.log.push(Note::Batch(notes));
        (decided, decided_at)
    }

    fn polled(
        &mut self,
        events: &[Event],
        first: Sequence,
        is_failed: impl Fn(Sequence) -> bool,
        consumed: usize,
    ) {
        let seen = events.iter().zip(first..).map(|(event, sequence)| Seen {
            is_failed: is_failed(sequence),
            ..self.see(event, sequence)
        });
        self.log.push(Note::Polled(seen.collect(), consumed as u64));
    }

    fn call(&mut self, call: Call) {
        self.log.push(Note::Call(call));
    }
}

/// A policy that notes its decisions.
#[derive(Debug, Clone)]
pub(super) struct NotingPolicy {
    policy: Policy,
    /// The logs of the consumers of the stage.
    logs: Vec<Log<Note>>,
}

impl FailurePolicy for NotingPolicy {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        let action = decide(self.policy, failure);
        let (sequence, attempt) = (failure.sequence(), failure.attempt());
        let is_panic = matches!(failure.cause(), Cause::Panic(_));
        let worker = failure.stage().rsplit('-').next().and_then(|worker| worker.parse().ok());
        let note = Note::Policy(Decision { sequence, attempt, action, is_panic });
        self.logs[worker.unwrap_or(0_usize)].push(note);
        action
    }
}

/// Notes what becomes of the slots of a producer.
#[derive(Debug)]
pub(super) struct NotingPen {
    lane: u32,
    /// The number of its next event.
    next: u64,
    /// What the call has found in its slots.
    found: Vec<(u64, Found)>,
    log: Log<Slots>,
    calls: Arc<AtomicU64>,
}

impl Pen for NotingPen {
    fn begin(&mut self) {
        self.found.clear();
        let calls = self.calls.load(Ordering::Relaxed) + 1;
        self.calls.store(calls, Ordering::Relaxed);
    }

    fn fill(&mut self, slot: &mut Event) {
        let found = Found { id: slot.id(), marks: slot.marks() };
        let number = self.next + self.found.len() as u64;
        slot.fill(Payload::new(SEED, self.lane, number));
        self.found.push((slot.id(), found));
    }

    fn accept(&mut self, sequences: Range<Sequence>, _: usize) {
        let filled = self.found.len();
        assert_eq!(sequences.clone().count(), filled, "one sequence for each filled slot");
        self.next += filled as u64;
        let accepted = sequences.zip(self.found.drain(..));
        let accepted = accepted.map(|(sequence, (id, found))| Accepted { sequence, id, found });
        self.log.lock().push(Slots::Accepted(accepted.collect()));
    }

    fn give_up(&mut self, sequences: Range<Sequence>) {
        self.log.lock().push(Slots::GivenUp(sequences));
    }

    fn sleep(&mut self, time: Duration) {
        thread::sleep(time);
    }
}
