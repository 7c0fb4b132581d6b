//! Tests what the receivers of a broadcast see, what they hold back, and how long a value lives.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::{
    Kind, Ledger, MOMENT, Many, ON_PURPOSE, One, PATIENCE, Token, quiet_panics, repeats,
};
use lapwing::channel::{
    BroadcastReceiver, Builder, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender,
    SharedValues, TryRecvError, TrySendError,
};
use lapwing::error::BuildError;
use lapwing::wait::Blocking;
use lapwing::{MAX_CAPACITY, MAX_RECEIVERS};

crate::common::for_both_producers! {
    miri_every_receiver_sees_every_value_in_order,
    capacity_is_rounded_up_and_an_invalid_one_is_an_error,
    broadcast_to_too_many_receivers_is_an_error,
    broadcast_without_receivers_is_an_error,
    slowest_receiver_holds_the_sender_back,
    dropped_receiver_holds_back_no_sender,
    last_receiver_that_goes_disconnects_the_sender,
    blocked_sender_is_woken_when_the_slowest_receiver_goes,
    receivers_drain_before_they_say_disconnected,
    every_call_of_a_receiver_without_sender_says_disconnected,
    every_call_of_a_receiver_reports_an_empty_channel,
    blocked_receivers_are_woken_when_the_sender_goes,
    values_that_are_not_clone_can_be_borrowed,
    panic_while_a_value_is_lent_counts_as_received,
    panic_of_a_clone_counts_as_received,
    batch_returns_unread_values_to_the_next_batch,
    iterators_clone_each_value_once,
    miri_value_is_dropped_once_a_lap_later_or_with_the_channel,
    panic_of_the_drop_of_a_former_value_does_not_undo_the_send,
    drop_of_a_former_value_may_wait_for_the_value_that_was_sent,
    receivers_park_each_for_themselves,
    receivers_can_be_printed,
}

/// A broadcast with one sender or many.
trait Channels: Kind {
    fn build<T: Send + Sync>(
        builder: Builder<Blocking, Blocking>,
        receivers: usize,
    ) -> Result<Ends<T, Self>, BuildError>;

    /// A broadcast whose ends park.
    fn try_open<T: Send + Sync>(
        capacity: usize,
        receivers: usize,
    ) -> Result<Ends<T, Self>, BuildError> {
        let strategy = Blocking { yields: 1 };
        let builder = Builder::new(capacity).receiver_wait(strategy).sender_wait(strategy);
        Self::build(builder, receivers)
    }

    fn open<T: Send + Sync>(capacity: usize, receivers: usize) -> Ends<T, Self> {
        Self::try_open(capacity, receivers).unwrap()
    }
}

type Ends<T, K> = (Sender<T, <K as Kind>::Sequencer>, Vec<BroadcastReceiver<T>>);

impl Channels for One {
    fn build<T: Send + Sync>(
        builder: Builder<Blocking, Blocking>,
        receivers: usize,
    ) -> Result<Ends<T, Self>, BuildError> {
        builder.broadcast(receivers)
    }
}

impl Channels for Many {
    fn build<T: Send + Sync>(
        builder: Builder<Blocking, Blocking>,
        receivers: usize,
    ) -> Result<Ends<T, Self>, BuildError> {
        builder.multi_broadcast(receivers)
    }
}

/// A sender and its two receivers.
fn two<K: Channels, T: Send + Sync>(
    capacity: usize,
) -> (Sender<T, K::Sequencer>, BroadcastReceiver<T>, BroadcastReceiver<T>) {
    let (sender, receivers) = K::open(capacity, 2);
    let [first, second] = receivers.try_into().expect("there are two receivers");
    (sender, first, second)
}

fn miri_every_receiver_sees_every_value_in_order<K: Channels>() {
    for (capacity, receivers) in [(1, 1), (2, 3), (16, 2)] {
        let values = repeats(3_000);
        let (mut sender, receivers) = K::open(capacity, receivers);
        thread::scope(|scope| {
            for receiver in receivers {
                scope.spawn(move || assert!(receiver.into_iter().eq(0..values)));
            }
            for value in 0..values / 2 {
                sender.send(value).unwrap();
            }
            sender.send_batch(&mut (values / 2..values).collect()).unwrap();
            drop(sender);
        });
    }
}

fn capacity_is_rounded_up_and_an_invalid_one_is_an_error<K: Channels>() {
    let (sender, receivers) = K::open::<u64>(5, 2);
    assert_eq!((sender.capacity(), receivers[0].capacity(), receivers[1].capacity()), (8, 8, 8));
    for requested in [0, MAX_CAPACITY + 1, usize::MAX] {
        let error = K::try_open::<u64>(requested, 2).unwrap_err();
        assert_eq!(error, BuildError::Capacity { requested });
        let text = format!("capacity must be in 1..=1073741824: requested={requested}");
        assert_eq!(error.to_string(), text, "a channel needs no power of two");
    }
}

fn broadcast_to_too_many_receivers_is_an_error<K: Channels>() {
    for requested in [MAX_RECEIVERS + 1, usize::MAX] {
        let error = K::try_open::<u64>(8, requested).unwrap_err();
        assert_eq!(error, BuildError::Receivers { requested });
    }
    assert_eq!(K::open::<u64>(8, MAX_RECEIVERS).1.len(), MAX_RECEIVERS);
}

fn broadcast_without_receivers_is_an_error<K: Channels>() {
    assert_eq!(K::try_open::<u64>(8, 0).unwrap_err(), BuildError::NoConsumers);
}

fn slowest_receiver_holds_the_sender_back<K: Channels>() {
    let (mut sender, mut fast, mut slow) = two::<K, _>(2);
    sender.send_batch(&mut vec![1, 2]).unwrap();
    assert!(fast.try_iter().eq([1, 2]));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(sender.send_timeout(3, MOMENT), Err(SendTimeoutError::Timeout(3)));
    assert_eq!(slow.recv(), Ok(1));
    assert_eq!(sender.try_send(3), Ok(()));
    assert_eq!(fast.recv(), Ok(3));
    assert!(slow.try_iter().eq([2, 3]));
}

fn dropped_receiver_holds_back_no_sender<K: Channels>() {
    let (mut sender, gone, mut stays) = two::<K, _>(2);
    sender.send_batch(&mut vec![1, 2]).unwrap();
    drop(gone);
    assert!(!sender.is_disconnected());
    assert!(stays.try_iter().eq([1, 2]));
    assert_eq!(sender.try_send(3), Ok(()));
    assert_eq!(stays.recv(), Ok(3));
}

fn last_receiver_that_goes_disconnects_the_sender<K: Channels>() {
    let (mut sender, first, second) = two::<K, _>(2);
    sender.send(1).unwrap();
    drop(first);
    drop(second);
    assert!(sender.is_disconnected());
    assert_eq!(sender.send(2), Err(SendError(2)));
    assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    assert_eq!(sender.send_timeout(2, PATIENCE), Err(SendTimeoutError::Disconnected(2)));
    let mut values = vec![2, 3];
    assert_eq!(sender.send_batch(&mut values), Err(SendError(())));
    assert_eq!(sender.try_send_batch(&mut values), Err(TrySendError::Disconnected(())));
    assert_eq!(values, [2, 3]);
}

fn blocked_sender_is_woken_when_the_slowest_receiver_goes<K: Channels>() {
    for is_last in [true, false] {
        for _ in 0..repeats(500) {
            let (mut sender, mut fast, slow) = two::<K, _>(1);
            sender.send(1).unwrap();
            assert_eq!(fast.recv(), Ok(1));
            let stays = (!is_last).then_some(fast);
            thread::scope(|scope| {
                let blocked = scope.spawn(move || sender.send(2));
                drop(slow);
                let expected = if is_last { Err(SendError(2)) } else { Ok(()) };
                assert_eq!(blocked.join().unwrap(), expected);
            });
            assert_eq!(stays.map(|mut receiver| receiver.recv()), (!is_last).then_some(Ok(2)));
        }
    }
}

fn receivers_drain_before_they_say_disconnected<K: Channels>() {
    let (mut sender, first, second) = two::<K, _>(8);
    sender.send_batch(&mut (0..6).collect()).unwrap();
    drop(sender);
    for mut receiver in [first, second] {
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(receiver.recv_timeout(PATIENCE), Ok(2));
        assert!(receiver.recv_batch().unwrap().iter().take(2).eq(&[3, 4]));
        assert!(receiver.iter().eq([5]));
    }
}

fn every_call_of_a_receiver_without_sender_says_disconnected<K: Channels>() {
    let (sender, mut receiver, _other) = two::<K, u64>(8);
    drop(sender);
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(receiver.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
    assert_eq!(receiver.recv_batch().err(), Some(RecvError));
    assert_eq!(receiver.try_recv_batch().err(), Some(TryRecvError::Disconnected));
    let error = receiver.recv_batch_timeout(PATIENCE).err();
    assert_eq!(error, Some(RecvTimeoutError::Disconnected));
    assert_eq!((receiver.iter().next(), receiver.try_iter().next()), (None, None));
    assert_eq!(receiver.into_iter().next(), None);
}

fn every_call_of_a_receiver_reports_an_empty_channel<K: Channels>() {
    let (_sender, mut receiver, _other) = two::<K, u64>(8);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.try_recv_batch().err(), Some(TryRecvError::Empty));
    assert_eq!(receiver.try_iter().next(), None);
    assert_eq!(receiver.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_batch_timeout(MOMENT).err(), Some(RecvTimeoutError::Timeout));
}

fn blocked_receivers_are_woken_when_the_sender_goes<K: Channels>() {
    for _ in 0..repeats(500) {
        let (sender, first, second) = two::<K, u64>(1);
        thread::scope(|scope| {
            let blocked = [first, second].map(|mut receiver| scope.spawn(move || receiver.recv()));
            drop(sender);
            for thread in blocked {
                assert_eq!(thread.join().unwrap(), Err(RecvError));
            }
        });
    }
}

fn values_that_are_not_clone_can_be_borrowed<K: Channels>() {
    let ledger = Ledger::default();
    let (mut sender, mut first, mut second) = two::<K, (u64, Token)>(2);
    sender.send((7, ledger.token())).unwrap();
    let numbers = |mut lent: SharedValues<'_, (u64, Token)>| {
        lent.iter().map(|(number, _)| *number).collect::<Vec<_>>()
    };
    assert_eq!(first.recv_batch().map(numbers), Ok(vec![7]));
    assert_eq!(second.recv_batch_timeout(PATIENCE).map(numbers), Ok(vec![7]));
    sender.send((8, ledger.token())).unwrap();
    assert_eq!(first.try_recv_batch().map(numbers), Ok(vec![8]));
    assert_eq!(second.recv_batch().map(numbers), Ok(vec![8]));
    assert_eq!((ledger.made(), ledger.dropped()), (2, 0));
}

fn panic_while_a_value_is_lent_counts_as_received<K: Channels>() {
    quiet_panics();
    let (mut sender, mut first, mut second) = two::<K, _>(1);
    sender.send(1).unwrap();
    let panicking = catch_unwind(AssertUnwindSafe(|| {
        let mut lent = first.recv_batch().unwrap();
        let value = lent.iter().next();
        assert_eq!(value, Some(&0), "{ON_PURPOSE}: while a value is lent");
    }));
    assert!(panicking.is_err());
    assert_eq!(first.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)), "the other one has not seen it");
    assert_eq!(second.recv(), Ok(1));
    assert_eq!(sender.try_send(2), Ok(()));
    assert_eq!((first.recv(), second.recv()), (Ok(2), Ok(2)));
}

fn panic_of_a_clone_counts_as_received<K: Channels>() {
    /// Panics when it is cloned, if told to.
    #[derive(Debug, PartialEq)]
    struct Fragile(bool);
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            assert!(!self.0, "{ON_PURPOSE}: a clone that panics");
            Self(self.0)
        }
    }
    quiet_panics();
    let (mut sender, mut receiver, _other) = two::<K, _>(8);
    let calls: [fn(&mut BroadcastReceiver<Fragile>) -> bool; 3] = [
        |receiver| receiver.recv().is_ok(),
        |receiver| receiver.try_recv().is_ok(),
        |receiver| receiver.recv_timeout(PATIENCE).is_ok(),
    ];
    for call in calls {
        sender.send(Fragile(true)).unwrap();
        sender.send(Fragile(false)).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| call(&mut receiver))).is_err());
        assert_eq!(receiver.try_recv(), Ok(Fragile(false)), "the one after it");
    }
}

fn batch_returns_unread_values_to_the_next_batch<K: Channels>() {
    let (mut sender, mut first, mut second) = two::<K, _>(8);
    sender.send_batch(&mut (0..6).collect()).unwrap();
    let mut values = first.recv_batch().unwrap();
    assert_eq!((values.len(), values.is_empty()), (6, false));
    assert!(values.iter().take(2).eq(&[0, 1]));
    assert_eq!(values.iter().len(), 4);
    drop(values);
    assert_eq!(first.recv(), Ok(2));
    assert!(first.try_recv_batch().unwrap().iter().eq(&[3, 4, 5]));
    drop(second.recv_batch_timeout(PATIENCE).unwrap());
    assert!(second.try_iter().eq(0..6));
    sender.send_batch(&mut (6..14).collect()).unwrap();
    assert!(first.recv_batch().unwrap().iter().eq(&[6, 7]), "up to the end of the ring");
    assert!(first.recv_batch_timeout(PATIENCE).unwrap().iter().copied().eq(8..14));
    assert!(second.try_iter().eq(6..14));
}

fn iterators_clone_each_value_once<K: Channels>() {
    struct Counted<'a>(&'a AtomicU64);
    impl Clone for Counted<'_> {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Ordering::SeqCst);
            Self(self.0)
        }
    }
    let clones = AtomicU64::new(0);
    let (mut sender, mut first, second) = two::<K, _>(8);
    (0..4).for_each(|_| assert!(sender.send(Counted(&clones)).is_ok()));
    drop(sender);
    assert_eq!(first.try_iter().count(), 4);
    assert_eq!((&mut first).into_iter().count(), 0);
    assert_eq!(second.into_iter().count(), 4);
    assert_eq!(clones.load(Ordering::SeqCst), 8);
}

fn miri_value_is_dropped_once_a_lap_later_or_with_the_channel<K: Channels>() {
    let ledger = Ledger::default();
    let (mut sender, mut first, mut second) = two::<K, Token>(2);
    for sent in 1..=6 {
        if sent % 2 == 0 {
            sender.send_batch(&mut vec![ledger.token()]).unwrap();
        } else {
            sender.send(ledger.token()).unwrap();
        }
        assert_eq!(first.recv_batch().unwrap().iter().count(), 1);
        assert_eq!(second.recv_batch().unwrap().iter().count(), 1);
        assert_eq!(ledger.dropped(), ledger.made().saturating_sub(2), "two slots, sent={sent}");
    }
    drop((first, second));
    assert_eq!(ledger.dropped(), 4);
    let given_back = sender.send(ledger.token());
    assert!(given_back.is_err());
    drop(given_back);
    drop(sender);
    assert_eq!((ledger.dropped(), ledger.made()), (7, 7));
}

/// Panics on drop, if told to.
struct Trap(bool);

impl Drop for Trap {
    fn drop(&mut self) {
        assert!(!self.0, "{ON_PURPOSE}: a drop that panics");
    }
}

fn panic_of_the_drop_of_a_former_value_does_not_undo_the_send<K: Channels>() {
    quiet_panics();
    let (mut sender, mut first, mut second) = two::<K, _>(8);
    let mut see = |count| {
        assert_eq!(first.recv_batch().unwrap().iter().count(), count);
        assert_eq!(second.recv_batch().unwrap().iter().count(), count);
    };
    (0..8).for_each(|number| assert!(sender.send(Trap(number < 2)).is_ok()));
    see(8);
    let mut send = |value| catch_unwind(AssertUnwindSafe(|| sender.send(value).is_ok()));
    assert!(send(Trap(false)).is_err(), "the first value of a lap ago");
    see(1);
    let mut values = vec![Trap(false), Trap(false), Trap(false)];
    let sending = catch_unwind(AssertUnwindSafe(|| sender.send_batch(&mut values).is_ok()));
    assert!(sending.is_err(), "the second one");
    see(2);
    assert_eq!(values.len(), 1, "a run of two was sent");
    assert!(sender.send_batch(&mut values).is_ok());
    see(1);
}

/// Its drop waits until the receiver has seen the next value.
struct Patient<'a> {
    number: u64,
    seen: &'a AtomicU64,
}

impl Drop for Patient<'_> {
    fn drop(&mut self) {
        let Self { number, seen } = *self;
        crate::common::wait_until(|| seen.load(Ordering::SeqCst) > number);
    }
}

fn drop_of_a_former_value_may_wait_for_the_value_that_was_sent<K: Channels>() {
    let seen = AtomicU64::new(0);
    let (mut sender, mut receivers) = K::open(1, 1);
    let mut receiver = receivers.pop().unwrap();
    thread::scope(|scope| {
        let seen = &seen;
        scope.spawn(move || {
            let number = |mut lent: SharedValues<'_, Patient<'_>>| {
                lent.iter().next().expect("a batch has a value").number
            };
            while let Ok(number) = receiver.recv_batch().map(number) {
                seen.store(number, Ordering::SeqCst);
            }
            seen.store(u64::MAX, Ordering::SeqCst);
        });
        for number in 1..=10 {
            if number % 2 == 0 {
                assert!(sender.send(Patient { number, seen }).is_ok());
            } else {
                assert!(sender.send_batch(&mut vec![Patient { number, seen }]).is_ok());
            }
        }
        drop(sender);
    });
}

fn receivers_park_each_for_themselves<K: Channels>() {
    let rounds = repeats(1_000);
    let seen = [const { AtomicU64::new(0) }; 2];
    let (mut sender, receivers) = K::open(4, 2);
    thread::scope(|scope| {
        for (receiver, seen) in receivers.into_iter().zip(&seen) {
            scope.spawn(move || receiver.into_iter().for_each(|n| seen.store(n, Ordering::SeqCst)));
        }
        // One value at a time: a later value cannot make up for a lost wake-up.
        for round in 1..=rounds {
            sender.send(round).unwrap();
            crate::common::wait_until(|| {
                seen.iter().all(|seen| seen.load(Ordering::SeqCst) == round)
            });
        }
        drop(sender);
    });
}

fn receivers_can_be_printed<K: Channels>() {
    let ledger = Ledger::default();
    let (mut sender, mut receiver, _other) = two::<K, Token>(2);
    sender.send(ledger.token()).unwrap();
    assert!(format!("{receiver:?}").starts_with("BroadcastReceiver"));
    let values = format!("{:?}", receiver.recv_batch().unwrap());
    assert!(values.starts_with("SharedValues { left: 1"), "{values}");
}
