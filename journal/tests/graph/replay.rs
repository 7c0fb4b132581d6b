//! Recorded events are published into the same graph.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lapwing::Disruptor;
use lapwing_journal::error::ReplayError;
use lapwing_journal::faults::SimulatedDisk;
use lapwing_journal::{Journal, Pace};

use crate::{assert_has, open, publish, write_in_ring};

#[test]
fn a_replay_reaches_all_stages_and_is_not_recorded_twice() {
    for from in [0, 777, 3_000] {
        let disk = SimulatedDisk::new();
        write_in_ring(&open(&disk), 3_000);
        let journal = open(&disk);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = Arc::clone(&seen);
        let (mut producer, consumers) = Disruptor::single_producer(64, || 0)
            .first_sequence(from)
            .stage("journal")
            .read_batch_handler(journal.writer())
            .stage("state")
            .read(move |event: &u64, _, _| sees.lock().unwrap().push(*event))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        let replay = journal.replay(from).unwrap();
        assert_eq!(replay.publish_into(&mut producer).unwrap(), from..3_000);
        publish(&mut producer, 3_000, 3_100);
        running.shutdown().unwrap();
        assert!(seen.lock().unwrap().iter().copied().eq(from..3_100));
        assert_has(&journal, 3_100);
    }
}

/// A journal with the events 0, 1, 4, 5 and 8.
fn with_gaps(disk: &SimulatedDisk) -> Journal<u64> {
    let journal = open(disk);
    let mut writer = journal.writer();
    writer.write(&[0, 1], 0).unwrap();
    writer.write(&[4, 5], 4).unwrap();
    writer.write(&[8], 8).unwrap();
    journal
}

#[test]
fn gaps_are_reproduced_in_a_ring_with_several_producers() {
    let disk = SimulatedDisk::new();
    let journal = with_gaps(&disk);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let (mut producer, consumers) = Disruptor::multi_producer(4, || 0)
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("state")
        .read(move |event: &u64, sequence, _| sees.lock().unwrap().push((sequence, *event)))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    journal.replay(0).unwrap().publish_into(&mut producer).unwrap();
    assert_eq!(producer.publish(|event| *event = 9).unwrap(), 9);
    running.shutdown().unwrap();
    assert_eq!(*seen.lock().unwrap(), [(0, 0), (1, 1), (4, 4), (5, 5), (8, 8), (9, 9)]);
    assert_eq!(journal.next_sequence(), 10);
}

#[test]
fn a_ring_with_one_producer_cannot_have_a_gap() {
    let disk = SimulatedDisk::new();
    let journal = with_gaps(&disk);
    let (mut producer, _consumers) =
        Disruptor::single_producer(64, || 0).stage("state").read(|_, _, _| {}).build().unwrap();
    let error = journal.replay(0).unwrap().publish_into(&mut producer).unwrap_err();
    assert!(matches!(error, ReplayError::Gap { sequence: 2 }), "{error}");
}

#[test]
fn a_ring_that_begins_elsewhere_is_an_error() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    write_in_ring(&journal, 10);
    let (mut producer, _consumers) =
        Disruptor::single_producer(64, || 0).stage("state").read(|_, _, _| {}).build().unwrap();
    let error = journal.replay(5).unwrap().publish_into(&mut producer).unwrap_err();
    let is_expected = matches!(error, ReplayError::OtherSequence { recorded: 5, claimed: 0 });
    assert!(is_expected, "{error}");
}

#[test]
fn the_recorded_pace_has_the_recorded_pauses() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let mut writer = journal.writer();
    writer.write(&[0], 0).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    writer.write(&[1], 1).unwrap();
    let (mut producer, _consumers) =
        Disruptor::single_producer(64, || 0).stage("state").read(|_, _, _| {}).build().unwrap();
    let begun = Instant::now();
    let replay = journal.replay(0).unwrap().pace(Pace::Recorded(2.0));
    replay.publish_into(&mut producer).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(30));
}

/// After a step of the clock, or a long pause, nothing ended the sleep of a replay.
#[test]
fn a_halt_or_a_close_ends_a_recorded_pause() {
    for halts in [true, false] {
        let disk = SimulatedDisk::new();
        let journal = open(&disk);
        let mut writer = journal.writer();
        writer.write(&[0], 0).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        writer.write(&[1], 1).unwrap();
        let (mut producer, consumers) = Disruptor::multi_producer(64, || 0)
            .stage("state")
            .read(|_: &u64, _, _| {})
            .build()
            .unwrap();
        let other = producer.clone();
        let running = consumers.start().unwrap();
        let replay = journal.replay(0).unwrap().pace(Pace::Recorded(1e-9)); // months
        let (ends, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || ends.send(replay.publish_into(&mut producer)));
        let monitor = running.monitor();
        while monitor.snapshot().published == 0 {
            std::thread::yield_now();
        }
        if halts {
            running.halt()
        } else {
            other.close()
        }
        let replayed = ended.recv_timeout(Duration::from_secs(60)).expect("the pause ends");
        assert!(matches!(replayed, Err(ReplayError::Ring(_))), "{replayed:?}");
        let _ = running.join();
    }
}
