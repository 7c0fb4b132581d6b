//! Handlers that fail: some events are skipped, others are tried again, and a stage stops. Five
//! threads.
//!
//! ```text
//!                       ┌──> risk ──> book
//! producers ──> [ring] ─┤
//!                       └──> audit
//! ```

use std::panic::resume_unwind;
use std::time::Duration;

use lapwing::consumer::{Failure, Outcome, Retries};
use lapwing::{Action, Disruptor, EventHandler, Sequence, Stage};
use shuttle::thread;

use crate::event::Event;
use crate::explore::{PARK, explore};
use crate::feed::publish;
use crate::record::{Events, Log, merged};

/// Whether `risk` returns an error, or panics.
fn is_refused(value: u64) -> bool {
    value % 3 == 1
}

fn is_fatal(value: u64) -> bool {
    value % 3 == 2
}

/// Panics without the panic hook, which would report a failed schedule.
fn panic_on_purpose() -> ! {
    resume_unwind(Box::new("on purpose"))
}

/// Notes handled and failed events separately.
struct Book {
    handled: Log,
    failed: Log,
}

impl EventHandler<Event> for Book {
    fn on_event(&mut self, event: &Event, sequence: Sequence, _: bool) {
        self.handled.note(sequence, event.read());
    }

    fn on_failed_event(&mut self, event: &Event, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.failed.note(sequence, event.read());
    }
}

#[test]
fn events_that_are_skipped_and_tried_again() {
    explore("outcomes", || {
        let [handled, failed, audited] = [(); 3].map(|()| Log::default());
        let book = Book { handled: handled.clone(), failed: failed.clone() };
        let risk = |event: &Event, _: Sequence, _: bool| match event.read() {
            value if is_refused(value) => Err("refused"),
            value if is_fatal(value) => panic_on_purpose(),
            _ => Ok(()),
        };
        let (mut last, log) = (None, audited.clone());
        let audit = move |event: &Event, sequence: Sequence, _: bool| {
            if last.replace(sequence) != Some(sequence) {
                return Err("try again");
            }
            log.note(sequence, event.read());
            Ok(())
        };
        let retries = Retries::of_event().pause(Duration::from_micros(1)).attempts(3);
        let (producer, consumers) = Disruptor::multi_producer(4, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .parallel(|parallel| {
                parallel
                    .chain(|chain| {
                        chain
                            .stage(Stage::new("risk").on_error(Action::Skip).on_panic(Action::Skip))
                            .read(risk)
                            .stage("book")
                            .read_handler(book)
                    })
                    .stage(Stage::new("audit").on_error(retries))
                    .read(audit)
            })
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let (mut one, mut other) = (producer.clone(), producer);
        let feeds = [
            thread::spawn(move || publish(&mut one, 10..13)),
            thread::spawn(move || publish(&mut other, 20..23)),
        ];
        let accepted = merged(feeds.map(|feed| feed.join().unwrap()));
        running.join().unwrap();
        assert_eq!(audited.seen(), accepted);
        let (bad, good): (Events, Events) =
            accepted.into_iter().partition(|&(_, value)| is_refused(value) || is_fatal(value));
        assert_eq!((handled.seen(), failed.seen()), (good, bad));
    });
}

/// A stage stops after two events. The stage after it then sees what the stage before it has
/// finished.
fn stopping(before: Stage, after: Stage) {
    let logs = [(); 3].map(|()| Log::default());
    let log = logs[1].clone();
    let stops = move |event: &Event, sequence: Sequence, _: bool| {
        log.note(sequence, event.read());
        if log.seen().len() == 2 { Action::Stop } else { Action::Continue }
    };
    let (mut producer, consumers) = Disruptor::single_producer(2, Event::default)
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage(before)
        .read(logs[0].reader())
        .stage("between")
        .read(stops)
        .stage(after)
        .read(logs[2].reader())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let feed = thread::spawn(move || publish(&mut producer, 10..16));
    let accepted = feed.join().unwrap();
    let report = running.join().unwrap();
    let [before, between, after] = logs.map(|log| log.seen());
    assert_eq!((&before, &after), (&accepted, &accepted));
    assert_eq!(between, accepted[..2]);
    let between = report.stages().find(|stage| stage.name() == "between").unwrap();
    assert_eq!(*between.outcome(), Outcome::Stopped);
}

#[test]
fn stage_that_stops() {
    explore("stage that stops", || stopping(Stage::new("before"), Stage::new("after")));
}

#[test]
fn stage_that_stops_between_stages_that_share_a_thread() {
    explore("stage that stops, shared thread", || {
        stopping(Stage::new("before").on_thread("both"), Stage::new("after").on_thread("both"));
    });
}

/// A panic halts the ring: no thread stays parked.
#[test]
fn panic_that_halts() {
    explore("panic that halts", || {
        let [left, right] = [(); 2].map(|()| Log::default());
        let log = left.clone();
        let fails = move |event: &Event, sequence: Sequence, _: bool| {
            if is_fatal(event.read()) {
                panic_on_purpose();
            }
            log.note(sequence, event.read());
        };
        let (producer, consumers) = Disruptor::multi_producer(2, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .parallel(|parallel| {
                parallel.stage("left").read(fails).stage("right").read(right.reader())
            })
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let (mut one, mut other) = (producer.clone(), producer);
        let feeds = [
            thread::spawn(move || publish(&mut one, 9..14)),
            thread::spawn(move || publish(&mut other, 20..24)),
        ];
        let accepted = merged(feeds.map(|feed| feed.join().unwrap()));
        let failed = running.join().unwrap_err();
        let outcomes: Vec<&Outcome> =
            failed.report().stages().map(|stage| stage.outcome()).collect();
        assert!(
            outcomes.iter().any(|outcome| matches!(outcome, Outcome::Panicked { .. })),
            "{outcomes:?}"
        );
        let until_failure: Events =
            accepted.iter().copied().take_while(|&(_, value)| !is_fatal(value)).collect();
        assert_eq!(left.seen(), until_failure);
        assert!(accepted.starts_with(&right.seen()));
    });
}
