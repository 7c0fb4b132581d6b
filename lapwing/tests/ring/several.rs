//! Tests that several handlers in one stage get every call, in their order.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::common::{Kind, wait_until};
use crate::rings::{on_event, run};
use lapwing::consumer::{Access, Exclusive, Failure, Shared};
use lapwing::lifecycle::Report;
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    every_call_reaches_every_handler_in_order,
    empty_list_of_handlers_handles_everything,
    second_handler_sees_what_the_first_wrote,
    second_handler_does_not_get_what_the_first_skipped,
    second_handler_gets_what_the_first_released,
}

/// The calls, each with the number of its handler.
type Calls = Arc<Mutex<Vec<(&'static str, u32)>>>;

struct Logs(Calls, u32);

impl Logs {
    fn log(&self, call: &'static str) {
        let mut calls = self.0.lock().unwrap();
        // A timeout may occur any number of times.
        if call != "on_timeout" || !calls.contains(&(call, self.1)) {
            calls.push((call, self.1));
        }
    }
}

impl<A: Access> EventHandler<u64, A> for Logs {
    fn on_start(&mut self) {
        self.log("on_start");
    }

    fn on_batch_start(&mut self, _: u64, _: u64) {
        self.log("on_batch_start");
    }

    fn on_event(&mut self, _: A::Ref<'_, u64>, _: Sequence, _: bool) {
        self.log("on_event");
    }

    fn on_failed_event(&mut self, _: A::Ref<'_, u64>, _: Sequence, _: bool, _: &Failure<'_>) {
        self.log("on_failed_event");
    }

    fn on_released(&mut self, _: Sequence) {
        self.log("on_released");
    }

    fn on_timeout(&mut self, _: Sequence) {
        self.log("on_timeout");
    }

    fn on_restart(&mut self) {
        self.log("on_restart");
    }

    fn on_shutdown(&mut self) {
        self.log("on_shutdown");
    }
}

/// Runs `handler` through each of its calls but `on_restart`.
fn go_through<K: Kind>(calls: &Calls, handler: impl EventHandler<u64, Shared> + Send + 'static) {
    let fails_once =
        |_: &u64, sequence, _| if sequence == 0 { Action::Skip } else { Action::Continue };
    let stage = Stage::new("several").timeout_after(Duration::from_millis(1)).max_batch(1);
    let ring = K::ring(4, || 0_u64).stage("first").read(fails_once);
    run(ring.stage(stage).read_handler(handler), |mut producer| {
        producer.publish_batch(2, |_| {}).unwrap();
        let is_timeout = |(call, _): &&(&str, u32)| *call == "on_timeout";
        wait_until(|| calls.lock().unwrap().iter().filter(is_timeout).count() == 2);
    });
}

const ALL: [&str; 8] = [
    "on_start",
    "on_batch_start",
    "on_failed_event",
    "on_released",
    "on_batch_start",
    "on_event",
    "on_released",
    "on_shutdown",
];

/// Expects each call of `ALL` for the handlers 1 and 2, at any position of the timeout.
fn check(calls: &Calls) {
    let (timeouts, seen): (Vec<_>, Vec<_>) =
        calls.lock().unwrap().iter().copied().partition(|(call, _)| *call == "on_timeout");
    let expected: Vec<_> = ALL.into_iter().flat_map(|call| [(call, 1), (call, 2)]).collect();
    assert_eq!(seen, expected);
    assert_eq!(timeouts, [("on_timeout", 1), ("on_timeout", 2)]);
}

fn every_call_reaches_every_handler_in_order<K: Kind>() {
    let calls = Calls::default();
    let logs = |number| Logs(Arc::clone(&calls), number);
    go_through::<K>(&calls, vec![logs(1), logs(2)]);
    check(&calls);
    calls.lock().unwrap().clear();
    go_through::<K>(&calls, (logs(1), logs(2)));
    check(&calls);
}

fn empty_list_of_handlers_handles_everything<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("none").read_handler(Vec::<Logs>::new());
    let report = run(ring, |mut producer| _ = producer.publish_batch(3, |_| {}).unwrap());
    assert_eq!(report.stages().next().unwrap().processed(), 3);
}

struct Adds(u64);

impl EventHandler<u64, Exclusive> for Adds {
    fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
        *event += self.0;
    }
}

#[derive(Default)]
struct Keeps(Vec<u64>);

impl EventHandler<u64, Exclusive> for Keeps {
    fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
        self.0.push(*event);
    }
}

/// Publishes the numbers, and returns the handler.
fn handle<K: Kind, H: 'static>(
    ring: Builder<'static, u64, K::Sequencer>,
    numbers: &[u64],
) -> (Report, H) {
    let mut report = run(ring, |mut producer| {
        for number in numbers {
            producer.publish(|event| *event = *number).unwrap();
        }
    });
    let handler = report.take("several").unwrap();
    (report, handler)
}

fn second_handler_sees_what_the_first_wrote<K: Kind>() {
    let pairs = ((Adds(1), Adds(10)), Keeps::default());
    let ring = K::ring(4, || 0_u64).stage("several").write_handler(pairs);
    let (_, (_, Keeps(kept))) = handle::<K, ((Adds, Adds), Keeps)>(ring, &[100]);
    assert_eq!(kept, [111]);
    // Of several types.
    type Boxed = Box<dyn EventHandler<u64, Exclusive> + Send>;
    let list: Vec<Boxed> = vec![Box::new(Adds(1)), Box::new(Keeps::default()), Box::new(Adds(10))];
    let mut seen = Vec::new();
    let ring = K::ring(4, || 0_u64).stage("several").write_handler(list);
    run(ring.stage("last").read(on_event(|event, _, _| seen.push(*event))), |mut producer| {
        producer.publish(|event| *event = 100).unwrap();
    });
    assert_eq!(seen, [111]);
}

struct Limit(u64);

impl EventHandler<u64, Shared, Action> for Limit {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) -> Action {
        if *event < self.0 { Action::Continue } else { Action::Skip }
    }
}

#[derive(Default)]
struct Sums(u64);

impl EventHandler<u64, Shared, Action> for Sums {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) -> Action {
        self.0 += event;
        Action::Continue
    }
}

fn second_handler_does_not_get_what_the_first_skipped<K: Kind>() {
    let pair = (Limit(9), Sums::default());
    let ring = K::ring(4, || 0_u64).stage("several").read_handler(pair);
    let (report, (_, Sums(sum))) = handle::<K, (Limit, Sums)>(ring, &[7, 9, 8]);
    assert_eq!((report.stages().next().unwrap().skipped(), sum), (1, 15));
}

/// Releases each event early, and with it all earlier events.
struct Releases;

impl EventHandler<u64, Shared, Action> for Releases {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) -> Action {
        Action::ReleaseNow
    }
}

/// Whether a stage releases its first event while it handles its second.
struct Early<P>(P, mpsc::Sender<bool>);

impl<P: FnMut() -> bool> EventHandler<u64, Shared, Action> for Early<P> {
    fn on_event(&mut self, _: &u64, sequence: Sequence, _: bool) -> Action {
        if sequence == 1 {
            self.1.send((self.0)()).unwrap();
        }
        Action::Continue
    }
}

/// The second handler gets the call too, and the pair returns what either of them returned.
fn second_handler_gets_what_the_first_released<K: Kind>() {
    let (send, early) = mpsc::channel();
    let (give, given) = mpsc::channel::<lapwing::Poller<u64>>();
    let mut after = None;
    let is_there = move || {
        after
            .get_or_insert_with(|| given.recv().unwrap())
            .poll()
            .is_ok_and(|batch| batch.len() == 1)
    };
    let pair = (Releases, (Early(is_there, send), Sums::default()));
    let stage = Stage::new("several").max_batch(4);
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .stage(stage)
        .read_handler(pair)
        .stage("after")
        .poller()
        .build()
        .unwrap();
    give.send(consumers.take_poller("after").unwrap()).unwrap();
    for price in [7, 9, 8] {
        producer.publish(|event| *event = price).unwrap();
    }
    drop(producer);
    let finished = consumers.into_iter().next().unwrap().run();
    assert_eq!(finished.processed(), 3);
    assert!(early.recv().unwrap(), "the release counts although the others returned nothing");
    drop(finished);
}
