//! Tests what a poller shows, what it releases and when, and the graph after it has left. The first
//! tests are a table of each reading call in each state of a ring: a state is a line of `STATES`,
//! a call is a line of `READS`.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Kind, MOMENT, One, PATIENCE, ProducerOf, watched};
use crate::rings::{events, on_event, ring_with_poller, with_pollers};
use lapwing::consumer::{Access, Batch, Exclusive, Shared};
use lapwing::error::{HaltCause, PollError, PublishError, StartError, TryPublishError};
use lapwing::graph::Graph;
use lapwing::wait::BusySpin;
use lapwing::{Disruptor, Poller, Sequence, Stage};

crate::common::for_both_producers! {
    each_call_shows_what_the_state_of_the_ring_allows,
    each_call_that_waits_ends_with_an_event_or_with_the_ring,
    max_batch_of_the_stage_limits_each_call,
    miri_batch_releases_only_consumed_events,
    miri_batch_releases_early_and_keeps_the_rest,
    miri_forgotten_batch_comes_again,
    exclusive_poller_changes_events_for_the_stages_after_it,
    miri_dropped_poller_holds_back_nothing,
    pipeline_of_pollers_survives_the_one_in_the_middle,
    poller_that_was_not_taken_fails_the_start,
    poller_after_a_stage_sees_its_events_when_it_has_finished,
    poller_that_spins_downstream_of_one_that_leaves_reads_its_events,
}

// ---- what each call shows ----

/// A call of a poller.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Read {
    Poll,
    PollMax(usize),
    Wait,
    WaitTimeout(Duration),
    /// Until this time from now on; `None` for an instant that has passed.
    WaitDeadline(Option<Duration>),
}

/// A time that no test takes, and that the clock can add.
const LONG: Duration = Duration::from_secs(1_000_000);

const READS: [Read; 15] = [
    Read::Poll,
    Read::PollMax(0),
    Read::PollMax(1),
    Read::PollMax(2),
    Read::PollMax(100),
    // A sequence below 0 must not wrap around, which would make a slice of nearly all memory.
    Read::PollMax(1 << 62),
    Read::PollMax(usize::MAX >> 1),
    Read::PollMax(usize::MAX),
    Read::Wait,
    Read::WaitTimeout(Duration::ZERO),
    Read::WaitTimeout(MOMENT),
    Read::WaitTimeout(Duration::MAX),
    Read::WaitDeadline(None),
    Read::WaitDeadline(Some(MOMENT)),
    Read::WaitDeadline(Some(LONG)),
];

const WITHOUT_LIMIT: [Read; 3] =
    [Read::Wait, Read::WaitTimeout(Duration::MAX), Read::WaitDeadline(Some(LONG))];

/// The events that a call shows, with their sequences, or its error.
type Shown = Result<Vec<(Sequence, u64)>, PollError>;

impl Read {
    /// Makes the call. Consumes what it shows if `consumes`.
    fn make<A: Access>(self, poller: &mut Poller<u64, A>, consumes: bool) -> Shown {
        let batch = match self {
            Self::Poll => poller.poll(),
            Self::PollMax(max) => poller.poll_max(max),
            Self::Wait => poller.wait().map_err(PollError::from),
            Self::WaitTimeout(timeout) => poller.wait_timeout(timeout),
            Self::WaitDeadline(left) => poller.wait_deadline(in_time(left)),
        };
        let mut batch = batch?;
        let events: Vec<_> =
            (batch.first_sequence()..).zip(batch.as_slice().iter().copied()).collect();
        assert_eq!((batch.len(), batch.is_empty()), (events.len(), events.is_empty()));
        if consumes {
            assert_eq!(batch.iter().len(), events.len());
            assert!(batch.iter().map(|(sequence, event)| (sequence, *event)).eq(events.clone()));
            assert!(batch.is_empty() && batch.iter().next().is_none());
        }
        Ok(events)
    }
}

/// Returns the instant at which `left` is over; one that has passed for `None`.
fn in_time(left: Option<Duration>) -> Instant {
    let now = Instant::now();
    left.map_or_else(|| now.checked_sub(MOMENT).unwrap_or(now), |left| now + left)
}

/// How far a ring has got, and how it ended.
#[derive(Debug, Clone, Copy)]
struct State {
    capacity: usize,
    published: u64,
    consumed: u64,
    end: Option<PollError>,
}

const fn state(capacity: usize, published: u64, consumed: u64, end: Option<PollError>) -> State {
    State { capacity, published, consumed, end }
}

const CLOSED: Option<PollError> = Some(PollError::Closed);
const HALTED: Option<PollError> = Some(PollError::Halted(HaltCause::StageDropped));

const STATES: [State; 18] = [
    state(1, 0, 0, None),
    state(1, 3, 2, None),
    state(2, 2, 0, None),
    state(64, 128, 64, None),
    state(4, 0, 0, None),
    state(4, 3, 0, None),
    state(4, 4, 0, None),
    state(4, 3, 3, None),
    state(4, 6, 3, None),
    state(8, 5, 1, None),
    state(8, 10, 2, None),
    state(4, 0, 0, CLOSED),
    state(4, 2, 0, CLOSED),
    state(4, 2, 2, CLOSED),
    state(4, 6, 3, CLOSED),
    state(4, 0, 0, HALTED),
    state(4, 2, 2, HALTED),
    state(4, 3, 1, HALTED),
];

impl State {
    /// Makes a ring in this state, whose events equal their sequences.
    fn build<K: Kind>(self) -> (ProducerOf<u64, K>, Poller<u64>) {
        let ring = K::ring(self.capacity, || 0).stage("poller").poller();
        // A stage that is dropped halts the ring.
        let is_halted = self.end == HALTED;
        let ring = if is_halted { ring.stage("never").read(on_event(|_, _, _| {})) } else { ring };
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut poller = consumers.take_poller("poller").unwrap();
        for sequence in 0..self.published {
            publish::<K>(&mut producer, sequence..sequence + 1);
            if sequence < self.consumed {
                poller.poll_max(1).unwrap().consume_all();
            }
        }
        drop(consumers);
        if self.end == CLOSED {
            producer.close();
        }
        (producer, poller)
    }

    /// Returns what the call must show, unless it waits.
    fn expected(self, read: Read) -> Option<Shown> {
        let to_wrap = self.capacity as u64 - self.consumed % self.capacity as u64;
        let max = if let Read::PollMax(max) = read { max as u64 } else { u64::MAX };
        let there = self.published - self.consumed;
        let len = there.min(to_wrap).min(max);
        match self.end {
            Some(halted @ PollError::Halted(_)) => Some(Err(halted)),
            _ if there > 0 => {
                Some(Ok((self.consumed..self.consumed + len).map(|at| (at, at)).collect()))
            }
            Some(end) => Some(Err(end)),
            None if WITHOUT_LIMIT.contains(&read) => None,
            None => Some(Err(PollError::Empty)),
        }
    }
}

/// Publishes numbers that are their own sequences.
fn publish<K: Kind>(producer: &mut ProducerOf<u64, K>, sequences: std::ops::Range<u64>) {
    for sequence in sequences {
        assert_eq!(producer.try_publish(|event| *event = sequence), Ok(sequence));
    }
}

/// Returns what a poll shows, without consuming it.
fn shown<A: Access>(poller: &mut Poller<u64, A>) -> Result<Vec<u64>, PollError> {
    poller.poll().map(|batch| batch.as_slice().to_vec())
}

fn each_call_shows_what_the_state_of_the_ring_allows<K: Kind>() {
    for (state, read) in STATES.into_iter().flat_map(|state| READS.map(|read| (state, read))) {
        let Some(expected) = state.expected(read) else { continue };
        let (producer, mut poller) = state.build::<K>();
        let free = producer.free_slots();
        let begin = Instant::now();
        assert_eq!(read.make(&mut poller, false), expected, "{read:?} {state:?}");
        let is_empty = expected == Err(PollError::Empty);
        let waits = [Read::WaitTimeout(MOMENT), Read::WaitDeadline(Some(MOMENT))].contains(&read);
        assert!(!(is_empty && waits) || begin.elapsed() >= MOMENT);
        assert_eq!((poller.sequence(), producer.free_slots()), (state.consumed, free));
        assert_eq!(read.make(&mut poller, true), expected, "{read:?} {state:?}");
        let consumed = expected.map_or(0, |events| events.len());
        assert_eq!(poller.sequence(), state.consumed + consumed as u64);
        let freed = if state.end == HALTED { 0 } else { consumed };
        assert_eq!(producer.free_slots(), free + freed, "{read:?} {state:?}");
    }
}

fn each_call_that_waits_ends_with_an_event_or_with_the_ring<K: Kind>() {
    let limits = [Read::WaitTimeout(PATIENCE), Read::WaitDeadline(Some(PATIENCE))];
    for read in limits.into_iter().chain(WITHOUT_LIMIT) {
        for end in [None, CLOSED, HALTED] {
            let ring = K::ring(2, || 0).stage("poller").poller().stage("never");
            let ring = ring.read(on_event(|_, _, _| {}));
            let (mut producer, mut consumers) = ring.build().unwrap();
            let mut poller = consumers.take_poller("poller").unwrap();
            let waiting = thread::spawn(move || read.make(&mut poller, true));
            match end {
                None => publish::<K>(&mut producer, 0..1),
                Some(PollError::Closed) => producer.close(),
                _ => drop(consumers),
            }
            let expected = end.map_or(Ok(vec![(0, 0)]), Err);
            assert_eq!(waiting.join().unwrap(), expected, "{read:?} {end:?}");
        }
    }
}

fn max_batch_of_the_stage_limits_each_call<K: Kind>() {
    let ring = K::ring(8, || 0).stage(Stage::new("poller").max_batch(3)).poller();
    let (mut producer, [mut poller]) = with_pollers(ring, ["poller"]);
    publish::<K>(&mut producer, 0..8);
    for read in READS {
        let max = if let Read::PollMax(max) = read { max.min(3) } else { 3 };
        assert_eq!(read.make(&mut poller, false).unwrap().len(), max, "{read:?}");
    }
    assert_eq!(Read::Poll.make(&mut poller, true), Ok(vec![(0, 0), (1, 1), (2, 2)]));
    assert_eq!(shown(&mut poller), Ok(vec![3, 4, 5]));
}

// ---- what a batch releases ----

fn miri_batch_releases_only_consumed_events<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    publish::<K>(&mut producer, 0..4);
    drop(poller.poll().unwrap());
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    poller.poll().unwrap().consume(1);
    publish::<K>(&mut producer, 4..5);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    {
        let mut batch = poller.poll().unwrap();
        assert_eq!(batch.iter().take(2).count(), 2);
        assert_eq!(batch.as_slice(), [3]);
        assert_eq!((batch.len(), batch.first_sequence()), (1, 3));
        assert_eq!(batch.iter().next(), Some((3, &3)));
        batch.consume(7);
    }
    publish::<K>(&mut producer, 5..8);
    assert_eq!(events(&mut poller), [4, 5, 6, 7]);
}

fn miri_batch_releases_early_and_keeps_the_rest<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    publish::<K>(&mut producer, 0..4);
    {
        let mut batch = poller.poll().unwrap();
        batch.release();
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
        batch.consume(2);
        batch.release();
        publish::<K>(&mut producer, 4..6);
        assert_eq!((batch.as_slice(), batch.first_sequence()), (&[2, 3][..], 2));
    }
    assert_eq!(events(&mut poller), [2, 3, 4, 5]);
}

fn miri_forgotten_batch_comes_again<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    publish::<K>(&mut producer, 0..2);
    let mut batch = poller.poll().unwrap();
    batch.consume_all();
    mem::forget(batch);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    assert_eq!(events(&mut poller), [0, 1]);
    publish::<K>(&mut producer, 2..4);
}

fn exclusive_poller_changes_events_for_the_stages_after_it<K: Kind>() {
    let ring = K::ring(4, || 0).stage("writer").poller_mut().stage("reader").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut writer: Poller<u64, Exclusive> = consumers.take_poller_mut("writer").unwrap();
    let mut reader = consumers.take_poller("reader").unwrap();
    publish::<K>(&mut producer, 0..4);
    assert_eq!(shown(&mut reader), Err(PollError::Empty));
    {
        let mut batch = writer.poll_max(3).unwrap();
        batch.as_mut_slice()[0] += 10;
        let double = |(sequence, event): (_, &mut u64)| (sequence, mem::replace(event, *event * 2));
        assert_eq!(batch.iter_mut().map(double).last(), Some((2, 2)));
        assert_eq!(batch.iter_mut().next(), None);
    }
    assert_eq!(events(&mut reader), [20, 2, 4]);
    writer.poll().unwrap().iter_mut().for_each(|(_, event)| *event = 9);
    assert_eq!(events(&mut reader), [9]);
}

// ---- a poller that leaves, and others ----

/// It leaves within a batch, of which it has consumed one event, or which it has forgotten.
fn miri_dropped_poller_holds_back_nothing<K: Kind>() {
    let ways: [fn(Batch<'_, u64, Shared>); 2] =
        [|mut batch| batch.consume(1), |batch| mem::forget(batch)];
    for leave in ways {
        let ring = K::ring(2, || 0_u64);
        let ring =
            ring.parallel(|parallel| parallel.stage("goes").poller().stage("stays").poller());
        let (mut producer, [mut goes, mut stays]) = with_pollers(ring, ["goes", "stays"]);
        publish::<K>(&mut producer, 0..2);
        assert_eq!(events(&mut stays), [0, 1]);
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
        leave(goes.poll().unwrap());
        drop(goes);
        publish::<K>(&mut producer, 2..4);
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
        assert_eq!(events(&mut stays), [2, 3]);
    }
}

fn pipeline_of_pollers_survives_the_one_in_the_middle<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("first").poller().stage("middle").poller();
    let (mut producer, [mut first, mut middle, mut last]) =
        with_pollers(ring.stage("last").poller(), ["first", "middle", "last"]);
    publish::<K>(&mut producer, 0..4);
    first.poll().unwrap().consume(3);
    middle.poll().unwrap().consume(1);
    assert_eq!(shown(&mut last), Ok(vec![0]));
    drop(middle);
    // Now the last stage depends on the first.
    assert_eq!(events(&mut last), [0, 1, 2]);
    drop(first);
    assert_eq!(events(&mut last), [3]);
    publish::<K>(&mut producer, 4..8);
    producer.close();
    assert_eq!(events(&mut last), [4, 5, 6, 7]);
    assert_eq!(shown(&mut last), Err(PollError::Closed));
}

fn poller_that_was_not_taken_fails_the_start<K: Kind>() {
    let ring = K::ring(2, || 0_u64).parallel(|parallel| {
        parallel.stage("untaken").poller().stage("reader").read(on_event(|_, _, _| {}))
    });
    let (mut producer, consumers) = ring.build().unwrap();
    let error = consumers.start().unwrap_err();
    assert!(matches!(&error, StartError::UntakenPoller { stage } if stage == "untaken"), "{error}");
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageDropped)));
}

fn poller_after_a_stage_sees_its_events_when_it_has_finished<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("double").write(|event, _, _| *event *= 2);
    let (mut producer, mut consumers) = ring.stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    publish::<K>(&mut producer, 0..4);
    assert_eq!(shown(&mut poller), Err(PollError::Empty));
    let running = consumers.start().unwrap();
    let mut seen = Vec::new();
    while seen.len() < 4 {
        seen.extend(poller.wait().unwrap().iter().map(|(_, event)| *event));
    }
    assert_eq!(seen, [0, 2, 4, 6]);
    running.shutdown().unwrap();
    assert_eq!(shown(&mut poller), Err(PollError::Closed));
}

/// Across the wrap, in limited batches, and to the end of a closed ring.
fn poller_that_spins_downstream_of_one_that_leaves_reads_its_events<K: Kind>() {
    const EVENTS: u64 = 100;
    const LEFT_AT: u64 = 41;
    let ring = K::ring(8, || 0_u64).stage("first").max_batch(5).poller_mut();
    let ring = ring.stage("second").wait_strategy(BusySpin).max_batch(3).poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut first: Poller<u64, Exclusive> = consumers.take_poller_mut("first").unwrap();
    let mut second = consumers.take_poller("second").unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            (0..EVENTS).for_each(|event| assert_eq!(producer.publish(|e| *e = event), Ok(event)));
        });
        scope.spawn(move || {
            while first.sequence() < LEFT_AT {
                let mut batch = first.wait().unwrap();
                let left = (LEFT_AT - batch.first_sequence()) as usize;
                batch.iter_mut().take(left).for_each(|(_, event)| *event += 1000);
            }
        });
        while let Ok(mut batch) = second.wait() {
            assert!(batch.len() <= 3, "{batch:?}");
            for (sequence, event) in batch.iter() {
                let changed = if sequence < LEFT_AT { 1000 } else { 0 };
                assert_eq!(*event, sequence + changed);
            }
        }
    });
    assert_eq!(second.sequence(), EVENTS);
}

/// A poller of a graph is like one of a builder.
#[test]
fn graph_poller_is_taken_by_its_name() {
    watched(|| {
        let mut graph = Graph::new();
        let write = graph.stage("write").poller_mut();
        graph.stage("read").after(write).poller();
        let ring = Disruptor::single_producer(2, || 0_u64).graph(graph);
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut write = consumers.take_poller_mut("write").unwrap();
        let mut read = consumers.take_poller("read").unwrap();
        publish::<One>(&mut producer, 0..1);
        assert_eq!(shown(&mut read), Err(PollError::Empty));
        write.poll().unwrap().iter_mut().for_each(|(_, event)| *event = 5);
        assert_eq!(events(&mut read), [5]);
    });
}
