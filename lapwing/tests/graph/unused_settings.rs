//! Tests that `build` refuses a setting that a stage cannot follow.

use std::fmt;
use std::time::Duration;

use crate::common::Kind;
use lapwing::consumer::{Exclusive, Retries, Shared};
use lapwing::error::BuildError;
use lapwing::producer::Sequencer;
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    timeout_of_a_closure_is_an_error,
    settings_that_a_poller_cannot_follow_are_errors,
    policy_for_errors_of_a_handler_without_errors_is_an_error,
    settings_that_a_stage_follows_are_accepted,
}

const SOON: Duration = Duration::from_millis(1);

struct Deaf;

impl EventHandler<u64> for Deaf {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

impl EventHandler<u64, Exclusive> for Deaf {
    fn on_event(&mut self, _: &mut u64, _: Sequence, _: bool) {}
}

impl EventHandler<u64, Shared, Result<Action, fmt::Error>> for Deaf {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) -> Result<Action, fmt::Error> {
        Ok(Action::Continue)
    }
}

fn impatient() -> Stage {
    Stage::new("stage").timeout_after(SOON)
}

fn forgiving() -> Stage {
    Stage::new("stage").on_error(Action::Skip)
}

#[track_caller]
fn refuses<S: Sequencer>(ring: Builder<'_, u64, S>, setting: &str, needs: &str) {
    let error = ring.build().unwrap_err();
    let text = "the setting has no effect, because it needs";
    let text = format!("{text} {needs}: stage=\"stage\", setting={setting}");
    assert_eq!(error.to_string(), text);
    assert!(matches!(error, BuildError::UnusedSetting { .. }), "{error:?}");
}

fn timeout_of_a_closure_is_an_error<K: Kind>() {
    let ring = || K::ring(8, || 0_u64);
    let rings = [
        ring().stage(impatient()).read(|_, _, _| {}),
        ring().stage(impatient()).write(|_, _, _| {}),
        ring().stage(impatient()).read_batch(|_, _| {}),
        ring().stage(impatient()).write_batch(|_, _| {}),
        ring().parallel(|parallel| parallel.stage(impatient()).read(|_, _, _| {})),
        ring().stage(impatient()).workers(2).read(|_| |_: &u64, _, _| {}),
    ];
    rings
        .into_iter()
        .for_each(|ring| refuses(ring, "timeout_after", "a handler with `on_timeout`"));
}

fn settings_that_a_poller_cannot_follow_are_errors<K: Kind>() {
    let stage = || Stage::new("stage");
    let settings = [
        (impatient(), "timeout_after", "a handler with `on_timeout`"),
        (forgiving(), "on_error", "a handler that returns a `Result`"),
        (stage().on_panic(Action::Skip), "on_panic", "a handler"),
        (stage().with_failed_events(), "with_failed_events", "a handler"),
        (stage().pin(0), "pin", "a thread"),
        (stage().on_thread("stage"), "on_thread", "a thread"),
        (stage().may_block(), "may_block", "a thread"),
    ];
    for (stage, setting, needs) in settings {
        refuses(K::ring(8, || 0_u64).stage(stage).poller(), setting, needs);
    }
    refuses(K::ring(8, || 0_u64).stage(stage().pin(0)).poller_mut(), "pin", "a thread");
}

fn policy_for_errors_of_a_handler_without_errors_is_an_error<K: Kind>() {
    let ring = || K::ring(8, || 0_u64);
    let skips = |_: usize| |_: &u64, _, _| Action::Skip;
    let rings = [
        ring().stage(forgiving()).read(|_, _, _| {}),
        ring().stage(forgiving()).read(|_, _, _| Action::Skip),
        ring().stage(forgiving()).read_batch(|_, _| Action::Continue),
        ring().stage(forgiving()).write_handler(Deaf),
        ring().stage(forgiving()).workers(2).read(skips),
    ];
    let needs = "a handler that returns a `Result`";
    rings.into_iter().for_each(|ring| refuses(ring, "on_error", needs));
}

fn settings_that_a_stage_follows_are_accepted<K: Kind>() {
    let ring = || K::ring(8, || 0_u64);
    let all = || impatient().on_error(Retries::of_event()).on_panic(Action::Skip).may_block();
    let fails = |_: usize| |_: &u64, _, _| Err::<(), _>("no route");
    let rings = [
        ring().stage(all()).read_handler::<_, Result<Action, fmt::Error>>(Deaf),
        ring().stage(all()).read_local::<_, Result<Action, fmt::Error>>(|| Deaf),
        ring().stage(impatient().on_panic(Action::Skip)).write_handler(Deaf),
        ring()
            .stage(forgiving().on_panic(Action::Skip).on_thread("here"))
            .read(|_, _, _| Err::<Action, _>("no route")),
        ring().stage(forgiving()).workers(2).read(fails),
        ring().stage("stage").max_batch(2).wait_strategy(lapwing::wait::BusySpin).poller(),
    ];
    for ring in rings {
        assert_eq!(ring.build().err(), None);
    }
}
