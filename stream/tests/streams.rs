//! Streams and sinks with the adapters of `futures`: each value arrives once and in order, and what is dropped
//! half way has lost nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use futures::future::{join, join_all};
use futures::stream::FusedStream;
use futures::{FutureExt, Sink, SinkExt, Stream, StreamExt, stream};
use lapwing::channel::{self, SendError};
use lapwing::consumer::Exclusive;
use lapwing::error::{HaltCause, RingError};
use lapwing::producer::{Multi, Sequencer, Single};
use lapwing::{Disruptor, Poller};
use lapwing_stream::{BroadcastStream, PollerStream, ReceiverStream, SenderSink};
use pollster::block_on;

/// Number of values of a stream.
const VALUES: u64 = if cfg!(miri) { 50 } else { 10_000 };

/// Counts its calls.
#[derive(Default)]
struct Count(AtomicU64);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn numbers() -> impl Stream<Item = u64> {
    stream::iter(0..VALUES)
}

fn in_order(values: Vec<u64>) {
    assert!(values.into_iter().eq(0..VALUES));
}

#[test]
fn forward_passes_each_value_once_and_in_order() {
    fn test<S: Sequencer>(
        (first, middle): (channel::Sender<u64, S>, channel::Receiver<u64>),
        (second, last): (channel::Sender<u64, S>, channel::Receiver<u64>),
    ) {
        let sending = numbers().map(Ok).forward(SenderSink::new(first));
        let passing = ReceiverStream::new(middle).map(Ok).forward(SenderSink::new(second));
        let sending = thread::spawn(move || block_on(sending));
        let receiving = ReceiverStream::new(last).collect::<Vec<_>>();
        let (passed, received) = block_on(join(passing, receiving));
        assert_eq!(passed, Ok(()));
        assert_eq!(sending.join().unwrap(), Ok(()));
        in_order(received);
    }
    for capacity in [1, 2, 64] {
        test::<Single>(channel::spsc(capacity).unwrap(), channel::spsc(capacity).unwrap());
        test::<Multi>(channel::mpsc(capacity).unwrap(), channel::mpsc(capacity).unwrap());
    }
}

#[test]
fn each_receiver_of_a_broadcast_is_a_stream_of_every_value() {
    let (sender, receivers) = channel::multi_broadcast(4, 3).unwrap();
    let sending = numbers().map(Ok).forward(SenderSink::new(sender));
    let receiving = receivers.into_iter().map(|one| BroadcastStream::new(one).collect::<Vec<_>>());
    let (sent, received) = block_on(join(sending, join_all(receiving)));
    assert_eq!(sent, Ok(()));
    received.into_iter().for_each(in_order);
}

#[test]
fn several_sinks_of_one_channel_lose_nothing() {
    let (sender, receiver) = channel::mpsc(2).unwrap();
    let threads = [0, 1, 2].map(|number| {
        let sink = SenderSink::new(sender.clone());
        thread::spawn(move || block_on(numbers().map(|value| Ok((number, value))).forward(sink)))
    });
    drop(sender);
    let mut next = [0; 3];
    block_on(ReceiverStream::new(receiver).for_each(|(number, value)| {
        assert_eq!(value, next[number]);
        next[number] += 1;
        std::future::ready(())
    }));
    assert_eq!(next, [VALUES; 3]);
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Ok(())));
}

#[test]
fn a_stream_that_is_left_half_way_keeps_the_other_values() {
    let (mut sender, receiver) = channel::spsc(8).unwrap();
    sender.send_batch(&mut vec![1, 2, 3, 4, 5]).unwrap();
    let mut stream = ReceiverStream::new(receiver);
    assert_eq!(block_on(stream.by_ref().take(2).collect::<Vec<_>>()), [1, 2]);
    drop(stream.next()); // was not polled
    assert_eq!(stream.next().now_or_never(), Some(Some(3)));
    let mut receiver = stream.into_inner();
    assert_eq!(receiver.recv(), Ok(4));
    let mut stream = ReceiverStream::new(receiver);
    assert_eq!(stream.next().now_or_never(), Some(Some(5)));
    assert_eq!(stream.next().now_or_never(), None); // is dropped while it waits
    sender.send(6).unwrap();
    drop(sender);
    assert!(!stream.is_terminated());
    assert_eq!(block_on(stream.by_ref().collect::<Vec<_>>()), [6]);
    assert!(stream.is_terminated());
    assert_eq!(block_on(stream.next()), None);
}

/// The values that are in the channel go with the receiver. The others come back.
#[test]
fn a_stream_that_is_dropped_gives_the_other_values_back() {
    let (sender, receiver) = channel::spsc(1).unwrap();
    let mut sink = SenderSink::new(sender);
    let value = Arc::new(());
    for _ in 0..2 {
        assert_eq!(sink.feed(Arc::clone(&value)).now_or_never(), Some(Ok(())));
    }
    assert_eq!(sink.flush().now_or_never(), None);
    drop(ReceiverStream::new(receiver));
    let SendError(held) = block_on(sink.flush()).unwrap_err();
    let SendError(late) = block_on(sink.send(Arc::clone(&value))).unwrap_err();
    drop((held, late));
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn a_sink_of_one_slot_holds_one_value_and_is_woken_by_a_slot() {
    let (sender, mut receiver) = channel::spsc(1).unwrap();
    let mut sink = SenderSink::new(sender);
    let count = Arc::<Count>::default();
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let mut pinned = Pin::new(&mut sink);
    for value in [1, 2] {
        assert_eq!(pinned.as_mut().poll_ready(&mut context), Poll::Ready(Ok(())));
        assert_eq!(pinned.as_mut().start_send(value), Ok(()));
    }
    assert_eq!(pinned.as_mut().poll_ready(&mut context), Poll::Pending);
    assert_eq!(pinned.as_mut().poll_flush(&mut context), Poll::Pending);
    assert_eq!(pinned.as_mut().poll_close(&mut context), Poll::Pending);
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(count.0.load(Ordering::Relaxed) > 0);
    assert_eq!(pinned.as_mut().poll_close(&mut context), Poll::Ready(Ok(())));
    assert!(receiver.iter().eq([2]), "the channel has ended");

    // A closed sink has no sender, and nothing to do.
    assert!(sink.sender().is_none());
    assert_eq!(sink.send(3).now_or_never(), Some(Err(SendError(3))));
    assert_eq!(sink.close().now_or_never(), Some(Ok(())));
    assert_eq!(sink.into_parts().1, None);
}

#[test]
#[should_panic(expected = "`start_send` was called before `poll_ready` was ready")]
fn a_sink_that_holds_a_value_takes_no_other() {
    let (sender, _receiver) = channel::spsc(1).unwrap();
    let mut sink = SenderSink::new(sender);
    for value in 0..3 {
        let _ = Pin::new(&mut sink).start_send(value);
    }
}

#[test]
fn a_sink_that_never_waits_lets_other_tasks_run() {
    let (sender, _receiver) = channel::spsc(1 << 13).unwrap();
    let mut sending =
        std::pin::pin!(stream::iter(0..5_000).map(Ok).forward(SenderSink::new(sender)));
    let mut turns = 0;
    while sending.as_mut().now_or_never().is_none() {
        turns += 1;
    }
    assert_eq!(turns, 4);
}

fn ring() -> (lapwing::SingleProducer<String>, Poller<String>, lapwing::Running<'static>) {
    let (producer, mut consumers) =
        Disruptor::single_producer(4, String::new).stage("all").poller().build().unwrap();
    let poller = consumers.take_poller("all").unwrap();
    (producer, poller, consumers.start().unwrap())
}

#[test]
fn a_poller_is_a_stream_of_clones_up_to_the_close() {
    let (mut producer, poller, running) = ring();
    let publishing = thread::spawn(move || {
        for value in 0..VALUES {
            producer.publish(|event| *event = value.to_string()).unwrap();
        }
    });
    let mut stream = PollerStream::new(poller);
    let events = stream.by_ref().map(|event| event.unwrap().parse::<u64>().unwrap());
    in_order(block_on(events.collect()));
    assert!(stream.is_terminated());
    assert_eq!(block_on(stream.next()), None);
    publishing.join().unwrap();
    running.join().unwrap();
}

#[test]
fn a_halt_is_the_last_item_of_a_poller() {
    let (mut producer, poller, running) = ring();
    let mut stream = PollerStream::new(poller);
    for name in ["one", "two"] {
        producer.publish(|event| *event = name.to_owned()).unwrap();
    }
    assert_eq!(block_on(stream.next()), Some(Ok("one".to_owned())));
    running.halt();
    assert!(!stream.is_terminated());
    let halted = RingError::Halted(HaltCause::Requested);
    assert_eq!(block_on(stream.by_ref().collect::<Vec<_>>()), [Err(halted)]);
    assert!(stream.is_terminated());
    assert_eq!(block_on(stream.next()), None);
}

/// A task may move to another thread, and may pin its streams on the stack or keep them in a field.
#[test]
fn each_type_is_send_and_unpin() {
    fn check<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    struct Pinned(#[allow(dead_code)] std::marker::PhantomPinned);
    check::<ReceiverStream<Pinned>>();
    check::<BroadcastStream<Pinned>>();
    check::<PollerStream<Pinned>>();
    check::<PollerStream<Pinned, Exclusive>>();
    check::<SenderSink<Pinned, Single>>();
    check::<SenderSink<Pinned, Multi>>();
}
