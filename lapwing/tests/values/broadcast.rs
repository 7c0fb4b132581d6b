//! Tests what the receivers of a broadcast see of the same values, and how long a value lives. Not
//! here: what each call answers (`answers`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::{Ledger, ON_PURPOSE, PATIENCE, Token, quiet_panics, repeats};
use crate::ends::{Channels, SenderOf};
use lapwing::MAX_RECEIVERS;
use lapwing::channel::{BroadcastReceiver, Builder, SharedValues, TryRecvError, TrySendError};
use lapwing::error::BuildError;
use lapwing::wait::Blocking;

crate::common::for_both_producers! {
    miri_every_receiver_sees_every_value_in_order,
    broadcast_to_no_or_too_many_receivers_is_an_error,
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

/// A broadcast whose ends park.
fn open<K: Channels, T: Send + Sync, const N: usize>(
    capacity: usize,
) -> (SenderOf<T, K>, [BroadcastReceiver<T>; N]) {
    let strategy = Blocking { yields: 1 };
    let builder =
        Builder::new(capacity).receiver_wait_strategy(strategy).sender_wait_strategy(strategy);
    let (sender, receivers) = K::share(builder, N).unwrap();
    (sender, receivers.try_into().expect("there are as many receivers"))
}

/// A sender and its two receivers.
fn two<K: Channels, T: Send + Sync>(
    capacity: usize,
) -> (SenderOf<T, K>, BroadcastReceiver<T>, BroadcastReceiver<T>) {
    let (sender, [first, second]) = open::<K, T, 2>(capacity);
    (sender, first, second)
}

fn miri_every_receiver_sees_every_value_in_order<K: Channels>() {
    fn see<K: Channels, const N: usize>(capacity: usize) {
        let values = repeats(3_000);
        let (mut sender, receivers) = open::<K, u64, N>(capacity);
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
    see::<K, 1>(1);
    see::<K, 3>(2);
    see::<K, 2>(16);
}

fn broadcast_to_no_or_too_many_receivers_is_an_error<K: Channels>() {
    for (requested, expected) in [
        (0, BuildError::NoConsumers),
        (MAX_RECEIVERS + 1, BuildError::Receivers { requested: MAX_RECEIVERS + 1 }),
        (usize::MAX, BuildError::Receivers { requested: usize::MAX }),
    ] {
        let refused = K::share::<u64, _, _>(Builder::new(8), requested);
        assert_eq!(refused.unwrap_err(), expected);
    }
    let (_, most) = K::share::<u64, _, _>(Builder::new(8), MAX_RECEIVERS).unwrap();
    assert_eq!(most.len(), MAX_RECEIVERS);
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
    let (mut sender, [mut receiver]) = open::<K, _, 1>(1);
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
    let (mut sender, receivers) = open::<K, _, 2>(4);
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
