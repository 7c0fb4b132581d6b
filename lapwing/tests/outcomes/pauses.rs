//! Pauses before a retry: how long they are, what they hold up, and what ends them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use lapwing::consumer::{Failure, FailurePolicy, Outcome, Retries};
use lapwing::error::{HaltCause, PublishError};
use lapwing::lifecycle::{Backlog, ShutdownError};
use lapwing::{Action, Running, Sequence, Stage};

use crate::common::{self, Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf};
use crate::{Call, Form, Log, Spy, counts, drain_one};

common::for_both_producers! {
    a_halt_is_seen_in_the_longest_pause,
    a_handler_is_not_restarted_after_a_halt,
    a_close_leaves_a_stage_trying_until_it_has_drained,
    a_shutdown_that_times_out_in_a_pause_reports_what_is_left,
    a_producer_that_waits_for_a_pausing_stage_learns_of_a_halt,
    a_pause_of_a_retry_holds_back_its_event_and_no_other,
    a_pause_of_a_rewind_holds_back_its_batch,
    stages_parallel_to_a_pausing_one_continue,
    pauses_last_as_long_as_they_should,
    pauses_grow_to_the_longest,
    the_longest_durations_overflow_nothing,
}

const PAUSES: [fn(Duration) -> Action; 3] = [Action::Retry, Action::Rewind, Action::Restart];

/// A ring of 8 with three events, whose only stage never finishes the first one. Returns the number
/// of attempts.
fn stuck<K: Kind>(action: Action) -> (ProducerOf<u64, K>, Running<'static>, Arc<AtomicU32>, Log) {
    let log = Log::default();
    let tries = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&tries);
    let spy = Spy::new(&log, move |call| match call {
        Call::Event(_) => {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(action)
        }
        _ => Ok(Action::Continue),
    });
    let (mut producer, consumers) =
        Form::Handler.add(K::ring(8, || 0), Stage::new("stuck"), spy).build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    common::wait_until(|| tries.load(Ordering::SeqCst) > 0);
    (producer, running, tries, log)
}

/// C33 for pauses. Takes the best of several tries, because a busy machine may delay any of them.
fn a_halt_is_seen_in_the_longest_pause<K: Kind>() {
    for pause in PAUSES {
        for duration in [Duration::MAX, Duration::from_secs(3_600)] {
            let once = |_| {
                let (_producer, running, ..) = stuck::<K>(pause(duration));
                let begun = Instant::now();
                running.halt();
                let failed = running.join().unwrap_err();
                let stage = failed.report().stages().next().unwrap();
                assert_eq!((stage.outcome(), counts(stage)), (&Outcome::Halted, (0, 0)));
                begun.elapsed()
            };
            let best = (0..5).map(once).min().unwrap();
            assert!(best < Duration::from_millis(100), "{best:?}");
        }
    }
}

/// `on_restart` is not called for an event that is never retried.
fn a_handler_is_not_restarted_after_a_halt<K: Kind>() {
    let (_producer, running, tries, log) = stuck::<K>(Action::Restart(Duration::MAX));
    running.halt();
    assert!(running.join().is_err());
    assert_eq!((tries.load(Ordering::SeqCst), log.count(&Call::Restart)), (1, 0));
    assert_eq!(log.count(&Call::Shutdown), 1);
}

fn a_close_leaves_a_stage_trying_until_it_has_drained<K: Kind>() {
    let (is_well, tries) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let (well, counter) = (Arc::clone(&is_well), Arc::clone(&tries));
    let policy = Retries::of_event().pause(Duration::from_micros(50)).longest_pause(MOMENT);
    let sends = move |_: &u64, _, _: bool| {
        counter.fetch_add(1, Ordering::SeqCst);
        if well.load(Ordering::SeqCst) { Ok(()) } else { Err(ON_PURPOSE) }
    };
    let ring = K::ring(8, || 0).stage("send").on_error(policy).read(sends);
    let (mut producer, consumers) = ring.build().unwrap();
    let mut running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    running.close();
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    let Err(ShutdownError::TimedOut { backlog }) = running.shutdown_timeout(MOMENT) else {
        panic!("it cannot have sent anything");
    };
    assert_eq!(backlog, [Backlog { stage: "send".to_owned(), events: 3 }]);
    let so_far = tries.load(Ordering::SeqCst);
    common::wait_until(|| tries.load(Ordering::SeqCst) > so_far + 2);
    is_well.store(true, Ordering::SeqCst);
    let report = running.shutdown_timeout(PATIENCE).unwrap();
    assert_eq!(counts(report.stages().next().unwrap()), (3, 0));
}

fn a_shutdown_that_times_out_in_a_pause_reports_what_is_left<K: Kind>() {
    for pause in PAUSES {
        let (_producer, mut running, tries, _) = stuck::<K>(pause(Duration::MAX));
        let Err(ShutdownError::TimedOut { backlog }) = running.shutdown_timeout(MOMENT) else {
            panic!("it pauses");
        };
        assert_eq!(backlog, [Backlog { stage: "stuck".to_owned(), events: 3 }]);
        running.halt();
        let Err(ShutdownError::Failed(failed)) = running.shutdown_timeout(PATIENCE) else {
            panic!("nothing was drained");
        };
        assert_eq!(*failed.report().stages().next().unwrap().outcome(), Outcome::Halted);
        assert_eq!(tries.load(Ordering::SeqCst), 1);
    }
}

fn a_producer_that_waits_for_a_pausing_stage_learns_of_a_halt<K: Kind>() {
    let (mut producer, running, ..) = stuck::<K>(Action::Retry(Duration::MAX));
    producer.publish_batch(5, |_| {}).unwrap();
    let feed = std::thread::spawn(move || producer.publish(|_| {}));
    running.halt();
    assert_eq!(feed.join().unwrap(), Err(PublishError::Halted(HaltCause::Requested)));
    assert!(running.join().is_err());
}

/// Runs a stage that never finishes event 2 of its batch. Returns what the downstream stage got
/// meanwhile.
fn run_to_pause<K: Kind>(action: Action) -> Vec<Sequence> {
    let (pausing, is_pausing) = mpsc::channel();
    let pauses = move |_: &u64, sequence, _: bool| {
        if sequence != 2 {
            return Action::Continue;
        }
        pausing.send(()).unwrap();
        action
    };
    let (send, after) = mpsc::channel();
    let ring = K::ring(8, || 0)
        .stage("pauses")
        .max_batch(8)
        .read(pauses)
        .stage("after")
        .read(move |_, sequence, _| send.send(sequence).unwrap());
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    let running = consumers.start().unwrap();
    is_pausing.recv().unwrap();
    let expected = if matches!(action, Action::Rewind(_)) { 0 } else { 2 };
    let mut seen: Vec<Sequence> =
        (0..expected).map(|_| after.recv_timeout(PATIENCE).unwrap()).collect();
    seen.extend(after.recv_timeout(MOMENT));
    running.halt();
    assert!(running.join().is_err());
    seen.extend(after.iter());
    seen
}

fn a_pause_of_a_retry_holds_back_its_event_and_no_other<K: Kind>() {
    assert_eq!(run_to_pause::<K>(Action::Retry(Duration::MAX)), [0, 1]);
    assert_eq!(run_to_pause::<K>(Action::Restart(Duration::MAX)), [0, 1]);
}

fn a_pause_of_a_rewind_holds_back_its_batch<K: Kind>() {
    assert_eq!(run_to_pause::<K>(Action::Rewind(Duration::MAX)), []);
}

fn stages_parallel_to_a_pausing_one_continue<K: Kind>() {
    let (send, seen) = mpsc::channel();
    let ring = K::ring(8, || 0_u64).side_by_side(|side| {
        side.stage("pauses")
            .read(|_, _, _| Action::Retry(Duration::MAX))
            .stage("beside")
            .read(move |_, sequence, _| send.send(sequence).unwrap())
    });
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(8, |_| {}).unwrap();
    for sequence in 0..8 {
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(sequence));
    }
    running.halt();
    assert!(running.join().is_err());
}

/// Returns the times between the attempts of one event that fails `failures` times.
fn gaps<K: Kind>(stage: Stage, failures: usize) -> Vec<Duration> {
    let (send, times) = mpsc::channel();
    let mut tries = 0;
    let fails = move |_: &u64, _, _: bool| {
        send.send(Instant::now()).unwrap();
        tries += 1;
        if tries > failures { Ok(()) } else { Err(ON_PURPOSE) }
    };
    assert_eq!(counts(&drain_one(K::ring(8, || 0).stage(stage).read(fails), 1)), (1, 0));
    let times: Vec<Instant> = times.iter().collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn pauses_last_as_long_as_they_should<K: Kind>() {
    for pause in PAUSES {
        for duration in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(25)] {
            let gaps = gaps::<K>(Stage::new("fails").on_error(pause(duration)), 2);
            assert_eq!(gaps.len(), 2);
            assert!(gaps.iter().all(|gap| *gap >= duration), "{gaps:?}");
        }
    }
}

fn pauses_grow_to_the_longest<K: Kind>() {
    let ms = Duration::from_millis;
    let growing = Retries::of_event().pause(ms(2)).longest_pause(ms(7));
    for (policy, least) in [
        (growing, [ms(2), ms(4), ms(7), ms(7)]),
        (growing.longest_pause(ms(2)), [ms(2); 4]),
        (Retries::of_batch().pause(ms(1)), [ms(1), ms(2), ms(4), ms(8)]),
    ] {
        let gaps = gaps::<K>(Stage::new("fails").on_error(policy), 4);
        assert!(gaps.iter().zip(least).all(|(gap, least)| *gap >= least), "{gaps:?}");
    }
}

/// The answers of `Retries` to many attempts, without the pauses.
fn the_longest_durations_overflow_nothing<K: Kind>() {
    for mut retries in [Retries::of_event(), Retries::of_batch(), Retries::with_restart()] {
        let policy = move |failure: &Failure<'_>| {
            for pause in [Duration::MAX, Duration::from_secs(1 << 40), Duration::from_nanos(1)] {
                retries = retries.pause(pause);
                assert_ne!(retries.decide(failure), Action::Halt);
            }
            if failure.attempt() < 200 { Action::Retry(Duration::ZERO) } else { Action::Skip }
        };
        let stage = Stage::new("fails").timeout(Duration::MAX).on_error(policy);
        let fails = Spy::new(&Log::default(), |_: &Call| Err(ON_PURPOSE));
        let finished = drain_one(K::ring(8, || 0).stage(stage).read_handler(fails), 2);
        assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Drained, (2, 2)));
    }
}
