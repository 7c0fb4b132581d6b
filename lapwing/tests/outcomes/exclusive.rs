//! Stages with `&mut E`: which of their own writes they see when an event is retried, and which
//! writes downstream stages see.

use std::mem;
use std::time::Duration;

use lapwing::consumer::{Access, Outcome};
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Said, counts, drain};

common::for_both_producers! {
    miri_a_stage_meets_its_own_writes_when_it_repeats_events,
    a_batch_is_written_again_whole,
    an_event_that_owns_memory_survives_panics_in_its_change,
}

const ZERO: Duration = Duration::ZERO;

/// Keeps the values that it sees.
#[derive(Default)]
struct Values(Vec<u64>);

impl EventHandler<u64> for Values {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
        self.0.push(*event);
    }
}

/// Adds 10 to each event. The first attempt of event 2 fails half way, by `fail`. Returns what the
/// next stage saw.
fn values<K: Kind>(fail: fn() -> Said, policy: Action) -> Vec<u64> {
    quiet_panics();
    let mut is_first = true;
    let stage = Stage::new("writes").max_batch(8).on_error(policy).on_panic(policy);
    let ring = K::ring(8, || 0)
        .stage(stage)
        .write(move |event, sequence, _| {
            *event += 10;
            if sequence == 2 && mem::take(&mut is_first) {
                return fail();
            }
            *event += 100;
            Ok(Action::Continue)
        })
        .stage("reads")
        .with_failed_events()
        .read_handler(Values::default());
    let mut finished = drain(ring, 4);
    assert!(finished.iter().all(|stage| *stage.outcome() == Outcome::Drained));
    finished[1].take_handler::<Values>().unwrap().0
}

/// Each row has an action and what the next stage sees after an error and a panic with this policy.
fn miri_a_stage_meets_its_own_writes_when_it_repeats_events<K: Kind>() {
    for (policy, expected) in [
        (Action::Rewind(ZERO), [220, 221, 122, 113]),
        (Action::Retry(ZERO), [110, 111, 122, 113]),
        (Action::Restart(ZERO), [110, 111, 122, 113]),
        (Action::Skip, [110, 111, 12, 113]),
        (Action::Continue, [110, 111, 12, 113]),
        (Action::ReleaseNow, [110, 111, 12, 113]),
    ] {
        assert_eq!(values::<K>(|| Err(ON_PURPOSE), policy), expected, "{policy:?}");
        assert_eq!(values::<K>(|| panic!("{ON_PURPOSE}"), policy), expected, "{policy:?}");
    }
    let rewinds = || Ok(Action::Rewind(ZERO));
    assert_eq!(values::<K>(rewinds, Action::Halt), [220, 221, 122, 113]);
}

fn a_batch_is_written_again_whole<K: Kind>() {
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
        .read_handler(Values::default());
    let mut finished = drain(ring, 7);
    assert!(finished.iter().all(|stage| counts(stage) == (7, 0)));
    let seen: Values = finished[1].take_handler().unwrap();
    assert_eq!(seen.0, [10, 11, 12, 33, 34, 35, 16]);
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
