//! Tests what more than one call of a channel shows: values in order, batches and iterators. Not
//! here: what each call answers (`answers`), when values are dropped (`channel_drops`), receivers
//! that each get all values (`broadcast`).

use std::error::Error;
use std::thread;
use std::time::Duration;

use crate::common::{PATIENCE, repeats, watched};
use crate::ends::Channels;
use lapwing::MAX_CAPACITY;
use lapwing::channel::{
    self, Builder, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError,
    TrySendError,
};
use lapwing::error::BuildError;
use lapwing::wait::{
    Adaptive, Blocking, BusySpin, PhasedBackoff, Sleeping, WaitStrategy, Yielding,
};

crate::common::for_both_producers! {
    miri_values_arrive_once_and_in_order_at_every_capacity,
    capacity_is_rounded_up_to_a_power_of_two,
    impossible_capacity_is_an_error,
    iterators_end_where_their_call_would_fail,
    batch_has_all_available_values_after_a_failed_poll,
    values_of_any_size_and_alignment_arrive,
    values_that_are_not_taken_from_a_batch_come_again,
    batch_releases_a_quarter_of_the_ring_at_a_time,
    single_values_and_batches_can_be_mixed,
    send_batch_keeps_the_memory_of_the_vector,
    send_batch_leaves_what_was_not_sent,
    every_wait_strategy_works_on_both_sides,
    values_may_borrow,
    ends_move_to_other_threads_and_can_be_printed,
}

fn miri_values_arrive_once_and_in_order_at_every_capacity<K: Channels>() {
    for capacity in [1, 2, 4, 64] {
        let values = repeats(5_000);
        let (mut sender, receiver) = K::open(capacity);
        thread::scope(|scope| {
            scope.spawn(move || {
                (0..values / 2).for_each(|value| sender.send(value).unwrap());
                sender.send_batch(&mut (values / 2..values).collect()).unwrap();
            });
            assert!(receiver.into_iter().eq(0..values));
        });
    }
}

fn capacity_is_rounded_up_to_a_power_of_two<K: Channels>() {
    for (requested, capacity) in [(1, 1), (2, 2), (3, 4), (5, 8), (8, 8), (1000, 1024)] {
        let (mut sender, receiver) = K::open(requested);
        assert_eq!((sender.capacity(), receiver.capacity()), (capacity, capacity));
        (0..capacity).for_each(|value| assert_eq!(sender.try_send(value), Ok(())));
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        let (sender, receivers) = K::share::<u64, _, _>(Builder::new(requested), 2).unwrap();
        let capacities = [sender.capacity(), receivers[0].capacity(), receivers[1].capacity()];
        assert_eq!(capacities, [capacity; 3]);
    }
}

fn impossible_capacity_is_an_error<K: Channels>() {
    for requested in [0, MAX_CAPACITY + 1, 2 * MAX_CAPACITY, usize::MAX] {
        let error = K::build::<u64, _, _>(Builder::new(requested)).unwrap_err();
        assert_eq!(error, BuildError::Capacity { requested });
        assert_eq!(K::share::<u64, _, _>(Builder::new(requested), 2).unwrap_err(), error);
        let text = format!("capacity must be in 1..=1073741824: requested={requested}");
        assert_eq!(error.to_string(), text, "a channel needs no power of two");
    }
    // So many values exceed any address space, of 32 and of 64 bits: the allocator refuses.
    let error = K::build::<[u8; 1 << 20], _, _>(Builder::new(MAX_CAPACITY)).unwrap_err();
    assert!(matches!(error, BuildError::OutOfMemory { capacity: MAX_CAPACITY, .. }), "{error}");
}

fn iterators_end_where_their_call_would_fail<K: Channels>() {
    let (mut sender, mut receiver) = K::open(8);
    sender.send_batch(&mut vec![1, 2]).unwrap();
    assert!(receiver.try_iter().eq([1, 2]));
    assert_eq!(receiver.try_iter().next(), None);
    sender.send_batch(&mut vec![3, 4, 5, 6]).unwrap();
    drop(sender);
    let mut seen = Vec::new();
    for value in &mut receiver {
        seen.push(value);
        if value == 4 {
            break;
        }
    }
    assert_eq!(seen, [3, 4]);
    let mut values = receiver.into_iter();
    assert!(values.by_ref().eq([5, 6]));
    assert_eq!(values.next(), None);
}

fn batch_has_all_available_values_after_a_failed_poll<K: Channels>() {
    let (mut sender, mut receiver) = K::open(8);
    for (round, count) in [3, 8, 1, 5].into_iter().enumerate() {
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        (0..count).for_each(|number| sender.send(number).unwrap());
        let mut received = 0;
        while received < count {
            let batch = if round % 2 == 0 {
                receiver.recv_batch()
            } else {
                Ok(receiver.try_recv_batch().unwrap())
            };
            let batch = batch.unwrap();
            assert!(
                received == 0 || batch.len() as u64 == count - received,
                "only the wrap ends a batch"
            );
            received += batch.inspect(|number| assert!(*number < count)).count() as u64;
        }
    }
}

fn values_of_any_size_and_alignment_arrive<K: Channels>() {
    #[derive(Debug, Clone, PartialEq)]
    #[repr(align(256))]
    struct Wide([u8; 3]);

    fn arrive<K: Channels, T: Clone + PartialEq + Send + std::fmt::Debug>(value: T) {
        let (mut sender, mut receiver) = K::open(4);
        for _ in 0..3 {
            (0..3).for_each(|_| sender.send(value.clone()).unwrap());
            assert_eq!(receiver.recv(), Ok(value.clone()));
            assert!(receiver.try_iter().eq([value.clone(), value.clone()]));
            sender.send_batch(&mut vec![value.clone(); 4]).unwrap();
            assert!(receiver.try_iter().eq(vec![value.clone(); 4]));
        }
    }
    arrive::<K, _>(());
    arrive::<K, _>(7_u8);
    arrive::<K, _>(u128::MAX);
    arrive::<K, _>(Wide([1, 2, 3]));
    arrive::<K, _>(Some(Box::new(7)));
    arrive::<K, _>([7_u64; 100]);
}

fn values_that_are_not_taken_from_a_batch_come_again<K: Channels>() {
    let (mut sender, mut receiver) = K::open(8);
    sender.send_batch(&mut (0..7).collect()).unwrap();
    drop(receiver.recv_batch().unwrap());
    assert!(receiver.recv_batch().unwrap().take(2).eq(0..2));
    assert_eq!(receiver.recv(), Ok(2));
    assert_eq!(receiver.recv_batch().unwrap().next(), Some(3));
    assert!(receiver.try_iter().take(2).eq(4..6));
    assert!(receiver.recv_batch_timeout(PATIENCE).unwrap().eq(6..7));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

fn batch_releases_a_quarter_of_the_ring_at_a_time<K: Channels>() {
    let (mut sender, mut receiver) = K::open(8);
    sender.send_batch(&mut (0..8).collect()).unwrap();
    let mut values = receiver.recv_batch().unwrap();
    assert_eq!(values.next(), Some(0));
    assert_eq!(sender.try_send(8), Err(TrySendError::Full(8)));
    assert_eq!(values.next(), Some(1)); // released in quarters
    assert_eq!(sender.try_send_batch(&mut vec![8, 9]), Ok(()));
    assert_eq!(sender.try_send(10), Err(TrySendError::Full(10)));
    assert_eq!(values.next(), Some(2));
    drop(values); // releases what was taken
    assert_eq!(sender.try_send(10), Ok(()));
    assert!(receiver.try_iter().eq(3..11));
}

fn single_values_and_batches_can_be_mixed<K: Channels>() {
    let count = repeats(20_000);
    let (mut sender, mut receiver) = K::open(16);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut random = crate::common::Lcg(1);
            let mut next = 0;
            while next < count {
                let end = (next + random.below(40)).min(count);
                match random.below(3) {
                    0 => (next..end).for_each(|value| sender.send(value).unwrap()),
                    1 => sender.send_batch(&mut (next..end).collect()).unwrap(),
                    _ => {
                        let mut values = (next..end).collect();
                        while sender.try_send_batch(&mut values).is_err() {
                            thread::yield_now();
                        }
                    }
                }
                next = end;
            }
        });
        let mut random = crate::common::Lcg(2);
        let mut seen = Vec::new();
        while let Ok(value) = receiver.recv() {
            seen.push(value);
            match random.below(4) {
                0 => seen.extend(receiver.try_iter().take(3)),
                1 => seen.extend(receiver.recv_batch().into_iter().flatten()),
                2 => seen.extend(receiver.try_recv_batch().into_iter().flatten().take(5)),
                _ => seen.extend(receiver.recv_timeout(PATIENCE)),
            }
        }
        assert!(seen.into_iter().eq(0..count));
    });
}

fn send_batch_keeps_the_memory_of_the_vector<K: Channels>() {
    let (mut sender, mut receiver) = K::open(8);
    let mut values = Vec::with_capacity(100);
    let memory = values.as_ptr();
    for lap in 0..10 {
        values.extend(lap..lap + 3);
        sender.send_batch(&mut values).unwrap();
        assert!(values.is_empty() && values.capacity() >= 100 && values.as_ptr() == memory);
        assert!(receiver.try_iter().eq(lap..lap + 3));
    }
}

fn send_batch_leaves_what_was_not_sent<K: Channels>() {
    let (mut sender, mut receiver) = K::open(4);
    thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let mut values: Vec<u64> = (0..50).collect();
            (sender.send_batch(&mut values), values)
        });
        (0..10).for_each(|value| assert_eq!(receiver.recv(), Ok(value)));
        drop(receiver);
        let (result, left) = sending.join().unwrap();
        assert_eq!(result, Err(SendError(())));
        let first = left[0];
        assert!((10..=14).contains(&first), "four fit: first={first}");
        assert!(left.into_iter().eq(first..50));
    });
}

fn every_wait_strategy_works_on_both_sides<K: Channels>() {
    fn with<K: Channels, W: WaitStrategy>(strategy: W) {
        let count = repeats(2_000);
        let builder =
            Builder::new(2).receiver_wait_strategy(strategy.clone()).sender_wait_strategy(strategy);
        let (mut sender, receiver) = K::build(builder).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || (0..count).for_each(|value| sender.send(value).unwrap()));
            assert!(receiver.into_iter().eq(0..count));
        });
    }
    with::<K, _>(Adaptive::default());
    with::<K, _>(Blocking { yields: 0 });
    with::<K, _>(BusySpin);
    with::<K, _>(PhasedBackoff::new(Duration::ZERO, Duration::ZERO, Blocking { yields: 0 }));
    with::<K, _>(Sleeping::default());
    with::<K, _>(Yielding::default());
}

fn values_may_borrow<K: Channels>() {
    let line = String::from("plover sandpiper lapwing");
    let (mut sender, receiver) = K::open(2);
    thread::scope(|scope| {
        scope.spawn(|| line.split(' ').try_for_each(move |word| sender.send(word)).unwrap());
        assert!(receiver.into_iter().eq(["plover", "sandpiper", "lapwing"]));
    });
}

fn ends_move_to_other_threads_and_can_be_printed<K: Channels>() {
    fn is_send<T: Send>(_: &T) {}
    /// Implements neither `Debug` nor `Clone` nor `Sync`.
    struct Opaque(std::cell::Cell<u64>);
    let (mut sender, mut receiver) = K::open(2);
    is_send(&sender);
    is_send(&receiver);
    sender.send(Opaque(std::cell::Cell::new(7))).unwrap();
    assert!(format!("{sender:?}").starts_with("Sender { capacity: 2"));
    assert!(format!("{receiver:?}").starts_with("Receiver"));
    assert!(format!("{:?}", receiver.recv_batch().unwrap()).starts_with("Values { left: 1"));
    assert!(receiver.try_iter().all(|value| value.0.get() == 7));
}

// ---- several senders ----

#[test]
fn values_of_each_sender_stay_in_order() {
    watched(|| {
        let (senders, values) = (3, repeats(5_000));
        let (sender, receiver) = channel::mpsc(8).unwrap();
        thread::scope(|scope| {
            for index in 0..senders {
                let mut sender = sender.clone();
                scope.spawn(move || {
                    (0..values).for_each(|value| sender.send((index, value)).unwrap());
                });
            }
            drop(sender);
            let mut next = vec![0; senders];
            for (index, value) in receiver {
                assert_eq!(value, next[index], "index={index}");
                next[index] += 1;
            }
            assert_eq!(next, vec![values; senders]);
        });
    });
}

#[test]
fn channel_is_disconnected_by_the_last_sender_and_no_other() {
    let (first, mut receiver) = channel::mpsc(8).unwrap();
    let mut second = first.clone();
    drop(first);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    second.send(7).unwrap();
    drop(second);
    assert_eq!(receiver.try_recv(), Ok(7));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn every_blocked_sender_is_woken_when_the_receiver_goes() {
    watched(|| {
        let (mut sender, receiver) = channel::mpsc(1).unwrap();
        sender.send(0).unwrap();
        thread::scope(|scope| {
            let blocked = [1, 2, 3].map(|value| {
                let mut sender = sender.clone();
                (value, scope.spawn(move || sender.send(value)))
            });
            drop(receiver);
            for (value, thread) in blocked {
                assert_eq!(thread.join().unwrap(), Err(SendError(value)));
            }
        });
    });
}

// ---- errors ----

/// Implements no trait, not even `Debug`.
struct Bare;

/// `main` prints an error by its `Debug`, which must therefore be the sentence as well.

#[test]
fn errors_print_whatever_the_value_is() {
    let gone = "the channel is disconnected: no receiver is left";
    let drained = "the channel is disconnected and every value has been received";
    let full = "the channel stayed full until the timeout";
    let empty = "the channel stayed empty until the timeout";
    for (error, sentence) in [
        (&SendError(Bare) as &dyn Error, gone),
        (&TrySendError::Full(Bare), "the channel is full"),
        (&TrySendError::Disconnected(Bare), gone),
        (&SendTimeoutError::Timeout(Bare), full),
        (&SendTimeoutError::Disconnected(Bare), gone),
        (&RecvError, drained),
        (&TryRecvError::Empty, "the channel is empty"),
        (&TryRecvError::Disconnected, drained),
        (&RecvTimeoutError::Timeout, empty),
        (&RecvTimeoutError::Disconnected, drained),
    ] {
        assert_eq!(error.to_string(), sentence);
        assert_eq!(format!("{error:?}"), sentence);
    }
}

#[test]
fn errors_return_the_value_and_convert_to_wider_errors() {
    assert_eq!(TrySendError::Full(7).into_inner(), 7);
    assert_eq!(TrySendError::Disconnected(7).into_inner(), 7);
    assert_eq!(SendTimeoutError::Timeout(7).into_inner(), 7);
    assert_eq!(SendTimeoutError::Disconnected(7).into_inner(), 7);
    assert_eq!(TrySendError::from(SendError(7)), TrySendError::Disconnected(7));
    assert_eq!(SendTimeoutError::from(SendError(7)), SendTimeoutError::Disconnected(7));
    assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
    assert_eq!(RecvTimeoutError::from(RecvError), RecvTimeoutError::Disconnected);
}
