//! Tests that an error about an unknown name says which name was requested, and which exist. A
//! further call is a line of a table.

use crate::common::Kind;
use lapwing::error::TakeError;
use lapwing::{EventHandler, Sequence};

crate::common::for_both_producers! {
    error_of_a_poller_contains_the_requested_name,
    error_of_a_handler_contains_the_requested_name,
}

#[derive(Debug)]
struct Log;

impl EventHandler<u64> for Log {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

/// The beginning of the message of each kind of error, which has a variant of its own.
const UNKNOWN: &str = "no stage";
const WRONG_TYPE: &str = "a stage has nothing of this type";
const TAKEN: &str = "already taken";

#[track_caller]
fn says(error: Option<TakeError>, begin: &str, texts: &[&str]) {
    let error = error.expect("nothing is there to take");
    let kind = match &error {
        TakeError::UnknownName { .. } => UNKNOWN,
        TakeError::WrongType { .. } => WRONG_TYPE,
        TakeError::AlreadyTaken { .. } => TAKEN,
        _ => "another error",
    };
    let message = error.to_string();
    assert!(kind == begin && message.starts_with(begin), "{message}");
    assert!(texts.iter().all(|text| message.contains(text)), "{message}");
}

fn error_of_a_poller_contains_the_requested_name<K: Kind>() {
    let ring = K::ring(8, || 0_u64).stage("ticks").poller().stage("writes").poller_mut();
    let ring = ring.stage("disk").acknowledged().read_handler(Log);
    let (_producer, mut consumers) = ring.stage("log").read_handler(Log).build().unwrap();
    let known = "known=[\"ticks\", \"writes\", \"disk\", \"log\"]";
    says(consumers.take_poller("tocks").err(), UNKNOWN, &["name=\"tocks\"", known]);
    says(consumers.take_poller_mut("tocks").err(), UNKNOWN, &["name=\"tocks\"", known]);
    says(consumers.take_acknowledger("tocks").err(), UNKNOWN, &["name=\"tocks\"", known]);
    for (name, requested) in [("log", "Poller<u64"), ("writes", "Poller<u64>")] {
        let name_text = format!("name={name:?}");
        says(consumers.take_poller(name).err(), WRONG_TYPE, &[&name_text, requested]);
    }
    says(consumers.take_poller_mut("ticks").err(), WRONG_TYPE, &["name=\"ticks\"", "Exclusive"]);
    says(consumers.take_acknowledger("log").err(), WRONG_TYPE, &["name=\"log\"", "Acknowledger"]);
    let _ticks = consumers.take_poller("ticks").unwrap();
    let _writes = consumers.take_poller_mut("writes").unwrap();
    let _disk = consumers.take_acknowledger("disk").unwrap();
    says(consumers.take_poller("ticks").err(), TAKEN, &["name=\"ticks\""]);
    says(consumers.take_poller_mut("writes").err(), TAKEN, &["name=\"writes\""]);
    says(consumers.take_acknowledger("disk").err(), TAKEN, &["name=\"disk\""]);
}

fn error_of_a_handler_contains_the_requested_name<K: Kind>() {
    let ring = K::ring(8, || 0_u64).stage("log").read_handler(Log);
    let ring = ring.stage("work").workers(2).read(|_| |_: &u64, _, _| {});
    let (_producer, consumers) = ring.build().unwrap();
    let mut report = consumers.start().unwrap().shutdown().unwrap();
    let known = "known=[\"log\", \"work-0\", \"work-1\"]";
    says(report.take::<Log>("work").err(), UNKNOWN, &["name=\"work\"", known]);
    says(report.take::<String>("log").err(), WRONG_TYPE, &["name=\"log\"", "String"]);
    says(report.take::<Log>("work-0").err(), WRONG_TYPE, &["name=\"work-0\"", "Log"]);
    let _: Log = report.take("log").unwrap();
    says(report.take::<Log>("log").err(), TAKEN, &["name=\"log\""]);
    says(report.take::<String>("log").err(), TAKEN, &["name=\"log\""]);

    let ring = K::ring(8, || 0_u64).stage("log").read_handler(Log);
    let (_, consumers) = ring.build().unwrap();
    let mut finished = consumers.into_iter().next().unwrap().run();
    let _: Log = finished.take_handler().unwrap();
    says(finished.take_handler::<Log>().err(), TAKEN, &["name=\"log\""]);
}
