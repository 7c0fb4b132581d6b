//! Tests what a claim shows and to whom: its slots before they are published, a claim that is
//! dropped, forgotten or held, and batches across the end of the ring. Not here: what a call
//! answers (`answers`), policies (`policies`), several threads (`producers`).

use std::mem;

use crate::calls::{Call, Policy, Size};
use crate::common::{Kind, repeats};
use crate::rings::{drain, events, on_event, ring_with_poller, run, with_pollers};
use lapwing::error::{BatchError, PollError};
use lapwing::graph::StartAt;
use lapwing::producer::WhenFull;

crate::common::for_both_producers! {
    a_factory_makes_the_events_from_the_first_slot_to_the_last,
    miri_events_are_numbered_from_zero_and_written_in_place,
    miri_each_call_delivers_every_event_in_order_at_every_capacity,
    miri_a_claim_is_invisible_before_it_is_published,
    miri_a_claim_that_is_dropped_is_given_up,
    miri_a_forgotten_claim_is_claimed_again_or_stops_consumers,
    a_claim_that_is_given_up_last_does_not_hold_a_close,
    miri_a_batch_across_the_wrap_is_filled_by_every_way,
    a_slice_of_another_length_is_not_copied,
    free_slots_shrink_when_a_consumer_takes_a_dynamic_stage_further_back,
}

fn a_factory_makes_the_events_from_the_first_slot_to_the_last<K: Kind>() {
    let mut slots = 0..8;
    let ring = K::ring(8, || slots.next().expect("one event for each slot"));
    let (mut producer, _pollers) = with_pollers(ring.stage("poller").poller(), ["poller"]);
    for slot in 0..8 {
        let claim = producer.claim().unwrap();
        assert_eq!(*claim, slot);
        claim.publish().unwrap();
    }
}

fn miri_events_are_numbered_from_zero_and_written_in_place<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    assert_eq!(producer.capacity(), 2);
    for sequence in 0..8 {
        let add = |event: &mut u64| *event += sequence;
        let result = match sequence % 4 {
            0 => producer.publish(add).unwrap(),
            1 => producer.try_publish(add).unwrap(),
            2 => producer.publish_or(WhenFull::DropNew, add).unwrap().unwrap(),
            _ => producer.publish_batch(1, |slots| slots.iter_mut().for_each(add)).unwrap().start,
        };
        assert_eq!(result, sequence);
        // The slot still holds the event of the last lap when it is written again.
        let of_this_slot = (0..=sequence).rev().step_by(2).sum::<u64>();
        assert_eq!(events(&mut poller), [of_this_slot]);
    }
}

/// Makes each call that waits, of each size, on a ring that a stage empties meanwhile.
fn miri_each_call_delivers_every_event_in_order_at_every_capacity<K: Kind>() {
    for capacity in [1, 2, 4, 64] {
        let (mut seen, mut next) = (Vec::new(), 0);
        let check = on_event(|event: &u64, sequence, _| seen.push((*event, sequence)));
        run(K::ring(capacity, || u64::MAX).stage("check").read(check), |mut producer| {
            let waits = [Policy::Plain, Policy::Or(WhenFull::Wait)];
            let mut counts = (1..=capacity).cycle();
            while next < repeats(3_000) {
                let count = counts.next().unwrap();
                let sizes = [Size::One, Size::Batch(count), Size::UpTo(count)];
                let calls = sizes.into_iter().flat_map(Call::all);
                for call in calls.filter(|call| waits.contains(&call.policy)) {
                    let range = call.make(&mut producer, next).unwrap().unwrap();
                    assert_eq!(range.start, next);
                    next = range.end;
                }
            }
        });
        assert!(seen.into_iter().eq((0..next).map(|number| (number, number))));
    }
}

/// LMAX's single producer moved its cursor to the claim when it had to read the gate (issue 477),
/// which happens after the ring was full.
fn miri_a_claim_is_invisible_before_it_is_published<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    for next in (4..60).step_by(8) {
        while producer.try_publish(|event| *event = 1).is_ok() {}
        poller.poll().unwrap().consume(3);
        let mut claim = producer.claim().unwrap();
        *claim = 2;
        assert_eq!((claim.sequence(), *claim), (next, 2));
        assert_eq!(events(&mut poller).len(), 1);
        assert_eq!(poller.poll().err(), Some(PollError::Empty));
        assert_eq!(claim.publish(), Ok(next));
        let mut batch = producer.claim_batch(2).unwrap();
        batch.slots().iter_mut().for_each(|event| *event = 3);
        assert_eq!(drain(&mut poller), [(next, 2)]);
        assert_eq!(batch.publish(), Ok(next + 1..next + 3));
        let batch = producer.claim_up_to(1).unwrap();
        assert_eq!(drain(&mut poller), [(next + 1, 3), (next + 2, 3)]);
        batch.publish().unwrap();
        assert_eq!(drain(&mut poller).len(), 1);
    }
}

/// A single producer claims the same sequences again. With several, each claim has its own.
fn miri_a_claim_that_is_dropped_is_given_up<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(8);
    let mut next = 0;
    for round in 0..5 {
        drop(producer.claim().unwrap());
        drop(producer.try_claim().unwrap());
        let mut batch = producer.claim_batch(3).unwrap();
        batch.slots().iter_mut().for_each(|event| *event = 100);
        drop(batch);
        drop(producer.claim_up_to(2).unwrap());
        assert_eq!(drain(&mut poller), []);
        next += if K::IS_MULTI { 7 } else { 0 };
        let mut claim = producer.claim().unwrap();
        *claim = round;
        assert_eq!(claim.publish(), Ok(next));
        drop(producer.claim_or(WhenFull::Refuse).unwrap());
        let batch = |slots: &mut lapwing::producer::Slots<'_, u64>| {
            slots.iter_mut().for_each(|event| *event = round);
        };
        let second = next + 1 + u64::from(K::IS_MULTI);
        assert_eq!(producer.publish_batch(1, batch), Ok(second..second + 1));
        assert_eq!(drain(&mut poller), [(next, round), (second, round)]);
        next = second + 1;
    }
}

/// Documented: with several producers the claim might still be published, so no consumer may pass
/// it.
fn miri_a_forgotten_claim_is_claimed_again_or_stops_consumers<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    for round in 0..5 {
        assert_eq!(producer.publish(|event| *event = round), Ok(round));
        assert_eq!(drain(&mut poller), [(round, round)]);
        if K::IS_MULTI {
            break;
        }
        mem::forget(producer.claim().unwrap());
        mem::forget(producer.claim_batch(2).unwrap());
    }
    if K::IS_MULTI {
        mem::forget(producer.claim().unwrap());
        assert_eq!(producer.publish(|_| {}), Ok(2));
        assert_eq!(poller.poll().err(), Some(PollError::Empty));
        drop(producer);
        assert_eq!((poller.poll().err(), poller.sequence()), (Some(PollError::Empty), 1));
    }
}

fn a_claim_that_is_given_up_last_does_not_hold_a_close<K: Kind>() {
    let handle = || on_event(|event: &u64, _, _| assert_eq!(*event, 1));
    let ring = K::ring(4, || 0).stage("first").read(handle()).stage("second").read(handle());
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..20 {
        producer.publish(|event| *event = 1).unwrap();
        drop(producer.claim().unwrap());
        drop(producer.claim_batch(3).unwrap());
    }
    drop(producer);
    running.join().unwrap();
}

/// By an iterator, by the two slices, by a copy and by clones.
fn miri_a_batch_across_the_wrap_is_filled_by_every_way<K: Kind>() {
    let ring = K::ring(4, || "old".to_owned()).stage("poller").poller();
    let (mut producer, [mut poller]) = with_pollers(ring, ["poller"]);
    let (mut numbers, mut of_numbers) = ring_with_poller::<K>(4);
    for first in 0..5 {
        let before_wrap = 4 - first as usize % 4;
        for way in ["iterator", "slices", "clones"] {
            let mut batch = producer.claim_batch(4).unwrap();
            let lines = [0, 1, 2, 3].map(|line| format!("{way} {line}"));
            let mut slots = batch.slots();
            match way {
                "iterator" => slots.iter_mut().zip(&lines).for_each(|(e, line)| e.clone_from(line)),
                "clones" => slots.clone_from_slice(&lines).unwrap(),
                _ => {
                    let (before, after) = slots.as_mut_slices();
                    assert_eq!((before.len(), after.len()), (before_wrap, 4 - before_wrap));
                    before.clone_from_slice(&lines[..before_wrap]);
                    after.clone_from_slice(&lines[before_wrap..]);
                }
            }
            assert!(slots.iter_mut().eq(&lines));
            batch.publish().unwrap();
            assert_eq!(poller.poll().unwrap().as_slice(), &lines[..before_wrap]);
            assert_eq!(events(&mut poller), lines);
        }
        let mut batch = numbers.claim_batch(4).unwrap();
        batch.slots().copy_from_slice(&[5, 6, 7, 8]).unwrap();
        batch.publish().unwrap();
        assert_eq!(events(&mut of_numbers), [5, 6, 7, 8]);
        producer.publish(|_| {}).unwrap();
        numbers.publish(|_| {}).unwrap();
        drain(&mut poller);
        drain(&mut of_numbers);
    }
}

fn a_slice_of_another_length_is_not_copied<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    let mut batch = producer.claim_batch(3).unwrap();
    for events in [&[][..], &[1], &[1, 2], &[1, 2, 3, 4]] {
        let error = BatchError::Length { events: events.len(), slots: 3 };
        assert_eq!(batch.slots().copy_from_slice(events), Err(error));
        assert_eq!(batch.slots().clone_from_slice(events), Err(error));
    }
    batch.publish().unwrap();
    assert_eq!(events(&mut poller), [0, 0, 0]);
}

fn free_slots_shrink_when_a_consumer_takes_a_dynamic_stage_further_back<K: Kind>() {
    let ring = K::ring(4, || 0_u64).dynamic_stages(1).stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    assert_eq!(producer.publish_batch(3, |_| {}), Ok(0..3));
    drain(&mut poller);
    assert_eq!(producer.free_slots(), 4);
    let dynamic_stage = consumers.dynamic_stages().join("replay", StartAt::Oldest).unwrap();
    assert_eq!((dynamic_stage.sequence(), producer.free_slots()), (0, 1));
    let mut replay = dynamic_stage.poller();
    assert_eq!(producer.claim_up_to(4).unwrap().publish(), Ok(3..4));
    assert_eq!(producer.claim_up_to_or(4, WhenFull::Refuse).err(), Some(BatchError::Full));
    assert_eq!(drain(&mut replay).len(), 4);
    assert_eq!(producer.free_slots(), 3, "the other poller has one to finish");
    drain(&mut poller);
    assert_eq!(producer.claim_up_to(9).unwrap().publish(), Ok(4..8));
}
