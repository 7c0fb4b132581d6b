//! Random outcomes: of one stage against a simple model, and of several stages at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapwing::consumer::{Failure, Finished, Outcome};
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, Lcg, ON_PURPOSE, quiet_panics, repeats};
use crate::{Call, Form, Log, Ring, Spy, counts, drain, drain_together};

common::for_both_producers! {
    random_outcomes_are_those_of_a_simple_model,
    miri_a_few_random_outcomes_are_those_of_a_simple_model,
    random_outcomes_of_stages_in_parallel_and_in_a_row_lose_nothing,
    miri_random_outcomes_of_stages_at_once,
}

const ZERO: Duration = Duration::ZERO;

/// The behaviour of a handler in one call.
#[derive(Debug, Clone, Copy)]
enum Verdict {
    Says(Action),
    Errs,
    Panics,
}

/// Draws verdicts and decisions. The same seed gives the same ones.
struct Script(Lcg);

impl Script {
    fn action(&mut self) -> Action {
        match self.0.below(21) {
            0..4 => Action::Continue,
            4..7 => Action::ReleaseNow,
            7..10 => Action::Skip,
            10..13 => Action::Retry(ZERO),
            13..16 => Action::Rewind(ZERO),
            16..18 => Action::Restart(ZERO),
            18 => Action::Stop,
            19 => Action::SkipAndStop,
            _ => Action::Halt,
        }
    }

    fn verdict(&mut self) -> Verdict {
        match self.0.below(16) {
            0 | 1 => Verdict::Says(self.action()),
            2 => Verdict::Errs,
            3 => Verdict::Panics,
            _ => Verdict::Says(Action::Continue),
        }
    }

    /// Whether a call between events panics.
    fn is_panic(&mut self) -> bool {
        self.0.below(16) == 0
    }
}

// ---- one stage, one thread ----

/// The documented behaviour of one handler with `events` events, in batches of at most `max`.
struct Model {
    script: Script,
    events: u64,
    max: u64,
    next: Sequence,
    /// What is retried after a failure, and how often it has failed in a row.
    again: Option<(bool, Sequence)>,
    attempt: u32,
    is_announced: bool,
    calls: Vec<Call>,
    skipped: Vec<Sequence>,
}

impl Model {
    fn run(&mut self) -> Outcome {
        self.calls.push(Call::Start);
        let outcome = loop {
            if self.next == self.events {
                break Outcome::Drained;
            }
            if let Some(outcome) = self.batch() {
                break outcome;
            }
        };
        let panicked = matches!(outcome, Outcome::Panicked { .. });
        // A stage that was detached by a panic makes no more calls. The text says which panic it
        // was.
        let broke =
            matches!(&outcome, Outcome::Detached { message, .. } if message.contains("panic"));
        if !panicked && !broke {
            self.calls.push(Call::Shutdown);
        }
        outcome
    }

    fn batch(&mut self) -> Option<Outcome> {
        let end = self.events.min(self.next + self.max);
        if !std::mem::take(&mut self.is_announced) {
            self.calls.push(Call::BatchStart(end - self.next, self.events - self.next));
            if self.script.is_panic() {
                self.is_announced = true;
                return self.failed(self.next, self.next, Verdict::Panics);
            }
        }
        for sequence in self.next..end {
            self.calls.push(Call::Event(sequence));
            match self.script.verdict() {
                Verdict::Says(Action::Continue) => {}
                Verdict::Says(action) => return self.follow(action, sequence, sequence + 1, None),
                failure => return self.failed(sequence, sequence + 1, failure),
            }
        }
        self.next = end;
        None
    }

    fn failed(&mut self, sequence: Sequence, end: Sequence, verdict: Verdict) -> Option<Outcome> {
        let is_again =
            self.again == Some((false, sequence)) || self.again == Some((true, self.next));
        self.attempt = if is_again { self.attempt + 1 } else { 1 };
        self.calls.push(Call::Policy(sequence, self.attempt));
        let action = self.script.action();
        self.again = match action {
            Action::Retry(_) | Action::Restart(_) => Some((false, sequence)),
            Action::Rewind(_) => Some((true, self.next)),
            _ => None,
        };
        self.follow(action, sequence, end, Some(verdict))
    }

    /// The effect of `action` on the events from `sequence` to `end`, which were to be handled.
    fn follow(
        &mut self,
        action: Action,
        sequence: Sequence,
        end: Sequence,
        failure: Option<Verdict>,
    ) -> Option<Outcome> {
        if !matches!(action, Action::Continue | Action::ReleaseNow | Action::Skip) {
            self.is_announced = false;
        }
        let message = match failure {
            Some(Verdict::Errs) => format!("{ON_PURPOSE}, an error"),
            _ => format!("{ON_PURPOSE}, a panic"),
        };
        match action {
            Action::Continue | Action::ReleaseNow => self.next = end,
            Action::Skip | Action::SkipAndStop => {
                self.skipped.extend(sequence..end);
                self.next = end;
            }
            Action::Rewind(_) => {}
            _ => self.next = sequence,
        }
        match (action, failure) {
            (Action::Restart(_), _) => {
                self.calls.push(Call::Restart);
                None
            }
            (Action::Stop | Action::SkipAndStop, None) => Some(Outcome::Stopped),
            (Action::Stop | Action::SkipAndStop, Some(_)) => {
                Some(Outcome::Detached { message, sequence })
            }
            (Action::Halt, None) => Some(Outcome::Halted),
            (Action::Halt, Some(Verdict::Errs)) => Some(Outcome::Failed { message, sequence }),
            (Action::Halt, Some(_)) => Some(Outcome::Panicked { message, sequence }),
            _ => None,
        }
    }
}

/// A stage that behaves by `script`, which its policies share.
fn scripted(
    log: &Log,
    script: &Arc<Mutex<Script>>,
) -> Spy<impl FnMut(&Call) -> crate::Said + use<>> {
    let script = Arc::clone(script);
    Spy::new(log, move |call| {
        let panics = || panic!("{ON_PURPOSE}, a panic");
        match call {
            Call::BatchStart(..) => {
                let is_panic = script.lock().unwrap().is_panic();
                if is_panic { panics() } else { Ok(Action::Continue) }
            }
            Call::Event(_) => {
                let verdict = script.lock().unwrap().verdict();
                match verdict {
                    Verdict::Says(action) => Ok(action),
                    Verdict::Errs => Err("on purpose, an error"),
                    Verdict::Panics => panics(),
                }
            }
            _ => Ok(Action::Continue),
        }
    })
}

/// Alone on its thread, or together with its downstream stage.
fn check_seed<K: Kind>(seed: u64) {
    for drain in [drain, drain_together] {
        check_seed_by::<K>(seed, drain);
    }
}

fn check_seed_by<K: Kind>(seed: u64, drain: fn(Ring<K>, u64) -> Vec<Finished>) {
    let events = 1 + seed % 16;
    let max = 1 + seed % 7;
    let script = || Script(Lcg(seed));
    let mut model = Model {
        script: script(),
        events,
        max,
        next: 0,
        again: None,
        attempt: 0,
        is_announced: false,
        calls: Vec::new(),
        skipped: Vec::new(),
    };
    let expected = model.run();

    let log = Log::default();
    let script = Arc::new(Mutex::new(script()));
    let policy = || {
        let (log, script) = (log.clone(), Arc::clone(&script));
        move |failure: &Failure<'_>| {
            log.push(Call::Policy(failure.sequence(), failure.attempt()));
            script.lock().unwrap().action()
        }
    };
    let stage = Stage::new("acts").max_batch(max as usize).on_error(policy()).on_panic(policy());
    let form = if seed.is_multiple_of(2) { Form::Handler } else { Form::HandlerMut };
    let ring = form.add(K::ring(16, || 0), stage, scripted(&log, &script));
    let mut finished = drain(ring.stage("book").read_handler(crate::Book::default()), events);
    assert_eq!(log.calls(), model.calls, "seed {seed}");
    assert_eq!(*finished[0].outcome(), expected, "seed {seed}");
    let skipped = model.skipped.len() as u64;
    assert_eq!(counts(&finished[0]), (model.next, skipped), "seed {seed}");
    if *finished[1].outcome() == Outcome::Drained {
        let book: crate::Book = finished[1].take_handler().unwrap();
        assert_eq!(book.failed, model.skipped, "seed {seed}");
    }
}

fn random_outcomes_are_those_of_a_simple_model<K: Kind>() {
    quiet_panics();
    (0..repeats(5_000)).for_each(check_seed::<K>);
}

fn miri_a_few_random_outcomes_are_those_of_a_simple_model<K: Kind>() {
    quiet_panics();
    (100..105).for_each(check_seed::<K>);
}

// ---- several stages, each on its own thread ----

/// The calls of one stage and their results.
#[derive(Default)]
struct Trace {
    /// Each event, and whether it came as failed, once for each call.
    calls: Vec<(Sequence, bool)>,
    skipped: BTreeSet<Sequence>,
}

/// A stage that survives every outcome, with its own script.
fn survivor<K: Kind>(ring: Ring<K>, name: &str, seed: u64) -> (Ring<K>, Arc<Mutex<Trace>>) {
    let trace = Arc::new(Mutex::new(Trace::default()));
    let script = Arc::new(Mutex::new(Script(Lcg(seed))));
    let (stage, spy) = surviving(name, &trace, &script);
    (Form::Handler.add(ring, stage, spy), trace)
}

fn surviving(
    name: &str,
    trace: &Arc<Mutex<Trace>>,
    script: &Arc<Mutex<Script>>,
) -> (Stage, Spy<impl FnMut(&Call) -> crate::Said + Send + use<>>) {
    let action = |script: &Arc<Mutex<Script>>| loop {
        match script.lock().unwrap().action() {
            Action::Stop | Action::SkipAndStop | Action::Halt => {}
            action => return action,
        }
    };
    let policy = || {
        let (trace, script) = (Arc::clone(trace), Arc::clone(script));
        move |failure: &Failure<'_>| {
            let action = action(&script);
            // A call between batches skips no event.
            let is_event = matches!(failure.cause(), lapwing::consumer::Cause::Error(_));
            if action == Action::Skip && is_event {
                trace.lock().unwrap().skipped.insert(failure.sequence());
            }
            action
        }
    };
    let stage = Stage::new(name).on_error(policy()).on_panic(policy());
    let (trace, script) = (Arc::clone(trace), Arc::clone(script));
    let spy = Spy::new(&Log::default(), move |call| {
        let Some(events) = call.events() else {
            assert!(
                !matches!(call, Call::BatchStart(..)) || !script.lock().unwrap().is_panic(),
                "{ON_PURPOSE}"
            );
            return Ok(Action::Continue);
        };
        let sequence = events.start;
        trace.lock().unwrap().calls.push((sequence, matches!(call, Call::Failed(_))));
        let verdict = script.lock().unwrap().verdict();
        match verdict {
            Verdict::Says(Action::Stop | Action::SkipAndStop | Action::Halt | Action::Continue) => {
                Ok(Action::Continue)
            }
            Verdict::Says(action) => {
                if action == Action::Skip {
                    trace.lock().unwrap().skipped.insert(sequence);
                }
                Ok(action)
            }
            Verdict::Errs | Verdict::Panics => Err(ON_PURPOSE),
        }
    });
    (stage, spy)
}

/// Each event came at least once. The last call came after those of earlier events, and as failed
/// exactly if the event is in `failed`.
fn check_trace(trace: &Trace, events: u64, failed: &BTreeSet<Sequence>) {
    let mut last_seen = vec![None; events as usize];
    for (index, &(sequence, is_failed)) in trace.calls.iter().enumerate() {
        assert_eq!(is_failed, failed.contains(&sequence), "sequence={sequence}");
        last_seen[sequence as usize] = Some(index);
    }
    assert!(last_seen.iter().all(Option::is_some), "lost");
    assert!(last_seen.is_sorted(), "out of order");
}

fn check_abreast<K: Kind>(capacity: usize, events: u64, seed: u64) {
    let ring = K::ring(capacity, || 0);
    let (ring, first) = survivor::<K>(ring, "first", seed);
    let (left, right) = <(Arc<Mutex<Trace>>, Arc<Mutex<Trace>>)>::default();
    let script = |seed| Arc::new(Mutex::new(Script(Lcg(seed))));
    let ring = ring.side_by_side(|side| {
        let (stage, spy) = surviving("left", &left, &script(seed + 1));
        let side = side.stage(stage).read_handler(spy);
        let (stage, spy) = surviving("right", &right, &script(seed + 2));
        side.stage(stage).read_handler(spy)
    });
    let (ring, last) = survivor::<K>(ring, "last", seed + 3);
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..events {
        producer.publish(|_| {}).unwrap();
    }
    let report = running.shutdown().unwrap();
    let traces = [&first, &left, &right, &last].map(|trace| trace.lock().unwrap());
    for (stage, trace) in report.stages().zip(&traces) {
        assert_eq!(counts(stage), (events, trace.skipped.len() as u64), "{}", stage.name());
    }
    let [first, left, right, last] = &traces;
    let beside = &first.skipped | &(&left.skipped | &right.skipped);
    check_trace(first, events, &BTreeSet::new());
    check_trace(left, events, &first.skipped);
    check_trace(right, events, &first.skipped);
    check_trace(last, events, &beside);
}

fn random_outcomes_of_stages_in_parallel_and_in_a_row_lose_nothing<K: Kind>() {
    quiet_panics();
    for (seed, capacity) in [1, 2, 4, 16, 64].into_iter().enumerate() {
        check_abreast::<K>(capacity, if capacity < 4 { 150 } else { 1_000 }, 10 * seed as u64);
    }
}

fn miri_random_outcomes_of_stages_at_once<K: Kind>() {
    quiet_panics();
    check_abreast::<K>(4, 6, 5);
}
