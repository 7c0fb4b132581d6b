//! Events of 512 KiB on threads with a stack of 2 MiB: a ring is built, filled and read in place,
//! with at most one event on the stack.
//!
//! A stack overflow ends the process, and with it all tests of this file.
#![cfg(not(any(miri, loom)))]

use std::hint;
use std::slice;
use std::thread;

use lapwing::{Disruptor, channel, tap};

const STACK_BYTES: usize = 2 << 20;
const EVENT_BYTES: usize = 512 << 10;
/// Stack space for frames, in addition to events.
const FRAMES_BYTES: usize = EVENT_BYTES / 2;

type Large = [u8; EVENT_BYTES];
/// Larger than the whole stack.
type Huge = [u8; 2 * STACK_BYTES];

/// Runs `body` on a thread with a stack of 2 MiB.
fn on_a_small_stack<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, body);
        thread.unwrap().join().unwrap()
    })
}

/// Makes an event that is not all zeros, as a factory would: with one copy on the stack.
fn large(first: u8) -> Large {
    let mut event = [0; EVENT_BYTES];
    event[0] = first;
    event
}

/// Returns the current stack pointer, approximately.
#[inline(never)]
fn stack_pointer() -> usize {
    let here = 0_u8;
    hint::black_box(&raw const here).addr()
}

/// A factory that has one event on the stack must fit: the library adds no copy.
#[test]
fn an_event_is_on_the_stack_once_while_its_ring_is_built() {
    on_a_small_stack(|| {
        let (outside, mut inside) = (stack_pointer(), usize::MAX);
        let factory = || {
            inside = inside.min(stack_pointer());
            [0_u8; EVENT_BYTES]
        };
        let ring = Disruptor::single_producer(2, factory).stage("all").poller();
        drop(ring.build().unwrap());
        let taken = outside - inside;
        assert!(taken < EVENT_BYTES + FRAMES_BYTES, "taken={taken}");
    });
}

#[test]
fn a_ring_of_large_events_is_built_and_used_on_a_small_stack() {
    on_a_small_stack(|| {
        let (mut producer, mut consumers) =
            Disruptor::single_producer(4, || large(1)).stage("all").poller().build().unwrap();
        let mut all = consumers.take_poller("all").unwrap();
        producer.publish(|event| event[1] = 2).unwrap();
        producer.publish_batch(2, |slots| slots.iter_mut().for_each(|event| event[1] = 3)).unwrap();
        let mut claim = producer.claim().unwrap();
        claim[1] = 4;
        claim.publish().unwrap();
        let mut batch = all.poll().unwrap();
        let read: Vec<_> = batch.iter().map(|(_, event)| (event[0], event[1])).collect();
        assert_eq!(read, [(1, 2), (1, 3), (1, 3), (1, 4)]);
    });
}

#[test]
fn a_ring_of_several_producers_is_built_and_cloned_into_on_a_small_stack() {
    on_a_small_stack(|| {
        let mut numbers = 0..4;
        let (mut first, mut consumers) =
            Disruptor::multi_producer(4, || large(numbers.next().unwrap()))
                .stage("all")
                .poller()
                .build()
                .unwrap();
        let mut all = consumers.take_poller("all").unwrap();
        let mut second = first.clone();
        let sevens: Box<Large> = vec![7; EVENT_BYTES].into_boxed_slice().try_into().unwrap();
        let mut batch = first.claim_batch(1).unwrap();
        batch.slots().copy_from_slice(slice::from_ref(&sevens)).unwrap();
        batch.publish().unwrap();
        let mut batch = first.claim_batch(1).unwrap();
        batch.slots().clone_from_slice(slice::from_ref(&sevens)).unwrap();
        batch.publish().unwrap();
        second.publish(|event| assert_eq!(event[0], 2)).unwrap();
        let mut batch = all.poll().unwrap();
        assert_eq!(batch.iter().map(|(_, event)| event[0]).collect::<Vec<_>>(), [7, 7, 2]);
    });
}

#[test]
fn stages_of_large_events_are_built_on_a_small_stack() {
    let sum = on_a_small_stack(|| {
        let mut sum = 0;
        let (mut producer, consumers) = Disruptor::single_producer(2, || large(1))
            .stage("double")
            .write(|event, _, _| event[0] *= 2)
            .stage("sum")
            .read(|event, _, _| sum += u64::from(event[0]))
            .build()
            .unwrap();
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            (0..2).for_each(|_| _ = producer.publish(|_| {}).unwrap());
            running.shutdown().unwrap();
        });
        sum
    });
    assert_eq!(sum, 4);
}

/// None of these types has its empty slots on the stack.
#[test]
fn a_channel_of_values_larger_than_the_stack_is_built() {
    on_a_small_stack(|| {
        drop(channel::spsc::<Huge>(2).unwrap());
        drop(channel::mpsc::<Huge>(2).unwrap());
        drop(channel::broadcast::<Huge>(2, 2).unwrap());
        drop(channel::multi_broadcast::<Huge>(2, 2).unwrap());
    });
}

#[test]
fn a_tap_of_events_larger_than_the_stack_is_built_and_written() {
    let event: Box<Huge> = vec![7; 2 * STACK_BYTES].into_boxed_slice().try_into().unwrap();
    on_a_small_stack(|| {
        let (mut writer, reader) = tap::tap::<Huge>(2).unwrap();
        assert!((0..3).all(|sequence| writer.write(sequence, &event)));
        assert_eq!((writer.written(), reader.received()), (3, 0));
    });
}
