//! What a stage does, stated once: a [`Scenario`] is a stage and a script of what its code does in
//! each call. It runs the stage and a sequential model of the documentation, and compares all calls,
//! the outcome, the counts, the fates of the events downstream, and whether the handler comes home.

use std::collections::{BTreeSet, VecDeque};
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use lapwing::consumer::{Cause, Consumer, Failure, Outcome, StageReport};
use lapwing::{Action, Sequence, Stage};

use crate::common::{Kind, quiet_panics};
use crate::random::Dice;
use crate::{Book, Call, Form, Log, Said, Spy, counts, fill};

pub(crate) const ERROR: &str = "on purpose, an error";
pub(crate) const PANIC: &str = "on purpose, a panic";
const POLICY: &str = "on purpose, a policy";

/// What user code does in a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Act {
    Says(Action),
    Errs,
    Panics,
}

pub(crate) const CONTINUES: Act = Act::Says(Action::Continue);

/// A call in which user code does something special.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum On {
    Start,
    BatchStart,
    /// The call that gets this event, good or failed, alone or in a batch.
    Event(Sequence),
    Restart,
    Shutdown,
    Policy,
}

impl On {
    fn is(self, call: &Call) -> bool {
        match (self, call) {
            (Self::Start, Call::Start)
            | (Self::BatchStart, Call::BatchStart(..))
            | (Self::Restart, Call::Restart)
            | (Self::Shutdown, Call::Shutdown)
            | (Self::Policy, Call::Policy(..)) => true,
            (Self::Event(sequence), call) => call.includes(sequence),
            _ => false,
        }
    }
}

/// What the code of a stage does, call by call.
#[derive(Debug, Clone)]
pub(crate) enum Script {
    /// Each line is for the first call after that of the line before. In other calls the code
    /// continues, and the policies give the last answer.
    Lines(Vec<(On, Act)>, Action),
    /// Everything happens, by this seed.
    Random(u64),
}

pub(crate) type Play = Box<dyn FnMut(&Call) -> Act + Send>;

impl Script {
    fn play(&self) -> Play {
        match self {
            Self::Lines(lines, answer) => {
                let (mut lines, answer) = (VecDeque::from(lines.clone()), *answer);
                Box::new(move |call| match (lines.front(), call) {
                    (Some((on, act)), _) if on.is(call) => {
                        let act = *act;
                        lines.pop_front();
                        act
                    }
                    (_, Call::Policy(..)) => Act::Says(answer),
                    _ => CONTINUES,
                })
            }
            Self::Random(seed) => {
                let mut dice = Dice::new(*seed);
                Box::new(move |call| dice.act(call))
            }
        }
    }
}

/// A stage with a script, in front of a book.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) form: Form,
    pub(crate) events: u64,
    pub(crate) max_batch: u64,
    /// How many events of each batch a handler of batches says it has finished.
    pub(crate) finishes: u64,
    /// Whether there is a policy for errors, and one for panics.
    pub(crate) policies: [bool; 2],
    /// The events that a stage before this one has skipped, with an error each if the flag is set.
    pub(crate) failed: (Vec<Sequence>, bool),
    pub(crate) takes_failed: bool,
    pub(crate) script: Script,
}

impl Scenario {
    pub(crate) fn new(form: Form, events: u64, max_batch: u64, script: Script) -> Self {
        Self {
            form,
            events,
            max_batch,
            finishes: 0,
            policies: [true; 2],
            failed: (Vec::new(), false),
            takes_failed: false,
            script,
        }
    }

    /// The stage and its handler, which log their calls.
    fn stage(&self, log: &Log) -> (Stage, Spy) {
        let play = Arc::new(Mutex::new(self.script.play()));
        let policy = |is_panic| {
            let (log, play) = (log.clone(), Arc::clone(&play));
            move |failure: &Failure<'_>| {
                assert_eq!(matches!(failure.cause(), Cause::Panic(_)), is_panic);
                let call = Call::Policy(failure.sequence(), failure.attempt());
                log.push(call.clone());
                perform(&play, &call).unwrap()
            }
        };
        let mut stage = Stage::new("acts").max_batch(self.max_batch as usize);
        if self.policies[0] {
            stage = stage.on_error(policy(false));
        }
        if self.policies[1] {
            stage = stage.on_panic(policy(true));
        }
        if self.takes_failed {
            stage = stage.with_failed_events();
        }
        let mut spy = Spy::new(log, move |call| perform(&play, call));
        spy.finishes = self.finishes as usize;
        (stage, spy)
    }

    /// Runs it alone on its thread, and compares it with the model.
    pub(crate) fn check<K: Kind>(&self) {
        self.check_by::<K>(false);
    }

    /// The same, or together with the book.
    pub(crate) fn check_by<K: Kind>(&self, is_together: bool) {
        quiet_panics();
        let model = Model::run(self);
        let log = Log::default();
        let (stage, spy) = self.stage(&log);
        let mut ring = K::ring(16, || 0);
        let (failed, errs) = self.failed.clone();
        let has_failed = !failed.is_empty();
        if has_failed {
            ring =
                ring.stage("before").on_error(Action::Skip).read(
                    move |_, sequence, _| match failed.contains(&sequence) {
                        true if errs => Err("no route"),
                        true => Ok(Action::Skip),
                        false => Ok(Action::Continue),
                    },
                );
        }
        let ring = self.form.add(ring, stage, spy).stage("book").read_handler(Book::default());
        let mut consumers = fill(ring, self.events).into_iter();
        if has_failed {
            drop(consumers.next().unwrap().run());
        }
        let finished: Vec<StageReport> = if is_together {
            Consumer::run_together(consumers)
        } else {
            consumers.map(Consumer::run).collect()
        };
        let [mut stage, mut book] = <[StageReport; 2]>::try_from(finished).unwrap();
        assert_eq!(log.calls(), model.calls, "{self:?}");
        assert_eq!(*stage.outcome(), model.outcome, "{self:?}");
        let skipped = model.skipped.len() as u64;
        assert_eq!(counts(&stage), (model.next, skipped), "{self:?}");
        let is_home = stage.take_handler::<Spy>().is_ok();
        assert_eq!(is_home, self.form.is_handler() && !model.is_broken, "{self:?}");
        let fates = model.fates();
        let is_halted = *book.outcome() == Outcome::Halted;
        assert_eq!(is_halted, model.halts(), "{self:?}");
        let book: Book = book.take_handler().unwrap();
        if !is_halted {
            assert_eq!(book, fates, "{self:?}");
        } else if is_together {
            assert!(fates.done.starts_with(&book.done), "{self:?}");
            assert!(fates.failed.starts_with(&book.failed), "{self:?}");
        } else {
            assert_eq!(book, Book::default(), "{self:?}");
        }
    }
}

fn perform(play: &Arc<Mutex<Play>>, call: &Call) -> Said {
    let act = (play.lock().unwrap())(call);
    match act {
        Act::Says(action) => Ok(action),
        Act::Errs => Err(ERROR),
        Act::Panics if matches!(call, Call::Policy(..)) => panic!("{POLICY}"),
        Act::Panics => panic!("{PANIC}"),
    }
}

/// What is repeated after a failure.
#[derive(Clone, Copy, PartialEq)]
enum Again {
    Event(Sequence),
    Batch(Sequence),
}

/// The documented behaviour of a stage all of whose events are available.
struct Model<'a> {
    scenario: &'a Scenario,
    play: Play,
    calls: Vec<Call>,
    /// The first event that is not released.
    next: Sequence,
    skipped: BTreeSet<Sequence>,
    again: Option<Again>,
    attempt: u32,
    /// Whether the next batch was announced, by a call that panicked.
    is_announced: bool,
    /// Whether a panic ended it, so that its handler gets no more calls.
    is_broken: bool,
    outcome: Outcome,
}

impl<'a> Model<'a> {
    fn run(scenario: &'a Scenario) -> Self {
        let mut model = Self {
            scenario,
            play: scenario.script.play(),
            calls: Vec::new(),
            next: 0,
            skipped: BTreeSet::new(),
            again: None,
            attempt: 0,
            is_announced: false,
            is_broken: false,
            outcome: Outcome::Drained,
        };
        model.live();
        model
    }

    fn live(&mut self) {
        if self.tell(Call::Start) == Act::Panics {
            self.outcome = self.panicked(0);
        } else {
            while self.next < self.scenario.events {
                if let Some(outcome) = self.batch() {
                    self.outcome = outcome;
                    break;
                }
            }
        }
        if !self.is_broken && self.tell(Call::Shutdown) == Act::Panics {
            self.is_broken = true;
            if !matches!(self.outcome, Outcome::Failed { .. } | Outcome::Detached { .. }) {
                self.outcome = self.panicked(self.next);
            }
        }
    }

    fn call(&mut self, call: Call) -> Act {
        let act = (self.play)(&call);
        self.calls.push(call);
        act
    }

    /// A call of which closures have no equivalent.
    fn tell(&mut self, call: Call) -> Act {
        if self.scenario.form.is_handler() { self.call(call) } else { CONTINUES }
    }

    fn panicked(&mut self, sequence: Sequence) -> Outcome {
        self.is_broken = true;
        Outcome::Panicked { message: PANIC.to_owned(), sequence }
    }

    /// The next batch, and whether its events have failed upstream.
    fn next_batch(&self) -> (Range<Sequence>, bool) {
        let Scenario { events, max_batch, takes_failed, .. } = *self.scenario;
        let (failed, errs) = &self.scenario.failed;
        let longest = self.next + 1..events.min(self.next + max_batch);
        if takes_failed {
            return (self.next..longest.end, false);
        }
        let is_failed = failed.contains(&self.next);
        let is_other = |at: &Sequence| failed.contains(at) != is_failed || (is_failed && *errs);
        let end = longest.end;
        (self.next..longest.clone().find(is_other).unwrap_or(end), is_failed)
    }

    fn batch(&mut self) -> Option<Outcome> {
        let (batch, is_failed) = self.next_batch();
        let form = self.scenario.form;
        let end = batch.end;
        if form.announces() && !mem::take(&mut self.is_announced) {
            let depth = self.scenario.events - self.next;
            if self.call(Call::BatchStart(end - self.next, depth)) == Act::Panics {
                self.is_announced = true;
                return self.failed(self.next..self.next, Act::Panics);
            }
        }
        if is_failed && !form.is_handler() {
            self.next = end;
            return None;
        }
        let parts: Vec<Range<Sequence>> =
            if form.is_by_batch() { vec![batch] } else { batch.map(|at| at..at + 1).collect() };
        for mut events in parts {
            let call = match (form.is_by_batch(), is_failed) {
                (false, false) => Call::Event(events.start, events.end == end),
                (false, true) => Call::Failed(events.start, events.end == end),
                (true, false) => Call::Batch(events.clone()),
                (true, true) => Call::FailedBatch(events.clone()),
            };
            let act = self.call(call);
            if form.is_by_batch() && form.is_handler() {
                events.start = events.end.min(events.start.saturating_add(self.scenario.finishes));
            }
            match act {
                CONTINUES => {}
                Act::Says(Action::ReleaseNow) => return self.release(events.end),
                Act::Says(action) => return self.follow(action, events, None),
                act => return self.failed(events, act),
            }
        }
        self.release(end)
    }

    fn release(&mut self, end: Sequence) -> Option<Outcome> {
        if end > self.next {
            self.next = end;
            self.tell(Call::Released(end));
        }
        None
    }

    /// Asks the policy about the failure of `events`, which is none between batches.
    fn failed(&mut self, events: Range<Sequence>, act: Act) -> Option<Outcome> {
        let (sequence, is_panic) = (events.start, act == Act::Panics);
        let again = [Again::Event(sequence), Again::Batch(self.next)].map(Some);
        self.attempt = if again.contains(&self.again) { self.attempt + 1 } else { 1 };
        let answer = if self.scenario.policies[usize::from(is_panic)] {
            self.call(Call::Policy(sequence, self.attempt))
        } else {
            Act::Says(Action::Halt)
        };
        let Act::Says(action) = answer else {
            self.next = sequence;
            self.is_broken = true;
            return Some(Outcome::Panicked { message: POLICY.to_owned(), sequence });
        };
        self.again = match action {
            Action::Retry(_) | Action::Restart(_) => Some(Again::Event(sequence)),
            Action::Rewind(_) => Some(Again::Batch(self.next)),
            _ => None,
        };
        let ended = self.follow(action, events, Some(act));
        self.is_broken |= is_panic && ended.is_some();
        ended
    }

    /// Applies `action` to `events`, which were to be handled.
    fn follow(
        &mut self,
        action: Action,
        events: Range<Sequence>,
        failure: Option<Act>,
    ) -> Option<Outcome> {
        let sequence = events.start;
        let message = if failure == Some(Act::Errs) { ERROR } else { PANIC }.to_owned();
        if matches!(action, Action::Skip | Action::SkipAndStop) {
            self.skipped.extend(events.clone());
        }
        if matches!(action, Action::Retry(_) | Action::Rewind(_) | Action::Restart(_)) {
            self.is_announced = false;
        }
        match action {
            Action::Continue | Action::ReleaseNow | Action::Skip => self.release(events.end),
            Action::Retry(_) => self.release(sequence),
            Action::Rewind(_) => None,
            Action::Restart(_) => {
                self.release(sequence);
                let is_panic = self.tell(Call::Restart) == Act::Panics;
                is_panic.then(|| self.panicked(self.next))
            }
            Action::Stop | Action::SkipAndStop => {
                self.next = if action == Action::Stop { sequence } else { events.end };
                Some(match failure {
                    None => Outcome::Stopped,
                    Some(_) => Outcome::Detached { message, sequence },
                })
            }
            _ => {
                self.next = sequence;
                Some(match failure {
                    None => Outcome::Halted,
                    Some(Act::Errs) => Outcome::Failed { message, sequence },
                    Some(_) => Outcome::Panicked { message, sequence },
                })
            }
        }
    }

    fn halts(&self) -> bool {
        use Outcome::{Failed, Halted, Panicked};
        matches!(self.outcome, Failed { .. } | Panicked { .. } | Halted)
    }

    /// What the book sees if the ring is not halted.
    fn fates(&self) -> Book {
        let (failed, _) = &self.scenario.failed;
        let is_failed = |at: &Sequence| failed.contains(at) || self.skipped.contains(at);
        let (failed, done) = (0..self.scenario.events).partition(is_failed);
        Book { done, failed }
    }
}
