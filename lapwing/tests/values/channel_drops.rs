//! Tests when the values of a channel are dropped: each once, and not later than its last owner
//! (the receiver that took it, or the error that gave it back).

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use crate::common::{Ledger, ON_PURPOSE, Token, quiet_panics, repeats};
use crate::ends::{Channels, SenderOf};
use lapwing::channel::{self, Builder, SendError};
use lapwing::wait::{Step, WaitStrategy, Waiting};

crate::common::for_both_producers! {
    channel_keeps_nothing_alive_that_was_received,
    dropped_receiver_drops_the_remaining_values_although_the_sender_lives,
    dropped_sender_leaves_the_values_to_the_receiver,
    value_that_is_given_back_is_dropped_only_by_the_caller,
    panic_in_a_batch_loses_only_the_values_taken,
    miri_batch_that_is_forgotten_delivers_nothing_twice,
    miri_panic_of_a_drop_in_a_dropped_receiver_drops_the_rest_too,
    miri_send_that_meets_a_receiver_that_goes_loses_nothing,
    miri_send_batch_that_meets_a_receiver_that_goes_loses_nothing,
    request_without_a_receiver_ends_the_wait_for_its_reply,
    panic_of_a_wait_strategy_leaves_the_values_of_a_batch,
}

fn channel_keeps_nothing_alive_that_was_received<K: Channels>() {
    let ledger = Ledger::default();
    let (mut sender, mut receiver) = K::open(4);
    for _ in 0..3 {
        (0..3).for_each(|_| sender.send(ledger.token()).unwrap());
        drop(receiver.recv().unwrap());
        assert_eq!(ledger.dropped() + 2, ledger.made());
        receiver.recv_batch().unwrap().for_each(drop);
        receiver.try_iter().for_each(drop); // past the end of the ring
        assert_eq!(ledger.dropped(), ledger.made());
    }
}

fn dropped_receiver_drops_the_remaining_values_although_the_sender_lives<K: Channels>() {
    for received in 0..4 {
        let ledger = Ledger::default();
        let (mut sender, mut receiver) = K::open(4);
        (0..2).for_each(|_| sender.send(ledger.token()).unwrap());
        receiver.try_iter().for_each(drop); // so the remaining values cross the end of the ring
        (0..4).for_each(|_| sender.send(ledger.token()).unwrap());
        drop(receiver.iter().take(received).collect::<Vec<_>>());
        assert_eq!(ledger.dropped(), 2 + received as u64);
        drop(receiver);
        assert_eq!((ledger.dropped(), ledger.made()), (6, 6));
    }
}

fn dropped_sender_leaves_the_values_to_the_receiver<K: Channels>() {
    let ledger = Ledger::default();
    let (mut sender, receiver) = K::open(4);
    (0..3).for_each(|_| sender.send(ledger.token()).unwrap());
    drop(sender);
    assert_eq!(ledger.dropped(), 0);
    drop(receiver);
    assert_eq!(ledger.dropped(), 3);
}

fn value_that_is_given_back_is_dropped_only_by_the_caller<K: Channels>() {
    let ledger = Ledger::default();
    let (mut sender, receiver) = K::open(1);
    sender.send(ledger.token()).unwrap();
    let full = sender.try_send(ledger.token()).unwrap_err();
    assert_eq!(ledger.dropped(), 0);
    drop(full.into_inner());
    drop(receiver);
    assert_eq!(ledger.dropped(), 2);
    let SendError(token) = sender.send(ledger.token()).unwrap_err();
    drop(sender);
    assert_eq!(ledger.dropped(), 2);
    drop(token);
    assert_eq!((ledger.dropped(), ledger.made()), (3, 3));
}

fn panic_in_a_batch_loses_only_the_values_taken<K: Channels>() {
    quiet_panics();
    let ledger = Ledger::default();
    let (mut sender, mut receiver) = K::open(8);
    for number in 0..8 {
        sender.send((number, ledger.token())).unwrap();
    }
    let panicking = catch_unwind(AssertUnwindSafe(|| {
        for (number, _token) in receiver.recv_batch().unwrap() {
            assert!(number < 5, "{ON_PURPOSE}: at 5");
        }
    }));
    assert!(panicking.is_err());
    assert_eq!(ledger.dropped(), 6);
    assert!(receiver.try_iter().map(|(number, _)| number).eq(6..8));
    (0..8).for_each(|number| sender.send((number, ledger.token())).unwrap());
    drop(sender);
    assert_eq!(receiver.into_iter().count(), 8);
    assert_eq!((ledger.dropped(), ledger.made()), (16, 16));
}

fn miri_batch_that_is_forgotten_delivers_nothing_twice<K: Channels>() {
    let ledger = Ledger::default();
    let (mut sender, mut receiver) = K::open(16);
    let mut send = |count| (0..count).for_each(|_| sender.send(ledger.token()).unwrap());
    send(8);
    // Takes three values of a batch that releases none.
    let mut values = receiver.recv_batch().unwrap();
    values.by_ref().take(3).for_each(drop);
    mem::forget(values);
    assert_eq!(receiver.recv_batch().unwrap().len(), 5);
    let mut values = receiver.recv_batch().unwrap();
    values.by_ref().take(2).for_each(drop);
    mem::forget(values);
    assert_eq!(receiver.try_iter().count(), 3);
    // Takes all values of a batch that releases none.
    send(3);
    let mut values = receiver.recv_batch().unwrap();
    values.by_ref().for_each(drop);
    mem::forget(values);
    assert_eq!(receiver.recv_batch().unwrap().count(), 0);
    send(2);
    let mut values = receiver.recv_batch().unwrap();
    assert!(values.next().is_some());
    mem::forget(values);
    drop(receiver);
    assert_eq!((ledger.dropped(), ledger.made()), (13, 13));
}

/// Panics on drop, if told to.
struct Trap {
    _token: Token,
    is_set: bool,
}

impl Drop for Trap {
    fn drop(&mut self) {
        assert!(!self.is_set, "{ON_PURPOSE}: a drop that panics");
    }
}

fn miri_panic_of_a_drop_in_a_dropped_receiver_drops_the_rest_too<K: Channels>() {
    quiet_panics();
    let ledger = Ledger::default();
    let (mut sender, receiver) = K::open(8);
    for number in 0..5 {
        let trap = Trap { _token: ledger.token(), is_set: number == 2 };
        assert!(sender.send(trap).is_ok());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    assert_eq!(ledger.dropped(), 5);
    let given_back = sender.send(Trap { _token: ledger.token(), is_set: false });
    assert!(given_back.is_err());
    drop(given_back);
    drop(sender); // also drops the ring
    assert_eq!((ledger.dropped(), ledger.made()), (6, 6));
}

/// Sends until no receiver is left. Then every value has been dropped except those given back,
/// although the senders still exist.
fn meet_a_receiver_that_goes<K: Channels>(
    send: impl Fn(&mut SenderOf<Token, K>, &Ledger) -> Vec<Token> + Copy + Send + Sync,
) {
    for round in 0..repeats(1_000) {
        let ledger = Ledger::default();
        let (sender, mut receiver) = K::open(4);
        let second = K::another(&sender);
        let given_back: Vec<_> = thread::scope(|scope| {
            let senders = [Some(sender), second].into_iter().flatten();
            let sending: Vec<_> = senders
                .map(|mut sender| {
                    let ledger = &ledger;
                    scope.spawn(move || {
                        loop {
                            let unsent = send(&mut sender, ledger);
                            if !unsent.is_empty() {
                                return (sender, unsent);
                            }
                        }
                    })
                })
                .collect();
            receiver.iter().take(round as usize % 7).for_each(drop);
            drop(receiver);
            sending.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = given_back.iter().map(|(_, unsent)| unsent.len() as u64).sum::<u64>();
        assert_eq!(ledger.dropped() + count, ledger.made(), "the ring keeps none: round={round}");
        drop(given_back);
        assert_eq!(ledger.dropped(), ledger.made());
    }
}

fn miri_send_that_meets_a_receiver_that_goes_loses_nothing<K: Channels>() {
    meet_a_receiver_that_goes::<K>(|sender, ledger| {
        sender.send(ledger.token()).err().map(|SendError(token)| token).into_iter().collect()
    });
}

fn miri_send_batch_that_meets_a_receiver_that_goes_loses_nothing<K: Channels>() {
    meet_a_receiver_that_goes::<K>(|sender, ledger| {
        let mut tokens = (0..6).map(|_| ledger.token()).collect();
        let result = sender.send_batch(&mut tokens);
        assert_eq!(result.is_err(), !tokens.is_empty());
        tokens
    });
}

/// If a question stayed in a channel without a receiver, it would keep the sender of its reply
/// alive, and the thread that asked would wait for ever.
fn request_without_a_receiver_ends_the_wait_for_its_reply<K: Channels>() {
    for _ in 0..repeats(1_000) {
        let (mut sender, receiver) = K::open(4);
        thread::scope(|scope| {
            scope.spawn(move || drop(receiver));
            let (reply, mut answer) = channel::spsc::<u64>(1).unwrap();
            drop(sender.send(reply));
            assert!(answer.recv().is_err());
        });
    }
}

/// Panics instead of waiting.
#[derive(Clone)]
struct Impatient;

impl WaitStrategy for Impatient {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        panic!("{ON_PURPOSE}: it does not wait");
    }
}

fn panic_of_a_wait_strategy_leaves_the_values_of_a_batch<K: Channels>() {
    quiet_panics();
    let shared = Arc::new(());
    let (mut sender, mut receiver) =
        K::build(Builder::new(4).sender_wait_strategy(Impatient)).unwrap();
    let mut values: Vec<_> = (0..6).map(|number| (number, Arc::clone(&shared))).collect();
    let sending = catch_unwind(AssertUnwindSafe(|| sender.send_batch(&mut values)));
    assert!(sending.is_err());
    assert!(values.iter().map(|(number, _)| *number).eq(4..6));
    assert!(receiver.try_iter().map(|(number, _)| number).eq(0..4));
    assert_eq!(sender.send_batch(&mut values), Ok(()));
    assert!(receiver.try_iter().map(|(number, _)| number).eq(4..6));
    assert_eq!(Arc::strong_count(&shared), 1);
}
