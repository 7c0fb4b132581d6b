//! What a task gets at the end of a ring, on a full ring, and beside other tasks of its thread.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use lapwing::channel::{self, RecvError, SendError};
use lapwing::error::{BatchError, HaltCause, PublishError, RingError};
use lapwing::wait::BusySpin;
use lapwing::{Disruptor, MultiProducer};
use pollster::block_on;

use crate::common::watched;
use crate::wakers::counting;

/// Polls once.
fn poll<F: Future>(future: std::pin::Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

#[test]
fn a_task_is_woken_by_a_value_and_by_the_end() {
    let (mut sender, mut receiver) = channel::spsc(8).unwrap();
    let (count, waker) = counting();
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(poll(receiving.as_mut(), &waker).is_pending());
        assert_eq!(count.take(), 0);
        sender.send(7).unwrap();
        assert_eq!(count.take(), 1);
        assert_eq!(poll(receiving.as_mut(), &waker), Poll::Ready(Ok(7)));
    }
    let mut receiving = pin!(receiver.recv_async());
    assert!(poll(receiving.as_mut(), &waker).is_pending());
    drop(sender);
    assert!(count.take() > 0);
    assert_eq!(poll(receiving.as_mut(), &waker), Poll::Ready(Err(RecvError)));
}

#[test]
fn a_sender_is_woken_by_a_slot_and_by_the_last_receiver() {
    let (mut sender, mut receiver) = channel::spsc(1).unwrap();
    let (count, waker) = counting();
    sender.send(1).unwrap();
    {
        let mut sending = pin!(sender.send_async(2));
        assert!(poll(sending.as_mut(), &waker).is_pending());
        assert_eq!(receiver.recv(), Ok(1));
        assert!(count.take() > 0);
        assert_eq!(poll(sending.as_mut(), &waker), Poll::Ready(Ok(())));
    }
    let mut sending = pin!(sender.send_async(3));
    assert!(poll(sending.as_mut(), &waker).is_pending());
    drop(receiver);
    assert!(count.take() > 0);
    assert_eq!(poll(sending.as_mut(), &waker), Poll::Ready(Err(SendError(3))));
}

#[test]
fn a_batch_that_the_channel_has_no_room_for_stays_with_its_caller() {
    let (mut sender, mut receiver) = channel::spsc(2).unwrap();
    let (count, waker) = counting();
    let mut values = vec![1, 2, 3, 4, 5];
    {
        let mut sending = pin!(sender.send_batch_async(&mut values));
        assert!(poll(sending.as_mut(), &waker).is_pending());
        assert_eq!(receiver.recv(), Ok(1));
        assert!(count.take() > 0);
        assert!(poll(sending.as_mut(), &waker).is_pending());
    }
    assert_eq!(values, [4, 5]); // the future is dropped
    drop(receiver);
    let refused = poll(pin!(sender.send_batch_async(&mut values)), &waker);
    assert_eq!(refused, Poll::Ready(Err(SendError(()))));
    assert_eq!(values, [4, 5]);
    values.clear();
    assert_eq!(poll(pin!(sender.send_batch_async(&mut values)), &waker), Poll::Ready(Ok(())));
}

/// A future may move to another task between two polls.
#[test]
fn a_task_is_woken_by_the_waker_of_its_last_poll() {
    let (mut sender, mut receiver) = channel::spsc(1).unwrap();
    let [(former, one), (latter, other)] = [counting(), counting()];
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(poll(receiving.as_mut(), &one).is_pending());
        assert!(poll(receiving.as_mut(), &other).is_pending());
        sender.send(7).unwrap();
        assert_eq!((former.take(), latter.take()), (0, 1));
        assert_eq!(poll(receiving.as_mut(), &one), Poll::Ready(Ok(7)));
    }
    sender.send(8).unwrap();
    let mut sending = pin!(sender.send_async(9));
    assert!(poll(sending.as_mut(), &one).is_pending());
    assert!(poll(sending.as_mut(), &other).is_pending());
    assert_eq!(receiver.recv(), Ok(8));
    assert_eq!(former.take(), 0);
    assert!(latter.take() > 0);
}

/// A future that is gone leaves no waker behind.
#[test]
fn a_dropped_future_is_not_woken() {
    let (mut sender, mut receiver) = channel::spsc(8).unwrap();
    let (count, waker) = counting();
    for _ in 0..3 {
        assert!(poll(pin!(receiver.recv_async()), &waker).is_pending());
    }
    drop(waker);
    assert_eq!(Arc::strong_count(&count), 1);
    sender.send(7).unwrap();
    assert_eq!(count.take(), 0);
    assert_eq!(block_on(receiver.recv_async()), Ok(7));
}

#[test]
fn a_halt_wakes_both_ends() {
    let (mut producer, mut consumers) =
        Disruptor::single_producer(1, || 0_u64).stage("all").poller().build().unwrap();
    let mut poller = consumers.take_poller("all").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let (count, waker) = counting();
    let mut publishing = pin!(producer.publish_async(|_| {}));
    assert!(poll(publishing.as_mut(), &waker).is_pending());
    poller.poll().unwrap().consume_all();
    assert!(count.take() > 0, "a slot is free");
    let mut waiting = pin!(poller.wait_async());
    assert!(poll(waiting.as_mut(), &waker).is_pending());
    running.halt();
    assert!(count.take() > 0);
    let cause = HaltCause::Requested;
    assert_eq!(poll(publishing, &waker), Poll::Ready(Err(PublishError::Halted(cause))));
    let Poll::Ready(Err(end)) = poll(waiting, &waker) else { panic!("it goes on to wait") };
    assert_eq!(end, RingError::Halted(cause));
}

/// A handler that waits for its own ring as a task would wait for ever.
#[test]
fn a_handler_that_publishes_to_its_own_full_ring_gets_an_error() {
    watched(|| {
        let (hand_over, producers) = std::sync::mpsc::channel::<MultiProducer<u64>>();
        let (results, result) = std::sync::mpsc::channel();
        let mut own = None;
        let ring = Disruptor::multi_producer(1, || 0_u64).stage("again").read(move |_, _, _| {
            let own = own.get_or_insert_with(|| producers.recv().unwrap());
            results.send(block_on(own.publish_async(|_| {}))).unwrap();
        });
        let (mut producer, consumers) = ring.build().unwrap();
        hand_over.send(producer.clone()).unwrap();
        let running = consumers.start().unwrap();
        producer.publish(|_| {}).unwrap();
        assert_eq!(result.recv(), Ok(Err(PublishError::WouldDeadlock)));
        producer.close();
        running.join().unwrap();
    });
}

/// Polls a task on a thread that holds a claim of the same ring, and on others.
#[test]
fn a_task_does_not_wait_for_a_claim_of_its_thread() {
    for count in [1, 3] {
        let (mut first, mut consumers) =
            Disruptor::multi_producer(4, || 0_u64).stage("all").poller().build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let mut second = first.clone();
        let (_, waker) = counting();
        second.publish(|_| {}).unwrap();
        let claim = first.claim().unwrap();
        second.publish_batch(2, |_| {}).unwrap();
        {
            let mut publishing = pin!(second.publish_batch_async(count, |_| {}));
            let polled = poll(publishing.as_mut(), &waker);
            if count == 1 {
                // The consumer can free the slot that it waits for.
                assert!(polled.is_pending());
            } else {
                assert_eq!(polled, Poll::Ready(Err(BatchError::WouldDeadlock)));
            }
        }
        poller.poll().unwrap().consume_all();
        second.publish(|_| {}).unwrap();
        let mut publishing = pin!(second.publish_batch_async(count, |_| {}));
        let of_another = || assert!(poll(publishing.as_mut(), &waker).is_pending());
        thread::scope(|scope| _ = scope.spawn(of_another));
        let polled = poll(publishing.as_mut(), &waker);
        assert_eq!(polled, Poll::Ready(Err(BatchError::WouldDeadlock)));
        drop(claim);
    }
}

/// Three tasks of one thread publish to a ring that stays full.
#[test]
fn the_first_task_of_a_thread_took_every_slot_of_a_full_ring() {
    /// The tasks that are woken, in order.
    struct Queued(usize, Arc<Mutex<VecDeque<usize>>>);
    impl Wake for Queued {
        fn wake(self: Arc<Self>) {
            let mut queue = self.1.lock().unwrap();
            if !queue.contains(&self.0) {
                queue.push_back(self.0);
            }
        }
    }
    const TASKS: usize = 3;
    let (producer, mut consumers) =
        Disruptor::multi_producer(64, || 0_usize).stage("all").poller().build().unwrap();
    let mut poller = consumers.take_poller("all").unwrap();
    let queue = Arc::new(Mutex::new((0..TASKS).collect::<VecDeque<_>>()));
    let wakers = [0, 1, 2].map(|task| Waker::from(Arc::new(Queued(task, Arc::clone(&queue)))));
    let mut tasks = [0, 1, 2].map(|task| {
        let mut producer = producer.clone();
        Box::pin(async move {
            loop {
                producer.publish_async(|event| *event = task).await.unwrap();
            }
        })
    });
    let mut counts = [0; TASKS];
    for _ in 0..100 {
        while let Some(task) = { queue.lock().unwrap().pop_front() } {
            let _: Poll<()> = poll(tasks[task].as_mut(), &wakers[task]);
        }
        poller.poll().unwrap().iter().for_each(|(_, &task)| counts[task] += 1);
    }
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(3 * least >= *most, "{counts:?}");
}

/// In such a ring no publication checks whether somebody waits.
#[test]
fn a_task_polls_in_a_ring_in_which_no_thread_parks() {
    watched(|| {
        let ring = Disruptor::single_producer(2, || 0_u64)
            .producer_wait_strategy(BusySpin)
            .wait_strategy(BusySpin);
        let (mut producer, mut consumers) = ring.stage("all").poller().build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let publishing = thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            producer.publish(|event| *event = 7)
        });
        let taken =
            block_on(async { poller.wait_async().await.map(|batch| batch.as_slice().to_vec()) });
        assert_eq!(taken, Ok(vec![7]));
        publishing.join().unwrap().unwrap();
    });
}

/// An endless stream leaves the other tasks of its thread their turns.
#[test]
fn a_task_with_an_endless_stream_lets_others_run() {
    let (mut sender, mut receiver) = channel::spsc(1 << 16).unwrap();
    let (count, waker) = counting();
    for value in 0..3_000_u64 {
        sender.send(value).unwrap();
    }
    let mut batches = 0;
    let receiving = async {
        for value in 0..3_000 {
            assert_eq!(receiver.recv_async().await, Ok(value));
        }
    };
    let mut receiving = pin!(receiving);
    while poll(receiving.as_mut(), &waker).is_pending() {
        batches += 1;
        assert_eq!(count.take(), 1, "it is ready to run");
    }
    assert_eq!(batches, 2);

    let (mut sender, mut receivers) = channel::broadcast(1 << 13, 1).unwrap();
    (0..5_000).for_each(|value| sender.send(value).unwrap());
    let mut receiving = pin!(async {
        for value in 0..5_000 {
            assert_eq!(receivers[0].recv_async().await, Ok(value));
        }
    });
    let mut turns = 0;
    while poll(receiving.as_mut(), &waker).is_pending() {
        turns += 1;
    }
    assert_eq!(turns, 4);

    let mut turns = 0;
    let publishing = async {
        let (mut producer, mut consumers) =
            Disruptor::single_producer(1 << 13, || 0_u64).stage("all").poller().build().unwrap();
        let _poller = consumers.take_poller("all").unwrap();
        for _ in 0..5_000 {
            producer.publish_async(|_| {}).await.unwrap();
        }
    };
    let mut publishing = pin!(publishing);
    block_on(poll_fn(|context| {
        let polled = publishing.as_mut().poll(context);
        turns += u64::from(polled.is_pending());
        polled
    }));
    assert_eq!(turns, 4);
}

/// A waker is code of a runtime. The event that woke it is published all the same.
#[test]
fn a_waker_that_panics_or_publishes_harms_nobody() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("on purpose");
        }
    }
    struct Publishes(Mutex<Option<MultiProducer<u64>>>);
    impl Wake for Publishes {
        fn wake(self: Arc<Self>) {
            // The drop of the producer closes nothing, since another one is left.
            if let Some(mut producer) = self.0.lock().unwrap().take() {
                producer.publish(|event| *event = 8).unwrap();
            }
        }
    }
    let (mut producer, mut consumers) = Disruptor::multi_producer(8, || 0_u64)
        .parallel(|parallel| parallel.stage("one").poller().stage("other").poller())
        .build()
        .unwrap();
    let [mut one, mut other] = ["one", "other"].map(|name| consumers.take_poller(name).unwrap());
    let publishes = Publishes(Mutex::new(Some(producer.clone())));
    {
        let mut first = pin!(one.wait_async());
        let mut second = pin!(other.wait_async());
        assert!(poll(first.as_mut(), &Waker::from(Arc::new(Panics))).is_pending());
        assert!(poll(second.as_mut(), &Waker::from(Arc::new(publishes))).is_pending());
        assert_eq!(producer.publish(|event| *event = 7), Ok(0));
    }
    for poller in [&mut one, &mut other] {
        assert_eq!(poller.poll().unwrap().as_slice(), [7, 8]);
    }
}

/// A task may go on on another thread after each `.await`.
#[test]
fn each_future_may_move_to_another_thread() {
    fn movable(_: impl Future + Send) {}
    let (mut sender, mut receiver) = channel::mpsc::<String>(8).unwrap();
    movable(sender.send_async(String::new()));
    movable(sender.send_batch_async(&mut vec![String::new()]));
    movable(receiver.recv_async());
    movable(receiver.recv_batch_async());
    let (_, mut receivers) = channel::broadcast::<String>(8, 1).unwrap();
    movable(receivers[0].recv_async());
    movable(receivers[0].recv_batch_async());
    let (mut producer, mut consumers) =
        Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build().unwrap();
    movable(producer.publish_async(|event| *event = 7));
    movable(producer.publish_batch_async(2, |_| {}));
    movable(consumers.take_poller("all").unwrap().wait_async());
}
