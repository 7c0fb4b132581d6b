//! Stages with `&mut E`: which of their own writes they see when an event is retried, and which
//! writes downstream stages see.

use std::mem;
use std::time::Duration;

use lapwing::consumer::{Access, Exclusive, Failure, Outcome};
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{counts, drain};

common::for_both_producers! {
    miri_a_rewind_meets_its_own_writes,
    a_retry_meets_only_the_writes_to_its_event,
    a_skip_passes_a_half_changed_event_on,
    a_panic_leaves_the_event_half_changed,
    a_batch_is_written_again_whole,
    a_handler_that_writes_failed_events_changes_them,
    an_event_that_owns_memory_survives_panics_in_its_change,
}

const ZERO: Duration = Duration::ZERO;

/// Adds 10 to each event. The first attempt of event 2 fails half way, by `fail`. Returns what the
/// next stage saw.
fn values<K: Kind>(fail: fn() -> Result<Action, &'static str>, policy: Action) -> Vec<u64> {
    quiet_panics();
    let mut seen = Vec::new();
    let mut is_first = true;
    let stage = Stage::new("writes").max_batch(8).on_error(policy).on_panic(policy);
    let ring = K::ring(8, || 0)
        .stage(stage)
        .write(move |event, sequence, _| {
            *event += 10;
            let verdict = if sequence == 2 && mem::take(&mut is_first) {
                fail()
            } else {
                Ok(Action::Continue)
            };
            if verdict == Ok(Action::Continue) {
                *event += 100;
            }
            verdict
        })
        .stage("reads")
        .with_failed_events()
        .read(|event, _, _| seen.push(*event));
    let finished = drain(ring, 4);
    assert!(finished.iter().all(|stage| *stage.outcome() == Outcome::Drained));
    drop(finished);
    seen
}

const FAILURES: [fn() -> Result<Action, &'static str>; 2] =
    [|| Err(ON_PURPOSE), || panic!("{ON_PURPOSE}")];

fn miri_a_rewind_meets_its_own_writes<K: Kind>() {
    for fail in FAILURES {
        assert_eq!(values::<K>(fail, Action::Rewind(ZERO)), [220, 221, 122, 113]);
    }
    assert_eq!(values::<K>(|| Ok(Action::Rewind(ZERO)), Action::Halt), [220, 221, 122, 113]);
}

fn a_retry_meets_only_the_writes_to_its_event<K: Kind>() {
    for fail in FAILURES {
        for again in [Action::Retry(ZERO), Action::Restart(ZERO)] {
            assert_eq!(values::<K>(fail, again), [110, 111, 122, 113]);
        }
    }
}

fn a_skip_passes_a_half_changed_event_on<K: Kind>() {
    for fail in FAILURES {
        assert_eq!(values::<K>(fail, Action::Skip), [110, 111, 12, 113]);
    }
    assert_eq!(values::<K>(|| Ok(Action::Skip), Action::Halt), [110, 111, 12, 113]);
}

fn a_panic_leaves_the_event_half_changed<K: Kind>() {
    for go_on in [Action::Continue, Action::ReleaseNow] {
        assert_eq!(values::<K>(|| panic!("{ON_PURPOSE}"), go_on), [110, 111, 12, 113]);
    }
}

fn a_batch_is_written_again_whole<K: Kind>() {
    let mut seen = Vec::new();
    let mut failures = 2;
    let stage = Stage::new("writes").max_batch(3).on_error(Action::Retry(ZERO));
    let ring = K::ring(8, || 0)
        .stage(stage)
        .write_batch(move |events, first| {
            events.iter_mut().for_each(|event| *event += 10);
            if first == 3 && failures > 0 {
                failures -= 1;
                return Err(ON_PURPOSE);
            }
            Ok(())
        })
        .stage("reads")
        .with_failed_events()
        .read(|event, _, _| seen.push(*event));
    assert!(drain(ring, 7).iter().all(|stage| counts(stage) == (7, 0)));
    assert_eq!(seen, [10, 11, 12, 33, 34, 35, 16]);
}

/// Marks its calls in the event itself.
struct Marker;

impl EventHandler<u64, Exclusive> for Marker {
    fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
        *event += 10;
    }

    fn on_failed_event(&mut self, event: &mut u64, _: Sequence, _: bool, _: &Failure<'_>) {
        *event += 1_000;
    }
}

fn a_handler_that_writes_failed_events_changes_them<K: Kind>() {
    let mut seen = Vec::new();
    let skips = |_: &mut u64, sequence, _: bool| {
        if sequence == 1 { Action::Skip } else { Action::Continue }
    };
    let ring = K::ring(4, || 0)
        .stage("skips")
        .write(skips)
        .stage("marks")
        .write_handler(Marker)
        .stage("reads")
        .with_failed_events()
        .read(|event, _, _| seen.push(*event));
    drop(drain(ring, 3));
    assert_eq!(seen, [10, 1_001, 12]);
}

/// Takes the text out of an event, may panic, and otherwise puts it back.
struct Swaps(u32);

impl<A> EventHandler<String, A> for Swaps
where
    A: for<'a> Access<Ref<'a, String> = &'a mut String>,
{
    fn on_event(&mut self, event: &mut String, _: Sequence, _: bool) {
        let text = mem::take(event);
        self.0 += 1;
        assert!(self.0.is_multiple_of(2), "{ON_PURPOSE}: {text}");
        *event = format!("{text}!");
    }
}

fn an_event_that_owns_memory_survives_panics_in_its_change<K: Kind>() {
    quiet_panics();
    let mut seen = Vec::new();
    let stage = Stage::new("swaps").on_panic(Action::Retry(ZERO));
    let (mut producer, consumers) = K::ring(2, String::new)
        .stage(stage)
        .write_handler::<Swaps, ()>(Swaps(0))
        .stage("reads")
        .read(|event: &String, _, _| seen.push(event.clone()))
        .build()
        .unwrap();
    std::thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for _ in 0..6 {
            producer.publish(|event| "text".clone_into(event)).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_eq!(seen, ["!"; 6], "the text went with the panic");
}
