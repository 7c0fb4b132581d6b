//! Channels of a slot or two: several senders, and receivers that leave. Four threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing::channel::{Builder, MultiSender};
use shuttle::thread;

use crate::explore::{PARK, explore};

/// A value that counts how many of its kind are left.
#[derive(Debug)]
struct Token {
    value: u64,
    left: Arc<AtomicUsize>,
}

impl Token {
    fn new(value: u64, left: &Arc<AtomicUsize>) -> Self {
        left.fetch_add(1, Ordering::Relaxed);
        Self { value, left: Arc::clone(left) }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.left.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends four values, two of them in a batch. Returns the values that were accepted.
fn send(mut sender: MultiSender<Token>, first: u64, left: &Arc<AtomicUsize>) -> Vec<u64> {
    let mut sent = Vec::new();
    for value in first..first + 2 {
        match sender.send(Token::new(value, left)) {
            Ok(()) => sent.push(value),
            Err(refused) => assert_eq!(refused.0.value, value),
        }
    }
    let mut batch: Vec<_> = (first + 2..first + 4).map(|value| Token::new(value, left)).collect();
    let result = sender.send_batch(&mut batch);
    assert_eq!(result.is_ok(), batch.is_empty());
    sent.extend(first + 2..first + 4 - batch.len() as u64);
    sent
}

/// Two senders. The receiver receives at most `most` values and leaves.
fn channel(most: usize) {
    let left = Arc::new(AtomicUsize::new(0));
    let builder = Builder::new(2).sender_wait(PARK).receiver_wait(PARK);
    let (sender, mut receiver) = builder.mpsc::<Token>().unwrap();
    let senders = [(sender.clone(), 10), (sender, 20)].map(|(sender, first)| {
        let left = Arc::clone(&left);
        thread::spawn(move || send(sender, first, &left))
    });
    let reader = thread::spawn(move || {
        let mut received = Vec::new();
        while received.len() < most
            && let Ok(token) = receiver.recv()
        {
            received.push(token.value);
        }
        received
    });
    let received = reader.join().unwrap();
    for sent in senders.map(|sender| sender.join().unwrap()) {
        let own: Vec<u64> = received
            .iter()
            .copied()
            .filter(|value| value / 10 == sent.first().unwrap_or(&0) / 10)
            .collect();
        assert!(sent.starts_with(&own), "{own:?} of {sent:?}");
        assert!(most < 8 || own == sent, "{own:?} is not all of {sent:?}");
    }
    assert_eq!(left.load(Ordering::Relaxed), 0, "each value is dropped once");
}

#[test]
fn channel_with_two_senders() {
    explore("channel", || channel(8));
}

#[test]
fn receiver_that_leaves() {
    explore("receiver leaves", || channel(3));
}

/// Two receivers, of which one leaves.
#[test]
fn broadcast_to_two_receivers() {
    explore("broadcast", || {
        let builder = Builder::new(2).sender_wait(PARK).receiver_wait(PARK);
        let (mut sender, receivers) = builder.broadcast::<u64>(2).unwrap();
        let readers: Vec<_> = receivers
            .into_iter()
            .zip([2, 9])
            .map(|(receiver, most)| {
                thread::spawn(move || receiver.into_iter().take(most).collect::<Vec<u64>>())
            })
            .collect();
        let feed = thread::spawn(move || (0..6).for_each(|value| sender.send(value).unwrap()));
        feed.join().unwrap();
        let received: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        assert_eq!(received, [vec![0, 1], vec![0, 1, 2, 3, 4, 5]]);
    });
}
