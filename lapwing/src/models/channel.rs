//! Models of channels: a value is given back to its sender, received, or dropped with its receiver.
//! That happens once, and while the sender still exists.

use std::sync::Arc;

use loom::thread;

use super::{PARK, check, check_without_fences};
use crate::channel::{Builder, Receiver, RecvError, SendError, Sender, SingleSender, TryRecvError};
use crate::producer::Sequencer;
use crate::wait::{Blocking, Step, WaitStrategy, Waiting};

/// Counts its owners, in a word that loom does not track.
type Token = Arc<()>;

/// A channel in which both ends park.
fn channel(capacity: usize) -> Builder<Blocking, Blocking> {
    Builder::new(capacity).receiver_wait_strategy(PARK).sender_wait_strategy(PARK)
}

/// A receiver leaves while a value is sent. No value may be left in the ring afterwards: the
/// sender, which still exists, would keep it alive.
fn send_against_a_receiver_that_leaves<S: Sequencer + 'static>(
    (mut sender, receiver): (Sender<Token, S>, Receiver<Token>),
) {
    let token = Token::default();
    let value = Arc::clone(&token);
    let thread = thread::spawn(move || {
        let result = sender.send(value);
        (sender, result)
    });
    drop(receiver);
    let (_sender, result) = thread.join().unwrap();
    let given_back = usize::from(result.is_err());
    assert_eq!(Arc::strong_count(&token), 1 + given_back);
}

/// O8: either the close counts the value and the receiver drops it, or the sender learns that it is
/// not counted and takes it back out of the slot.
#[test]
fn loom_single_send_against_a_receiver_that_leaves() {
    check(|| send_against_a_receiver_that_leaves(channel(1).spsc().unwrap()));
}

/// O12: the close waits for a claim that came before it.
#[test]
fn loom_multi_send_against_a_receiver_that_leaves() {
    check(|| send_against_a_receiver_that_leaves(channel(1).mpsc().unwrap()));
}

/// O8: the same for several values. A close counts all values of a batch or none.
#[test]
fn loom_send_batch_against_a_receiver_that_leaves() {
    check(|| {
        let (mut sender, receiver) = channel(8).spsc().unwrap();
        let token = Token::default();
        let mut values = vec![Arc::clone(&token), Arc::clone(&token)];
        let thread = thread::spawn(move || {
            let result = sender.send_batch(&mut values);
            (sender, result, values)
        });
        drop(receiver);
        let (_sender, result, values) = thread.join().unwrap();
        let given_back = if result.is_err() { 2 } else { 0 };
        assert_eq!((values.len(), Arc::strong_count(&token)), (given_back, 1 + given_back));
    });
}

/// O8: the values of a batch that a close refused come back in their order, before those that were
/// not in it.
#[test]
fn loom_a_refused_batch_comes_back_in_order() {
    check(|| {
        let (mut sender, receiver) = channel(8).spsc().unwrap();
        let thread = thread::spawn(move || {
            let mut values = vec![1, 2, 3]; // a batch of two, and another one
            let result = sender.send_batch(&mut values);
            (sender, result, values)
        });
        drop(receiver);
        let (_sender, result, values) = thread.join().unwrap();
        let sent = if result.is_ok() { 3 } else { 3 - values.len() };
        assert_eq!(values, [1, 2, 3][sent..]);
    });
}

/// O7 and O8: a receiver that leaves wakes a sender that is parked on a full channel, and the
/// sender gets its value back.
#[test]
fn loom_parked_sender_learns_that_the_receiver_left() {
    check(|| {
        let (mut sender, receiver) = channel(1).spsc().unwrap();
        sender.send(1).unwrap();
        let thread = thread::spawn(move || sender.send(2));
        drop(receiver);
        assert_eq!(thread.join().unwrap(), Err(SendError(2)));
    });
}

/// O6 and O7: a parked receiver gets the value that was sent, then learns that the sender has left.
#[test]
fn loom_parked_receiver_drains_and_learns_that_the_sender_left() {
    check(|| {
        let (mut sender, mut receiver) = channel(1).spsc().unwrap();
        let thread = thread::spawn(move || sender.send(1));
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Err(RecvError));
        thread.join().unwrap().unwrap();
    });
}

/// Sends two values with `send`. They arrive in order at a receiver that polls.
fn arrive_while_polled_for(capacity: usize, send: fn(&mut SingleSender<u64>)) {
    let (mut sender, mut receiver) = channel(capacity).spsc().unwrap();
    let thread = thread::spawn(move || {
        send(&mut sender);
        sender
    });
    let mut values = Vec::new();
    while values.len() < 2 {
        match receiver.try_recv() {
            Ok(value) => values.push(value),
            Err(_) => thread::yield_now(),
        }
    }
    assert_eq!(values, [1, 2]);
    thread.join().unwrap();
}

/// O30: a receiver whose last poll failed uses only the published mark of the next value, and then
/// that of the one after it.
#[test]
fn loom_mark_brings_its_value() {
    check_without_fences(|| {
        arrive_while_polled_for(2, |sender| {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
    });
}

/// O30: published marks that are set before their publication show nothing to a receiver that has
/// not reached them.
#[test]
fn loom_marks_of_a_batch_come_with_its_first() {
    check(|| arrive_while_polled_for(8, |sender| sender.send_batch(&mut vec![1, 2]).unwrap()));
}

/// I15 and O30: a sender sets the published mark of a value after its publication, when the
/// receiver may have finished a batch with that value. The receiver leaves the cache lines of the
/// batch, since its store would undo the published mark.
#[test]
fn loom_lines_are_left_where_a_mark_may_be_late() {
    check_without_fences(|| {
        let (mut sender, mut receiver) = channel(2).spsc().unwrap();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            sender
        });
        let mut values = Vec::new();
        while values.len() < 2 {
            match receiver.try_recv_batch() {
                Ok(batch) => values.extend(batch),
                Err(_) => thread::yield_now(),
            }
        }
        assert_eq!(values, [1, 2]);
        thread.join().unwrap();
    });
}

/// O30: the sender checks for parked threads before it sets the published mark, so a parked
/// receiver uses the cursor.
#[test]
fn loom_parked_receiver_needs_no_mark() {
    check(|| {
        let (mut sender, mut receiver) = channel(1).spsc().unwrap();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
    });
}

/// Polls, and never parks.
#[derive(Clone)]
struct Polls;

impl WaitStrategy for Polls {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Poll(1)
    }
}

/// O30: a receiver that polls the published mark of the next value learns that the sender has left.
#[test]
fn loom_polling_receiver_learns_that_the_sender_left() {
    check(|| {
        let (sender, mut receiver) =
            channel(1).receiver_wait_strategy(Polls).spsc::<u64>().unwrap();
        let thread = thread::spawn(move || drop(sender));
        assert_eq!(receiver.recv(), Err(RecvError));
        thread.join().unwrap();
    });
}

/// O30: the same with a receiver that only tries.
#[test]
fn loom_trying_receiver_learns_that_the_sender_left() {
    check(|| {
        let (sender, mut receiver) = channel(1).spsc::<u64>().unwrap();
        let thread = thread::spawn(move || drop(sender));
        while receiver.try_recv() == Err(TryRecvError::Empty) {
            thread::yield_now();
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        thread.join().unwrap();
    });
}
