//! Outcomes of stages that share a thread: a pause of one does not hold up the others.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use lapwing::consumer::{Consumer, Failure, Finished, Outcome, Retries};
use lapwing::monitor::StageState;
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting};
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, PATIENCE, quiet_panics};
use crate::{Book, Call, Form, Log, Said, Spy, counts, drain_together, panicked_at};

common::for_both_producers! {
    miri_a_pause_holds_up_no_stage_of_its_thread,
    a_pause_holds_up_no_stage_of_another_ring,
    a_halt_ends_a_pause_on_a_shared_thread,
    pauses_on_a_shared_thread_last_as_long_as_they_should,
    a_handler_on_a_shared_thread_is_restarted_when_its_pause_is_over,
    a_panic_in_on_restart_on_a_shared_thread_halts_the_ring,
    a_timeout_does_not_come_in_a_pause,
    a_pause_is_shown_while_the_other_stages_of_its_thread_are_parked,
    a_panic_in_the_strategy_of_a_shared_thread_follows_the_policy,
    a_panic_in_the_strategy_cuts_no_pause_short,
}

const PAUSES: [fn(Duration) -> Action; 3] = [Action::Retry, Action::Rewind, Action::Restart];

/// A stage of the thread that the tests here share.
fn stage(name: &str) -> Stage {
    Stage::new(name).on_thread("shared")
}

/// A pausing stage must not sleep, because that would stop every stage of its thread.
fn miri_a_pause_holds_up_no_stage_of_its_thread<K: Kind>() {
    for pause in PAUSES {
        let (send, seen) = mpsc::channel();
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .side_by_side(|side| {
                side.stage(stage("pauses"))
                    .read(move |_, _, _| pause(Duration::MAX))
                    .stage(stage("beside"))
                    .read(move |_, sequence, _| send.send(sequence).unwrap())
            })
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        for sequence in 0..4 {
            producer.publish_batch(2, |_| {}).unwrap();
            assert_eq!(seen.recv_timeout(PATIENCE), Ok(2 * sequence));
            assert_eq!(seen.recv_timeout(PATIENCE), Ok(2 * sequence + 1));
        }
        running.halt();
        let report = running.join().unwrap_err().into_report();
        assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Halted));
        assert_eq!(report.stages().next().unwrap().processed(), 0);
    }
}

/// A second ring on the thread must see that it is closed.
fn a_pause_holds_up_no_stage_of_another_ring<K: Kind>() {
    let (mut stuck, left) = K::ring(8, || 0_u64)
        .side_by_side(|side| {
            side.stage("pauses")
                .read(|_, _, _| Action::Retry(Duration::MAX))
                .stage("dropped")
                .read(|_, _, _| {})
        })
        .build()
        .unwrap();
    let (done, is_done) = mpsc::channel();
    let ends = Spy::new(&Log::default(), move |call| {
        if *call == Call::Shutdown {
            done.send(()).unwrap();
        }
        Ok(Action::Continue)
    });
    let (mut producer, right) =
        Form::Handler.add(K::ring(8, || 0), Stage::new("other"), ends).build().unwrap();
    stuck.publish(|_| {}).unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    drop(producer);
    let mut left: Vec<Consumer<'_>> = left.into_iter().collect();
    let halts = left.pop().unwrap();
    let both = std::thread::spawn(move || Consumer::run_together(left.into_iter().chain(right)));
    is_done.recv_timeout(PATIENCE).unwrap();
    drop(halts); // a consumer that never runs
    let finished = both.join().unwrap();
    assert_eq!((finished[0].outcome(), counts(&finished[0])), (&Outcome::Halted, (0, 0)));
    assert_eq!((finished[1].outcome(), counts(&finished[1])), (&Outcome::Drained, (3, 0)));
}

/// Takes the best of several tries, because a busy machine may delay any of them.
fn a_halt_ends_a_pause_on_a_shared_thread<K: Kind>() {
    for pause in PAUSES {
        let once = |_| {
            let (pausing, is_pausing) = mpsc::channel();
            let log = Log::default();
            let spy = Spy::new(&log, move |call| {
                if call.events().is_some() {
                    pausing.send(()).unwrap();
                }
                Ok(pause(Duration::from_secs(3_600)))
            });
            let ring = Form::Handler.add(K::ring(8, || 0), stage("pauses"), spy);
            let (mut producer, consumers) = ring
                .stage(stage("after").wait(Blocking { yields: 0 }))
                .read(|_, _, _| {})
                .build()
                .unwrap();
            let running = consumers.start().unwrap();
            producer.publish(|_| {}).unwrap();
            is_pausing.recv().unwrap();
            let begun = Instant::now();
            running.halt();
            assert!(running.join().is_err());
            assert_eq!((log.count(&Call::Restart), log.count(&Call::Shutdown)), (0, 1));
            begun.elapsed()
        };
        let best = (0..5).map(once).min().unwrap();
        assert!(best < Duration::from_millis(100), "{best:?}");
    }
}

/// Runs `events` events through a stage and a book on one thread.
fn run<K: Kind>(
    events: u64,
    stage: Stage,
    spy: Spy<impl FnMut(&Call) -> Said + Send + 'static>,
) -> Vec<Finished> {
    let ring = Form::Handler.add(K::ring(8, || 0), stage, spy);
    drain_together(ring.stage("book").read_handler(Book::default()), events)
}

fn pauses_on_a_shared_thread_last_as_long_as_they_should<K: Kind>() {
    let ms = Duration::from_millis;
    for retries in [Retries::of_event(), Retries::of_batch(), Retries::with_restart()] {
        let (send, times) = mpsc::channel();
        let mut failures = 4;
        let spy = Spy::new(&Log::default(), move |call| {
            if call.events().is_none() {
                return Ok(Action::Continue);
            }
            send.send(Instant::now()).unwrap();
            failures -= 1;
            if failures > 0 { Err(ON_PURPOSE) } else { Ok(Action::Continue) }
        });
        let policy = retries.pause(ms(2)).longest_pause(ms(5));
        let finished = run::<K>(1, stage("fails").on_error(policy), spy);
        assert!(finished.iter().all(|stage| counts(stage) == (1, 0)));
        let times: Vec<Instant> = times.try_iter().collect();
        let gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            gaps.len() == 3 && gaps.iter().zip([2, 4, 5]).all(|(gap, least)| *gap >= ms(least))
        );
    }
}

fn a_handler_on_a_shared_thread_is_restarted_when_its_pause_is_over<K: Kind>() {
    for pause in [Duration::ZERO, Duration::from_millis(3)] {
        let log = Log::default();
        let mut is_first = true;
        let spy = Spy::new(&log, move |call| {
            let is_bad = call.includes(1) && std::mem::take(&mut is_first);
            Ok(if is_bad { Action::Restart(pause) } else { Action::Continue })
        });
        let mut finished = run::<K>(3, stage("restarts").max_batch(4), spy);
        let calls = [
            Call::Start,
            Call::BatchStart(3, 3),
            Call::Event(0),
            Call::Event(1),
            Call::Restart,
            Call::BatchStart(2, 2),
            Call::Event(1),
            Call::Event(2),
            Call::Shutdown,
        ];
        assert_eq!(log.calls(), calls);
        assert_eq!(finished[1].take_handler::<Book>().unwrap().done, [0, 1, 2]);
    }
}

fn a_panic_in_on_restart_on_a_shared_thread_halts_the_ring<K: Kind>() {
    quiet_panics();
    let log = Log::default();
    let spy = Spy::new(&log, |call| match call {
        Call::Restart => panic!("{ON_PURPOSE}"),
        Call::Event(1) => Ok(Action::Restart(Duration::from_millis(1))),
        _ => Ok(Action::Continue),
    });
    let finished = run::<K>(3, stage("restarts").on_panic(Action::Skip), spy);
    assert_eq!((finished[0].outcome(), counts(&finished[0])), (&panicked_at(1), (1, 0)));
    assert_eq!(*finished[1].outcome(), Outcome::Halted);
    assert_eq!(log.count(&Call::Shutdown), 0);
}

/// The event is available, and its stage only pauses before the retry.
fn a_timeout_does_not_come_in_a_pause<K: Kind>() {
    let log = Log::default();
    let mut tries = 0;
    let spy = Spy::new(&log, move |call| {
        tries += u32::from(call.events().is_some());
        let again = Action::Retry(Duration::from_millis(10));
        Ok(if call.events().is_some() && tries < 3 { again } else { Action::Continue })
    });
    drop(run::<K>(1, stage("pauses").timeout(Duration::from_millis(1)), spy));
    assert_eq!(log.sequences(), [0, 0, 0]);
    assert_eq!(log.count(&Call::Timeout(0)), 0);
}

/// A monitor must not take a stage that pauses for an idle one.
fn a_pause_is_shown_while_the_other_stages_of_its_thread_are_parked<K: Kind>() {
    let sleeps = stage("sleeps").wait(Blocking { yields: 0 });
    let ring = K::ring(8, || 0_u64).stage(sleeps).read(|_, _, _| {});
    let ring = ring.stage(stage("pauses")).read(|_, _, _| Action::Retry(Duration::MAX));
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    let monitor = running.monitor();
    producer.publish(|_| {}).unwrap();
    // The same in two snapshots: the thread stays parked, and does not park again and again.
    let look = || {
        let stages = monitor.snapshot().stages;
        stages.iter().map(|stage| (stage.state, stage.parks)).collect::<Vec<_>>()
    };
    common::wait_until(|| {
        let before = look();
        std::thread::sleep(common::MOMENT);
        let states: Vec<StageState> = before.iter().map(|(state, _)| *state).collect();
        states == [StageState::Parked, StageState::Pausing] && look() == before
    });
    running.halt();
    assert!(running.join().is_err());
}

/// Panics every other time that it is asked for a step.
#[derive(Clone)]
struct Shaky {
    asked: u32,
    blocking: Blocking,
}

impl WaitStrategy for Shaky {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.asked += 1;
        assert!(self.asked.is_multiple_of(2), "{ON_PURPOSE}");
        self.blocking.next(waiting)
    }
}

/// A panic with a policy must not halt the ring.
fn a_panic_in_the_strategy_of_a_shared_thread_follows_the_policy<K: Kind>() {
    quiet_panics();
    let (asked, questions) = mpsc::channel();
    let (send, seen) = mpsc::channel();
    let policy = move |failure: &Failure<'_>| {
        asked.send(failure.sequence()).unwrap();
        Action::Skip
    };
    let first = stage("first").wait(Shaky { asked: 0, blocking: Blocking { yields: 0 } });
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage(first.on_panic(policy))
        .read(|_, _, _| {})
        .stage(stage("second"))
        .read(move |_, sequence: Sequence, _| send.send(sequence).unwrap())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    assert_eq!(questions.recv_timeout(PATIENCE), Ok(0), "its first step panics");
    for sequence in 0..3 {
        producer.publish(|_| {}).unwrap();
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(sequence));
    }
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| counts(stage) == (3, 0)));
    assert!(questions.try_iter().all(|sequence| sequence <= 3));
}

fn a_panic_in_the_strategy_cuts_no_pause_short<K: Kind>() {
    quiet_panics();
    let pause = Duration::from_millis(20);
    let log = Log::default();
    let (send, times) = mpsc::channel();
    let mut is_first = true;
    let spy = Spy::new(&log, move |call| {
        if call.events().is_none() {
            return Ok(Action::Continue);
        }
        send.send(Instant::now()).unwrap();
        let again = Action::Restart(pause);
        Ok(if std::mem::take(&mut is_first) { again } else { Action::Continue })
    });
    let shaky = Shaky { asked: 0, blocking: Blocking { yields: 0 } };
    let stage = stage("pauses").wait(shaky).on_panic(Action::Retry(Duration::ZERO));
    let finished = run::<K>(1, stage, spy);
    assert!(finished.iter().all(|stage| counts(stage) == (1, 0)));
    let times: Vec<Instant> = times.try_iter().collect();
    assert!(times.len() == 2 && times[1] - times[0] >= pause);
    assert_eq!(log.count(&Call::Restart), 1);
}
