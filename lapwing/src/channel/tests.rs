//! Tests of a channel whose senders hold claims, or give them up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{RecvTimeoutError, TryRecvError, mpsc, multi_broadcast, spsc};

#[test]
fn an_open_claim_hides_the_values_after_it_from_receivers_only() {
    let (mut first, mut receiver) = mpsc(4).unwrap();
    let mut second = first.clone();
    let mut third = first.clone();
    third.send(1).unwrap();
    let claim = first.producer.claim().unwrap();
    second.send(2).unwrap();
    assert_eq!((receiver.len(), second.len()), (1, 3));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!((receiver.len(), receiver.is_empty(), second.len()), (0, true, 2));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    second.send_batch(&mut vec![3, 4]).unwrap();
    assert_eq!((receiver.len(), third.len(), third.is_full()), (0, 4, true));
    drop(claim);
    assert_eq!((receiver.len(), receiver.is_empty()), (3, false));
    assert!(receiver.try_iter().eq([2, 3, 4]));
    assert_eq!((receiver.len(), third.len()), (0, 0));
}

#[test]
fn claims_that_were_given_up_count_for_senders_until_receivers_pass_them() {
    let (mut first, mut receivers) = multi_broadcast(4, 2).unwrap();
    let mut second = first.clone();
    drop(first.producer.claim().unwrap());
    assert_eq!((second.len(), second.is_empty()), (1, false));
    second.send(1).unwrap();
    drop(first.producer.claim().unwrap());
    drop(first.producer.claim().unwrap());
    for receiver in &mut receivers {
        assert_eq!((receiver.len(), receiver.is_empty(), second.is_full()), (1, false, true));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!((receiver.len(), receiver.is_empty(), second.len() >= 2), (0, true, true));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
    assert!(second.is_empty());
    drop((first, second));
    assert!(receivers.iter().all(|receiver| receiver.is_empty()));
}

#[test]
fn the_only_sender_counts_no_claim_that_it_gave_up() {
    let (mut sender, receiver) = spsc::<u64>(4).unwrap();
    drop(sender.producer.claim().unwrap());
    assert_eq!((sender.len(), receiver.len()), (0, 0));
}

/// The cursor of the only sender is then beyond the end of the channel.
#[test]
fn a_value_that_a_closed_channel_refused_does_not_count() {
    let (mut sender, mut receiver) = spsc(4).unwrap();
    sender.send(1).unwrap();
    let claim = sender.producer.claim().unwrap();
    receiver.inbox.close();
    assert!(claim.publish().is_err());
    assert_eq!((receiver.len(), sender.len()), (1, 1));
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!((receiver.len(), receiver.is_empty(), sender.len()), (0, true, 0));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

/// A claim that is given up wakes the receiver, which finds no value.
#[test]
fn wake_ups_without_a_value_do_not_extend_a_time_limit() {
    const LONG: Duration = Duration::from_secs(60);
    let (mut sender, mut receiver) = mpsc::<u64>(4).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let giving_up = scope.spawn(|| {
            let begin = Instant::now();
            while !is_over.load(Ordering::Relaxed) && begin.elapsed() < LONG {
                drop(sender.producer.claim());
                thread::sleep(Duration::from_micros(100));
            }
            begin.elapsed() < LONG
        });
        let time = Duration::from_millis(5);
        assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_batch_timeout(time).err(), Some(RecvTimeoutError::Timeout));
        let soon = || Instant::now() + time;
        assert_eq!(receiver.recv_deadline(soon()), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_batch_deadline(soon()).err(), Some(RecvTimeoutError::Timeout));
        is_over.store(true, Ordering::Relaxed);
        assert!(giving_up.join().unwrap(), "a wait without a value took the time of the wake-ups");
    });
}
