//! C60 to C62 and C65: which batches a stage gets, and what is released within them.

use std::sync::mpsc;
use std::time::Duration;

use lapwing::consumer::{Access, Outcome};
use lapwing::error::TryPublishError;
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{self, Kind, Lcg, MOMENT, Many, PATIENCE, ProducerOf, repeats};
use crate::{Call, Form, Log, Spy, drain, drain_one};

common::for_both_producers! {
    c61_a_maximum_batch_splits_the_available_events,
    c62_an_early_release_takes_effect_before_its_batch_ends,
    c62_a_released_event_reaches_the_next_stage_before_its_batch_ends,
    c65_no_batch_is_announced_without_events,
    the_rest_of_an_unfinished_batch_is_a_new_batch,
    each_announced_batch_has_an_end,
    a_release_at_the_end_of_a_batch_has_no_further_effect,
}

/// C60: the handler publishes another event for each event that does not end its batch.
#[test]
fn c60_batches_of_a_handler_that_publishes_itself() {
    common::watched(|| {
        let log = Log::default();
        let (give, given) = mpsc::channel();
        let make = {
            let log = log.clone();
            move || Echo { log, producer: given.recv().unwrap() }
        };
        let ring = Many::ring(16, || 0).stage("echo").max_batch(16).read_local(make);
        let (mut producer, consumers) = ring.build().unwrap();
        producer.publish_batch(3, |_| {}).unwrap();
        give.send(producer.clone()).unwrap();
        let running = consumers.start().unwrap();
        common::wait_until(|| log.sequences().len() == 6);
        running.shutdown().unwrap();
        let sizes = log.calls().into_iter().filter_map(|call| match call {
            Call::BatchStart(size, _) => Some(size),
            _ => None,
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(log.sequences(), (0..6).collect::<Vec<_>>());
    });
}

struct Echo {
    log: Log,
    producer: ProducerOf<u64, Many>,
}

impl EventHandler<u64> for Echo {
    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.log.push(Call::BatchStart(batch_size, queue_depth));
    }

    fn on_event(&mut self, _: &u64, sequence: Sequence, end_of_batch: bool) {
        if !end_of_batch {
            self.producer.publish(|_| {}).unwrap();
        }
        self.log.push(Call::Event(sequence));
    }
}

/// What a stage got, batch by batch: the announcement and the events.
fn batches(log: &Log) -> Vec<((u64, u64), Vec<Sequence>)> {
    let mut batches = Vec::new();
    for call in log.calls() {
        match call {
            Call::BatchStart(size, depth) => batches.push(((size, depth), Vec::new())),
            Call::Event(sequence) => batches.last_mut().unwrap().1.push(sequence),
            _ => {}
        }
    }
    batches
}

fn c61_a_maximum_batch_splits_the_available_events<K: Kind>() {
    let log = Log::default();
    let stage = Stage::new("all").max_batch(3);
    let spy = Spy::new(&log, |_| Ok(Action::Continue));
    drop(drain_one(Form::Handler.add(K::ring(16, || 0), stage, spy), 5));
    assert_eq!(batches(&log), [((3, 5), vec![0, 1, 2]), ((2, 2), vec![3, 4])]);
}

/// Returns `ReleaseNow` for the given events, and waits for a message at the next one.
fn releasing(
    bad: Sequence,
    at_next: mpsc::Sender<()>,
    go_on: mpsc::Receiver<()>,
) -> impl FnMut(&u64, Sequence, bool) -> Action + Send + 'static {
    move |_, sequence, _| {
        if sequence == bad + 1 {
            at_next.send(()).unwrap();
            go_on.recv_timeout(PATIENCE).unwrap();
        }
        if sequence == bad { Action::ReleaseNow } else { Action::Continue }
    }
}

fn c62_an_early_release_takes_effect_before_its_batch_ends<K: Kind>() {
    let (at_next, is_at_next) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let stage = Stage::new("releases").max_batch(4);
    let ring = K::ring(4, || 0).stage(stage).read(releasing(1, at_next, may_go_on));
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    let running = consumers.start().unwrap();
    is_at_next.recv_timeout(PATIENCE).unwrap();
    assert_eq!(producer.try_publish(|_| {}), Ok(4));
    assert_eq!(producer.try_publish(|_| {}), Ok(5));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full), "2 and 3 are held");
    go_on.send(()).unwrap();
    let report = running.shutdown().unwrap();
    assert_eq!(report.stages().next().unwrap().processed(), 6);
}

fn c62_a_released_event_reaches_the_next_stage_before_its_batch_ends<K: Kind>() {
    let (at_next, is_at_next) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let stage = Stage::new("releases").max_batch(8);
    let ring = K::ring(8, || 0)
        .stage(stage)
        .read(releasing(1, at_next, may_go_on))
        .stage("after")
        .poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut after = consumers.take_poller("after").unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    let running = consumers.start().unwrap();
    is_at_next.recv_timeout(PATIENCE).unwrap();
    let mut batch = after.poll().unwrap();
    assert_eq!((batch.first_sequence(), batch.len()), (0, 2));
    batch.consume_all();
    drop(batch);
    assert!(after.poll().is_err());
    go_on.send(()).unwrap();
    running.shutdown().unwrap();
    assert_eq!(after.poll().unwrap().len(), 3);
}

/// C65: for every reason to wake a stage, and every outcome of the batch before.
fn c65_no_batch_is_announced_without_events<K: Kind>() {
    let log = Log::default();
    let mut random = Lcg(7);
    let spy = Spy::new(&log, move |_| {
        Ok(match random.below(10) {
            0 => Action::ReleaseNow,
            1 => Action::Skip,
            2 => Action::Retry(Duration::ZERO),
            3 => Action::Rewind(Duration::ZERO),
            4 => Action::Restart(Duration::ZERO),
            _ => Action::Continue,
        })
    });
    let stage = Stage::new("acts").timeout(Duration::from_micros(50));
    let ring = K::ring(4, || 0).stage("before").read(|_, _, _| {});
    let (mut producer, consumers) = Form::Handler.add(ring, stage, spy).build().unwrap();
    let running = consumers.start().unwrap();
    let mut random = Lcg(8);
    for _ in 0..repeats(1_500) {
        match random.below(3) {
            0 => drop(producer.claim().unwrap()),
            1 => _ = producer.publish(|_| {}).unwrap(),
            _ => _ = producer.publish_batch(3, |_| {}).unwrap(),
        }
        if random.below(100) == 0 {
            std::thread::sleep(MOMENT / 50); // gives time for some timeouts
        }
    }
    running.shutdown().unwrap();
    for call in log.calls() {
        if let Call::BatchStart(size, depth) = call {
            assert!((1..=depth).contains(&size) && depth <= 4, "size={size}, depth={depth}");
        }
    }
}

fn the_rest_of_an_unfinished_batch_is_a_new_batch<K: Kind>() {
    let zero = Duration::ZERO;
    let cases = [
        (Action::ReleaseNow, 3),
        (Action::Skip, 3),
        (Action::Retry(zero), 2),
        (Action::Restart(zero), 2),
        (Action::Rewind(zero), 0),
    ];
    for (action, from) in cases {
        let log = Log::default();
        let mut is_first = true;
        let spy = Spy::new(&log, move |call| {
            let is_it = call.includes(2) && std::mem::take(&mut is_first);
            Ok(if is_it { action } else { Action::Continue })
        });
        let stage = Stage::new("acts").max_batch(4);
        drop(drain_one(Form::Handler.add(K::ring(8, || 0), stage, spy), 6));
        let size = 4.min(6 - from);
        let rest = (from..from + size).collect::<Vec<_>>();
        let got = batches(&log);
        assert_eq!(got[0], ((4, 6), vec![0, 1, 2]), "{action:?}");
        assert_eq!(got[1], ((size, 6 - from), rest), "{action:?}");
    }
}

/// Logs the ends of batches.
struct Flushes {
    ends: Vec<Sequence>,
    act: fn(Sequence, usize) -> Action,
    calls: usize,
}

impl<A: Access> EventHandler<u64, A, Action> for Flushes {
    fn on_event(&mut self, _: A::Ref<'_, u64>, sequence: Sequence, end_of_batch: bool) -> Action {
        self.calls += 1;
        if end_of_batch {
            self.ends.push(sequence);
        }
        (self.act)(sequence, self.calls)
    }
}

fn each_announced_batch_has_an_end<K: Kind>() {
    let ends = |act| {
        let flushes = Flushes { ends: Vec::new(), act, calls: 0 };
        let stage = Stage::new("acts").max_batch(4);
        let mut finished = drain_one(K::ring(8, || 0).stage(stage).read_handler(flushes), 8);
        finished.take_handler::<Flushes>().unwrap().ends
    };
    assert_eq!(ends(|_, _| Action::Continue), [3, 7]);
    let release = |at, _| if at == 1 { Action::ReleaseNow } else { Action::Continue };
    assert_eq!(ends(release), [5, 7], "0 and 1, then 2 to 5");
    let skip = |at, _| if at == 3 { Action::Skip } else { Action::Continue };
    assert_eq!(ends(skip), [3, 7], "it got the end of the batch, but failed");
    let rewind = |at, calls| {
        if at == 3 && calls < 5 { Action::Rewind(Duration::ZERO) } else { Action::Continue }
    };
    assert_eq!(ends(rewind), [3, 3, 7]);
}

fn a_release_at_the_end_of_a_batch_has_no_further_effect<K: Kind>() {
    let log = Log::default();
    let spy = Spy::new(&log, |_| Ok(Action::ReleaseNow));
    let stage = Stage::new("releases").max_batch(2);
    let ring = Form::BatchMut.add(K::ring(8, || 0), stage, spy).stage("after").read(|_, _, _| {});
    let finished = drain(ring, 5);
    assert_eq!(log.events(), [0..2, 2..4, 4..5]);
    assert!(finished.iter().all(|stage| stage.processed() == 5));
    assert!(finished.iter().all(|stage| *stage.outcome() == Outcome::Drained));
}
