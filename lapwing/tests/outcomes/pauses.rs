//! Pauses before a retry: how long they are, what they hold up, and what ends them. A stage that
//! shares its thread does not sleep, so most tests run on a thread of its own and on a shared one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::{Consumer, Failure, FailurePolicy, Outcome, Retries};
use lapwing::error::{HaltCause, PublishError};
use lapwing::lifecycle::{Backlog, ShutdownError};
use lapwing::monitor::StageState;
use lapwing::wait::Blocking;
use lapwing::{Action, Running, Sequence, Stage};

use crate::common::{self, Kind, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf};
use crate::{Book, Call, Form, Log, Spy, counts, drain_one, drain_together};

common::for_both_producers! {
    a_halt_is_seen_in_the_longest_pause,
    a_close_leaves_a_stage_trying_until_it_has_drained,
    a_shutdown_that_times_out_in_a_pause_reports_what_is_left,
    a_producer_that_waits_for_a_pausing_stage_learns_of_a_halt,
    a_pause_holds_back_its_event_or_its_batch,
    miri_a_pause_holds_up_no_stage_beside,
    a_pause_holds_up_no_stage_of_another_ring,
    pauses_last_as_long_as_they_should,
    the_longest_durations_overflow_nothing,
    a_timeout_does_not_come_in_a_pause,
    a_pause_is_shown_while_the_other_stages_of_its_thread_are_parked,
}

const PAUSES: [fn(Duration) -> Action; 3] = [Action::Retry, Action::Rewind, Action::Restart];

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A stage on a thread of its own, or on one that the tests here share with other stages.
fn stage(name: &str, is_shared: bool) -> Stage {
    let stage = Stage::new(name);
    if is_shared { stage.on_thread("shared") } else { stage }
}

/// A ring of 8 with three events, whose first stage never finishes one of them. The second one is
/// asleep on the same thread, if that is shared.
fn stuck<K: Kind>(action: Action, is_shared: bool) -> (ProducerOf<u64, K>, Running<'static>, Log) {
    let log = Log::default();
    let spy = Spy::new(&log, move |_| Ok(action));
    let ring = Form::Handler.add(K::ring(8, || 0), stage("stuck", is_shared), spy);
    let after = stage("after", is_shared).wait_strategy(Blocking { yields: 0 });
    let ring = if is_shared { ring.stage(after).read(|_, _, _| {}) } else { ring };
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    common::wait_until(|| !log.events().is_empty());
    (producer, running, log)
}

/// C33 for pauses. Takes the best of several tries, because a busy machine may delay any of them. A
/// handler is not restarted for an event that is never handled again.
fn a_halt_is_seen_in_the_longest_pause<K: Kind>() {
    for (pause, is_shared) in PAUSES.into_iter().flat_map(|pause| [(pause, false), (pause, true)]) {
        for duration in [Duration::MAX, Duration::from_secs(3_600)] {
            let is_at_once = |_| {
                let (_producer, running, log) = stuck::<K>(pause(duration), is_shared);
                let begun = Instant::now();
                running.halt();
                let failed = running.join().unwrap_err();
                let elapsed = begun.elapsed();
                let stage = failed.report().stages().next().unwrap();
                assert_eq!((stage.outcome(), counts(stage)), (&Outcome::Halted, (0, 0)));
                assert_eq!((log.count(&Call::Restart), log.count(&Call::Shutdown)), (0, 1));
                assert_eq!(log.sequences(), [0]);
                elapsed < ms(100)
            };
            assert!((0..20).any(is_at_once), "the pause goes on");
        }
    }
}

fn a_close_leaves_a_stage_trying_until_it_has_drained<K: Kind>() {
    let (is_well, log) = (Arc::new(AtomicBool::new(false)), Log::default());
    let well = Arc::clone(&is_well);
    let policy = Retries::of_event().pause(Duration::from_micros(50)).longest_pause(MOMENT);
    let spy = Spy::new(&log, move |_| match well.load(Ordering::SeqCst) {
        true => Ok(Action::Continue),
        false => Err(ON_PURPOSE),
    });
    let ring = Form::Event.add(K::ring(8, || 0), Stage::new("send").on_error(policy), spy);
    let (mut producer, consumers) = ring.build().unwrap();
    let mut running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    running.close();
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    let Err(ShutdownError::TimedOut { backlog }) = running.shutdown_timeout(MOMENT) else {
        panic!("it cannot have sent anything");
    };
    assert_eq!(backlog, [Backlog { stage: "send".to_owned(), events: 3 }]);
    let so_far = log.calls().len();
    common::wait_until(|| log.calls().len() > so_far + 2);
    is_well.store(true, Ordering::SeqCst);
    let report = running.shutdown_timeout(PATIENCE).unwrap();
    assert_eq!(counts(report.stages().next().unwrap()), (3, 0));
}

fn a_shutdown_that_times_out_in_a_pause_reports_what_is_left<K: Kind>() {
    for pause in PAUSES {
        let (_producer, mut running, log) = stuck::<K>(pause(Duration::MAX), false);
        let Err(ShutdownError::TimedOut { backlog }) = running.shutdown_timeout(MOMENT) else {
            panic!("it pauses");
        };
        assert_eq!(backlog, [Backlog { stage: "stuck".to_owned(), events: 3 }]);
        running.halt();
        let Err(ShutdownError::Failed(failed)) = running.shutdown_timeout(PATIENCE) else {
            panic!("nothing was drained");
        };
        assert_eq!(*failed.report().stages().next().unwrap().outcome(), Outcome::Halted);
        assert_eq!(log.sequences(), [0]);
    }
}

fn a_producer_that_waits_for_a_pausing_stage_learns_of_a_halt<K: Kind>() {
    let (mut producer, running, _) = stuck::<K>(Action::Retry(Duration::MAX), false);
    producer.publish_batch(5, |_| {}).unwrap();
    let feed = thread::spawn(move || producer.publish(|_| {}));
    running.halt();
    assert_eq!(feed.join().unwrap(), Err(PublishError::Halted(HaltCause::Requested)));
    assert!(running.join().is_err());
}

/// Never finishes event 2 of its batch, and tells when it comes there.
fn pausing(action: Action) -> (Spy, mpsc::Receiver<()>) {
    let (pausing, is_pausing) = mpsc::channel();
    let spy = Spy::new(&Log::default(), move |call| {
        if !call.includes(2) {
            return Ok(Action::Continue);
        }
        pausing.send(()).unwrap();
        Ok(action)
    });
    (spy, is_pausing)
}

/// The downstream stage gets the events before, unless the whole batch is to be handled again.
fn a_pause_holds_back_its_event_or_its_batch<K: Kind>() {
    for pause in PAUSES {
        let (spy, is_pausing) = pausing(pause(Duration::MAX));
        let (send, after) = mpsc::channel();
        let ring = Form::Event.add(K::ring(8, || 0), Stage::new("pauses").max_batch(8), spy);
        let ring = ring.stage("after").read(move |_, sequence, _| send.send(sequence).unwrap());
        let (mut producer, consumers) = ring.build().unwrap();
        producer.publish_batch(5, |_| {}).unwrap();
        let running = consumers.start().unwrap();
        is_pausing.recv().unwrap();
        let is_rewind = matches!(pause(Duration::ZERO), Action::Rewind(_));
        let expected: &[Sequence] = if is_rewind { &[] } else { &[0, 1] };
        let mut seen: Vec<Sequence> =
            expected.iter().map(|_| after.recv_timeout(PATIENCE).unwrap()).collect();
        seen.extend(after.recv_timeout(MOMENT));
        running.halt();
        assert!(running.join().is_err());
        seen.extend(after.iter());
        assert_eq!(seen, expected);
    }
}

/// A pausing stage of a shared thread must not sleep, because that would stop every stage there.
fn miri_a_pause_holds_up_no_stage_beside<K: Kind>() {
    for (pause, is_shared) in PAUSES.into_iter().flat_map(|pause| [(pause, false), (pause, true)]) {
        let (spy, _is_pausing) = pausing(pause(Duration::MAX));
        let (send, seen) = mpsc::channel();
        let ring = K::ring(8, || 0_u64).parallel(|parallel| {
            parallel
                .stage(stage("pauses", is_shared))
                .read_handler::<_, crate::Said>(spy)
                .stage(stage("beside", is_shared))
                .read(move |_, sequence, _| send.send(sequence).unwrap())
        });
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        for sequence in 0..4 {
            producer.publish_batch(2, |_| {}).unwrap();
            assert_eq!(seen.recv_timeout(PATIENCE), Ok(2 * sequence));
            assert_eq!(seen.recv_timeout(PATIENCE), Ok(2 * sequence + 1));
        }
        running.halt();
        let report = running.join().unwrap_err().into_report();
        assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Halted));
        assert!(report.stages().next().unwrap().processed() <= 2);
    }
}

/// A second ring on the thread must see that it is closed.
fn a_pause_holds_up_no_stage_of_another_ring<K: Kind>() {
    let (spy, _is_pausing) = pausing(Action::Retry(Duration::MAX));
    let ring = K::ring(8, || 0_u64).parallel(|parallel| {
        parallel.stage("pauses").read_handler(spy).stage("dropped").read_handler(Book::default())
    });
    let (mut stuck, left) = ring.build().unwrap();
    let (done, is_done) = mpsc::channel();
    let ends = Spy::new(&Log::default(), move |call| {
        if *call == Call::Shutdown {
            done.send(()).unwrap();
        }
        Ok(Action::Continue)
    });
    let (mut producer, right) =
        Form::Handler.add(K::ring(8, || 0), Stage::new("other"), ends).build().unwrap();
    stuck.publish_batch(3, |_| {}).unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    drop(producer);
    let mut left: Vec<Consumer<'_>> = left.into_iter().collect();
    let halts = left.pop().unwrap();
    let both = thread::spawn(move || Consumer::run_together(left.into_iter().chain(right)));
    is_done.recv_timeout(PATIENCE).unwrap();
    drop(halts); // a consumer that never runs
    let finished = both.join().unwrap();
    assert_eq!((finished[0].outcome(), counts(&finished[0])), (&Outcome::Halted, (2, 0)));
    assert_eq!((finished[1].outcome(), counts(&finished[1])), (&Outcome::Drained, (3, 0)));
}

/// Returns the times between the attempts of one event that fails `failures` times, and how often
/// its handler was restarted.
fn gaps<K: Kind>(
    policy: impl FailurePolicy,
    failures: usize,
    is_shared: bool,
) -> (Vec<Duration>, usize) {
    let (log, (send, times)) = (Log::default(), mpsc::channel());
    let mut tries = 0;
    let spy = Spy::new(&log, move |call| {
        if call.events().is_none() {
            return Ok(Action::Continue);
        }
        send.send(Instant::now()).unwrap();
        tries += 1;
        if tries > failures { Ok(Action::Continue) } else { Err(ON_PURPOSE) }
    });
    let stage = stage("fails", is_shared).on_error(policy);
    let ring = Form::Handler.add(K::ring(8, || 0), stage, spy);
    let finished = if is_shared {
        drain_together(ring.stage("book").read_handler(Book::default()), 1)
    } else {
        vec![drain_one(ring, 1)]
    };
    assert!(finished.iter().all(|stage| counts(stage) == (1, 0)));
    drop(finished);
    let times: Vec<Instant> = times.iter().collect();
    (times.windows(2).map(|pair| pair[1] - pair[0]).collect(), log.count(&Call::Restart))
}

fn pauses_last_as_long_as_they_should<K: Kind>() {
    let at_least = |(gaps, _): (Vec<Duration>, usize), least: &[Duration]| {
        assert_eq!(gaps.len(), least.len());
        assert!(gaps.iter().zip(least).all(|(gap, least)| gap >= least), "{gaps:?}");
    };
    let growing = Retries::of_event().pause(ms(2)).longest_pause(ms(7));
    for is_shared in [false, true] {
        for pause in PAUSES {
            for duration in [Duration::ZERO, Duration::from_nanos(1), ms(25)] {
                let gaps = gaps::<K>(pause(duration), 2, is_shared);
                let restarts = if matches!(pause(duration), Action::Restart(_)) { 2 } else { 0 };
                assert_eq!(gaps.1, restarts);
                at_least(gaps, &[duration; 2]);
            }
        }
        for (policy, least) in [
            (growing, [2, 4, 7, 7]),
            (growing.longest_pause(ms(2)), [2; 4]),
            (Retries::of_batch().pause(ms(1)), [1, 2, 4, 8]),
            (Retries::with_restart().pause(ms(2)).longest_pause(ms(5)), [2, 4, 5, 5]),
        ] {
            at_least(gaps::<K>(policy, 4, is_shared), &least.map(ms));
        }
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
        let stage = Stage::new("fails").timeout_after(Duration::MAX).on_error(policy);
        let fails = Spy::new(&Log::default(), |_| Err(ON_PURPOSE));
        let finished = drain_one(Form::Handler.add(K::ring(8, || 0), stage, fails), 2);
        assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Drained, (2, 2)));
    }
}

/// The event is available, and its stage only pauses before the retry.
fn a_timeout_does_not_come_in_a_pause<K: Kind>() {
    let log = Log::default();
    let mut tries = 0;
    let spy = Spy::new(&log, move |call| {
        tries += u32::from(call.events().is_some());
        let is_again = call.events().is_some() && tries < 3;
        Ok(if is_again { Action::Retry(ms(10)) } else { Action::Continue })
    });
    let ring = Form::Handler.add(K::ring(8, || 0), stage("pauses", true).timeout_after(ms(1)), spy);
    drop(drain_together(ring.stage("book").read_handler(Book::default()), 1));
    assert_eq!(log.sequences(), [0, 0, 0]);
    assert_eq!(log.count(&Call::Timeout(0)), 0);
}

/// A monitor must not take a stage that pauses for an idle one.
fn a_pause_is_shown_while_the_other_stages_of_its_thread_are_parked<K: Kind>() {
    let (_producer, running, _) = stuck::<K>(Action::Retry(Duration::MAX), true);
    let monitor = running.monitor();
    // The same in two snapshots: the thread stays parked, and does not park again and again.
    let look = || {
        let stages = monitor.snapshot().stages;
        stages.iter().map(|stage| (stage.state, stage.parks)).collect::<Vec<_>>()
    };
    common::wait_until(|| {
        let before = look();
        thread::sleep(MOMENT);
        let states: Vec<StageState> = before.iter().map(|(state, _)| *state).collect();
        states == [StageState::Pausing, StageState::Parked] && look() == before
    });
    running.halt();
    assert!(running.join().is_err());
}
