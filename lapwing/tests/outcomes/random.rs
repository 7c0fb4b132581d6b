//! Random outcomes: of one stage against the model, and of several stages at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapwing::consumer::{Cause, Failure};
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, Lcg, ON_PURPOSE, quiet_panics, repeats};
use crate::scenario::{Act, CONTINUES, Scenario, Script};
use crate::{Call, Form, Log, Spy, counts, run_threads};

common::for_both_producers! {
    random_outcomes_are_those_of_a_simple_model,
    miri_a_few_random_outcomes_are_those_of_a_simple_model,
    random_outcomes_of_stages_in_parallel_and_in_a_row_lose_nothing,
    miri_random_outcomes_of_stages_at_once,
}

const ZERO: Duration = Duration::ZERO;

/// Draws what user code does in each call. The same seed gives the same answers to the same calls.
pub(crate) struct Dice(Lcg);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Lcg(seed))
    }

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

    /// An action that lets the stage live.
    fn survival(&mut self) -> Action {
        loop {
            match self.action() {
                Action::Stop | Action::SkipAndStop | Action::Halt => {}
                action => return action,
            }
        }
    }

    fn panics_once_in(&mut self, calls: u64) -> Act {
        if self.0.below(calls) == 0 { Act::Panics } else { CONTINUES }
    }

    pub(crate) fn act(&mut self, call: &Call) -> Act {
        match call {
            Call::Start => self.panics_once_in(50),
            Call::BatchStart(..) | Call::Restart | Call::Shutdown => self.panics_once_in(16),
            Call::Released(_) | Call::Timeout(_) => CONTINUES,
            Call::Policy(..) if self.0.below(30) == 0 => Act::Panics,
            Call::Policy(..) => Act::Says(self.action()),
            _ => match self.0.below(16) {
                0 | 1 => Act::Says(self.action()),
                2 => Act::Errs,
                3 => Act::Panics,
                _ => CONTINUES,
            },
        }
    }
}

// ---- one stage, one thread ----

fn check_seed<K: Kind>(seed: u64) {
    let mut random = Lcg(!seed);
    let events = 1 + random.below(16);
    let form = Form::ALL[seed as usize % Form::ALL.len()];
    let mut scenario = Scenario::new(form, events, 1 + random.below(7), Script::Random(seed));
    scenario.finishes = random.below(5);
    if random.below(2) == 0 {
        let failed = (0..events).filter(|_| random.below(3) == 0).collect();
        scenario.failed = (failed, random.below(2) == 0);
        scenario.takes_failed = random.below(3) == 0;
    }
    scenario.check_by::<K>(false);
    scenario.check_by::<K>(true);
}

fn random_outcomes_are_those_of_a_simple_model<K: Kind>() {
    (0..repeats(2_500)).for_each(check_seed::<K>);
}

fn miri_a_few_random_outcomes_are_those_of_a_simple_model<K: Kind>() {
    (100..108).for_each(check_seed::<K>);
}

// ---- several stages, each on its own thread ----

/// The calls of one stage and their results.
#[derive(Default)]
struct Trace {
    /// Each event, and whether it came as failed, once for each call.
    calls: Vec<(Sequence, bool)>,
    skipped: BTreeSet<Sequence>,
}

/// A stage that survives every outcome, and its handler.
fn survivor(name: &str, trace: &Arc<Mutex<Trace>>, seed: u64) -> (Stage, Spy) {
    let dice = Arc::new(Mutex::new(Dice::new(seed)));
    let skip = |trace: &Mutex<Trace>, action, sequence| {
        if action == Action::Skip {
            trace.lock().unwrap().skipped.insert(sequence);
        }
        action
    };
    let policy = || {
        let (trace, dice) = (Arc::clone(trace), Arc::clone(&dice));
        move |failure: &Failure<'_>| {
            let action = dice.lock().unwrap().survival();
            // Only calls between batches panic here, and these skip no event.
            let is_event = matches!(failure.cause(), Cause::Error(_));
            if is_event { skip(&trace, action, failure.sequence()) } else { action }
        }
    };
    let stage = Stage::new(name).on_error(policy()).on_panic(policy());
    let (trace, dice) = (Arc::clone(trace), Arc::clone(&dice));
    let spy = Spy::new(&Log::default(), move |call| {
        let Some(events) = call.events() else {
            let is_bad = matches!(call, Call::BatchStart(..))
                && dice.lock().unwrap().act(call) == Act::Panics;
            assert!(!is_bad, "{ON_PURPOSE}");
            return Ok(Action::Continue);
        };
        trace.lock().unwrap().calls.push((events.start, matches!(call, Call::Failed(..))));
        let act = dice.lock().unwrap().act(call);
        match act {
            CONTINUES => Ok(Action::Continue),
            Act::Says(_) => Ok(skip(&trace, dice.lock().unwrap().survival(), events.start)),
            Act::Errs | Act::Panics => Err(ON_PURPOSE),
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
    let traces: [Arc<Mutex<Trace>>; 4] = Default::default();
    let [first, left, right, last] = [("first", 0), ("left", 1), ("right", 2), ("last", 3)]
        .map(|(name, index)| survivor(name, &traces[index], seed + index as u64));
    let ring = Form::Handler.add(K::ring(capacity, || 0), first.0, first.1).parallel(|parallel| {
        parallel.stage(left.0).read_handler(left.1).stage(right.0).read_handler(right.1)
    });
    let report = run_threads(Form::Handler.add(ring, last.0, last.1), events).unwrap();
    let traces = traces.each_ref().map(|trace| trace.lock().unwrap());
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
