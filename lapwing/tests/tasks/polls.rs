//! Polls without a future: which waker an end has, and how long.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;

use lapwing::channel::{self, BroadcastReceiver, Receiver, RecvError, SendError, Sender};
use lapwing::error::{HaltCause, RingError};
use lapwing::producer::Sequencer;
use lapwing::{Disruptor, Poller, SingleProducer};
use pollster::block_on;

use crate::common::{repeats, watched};
use crate::wakers::{Count, counting};

/// A receiver of either kind.
trait Receives: Sized {
    fn poll_once(&mut self, waker: &Waker) -> Poll<Result<u64, RecvError>>;

    fn try_once(&mut self) -> Option<u64>;
}

impl Receives for Receiver<u64> {
    fn poll_once(&mut self, waker: &Waker) -> Poll<Result<u64, RecvError>> {
        self.poll_recv(&mut Context::from_waker(waker))
    }

    fn try_once(&mut self) -> Option<u64> {
        self.try_recv().ok()
    }
}

impl Receives for BroadcastReceiver<u64> {
    fn poll_once(&mut self, waker: &Waker) -> Poll<Result<u64, RecvError>> {
        self.poll_recv(&mut Context::from_waker(waker))
    }

    fn try_once(&mut self) -> Option<u64> {
        self.try_recv().ok()
    }
}

fn poll_send<S: Sequencer>(
    sender: &mut Sender<u64, S>,
    waker: &Waker,
    value: &mut Option<u64>,
) -> Poll<Result<(), SendError<u64>>> {
    sender.poll_send(&mut Context::from_waker(waker), value)
}

/// Whether some end holds a waker of `count`, beside the one of the test.
fn is_held(count: &Arc<Count>) -> bool {
    Arc::strong_count(count) > 2
}

fn broadcast(capacity: usize) -> (channel::SingleSender<u64>, BroadcastReceiver<u64>) {
    let (sender, mut receivers) = channel::broadcast(capacity, 1).unwrap();
    (sender, receivers.pop().unwrap())
}

fn ring() -> (SingleProducer<u64>, Poller<u64>) {
    let (producer, mut consumers) =
        Disruptor::single_producer(8, || 0_u64).stage("all").poller().build().unwrap();
    (producer, consumers.take_poller("all").unwrap())
}

/// Calls the test with each kind of receiver and sender.
macro_rules! for_each_channel {
    ($capacity:expr, $test:ident) => {{
        let (sender, receiver) = channel::spsc($capacity).unwrap();
        $test(sender, receiver);
        let (sender, receiver) = channel::mpsc($capacity).unwrap();
        $test(sender, receiver);
        let (sender, receiver) = broadcast($capacity);
        $test(sender, receiver);
    }};
}

#[test]
fn a_pending_receiver_is_woken_by_a_value_and_by_the_end() {
    fn test<S: Sequencer>(mut sender: Sender<u64, S>, mut receiver: impl Receives) {
        let (count, waker) = counting();
        assert_eq!(receiver.poll_once(&waker), Poll::Pending);
        assert_eq!(count.take(), 0);
        sender.send(7).unwrap();
        assert_eq!(count.take(), 1);
        assert_eq!(receiver.poll_once(&waker), Poll::Ready(Ok(7)));
        assert!(!is_held(&count), "a poll that is ready leaves no waker");
        assert_eq!(receiver.poll_once(&waker), Poll::Pending);
        drop(sender);
        assert!(count.take() > 0);
        for _ in 0..2 {
            assert_eq!(receiver.poll_once(&waker), Poll::Ready(Err(RecvError)));
        }
        assert!(!is_held(&count));
    }
    for_each_channel!(8, test);
}

#[test]
fn a_pending_sender_is_woken_by_a_slot_and_by_the_last_receiver() {
    fn test<S: Sequencer>(mut sender: Sender<u64, S>, mut receiver: impl Receives) {
        let ((count, waker), mut value) = (counting(), Some(1));
        assert_eq!(poll_send(&mut sender, &waker, &mut value), Poll::Ready(Ok(())));
        assert_eq!(value.replace(2), None);
        assert_eq!(poll_send(&mut sender, &waker, &mut value), Poll::Pending);
        assert_eq!((count.take(), value), (0, Some(2)));
        assert_eq!(receiver.try_once(), Some(1));
        assert!(count.take() > 0);
        assert_eq!(poll_send(&mut sender, &waker, &mut value), Poll::Ready(Ok(())));
        assert!(!is_held(&count), "a poll that is ready leaves no waker");
        assert_eq!(value.replace(3), None);
        assert_eq!(poll_send(&mut sender, &waker, &mut value), Poll::Pending);
        drop(receiver);
        assert!(count.take() > 0);
        let refused = Poll::Ready(Err(SendError(3)));
        assert_eq!(poll_send(&mut sender, &waker, &mut value), refused);
        assert_eq!(value, None);
        assert!(!is_held(&count));
        assert_eq!(
            poll_send(&mut sender, &waker, &mut value),
            Poll::Ready(Ok(())),
            "nothing to send"
        );
    }
    for_each_channel!(1, test);
}

#[test]
fn a_pending_poller_is_woken_by_an_event_and_by_the_end() {
    for is_halted in [false, true] {
        let (mut producer, mut consumers) =
            Disruptor::single_producer(8, || 0_u64).stage("all").poller().build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let running = consumers.start().unwrap();
        let (count, waker) = counting();
        let mut context = Context::from_waker(&waker);
        assert!(poller.poll_wait(&mut context).is_pending());
        producer.publish(|event| *event = 7).unwrap();
        assert_eq!(count.take(), 1);
        for _ in 0..2 {
            let Poll::Ready(Ok(batch)) = poller.poll_wait(&mut context) else { panic!("no event") };
            assert_eq!(batch.as_slice(), [7], "what is not consumed comes again");
        }
        assert!(!is_held(&count));
        poller.poll().unwrap().consume_all();
        assert!(poller.poll_wait(&mut context).is_pending());
        let expected =
            if is_halted { RingError::Halted(HaltCause::Requested) } else { RingError::Closed };
        if is_halted {
            running.halt()
        } else {
            drop(producer)
        }
        assert!(count.take() > 0);
        let Poll::Ready(Err(end)) = poller.poll_wait(&mut context) else { panic!("no end") };
        assert_eq!(end, expected);
        assert!(!is_held(&count));
    }
}

/// A task may move to another one of its runtime's threads, or into another task.
#[test]
fn only_the_waker_of_the_last_poll_is_called() {
    fn test<S: Sequencer>(mut sender: Sender<u64, S>, mut receiver: impl Receives) {
        let ((first, former), (second, last)) = (counting(), counting());
        for waker in [&former, &last] {
            assert_eq!(receiver.poll_once(waker), Poll::Pending);
        }
        assert!(!is_held(&first));
        sender.send(7).unwrap();
        assert_eq!((first.take(), second.take()), (0, 1));

        for waker in [&former, &last] {
            assert_eq!(poll_send(&mut sender, waker, &mut Some(8)), Poll::Pending);
        }
        assert!(!is_held(&first));
        assert_eq!(receiver.try_once(), Some(7));
        assert_eq!(first.take(), 0);
        assert!(second.take() > 0);
    }
    for_each_channel!(1, test);

    let ((mut producer, mut poller), (first, former), (second, last)) =
        (ring(), counting(), counting());
    for waker in [&former, &last] {
        assert!(poller.poll_wait(&mut Context::from_waker(waker)).is_pending());
    }
    assert!(!is_held(&first));
    producer.publish(|_| {}).unwrap();
    assert_eq!((first.take(), second.take()), (0, 1));
}

/// Calls that block or do not wait leave the registration, and what they find is not found again.
#[test]
fn a_poll_after_other_calls_gets_the_next_value() {
    let (mut sender, mut receiver) = channel::spsc(8).unwrap();
    let (count, waker) = counting();
    assert_eq!(receiver.poll_once(&waker), Poll::Pending);
    sender.send_batch(&mut vec![1, 2, 3, 4]).unwrap();
    assert_eq!(count.take(), 1);
    assert!(receiver.recv_batch().unwrap().take(2).eq([1, 2]));
    assert_eq!(receiver.poll_once(&waker), Poll::Ready(Ok(3)));
    assert_eq!(receiver.recv(), Ok(4));
    assert_eq!(receiver.poll_once(&waker), Poll::Pending);
    sender.send(5).unwrap();
    assert_eq!(block_on(receiver.recv_async()), Ok(5));
    assert_eq!((receiver.poll_once(&waker), count.take()), (Poll::Pending, 1));
    assert_eq!(sender.try_send(6), Ok(()));
    assert_eq!(receiver.try_recv(), Ok(6));
    assert!(count.take() > 0, "a call that does not wait leaves the waker");
}

/// There is one registration for each end, whichever call makes it.
#[test]
fn a_future_takes_the_place_of_an_earlier_poll() {
    let (mut sender, mut receiver) = channel::spsc(1).unwrap();
    let ((first, waker), (second, other)) = (counting(), counting());
    assert_eq!(receiver.poll_once(&waker), Poll::Pending);
    {
        let mut receiving = pin!(receiver.recv_async());
        let polled = receiving.as_mut().poll(&mut Context::from_waker(&other));
        assert_eq!(polled, Poll::Pending);
    }
    assert!(!is_held(&first) && !is_held(&second));
    sender.send(7).unwrap();

    assert_eq!(poll_send(&mut sender, &waker, &mut Some(8)), Poll::Pending);
    {
        let mut sending = pin!(sender.send_async(8));
        let polled = sending.as_mut().poll(&mut Context::from_waker(&other));
        assert_eq!(polled, Poll::Pending);
    }
    assert!(!is_held(&first) && !is_held(&second));
}

#[test]
fn an_end_that_is_dropped_takes_its_waker_with_it() {
    fn test<S: Sequencer>(mut sender: Sender<u64, S>, mut receiver: impl Receives) {
        let (count, waker) = counting();
        assert_eq!(receiver.poll_once(&waker), Poll::Pending);
        assert!(is_held(&count));
        drop(receiver);
        assert!(!is_held(&count));
        assert_eq!(count.take(), 0);
        assert_eq!(sender.send(7), Err(SendError(7)));
    }
    fn test_sender<S: Sequencer>(mut sender: Sender<u64, S>, mut receiver: impl Receives) {
        let (count, waker) = counting();
        sender.send(1).unwrap();
        assert_eq!(poll_send(&mut sender, &waker, &mut Some(2)), Poll::Pending);
        drop(sender);
        assert!(!is_held(&count));
        assert_eq!((receiver.try_once(), count.take()), (Some(1), 0));
        assert_eq!(receiver.poll_once(&waker), Poll::Ready(Err(RecvError)));
    }
    for_each_channel!(1, test);
    for_each_channel!(1, test_sender);

    let ((_producer, mut poller), (count, waker)) = (ring(), counting());
    assert!(poller.poll_wait(&mut Context::from_waker(&waker)).is_pending());
    drop(poller);
    assert!(!is_held(&count));
    assert_eq!(count.take(), 0);
}

#[test]
fn a_sender_without_a_value_gives_up_its_waker_and_a_clone_begins_without_one() {
    let (mut sender, receiver) = channel::mpsc(1).unwrap();
    let (count, waker) = counting();
    sender.send(1).unwrap();
    assert_eq!(poll_send(&mut sender, &waker, &mut Some(2)), Poll::Pending);
    let clone = sender.clone();
    assert_eq!(Arc::strong_count(&count), 3);
    assert_eq!(poll_send(&mut sender, &waker, &mut None), Poll::Ready(Ok(())));
    assert!(!is_held(&count));
    drop((clone, receiver));
    assert_eq!(count.take(), 0);
}

#[test]
fn a_task_that_polls_lets_others_run() {
    let (mut sender, mut receiver) = channel::spsc(1 << 13).unwrap();
    let (count, waker) = counting();
    let mut turns = 0;
    for value in 0..5_000 {
        let mut value = Some(value);
        while poll_send(&mut sender, &waker, &mut value).is_pending() {
            turns += count.take();
        }
    }
    assert_eq!(turns, 4);
    for value in 0..5_000 {
        let received = loop {
            match receiver.poll_once(&waker) {
                Poll::Ready(received) => break received,
                Poll::Pending => turns += count.take(),
            }
        };
        assert_eq!(received, Ok(value));
    }
    assert_eq!(turns, 8);
}

/// Tasks that poll, and whose channel is full most of the time.
#[test]
fn several_senders_that_poll_lose_no_value() {
    watched(|| {
        let (sender, mut receiver) = channel::mpsc(2).unwrap();
        let count = repeats(20_000);
        let senders = [0, 1, 2].map(|number| {
            let mut sender = sender.clone();
            thread::spawn(move || {
                for value in 0..count {
                    let mut value = Some((number, value));
                    block_on(poll_fn(|context| sender.poll_send(context, &mut value))).unwrap();
                }
            })
        });
        drop(sender);
        let mut next = [0; 3];
        block_on(async {
            while let Ok((number, value)) = poll_fn(|context| receiver.poll_recv(context)).await {
                assert_eq!(value, next[number]);
                next[number] += 1;
            }
        });
        assert_eq!(next, [count; 3]);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// The ring went on waiting for the stage of the poller.
#[test]
fn a_poller_leaves_although_the_drop_of_its_waker_panics() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let ring = Disruptor::single_producer(2, || 0_u64).stage("one").poller();
    let (mut producer, mut consumers) = ring.stage("other").poller().build().unwrap();
    let [mut one, mut other] = ["one", "other"].map(|name| consumers.take_poller(name).unwrap());
    let waker = Waker::from(Arc::new(Panics));
    assert!(one.poll_wait(&mut Context::from_waker(&waker)).is_pending());
    drop(waker); // the poller has the last reference
    assert!(catch_unwind(AssertUnwindSafe(move || drop(one))).is_err());
    for event in 0..10 {
        producer.try_publish(|slot| *slot = event).unwrap();
        assert_eq!(other.poll().unwrap().as_slice(), [event]);
        other.poll().unwrap().consume_all();
    }
}

/// The value was dropped with the panic.
#[test]
fn a_value_stays_with_its_caller_although_the_clone_of_a_waker_panics() {
    const VTABLE: RawWakerVTable =
        RawWakerVTable::new(|_| panic!("on purpose"), |_| {}, |_| {}, |_| {});
    // SAFETY: no function of the table looks at the data.
    let waker = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) };
    let (mut sender, mut receiver) = channel::spsc(1).unwrap();
    sender.send(1).unwrap();
    let mut value = Some(2);
    let sending = || sender.poll_send(&mut Context::from_waker(&waker), &mut value);
    assert!(catch_unwind(AssertUnwindSafe(sending)).is_err());
    assert_eq!(value, Some(2));
    assert_eq!(receiver.recv(), Ok(1));
    assert!(sender.poll_send(&mut Context::from_waker(&waker), &mut value).is_ready());
    assert_eq!(receiver.recv(), Ok(2));
}
