//! Consumers that join a running ring and leave it, while producers publish. Five threads.
//!
//! ```text
//! producer ──> [ring] ─┬──> ledger
//!                      ├──> dynamic stage: one guest after another
//!                      └──> dynamic stage: one guest after another
//! ```

use lapwing::error::{DynamicStageError, HaltCause, RingError};
use lapwing::graph::{DynamicStages, StartAt};
use lapwing::producer::Sequencer;
use lapwing::{Builder, Disruptor, Poller, Sequence};
use shuttle::thread;

use crate::event::{Event, switch};
use crate::explore::{PARK, explore};
use crate::feed::{claim_each, publish};
use crate::record::{Events, Log, merged, read_all};

/// What a guest saw, and the sequences that it was there for.
struct Visit {
    begins: Sequence,
    ends: Sequence,
    seen: Events,
}

/// Takes a dynamic stage, reads two batches at most, and leaves.
fn visit(dynamic_stages: &DynamicStages<Event>, name: &str, start: StartAt) -> Option<Visit> {
    let mut poller = loop {
        match dynamic_stages.join(name, start) {
            Ok(dynamic_stage) => break dynamic_stage.poller(),
            Err(DynamicStageError::NoneFree { .. }) => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    let begins = poller.sequence();
    let mut seen = Events::new();
    for _ in 0..2 {
        read_batch(&mut poller, &mut seen);
    }
    Some(Visit { begins, ends: poller.sequence(), seen })
}

fn read_batch(poller: &mut Poller<Event>, seen: &mut Events) {
    if let Ok(mut batch) = poller.wait() {
        seen.extend(batch.iter().map(|(sequence, event)| (sequence, event.read())));
    }
}

fn joining<S: Sequencer>(ring: Builder<'static, Event, S>, dynamic_stages: usize) {
    let ledger = Log::default();
    let (mut producer, consumers) = ring
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .dynamic_stages(dynamic_stages)
        .stage("ledger")
        .read(ledger.reader())
        .build()
        .unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    let running = consumers.start().unwrap();
    let guests = [("now", StartAt::Now), ("oldest", StartAt::Oldest)].map(|(name, start)| {
        let dynamic_stages = dynamic_stages.clone();
        thread::spawn(move || {
            [visit(&dynamic_stages, name, start), visit(&dynamic_stages, name, start)]
        })
    });
    drop(dynamic_stages);
    let feed = thread::spawn(move || {
        let first = publish(&mut producer, 10..14);
        switch();
        merged([first, claim_each(&mut producer, 20..23)])
    });
    let accepted = feed.join().unwrap();
    running.join().unwrap();
    assert_eq!(ledger.seen(), accepted);
    for Visit { begins, ends, seen } in
        guests.into_iter().flat_map(|guest| guest.join().unwrap()).flatten()
    {
        let there =
            accepted.iter().copied().filter(|(sequence, _)| (begins..ends).contains(sequence));
        assert_eq!(seen, there.collect::<Events>(), "from {begins} to {ends}");
    }
}

#[test]
fn guests_with_a_dynamic_stage_each() {
    explore("joining", || joining(Disruptor::single_producer(2, Event::default), 2));
}

#[test]
fn guests_that_share_a_dynamic_stage_behind_several_producers() {
    explore("joining, one dynamic stage", || {
        joining(Disruptor::multi_producer(4, Event::default), 1)
    });
}

/// A guest joins while the only other consumer leaves, which halts the ring unless the guest was
/// first.
#[test]
fn guest_against_the_last_consumer_that_leaves() {
    explore("joining as the last one leaves", || {
        let (mut producer, mut consumers) = Disruptor::single_producer(2, Event::default)
            .wait_strategy(PARK)
            .producer_wait_strategy(PARK)
            .dynamic_stages(1)
            .stage("poller")
            .poller()
            .build()
            .unwrap();
        let (mut poller, dynamic_stages) =
            (consumers.take_poller("poller").unwrap(), consumers.dynamic_stages());
        let leaves = thread::spawn(move || read_batch(&mut poller, &mut Events::new()));
        let guest = thread::spawn(move || {
            let mut poller = match dynamic_stages.join("guest", StartAt::Now) {
                Ok(dynamic_stage) => dynamic_stage.poller(),
                Err(error) => {
                    assert_eq!(error, DynamicStageError::Halted(HaltCause::NoConsumers));
                    return None;
                }
            };
            Some((poller.sequence(), read_all(&mut poller)))
        });
        let feed = thread::spawn(move || publish(&mut producer, 10..15));
        let accepted = feed.join().unwrap();
        leaves.join().unwrap();
        if let Some((begins, (seen, end))) = guest.join().unwrap() {
            assert_eq!((accepted.len(), end), (5, RingError::Closed), "the ring has a consumer");
            assert_eq!(seen, accepted[begins as usize..]);
        }
    });
}
