//! Tests that an error about an unknown name says which name was requested, and which exist.

use crate::common::Kind;
use lapwing::error::TakeError;
use lapwing::{EventHandler, Sequence};

crate::common::for_both_producers! {
    error_of_a_poller_contains_the_requested_name,
    error_of_a_handler_contains_the_requested_name,
    taking_a_handler_a_second_time_says_that_it_was_taken_before,
}

#[derive(Debug)]
struct Log;

impl EventHandler<u64> for Log {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

#[track_caller]
fn says(error: &TakeError, texts: &[&str]) {
    let message = error.to_string();
    assert!(texts.iter().all(|text| message.contains(text)), "{message}");
}

fn error_of_a_poller_contains_the_requested_name<K: Kind>() {
    let (_producer, mut consumers) = K::ring(8, || 0_u64)
        .stage("ticks")
        .poller()
        .stage("writes")
        .poller_mut()
        .stage("log")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let error = consumers.take_poller("tocks").unwrap_err();
    says(&error, &["no stage", "name=\"tocks\"", "known=[\"ticks\", \"writes\", \"log\"]"]);
    says(&consumers.take_acknowledger("tocks").unwrap_err(), &["no stage", "name=\"tocks\""]);
    says(&consumers.take_poller("log").unwrap_err(), &["name=\"log\"", "Poller<u64"]);
    says(&consumers.take_poller("writes").unwrap_err(), &["name=\"writes\"", "Poller<u64>"]);
    says(&consumers.take_poller_mut("ticks").unwrap_err(), &["name=\"ticks\"", "Exclusive"]);
    says(&consumers.take_acknowledger("log").unwrap_err(), &["name=\"log\"", "Acknowledger"]);
    let _ticks = consumers.take_poller("ticks").unwrap();
    says(&consumers.take_poller("ticks").unwrap_err(), &["already taken", "name=\"ticks\""]);
}

fn error_of_a_handler_contains_the_requested_name<K: Kind>() {
    let (_producer, consumers) = K::ring(8, || 0_u64)
        .stage("log")
        .read_handler(Log)
        .stage("work")
        .workers(2)
        .read(|_| |_: &u64, _, _| {})
        .build()
        .unwrap();
    let mut report = consumers.start().unwrap().shutdown().unwrap();
    let error = report.take::<Log>("work").unwrap_err();
    says(&error, &["no stage", "name=\"work\"", "known=[\"log\", \"work-0\", \"work-1\"]"]);
    says(&report.take::<String>("log").unwrap_err(), &["name=\"log\"", "String"]);
    says(&report.take::<Log>("work-0").unwrap_err(), &["name=\"work-0\"", "Log"]);
    let _: Log = report.take("log").unwrap();
    says(&report.take::<Log>("log").unwrap_err(), &["already taken", "name=\"log\""]);
    says(&report.take::<String>("log").unwrap_err(), &["already taken", "name=\"log\""]);
}

fn taking_a_handler_a_second_time_says_that_it_was_taken_before<K: Kind>() {
    let (producer, consumers) =
        K::ring(8, || 0_u64).stage("log").read_handler(Log).build().unwrap();
    drop(producer);
    let mut finished = consumers.into_iter().next().unwrap().run();
    let _: Log = finished.take_handler().unwrap();
    says(&finished.take_handler::<Log>().unwrap_err(), &["already taken", "name=\"log\""]);
}
