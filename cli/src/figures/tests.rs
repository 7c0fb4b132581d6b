//! Figures of rings in this process, and figures for the tests of what is shown.

use std::time::{Duration, Instant, UNIX_EPOCH};

use lapwing::monitor::{Limits, Monitor, Part, RingState, Snapshot, StageState};
use lapwing::observe::ProcessState;
use lapwing::{Action, Disruptor};

use super::*;
use crate::figures::stage::Rates;

/// Longer than any test waits.
const NEVER: Duration = Duration::from_secs(3600);

/// The stage that limits [`figures`].
fn limit() -> Part {
    Part::Stage { name: "journal".to_owned() }
}

/// Figures that have everything: a full ring that the stage "journal" limits.
pub(crate) fn figures() -> Figures {
    Figures {
        identity: Identity {
            name: "orders".to_owned(),
            pid: 4711,
            made_at: UNIX_EPOCH + Duration::from_secs(1_000),
        },
        ring: "orders".to_owned(),
        process: ProcessState::Running,
        at: UNIX_EPOCH + Duration::from_secs(1_200),
        interval: Some(Duration::from_secs(1)),
        state: RingState::Open,
        capacity: 64,
        held_slots: 64,
        published: 10_064,
        claimed: 10_064,
        dropped: 3,
        waiting_producers: 1,
        published_per_second: Some(12_345.6),
        dropped_per_second: Some(0.5),
        claim_held_for: None,
        idle_for: None,
        producers_wait_for: vec![Awaited::Acknowledgement("journal".to_owned())],
        verdict: Verdict {
            kind: Kind::Limited,
            sentence: "stage \"journal\" limits the ring: 48 events are ready for it".to_owned(),
            short: "limited by journal".to_owned(),
            culprit: Some(limit()),
            at_least: None,
        },
        limited_by: Some(limit()),
        shares: vec![
            Share { part: Some(limit()), share: 0.75 },
            Share { part: Some(Part::Producers), share: 0.25 },
        ],
        shares_over: Duration::from_secs(60),
        stages: stages(),
    }
}

fn stages() -> Vec<StageFigures> {
    let decode = stage("decode", &[], 0, StageState::Parked, 10_064);
    let journal = stage("journal", &["decode"], 1, StageState::InHandler, 10_016);
    let reply = stage("reply", &["journal"], 2, StageState::Parked, 10_000);
    let acknowledgement = Awaited::Acknowledgement("journal".to_owned());
    vec![
        StageFigures { waits_for: vec![Awaited::Publication], ..decode },
        StageFigures { is_culprit: true, acknowledged: Some(10_000), available: 48, ..journal },
        StageFigures { waits_for: vec![acknowledgement], ..reply },
    ]
}

fn stage(
    name: &str,
    after: &[&str],
    depth: usize,
    state: StageState,
    sequence: u64,
) -> StageFigures {
    StageFigures {
        name: name.to_owned(),
        after: after.iter().map(|name| (*name).to_owned()).collect(),
        depth,
        thread: Some(name.to_owned()),
        state,
        state_for: Some(Duration::from_millis(1_250)),
        waits_for: Vec::new(),
        sequence,
        acknowledged: None,
        lag: 10_064 - sequence,
        available: 0,
        batches: 700,
        parks: 30,
        wake_ups: 20,
        rates: Some(Rates {
            events_per_second: 12_345.6,
            events_per_batch: Some(14.2),
            batches_per_second: 869.4,
            parks_per_second: 42.0,
            wake_ups_per_second: 40.5,
        }),
        stuck_for: None,
        unacknowledged_for: None,
        is_culprit: false,
    }
}

fn identity() -> Identity {
    Identity { name: "orders".to_owned(), pid: 4711, made_at: UNIX_EPOCH }
}

/// Figures of a process in this state, with stalls from `stall_after` on.
fn of(
    process: ProcessState,
    earlier: Option<&Snapshot>,
    snapshot: &Snapshot,
    stall_after: Duration,
) -> Figures {
    let throughput = earlier.map(|earlier| snapshot.since(earlier));
    let mut limits = Limits::new();
    throughput.iter().for_each(|throughput| limits.add(throughput));
    Figures::of(&Seen {
        identity: &identity(),
        process,
        at: UNIX_EPOCH,
        snapshot,
        earlier: earlier.zip(throughput.as_ref()),
        limits: &limits,
        stall_after,
    })
}

/// Takes a snapshot a moment after `earlier`.
fn later(monitor: &Monitor, earlier: &Snapshot) -> Snapshot {
    while Instant::now() <= earlier.taken_at {}
    monitor.snapshot()
}

#[test]
fn the_first_look_has_no_rates_and_the_second_has() {
    let ring = Disruptor::single_producer(8, || 0_u64).stage("ticks").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let monitor = producer.monitor();
    let first = monitor.snapshot();
    let figures = of(ProcessState::Running, None, &first, NEVER);
    assert_eq!(figures.verdict.kind, Kind::FirstLook);
    assert_eq!((figures.published_per_second, figures.stages[0].rates), (None, None));

    producer.publish_batch(6, |_| {}).unwrap();
    ticks.poll_max(4).unwrap().consume_all();
    ticks.poll().unwrap().consume_all();
    let figures = of(ProcessState::Running, Some(&first), &later(&monitor, &first), NEVER);
    assert_eq!(figures.verdict.kind, Kind::KeepsUp);
    assert!(figures.published_per_second.unwrap() > 0.0);
    assert_eq!(figures.stages[0].rates.unwrap().events_per_batch, Some(3.0));
    assert_eq!(figures.shares[0].part, Some(Part::Producers));
}

#[test]
fn a_stage_waits_for_what_is_furthest_behind_upstream() {
    let ring = Disruptor::single_producer(8, || 0_u64)
        .parallel(|parallel| parallel.stage("left").poller().stage("right").poller())
        .stage("last")
        .poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut left = consumers.take_poller("left").unwrap();
    let right = consumers.take_poller("right").unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    left.poll().unwrap().consume_all();
    let monitor = producer.monitor();
    let figures = of(ProcessState::Running, None, &monitor.snapshot(), NEVER);
    let waits_for: Vec<_> = figures.stages.iter().map(|stage| &stage.waits_for[..]).collect();
    let right_only = [Awaited::Stage("right".to_owned())];
    assert_eq!(waits_for, [&[Awaited::Publication][..], &[Awaited::Poll], &right_only]);
    assert_eq!(figures.stages.iter().map(|stage| stage.depth).collect::<Vec<_>>(), [0, 0, 1]);

    drop(right); // it has left, and "last" depends on what is before it
    let figures = of(ProcessState::Running, None, &monitor.snapshot(), NEVER);
    assert_eq!(figures.stages[1].state, StageState::Left);
    assert_eq!(figures.stages[2].waits_for, [Awaited::Poll]);
}

#[test]
fn an_acknowledgement_is_awaited_by_its_name() {
    let ring = Disruptor::single_producer(8, || 0_u64).stage("journal").acknowledged().poller();
    let (mut producer, mut consumers) = ring.stage("reply").poller().build().unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let _reply = consumers.take_poller("reply").unwrap();
    let _acknowledger = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(8, |_| {}).unwrap();
    journal.poll().unwrap().consume_all();
    let monitor = producer.monitor();
    let first = monitor.snapshot();
    let figures = of(ProcessState::Running, None, &first, NEVER);
    let acknowledgement = [Awaited::Acknowledgement("journal".to_owned())];
    assert_eq!(figures.stages[1].waits_for, acknowledgement);
    let snapshot = later(&monitor, &first);
    let figures = of(ProcessState::Running, Some(&first), &snapshot, Duration::ZERO);
    assert_eq!(figures.verdict.kind, Kind::Stalled);
    assert!(figures.stages[0].is_culprit);
    assert_eq!(figures.verdict.short, "stalled: acks of journal");
    assert!(figures.verdict.at_least.is_some());
}

#[test]
fn an_open_claim_is_what_all_wait_for() {
    let ring = Disruptor::multi_producer(4, || 0_u64).stage("all").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let _all = consumers.take_poller("all").unwrap();
    let monitor = producer.monitor();
    let claim = producer.claim().unwrap();
    let first = monitor.snapshot();
    let figures = of(ProcessState::Running, None, &first, NEVER);
    assert_eq!(figures.stages[0].waits_for, [Awaited::Claim]);
    let snapshot = later(&monitor, &first);
    let figures = of(ProcessState::Running, Some(&first), &snapshot, Duration::ZERO);
    assert_eq!(figures.verdict.culprit, Some(Part::Claim));
    let figures = of(ProcessState::Ended, Some(&first), &snapshot, NEVER);
    let sentence = "process 4711 has ended without dropping the ring: the figures are its last \
                    ones; every stage had finished all published events; sequence 0 was claimed \
                    and not published";
    assert_eq!(figures.verdict.sentence, sentence);
    drop(claim);
}

#[test]
fn a_process_that_does_not_run_names_what_was_at_work() {
    let ring = Disruptor::single_producer(8, || 0_u64).stage("decode").poller();
    let (mut producer, mut consumers) = ring.stage("sum").poller().build().unwrap();
    let mut decode = consumers.take_poller("decode").unwrap();
    let mut sum = consumers.take_poller("sum").unwrap();
    let monitor = producer.monitor();
    producer.publish_batch(6, |_| {}).unwrap();
    decode.poll_max(4).unwrap().consume_all();
    let first = monitor.snapshot();
    let figures = of(ProcessState::Stopped, Some(&first), &first, NEVER);
    assert_eq!(figures.verdict.kind, Kind::Stopped);
    let sentence = "process 4711 is stopped, by SIGSTOP, a terminal or a debugger; no stage was in its handler, \
                    and stage \"sum\" was the furthest behind: not polled, at sequence 0, 6 events behind";
    assert_eq!(figures.verdict.sentence, sentence);
    assert!(figures.published_per_second.is_some());

    let batch = sum.poll_max(2).unwrap();
    let figures = of(ProcessState::Ended, Some(&first), &monitor.snapshot(), Duration::ZERO);
    assert_eq!(figures.verdict.kind, Kind::Ended);
    let then = "; stage \"sum\" held a batch, at sequence 0, 6 events behind";
    assert!(figures.verdict.sentence.ends_with(then), "{}", figures.verdict.sentence);
    assert_eq!(figures.verdict.short, "ended: sum");
    assert!(figures.stages[1].is_culprit);
    // What has ended has neither rates nor durations.
    let has_none = |stage: &StageFigures| {
        stage.rates.is_none() && stage.state_for.is_none() && stage.stuck_for.is_none()
    };
    assert!(figures.published_per_second.is_none() && figures.stages.iter().all(has_none));
    drop(batch);
}

#[test]
fn a_stage_that_has_failed_is_named() {
    let ring = Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| Action::Halt);
    let (mut producer, consumers) = ring.build().unwrap();
    let monitor = producer.monitor();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let _ = running.join();
    let figures = of(ProcessState::Running, None, &monitor.snapshot(), NEVER);
    assert_eq!(figures.verdict.kind, Kind::Halted);
    assert_eq!(figures.state, RingState::Halted);
}

#[test]
fn a_ring_that_is_closed_or_dropped_or_idle_says_so() {
    let ring = Disruptor::single_producer(8, || 0_u64).stage("all").poller();
    let (producer, mut consumers) = ring.build().unwrap();
    let _all = consumers.take_poller("all").unwrap();
    let monitor = producer.monitor();
    let first = monitor.snapshot();
    let idle = of(ProcessState::Running, Some(&first), &later(&monitor, &first), NEVER);
    assert_eq!(idle.verdict.kind, Kind::Idle);
    producer.close();
    let snapshot = monitor.snapshot();
    let drained = of(ProcessState::Running, Some(&first), &snapshot, NEVER);
    assert_eq!(drained.verdict.kind, Kind::Drained);
    let closed = of(ProcessState::Dropped, Some(&first), &snapshot, NEVER);
    assert_eq!(closed.verdict.kind, Kind::Dropped);
}
