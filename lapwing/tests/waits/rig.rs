//! The scenario of the suites about monitors: a ring in a known state, and what is said about it as
//! text.
//!
//! [`Rig::row`] builds a ring of pollers from its shape: "decode! left+right" is an acknowledged stage
//! and two parallel ones downstream. [`Rig::of`] takes any other ring. [`Rig::does`] moves it by a
//! script: "publish 4, decode 3, decode acked 2, left leaves, close". Nothing else moves the
//! pollers, so the figures are exact.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Kind, PATIENCE, ProducerOf, Turnstile};
use lapwing::consumer::{Acknowledger, Shared};
use lapwing::monitor::{Monitor, Snapshot, StageSnapshot, StageState, Stall};
use lapwing::{Action, Builder, Consumers, EventHandler, Poller, Running, Sequence, Stage};

pub(crate) struct Rig<K: Kind> {
    pub(crate) producer: ProducerOf<u64, K>,
    pub(crate) monitor: Monitor,
    /// Until they start.
    pub(crate) consumers: Option<Consumers<'static, u64>>,
    pollers: HashMap<String, Poller<u64>>,
    acknowledgers: HashMap<String, Acknowledger>,
}

/// A ring named "orders", without stages.
pub(crate) fn orders<K: Kind>(capacity: usize) -> Builder<'static, u64, K::Sequencer> {
    K::ring(capacity, || 0_u64).name("orders")
}

impl<K: Kind> Rig<K> {
    pub(crate) fn of(ring: Builder<'static, u64, K::Sequencer>) -> Self {
        let (producer, mut consumers) = ring.build().unwrap();
        let names: Vec<_> = consumers.names().map(str::to_owned).collect();
        let poller = |name: &String| Some((name.clone(), consumers.take_poller(name).ok()?));
        let pollers = names.iter().filter_map(poller).collect();
        let acknowledger =
            |name: &String| Some((name.clone(), consumers.take_acknowledger(name).ok()?));
        let acknowledgers = names.iter().filter_map(acknowledger).collect();
        let monitor = producer.monitor();
        Self { producer, monitor, pollers, acknowledgers, consumers: Some(consumers) }
    }

    /// A ring named "orders" of pollers in a row, with "+" between parallel ones.
    pub(crate) fn row(capacity: usize, shape: &str) -> Self {
        Self::of(row::<K>(orders::<K>(capacity), shape))
    }

    /// Runs steps: "publish 3", "NAME 2" (the poller finishes two events), "NAME acked 2", "NAME
    /// leaves", "close".
    pub(crate) fn does(&mut self, script: &str) -> &mut Self {
        for step in script.split(", ").filter(|step| !step.is_empty()) {
            match step.split(' ').collect::<Vec<_>>()[..] {
                ["close"] => self.producer.close(),
                ["publish", events] => {
                    self.producer.publish_batch(events.parse().unwrap(), |_| {}).unwrap();
                }
                [poller, "leaves"] => drop(self.take_poller(poller)),
                [stage, "acked", end] => {
                    self.acknowledgers[stage].acknowledge(end.parse().unwrap()).unwrap();
                }
                [poller, events] => finish(self.poller(poller), events.parse().unwrap()),
                _ => panic!("no step: {step}"),
            }
        }
        self
    }

    pub(crate) fn poller(&mut self, name: &str) -> &mut Poller<u64> {
        self.pollers.get_mut(name).unwrap()
    }

    pub(crate) fn take_poller(&mut self, name: &str) -> Poller<u64> {
        self.pollers.remove(name).unwrap()
    }

    pub(crate) fn start(&mut self) -> Running<'static> {
        self.consumers.take().unwrap().start().unwrap()
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        seen(&self.monitor.snapshot())
    }

    pub(crate) fn said(&self) -> String {
        said(&self.monitor)
    }
}

/// Adds pollers to the ring, as [`Rig::row`] does.
pub(crate) fn row<K: Kind>(
    ring: Builder<'static, u64, K::Sequencer>,
    shape: &str,
) -> Builder<'static, u64, K::Sequencer> {
    let poller = |name: &str| match name.strip_suffix('!') {
        Some(name) => Stage::new(name).acknowledged(),
        None => Stage::new(name),
    };
    shape.split(' ').fold(ring, |ring, names| {
        ring.parallel(|parallel| {
            names.split('+').fold(parallel, |parallel, name| parallel.stage(poller(name)).poller())
        })
    })
}

/// Finishes `events` available events.
pub(crate) fn finish(poller: &mut Poller<u64>, mut events: usize) {
    while events > 0 {
        let mut batch = poller.poll_max(events).unwrap();
        events -= batch.len();
        batch.consume_all();
    }
}

// ---- handlers ----

/// A call of a handler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Start,
    Event(Sequence),
    Released(Sequence),
    Timeout,
    Shutdown,
}

/// A handler that is one closure for all its calls. One type, so that its stage compiles once.
pub(crate) struct Calls(Box<dyn FnMut(Call) -> Action + Send>);

pub(crate) fn calls(to: impl FnMut(Call) -> Action + Send + 'static) -> Calls {
    Calls(Box::new(to))
}

/// Handles each event with the answer of `to`.
pub(crate) fn events(mut to: impl FnMut(Sequence) -> Action + Send + 'static) -> Calls {
    calls(move |call| match call {
        Call::Event(sequence) => to(sequence),
        _ => Action::Continue,
    })
}

pub(crate) fn nothing() -> Calls {
    calls(|_| Action::Continue)
}

/// A handler that blocks at each event until the turnstile lets it go.
pub(crate) fn gated() -> (Turnstile, Calls) {
    let (turnstile, mut pass) = Turnstile::new();
    let handler = events(move |sequence| {
        pass(sequence);
        Action::Continue
    });
    (turnstile, handler)
}

/// A handler that blocks in `call` until the turnstile, which it passes with 0, lets it go.
pub(crate) fn blocks_in(call: Call) -> (Turnstile, Calls) {
    let (turnstile, mut pass) = Turnstile::new();
    let handler = calls(move |now| {
        if now == call {
            pass(0);
        }
        Action::Continue
    });
    (turnstile, handler)
}

impl EventHandler<u64, Shared, Action> for Calls {
    fn on_start(&mut self) {
        (self.0)(Call::Start);
    }

    fn on_event(&mut self, _: &u64, sequence: Sequence, _: bool) -> Action {
        (self.0)(Call::Event(sequence))
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        (self.0)(Call::Released(next_sequence));
    }

    fn on_timeout(&mut self, _: Sequence) {
        (self.0)(Call::Timeout);
    }

    fn on_shutdown(&mut self) {
        (self.0)(Call::Shutdown);
    }
}

// ---- what a monitor says ----

/// Returns the figures of the consumer `name`.
pub(crate) fn stage<'a>(snapshot: &'a Snapshot, name: &str) -> &'a StageSnapshot {
    snapshot.stages.iter().find(|stage| stage.name == name).expect("the stage exists")
}

pub(crate) fn state(monitor: &Monitor, name: &str) -> StageState {
    stage(&monitor.snapshot(), name).state
}

/// Waits until the snapshots fulfil `is_there`.
#[track_caller]
pub(crate) fn until(monitor: &Monitor, is_there: impl Fn(&Snapshot) -> bool) -> Snapshot {
    let begun = Instant::now();
    loop {
        let snapshot = monitor.snapshot();
        if is_there(&snapshot) {
            return snapshot;
        }
        assert!(begun.elapsed() < PATIENCE, "{snapshot}");
        thread::yield_now();
    }
}

#[track_caller]
pub(crate) fn until_state(monitor: &Monitor, name: &str, state: StageState) -> Snapshot {
    until(monitor, |snapshot| stage(snapshot, name).state == state)
}

/// Returns a line for the ring and one for each consumer.
pub(crate) fn seen(snapshot: &Snapshot) -> Vec<String> {
    let mut ring = format!(
        "{}, {} free, {} published, {} claimed",
        snapshot.state, snapshot.free_slots, snapshot.published, snapshot.claimed
    );
    for (number, of) in [(snapshot.waiting_producers, "waiting"), (snapshot.dropped, "dropped")] {
        if number > 0 {
            ring += &format!(", {number} {of}");
        }
    }
    [ring].into_iter().chain(snapshot.stages.iter().map(line)).collect()
}

/// Returns "NAME: STATE at SEQUENCE, AVAILABLE of LAG ready, BATCHES done".
pub(crate) fn line(stage: &StageSnapshot) -> String {
    format!(
        "{}: {} at {}, {} of {} ready, {} done",
        stage.name, stage.state, stage.sequence, stage.available, stage.lag, stage.batches
    )
}

/// Returns the verdict of two snapshots, with no duration.
pub(crate) fn verdict(monitor: &Monitor) -> Option<Stall> {
    let monitor = monitor.clone();
    let _ = monitor.snapshot();
    monitor.stall().map(|stall| after(stall, Duration::ZERO))
}

/// Returns the stall as if it had this duration.
pub(crate) fn after(mut stall: Stall, at_least: Duration) -> Stall {
    stall.at_least = at_least;
    stall
}

/// Returns the verdict of two snapshots in short: "full: ticks is not polled, at 0, 4 events behind;
/// 4 of 4", or "-".
pub(crate) fn said(monitor: &Monitor) -> String {
    let Some(stall) = verdict(monitor) else { return "-".to_owned() };
    let (mut text, start) = (stall.to_string(), format!("ring {:?} is ", stall.ring));
    assert!(text.starts_with(&start), "{text}");
    for left_out in [&start, "stage ", "\"", "sequence ", " for at least 0 ms", " slots are held"] {
        text = text.replace(left_out, "");
    }
    text
}
