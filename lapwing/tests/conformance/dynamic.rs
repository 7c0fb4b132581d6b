//! C70 to C72: consumers join and leave while producers publish.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use lapwing::consumer::Outcome;
use lapwing::error::TryPublishError;
use lapwing::graph::{DynamicStages, StartAt};
use lapwing::producer::Sequencer;
use lapwing::{Consumers, Poller, Producer, Report, Running, Sequence};

use crate::common::{ProducerOf, wait_until};
use crate::setup::{Kind, Setup};

for_each_setup! {
    c70_consumers_that_join_under_load_miss_nothing_and_are_never_overrun,
    c71_consumers_that_leave_under_load_take_no_event_from_others,
    c71_stages_that_are_stopped_under_load_take_no_event_from_others,
    c71_producer_continues_when_the_consumer_that_it_waits_for_leaves,
}

/// An event that shows whether two writers have accessed it at the same time.
pub(crate) type Page = [u64; 8];

/// Checks that pages are whole and that their sequences have no gap.
#[derive(Default)]
pub(crate) struct Contiguous(Option<Sequence>);

impl Contiguous {
    #[track_caller]
    pub(crate) fn see(&mut self, page: &Page, sequence: Sequence) {
        assert_eq!(*page, [sequence; 8], "the event of another lap");
        let last = self.0.replace(sequence);
        assert!(last.is_none_or(|last| sequence == last + 1), "{last:?}, then {sequence}");
    }
}

/// Publishes until `is_done`, or until the ring has ended.
fn publish_on<S: Sequencer>(mut producer: Producer<Page, S>, is_done: &AtomicBool) {
    while !is_done.load(SeqCst) {
        let Ok(mut claim) = producer.claim() else { return };
        *claim = [claim.sequence(); 8];
        claim.publish().unwrap();
    }
}

/// Runs `body` while `consumers` run and one or two producers publish. Then closes the ring.
pub(crate) fn under_load<K: Kind>(
    producer: ProducerOf<Page, K>,
    consumers: Consumers<'_, Page>,
    body: impl FnOnce(&Running<'_>),
) -> Report {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let second = K::another(&producer);
        let producers = [Some(producer), second].into_iter().flatten();
        let is_done = &is_done;
        let threads: Vec<_> =
            producers.map(|producer| scope.spawn(move || publish_on(producer, is_done))).collect();
        body(&running);
        is_done.store(true, SeqCst);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        running.shutdown().unwrap()
    })
}

/// Takes a dynamic stage and checks at least `count` events.
pub(crate) fn join(
    dynamic_stages: &DynamicStages<Page>,
    start: StartAt,
    count: u64,
) -> Poller<Page> {
    let dynamic_stage = dynamic_stages.join("late", start).unwrap();
    let first = dynamic_stage.sequence();
    let mut poller = dynamic_stage.poller();
    let mut contiguous = Contiguous::default();
    while poller.sequence() < first + count {
        let mut batch = poller.wait().unwrap();
        assert!(contiguous.0.is_some() || batch.first_sequence() == first, "a gap at its start");
        batch.iter().for_each(|(sequence, page)| contiguous.see(page, sequence));
    }
    poller
}

fn c70_consumers_that_join_under_load_miss_nothing_and_are_never_overrun<K: Kind>(setup: Setup<K>) {
    let mut all = Contiguous::default();
    let (producer, consumers) = setup
        .ring(4, Page::default)
        .dynamic_stages(2)
        .stage("all")
        .read(|page, sequence, _| all.see(page, sequence))
        .build()
        .unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    under_load::<K>(producer, consumers, |_| {
        let starts = [StartAt::Now, StartAt::Oldest].into_iter().cycle();
        for start in starts.take(setup.events(40) as usize) {
            let early = join(&dynamic_stages, start, 3);
            let late = dynamic_stages.join("later", StartAt::Oldest).unwrap();
            // Starts at the oldest event of the early consumer, or up to one lap later: a producer
            // may have read the gate before it saw that consumer.
            assert!(late.sequence() <= early.sequence() + 4);
            drop(early);
            let mut contiguous = Contiguous::default();
            let mut late = late.poller();
            let mut batch = late.wait().unwrap();
            batch.iter().for_each(|(sequence, page)| contiguous.see(page, sequence));
        }
    });
    assert_eq!(dynamic_stages.free(), 2);
}

fn c71_consumers_that_leave_under_load_take_no_event_from_others<K: Kind>(setup: Setup<K>) {
    let mut all = Contiguous::default();
    let (producer, mut consumers) = setup
        .ring(4, Page::default)
        .dynamic_stages(1)
        .parallel(|parallel| {
            parallel
                .stage("all")
                .read(|page, sequence, _| all.see(page, sequence))
                .stage("leaves")
                .poller()
        })
        .build()
        .unwrap();
    let mut leaves = consumers.take_poller("leaves").unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    let report = under_load::<K>(producer, consumers, |_| {
        leaves.wait().unwrap().consume(1);
        drop(leaves);
        (0..setup.events(40))
            .for_each(|count| drop(join(&dynamic_stages, StartAt::Now, count % 9)));
    });
    assert_eq!(*report.stages().next().unwrap().outcome(), Outcome::Drained);
}

fn c71_stages_that_are_stopped_under_load_take_no_event_from_others<K: Kind>(setup: Setup<K>) {
    let mut sees = [(); 3].map(|()| Contiguous::default());
    let [all, stopped, after] = &mut sees;
    let (producer, consumers) = setup
        .ring(4, Page::default)
        .parallel(|parallel| {
            parallel
                .stage("all")
                .read(|page, sequence, _| all.see(page, sequence))
                .stage("stopped")
                .read(|page, sequence, _| stopped.see(page, sequence))
        })
        .stage("after")
        .read(|page, sequence, _| after.see(page, sequence))
        .build()
        .unwrap();
    let report = under_load::<K>(producer, consumers, |running| {
        running.stop_handle("stopped").unwrap().stop();
        wait_until(|| running.backlog().iter().all(|left| left.stage != "stopped"));
    });
    let outcomes = report.stages().map(|stage| stage.outcome());
    assert!(outcomes.eq([&Outcome::Drained, &Outcome::Stopped, &Outcome::Drained]));
    let processed: Vec<_> = report.stages().map(|stage| stage.processed()).collect();
    assert_eq!(processed[0], processed[2]);
}

fn c71_producer_continues_when_the_consumer_that_it_waits_for_leaves<K: Kind>(setup: Setup<K>) {
    let ring = setup.ring(2, || 0_u64).dynamic_stages(1).stage("stays").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut stays = consumers.take_poller("stays").unwrap();
    let late = consumers.dynamic_stages().join("late", StartAt::Now).unwrap().poller();
    for sequence in 0..2 {
        assert_eq!(producer.publish(|_| {}), Ok(sequence));
    }
    stays.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    thread::scope(|scope| {
        let blocked = scope.spawn(move || producer.publish(|_| {}));
        drop(late);
        assert_eq!(blocked.join().unwrap(), Ok(2));
    });
}
