//! Tests how many values each end of a channel says there are, in each state of `answers` and while
//! the other ends run. Not here: claims that are open or given up (`src/channel/tests.rs`).

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::answers::{CAPACITY, receive, states};
use crate::common::{Lcg, forget, repeats, wait_until, watched};
use crate::ends::{Any, Channels, SenderOf};
use lapwing::channel::{Builder, TrySendError};

crate::common::for_both_producers! {
    each_end_counts_what_the_state_of_the_channel_holds,
    miri_lengths_follow_every_call,
    a_batch_counts_for_its_sender_until_it_releases_slots,
    values_taken_from_a_forgotten_batch_do_not_count_for_the_receiver,
    a_receiver_that_goes_holds_no_value,
    a_receiver_gets_at_least_as_many_values_as_it_counts,
    a_value_that_was_sent_counts_until_it_is_received,
}

/// Returns what `len` says, after a check that `is_empty` and `is_full` say the same.
fn held<T, K: Channels>(sender: &SenderOf<T, K>) -> usize {
    let len = sender.len();
    assert_eq!((sender.is_empty(), sender.is_full()), (len == 0, len == sender.capacity()));
    len
}

/// Returns what `len` says, after a check that `is_empty` says the same. No sender runs meanwhile.
fn left_for(receiver: &Any) -> usize {
    let len = receiver.len();
    assert_eq!(receiver.is_empty(), len == 0, "len={len}");
    len
}

fn each_end_counts_what_the_state_of_the_channel_holds<K: Channels>() {
    for (state, is_shared) in states() {
        let case = format!("{state:?} is_shared={is_shared}");
        let left = (state.sent - state.received) as usize;
        let (mut sender, mut receivers) = state.open::<K>(is_shared);
        assert_eq!(held::<_, K>(&sender), left, "{case}");
        assert_eq!(sender.is_full(), sender.try_send(0).is_err(), "{case}");
        drop(sender);
        let added = usize::from(left < CAPACITY as usize);
        for (receiver, before) in receivers.iter().zip([left, 0]) {
            assert_eq!(left_for(receiver), before + added, "a closed channel, {case}");
        }
        let last = receivers.first_mut().expect("a channel has a receiver");
        for left in (0..left + added).rev() {
            receive(last).unwrap();
            assert_eq!(left_for(last), left, "{case}");
        }
    }
}

/// Takes up to `most` values of a batch. Returns how many.
fn take_batch(receiver: &mut Any, most: usize) -> usize {
    match receiver {
        Any::Alone(receiver) => {
            receiver.try_recv_batch().map_or(0, |batch| batch.take(most).count())
        }
        Any::Shared(receiver) => {
            receiver.try_recv_batch().map_or(0, |mut batch| batch.iter().take(most).count())
        }
    }
}

/// The calls come in any order, so some values are known from an earlier poll, some batches end at
/// the end of the ring, and the first value is at any slot.
fn miri_lengths_follow_every_call<K: Channels>() {
    for (capacity, is_shared) in [(1, false), (4, false), (8, false), (1, true), (8, true)] {
        let mut random = Lcg(capacity as u64);
        let (sender, mut receivers) = K::open_any(capacity, is_shared);
        let another = K::another(&sender);
        let mut senders: Vec<_> = [Some(sender), another].into_iter().flatten().collect();
        let mut left = vec![0; receivers.len()];
        for step in 0..repeats(20_000) {
            let sender = step as usize % senders.len();
            let sender = &mut senders[sender];
            let index = random.below(receivers.len() as u64) as usize;
            let receiver = &mut receivers[index];
            let sent = match random.below(5) {
                0 => usize::from(sender.try_send(step).is_ok()),
                1 => {
                    let mut values: Vec<_> = (0..random.below(6)).collect();
                    let before = values.len();
                    let _ = sender.try_send_batch(&mut values);
                    before - values.len()
                }
                2 => {
                    left[index] -= take_batch(receiver, random.below(4) as usize);
                    0
                }
                _ if left[index] > 0 => {
                    assert_eq!(receive(receiver).map(|values| values.len()), Ok(1));
                    left[index] -= 1;
                    0
                }
                _ => 0,
            };
            left.iter_mut().for_each(|left| *left += sent);
            assert!(receivers.iter().map(left_for).eq(left.iter().copied()), "step={step}");
            let most = left.iter().copied().max().unwrap_or(0);
            senders.iter().for_each(|sender| assert_eq!(held::<_, K>(sender), most));
        }
    }
}

fn a_batch_counts_for_its_sender_until_it_releases_slots<K: Channels>() {
    let (mut sender, mut receiver) = K::open(8);
    sender.send_batch(&mut (0..8).collect()).unwrap();
    let mut values = receiver.recv_batch().unwrap();
    assert_eq!((values.next(), sender.len()), (Some(0), 8));
    assert_eq!((values.next(), sender.len()), (Some(1), 6)); // released in quarters
    assert_eq!((values.next(), sender.len()), (Some(2), 6));
    drop(values);
    assert_eq!((receiver.len(), sender.len()), (5, 5));
}

fn values_taken_from_a_forgotten_batch_do_not_count_for_the_receiver<K: Channels>() {
    let (mut sender, mut receiver) = K::open(8);
    for _ in 0..5 {
        sender.send_batch(&mut vec![0, 1, 2]).unwrap();
        let mut values = receiver.recv_batch().unwrap();
        assert_eq!(values.next(), Some(0));
        mem::forget(values);
        assert_eq!((receiver.len(), sender.len()), (2, 3));
        assert!(receiver.try_iter().eq([1, 2]));
        assert_eq!((receiver.len(), receiver.is_empty(), sender.len()), (0, true, 0));
    }
}

fn a_receiver_that_goes_holds_no_value<K: Channels>() {
    let (mut sender, receiver) = K::open(2);
    sender.send_batch(&mut vec![1, 2]).unwrap();
    assert!(sender.is_full());
    drop(receiver);
    assert_eq!(
        (held::<_, K>(&sender), sender.try_send(3)),
        (0, Err(TrySendError::Disconnected(3)))
    );

    let (mut sender, mut receivers) = K::share(Builder::new(2), 2).unwrap();
    sender.send_batch(&mut vec![1, 2]).unwrap();
    assert_eq!(receivers[0].recv(), Ok(1));
    assert_eq!(held::<_, K>(&sender), 2);
    drop(receivers.pop());
    assert_eq!(held::<_, K>(&sender), 1, "the slowest one has gone");
    drop(receivers);
    assert_eq!(held::<_, K>(&sender), 0);

    let (mut sender, receiver) = K::open(2);
    sender.send(1).unwrap();
    forget(receiver);
    assert_eq!(held::<_, K>(&sender), 1);
}

fn a_receiver_gets_at_least_as_many_values_as_it_counts<K: Channels>() {
    for is_shared in [false, true] {
        watched(|| {
            let (mut sender, mut receivers) = K::open_any(8, is_shared);
            let count = repeats(20_000);
            thread::scope(|scope| {
                let receiving = |mut receiver: Any| {
                    scope.spawn(move || {
                        let mut received = 0;
                        while received < count {
                            let len = receiver.len();
                            assert!(len <= 8, "len={len}");
                            for _ in 0..len.max(1) {
                                assert_eq!(receive(&mut receiver), Ok(vec![received]));
                                received += 1;
                            }
                        }
                        assert_eq!(receiver.len(), 0);
                    })
                };
                receivers.drain(..).map(receiving).for_each(drop);
                for value in 0..count {
                    sender.send(value).unwrap();
                    assert!(sender.len() <= 8);
                }
                wait_until(|| sender.is_empty());
            });
        });
    }
}

/// The next value is sent only after the check, so no other value can make up for a wrong answer.
fn a_value_that_was_sent_counts_until_it_is_received<K: Channels>() {
    watched(|| {
        let (mut sender, mut receiver) = K::open(2);
        let (sent, received) = (AtomicU64::new(0), AtomicU64::new(0));
        let (sent, received) = (&sent, &received);
        let count = repeats(2_000);
        thread::scope(|scope| {
            scope.spawn(move || {
                for value in 1..=count {
                    assert!(sender.is_empty(), "value={value}");
                    sender.send(value).unwrap();
                    sent.store(value, Ordering::Release);
                    wait_until(|| received.load(Ordering::Acquire) == value);
                }
            });
            for value in 1..=count {
                wait_until(|| sent.load(Ordering::Acquire) == value);
                assert_eq!((receiver.len(), receiver.is_empty()), (1, false), "value={value}");
                assert_eq!(receiver.try_recv(), Ok(value));
                assert!(receiver.is_empty(), "value={value}");
                received.store(value, Ordering::Release);
            }
        });
    });
}
