//! Channels of two slots: one or two senders, and receivers that leave. Three or four threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing::channel::{Builder, Receiver, Sender};
use lapwing::producer::Sequencer;
use lapwing::wait::{Blocking, BusySpin, WaitStrategy};
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
fn send<S: Sequencer>(
    mut sender: Sender<Token, S>,
    first: u64,
    left: &Arc<AtomicUsize>,
) -> Vec<u64> {
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

/// The receiver receives at most `most` values and leaves.
fn channel<S: Sequencer>(senders: Vec<Sender<Token, S>>, mut receiver: Receiver<Token>, most: usize)
where
    Sender<Token, S>: Send + 'static,
{
    let left = Arc::new(AtomicUsize::new(0));
    let senders: Vec<_> = (10..)
        .step_by(10)
        .zip(senders)
        .map(|(first, sender)| {
            let left = Arc::clone(&left);
            (first, thread::spawn(move || send(sender, first, &left)))
        })
        .collect();
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
    let is_drained = received.len() < most;
    for (first, sender) in senders {
        let sent = sender.join().unwrap();
        let own = received.iter().copied().filter(|value| (first..first + 4).contains(value));
        let own: Vec<u64> = own.collect();
        assert!(sent.starts_with(&own), "{own:?} of {sent:?}");
        assert!(!is_drained || own == sent, "{own:?} is not all of {sent:?}");
    }
    assert_eq!(left.load(Ordering::Relaxed), 0, "each value is dropped once");
}

fn of_one_sender(receiver_wait: impl WaitStrategy, most: usize) {
    let (sender, receiver) = builder(receiver_wait).spsc().unwrap();
    channel(vec![sender], receiver, most);
}

fn of_two_senders(most: usize) {
    let (sender, receiver) = builder(PARK).mpsc().unwrap();
    channel(vec![sender.clone(), sender], receiver, most);
}

fn builder<R: WaitStrategy>(receiver_wait: R) -> Builder<R, Blocking> {
    Builder::new(2).sender_wait_strategy(PARK).receiver_wait_strategy(receiver_wait)
}

#[test]
fn channel_with_one_sender() {
    explore("channel", || of_one_sender(PARK, 9));
}

/// A receiver that spins polls the published mark beside each value.
#[test]
fn receivers_that_spin() {
    explore("receiver spins", || of_one_sender(BusySpin, 9));
    explore("receiver spins and leaves", || of_one_sender(BusySpin, 2));
}

#[test]
fn channel_with_two_senders() {
    explore("channel, two senders", || of_two_senders(9));
}

#[test]
fn receiver_that_leaves() {
    explore("receiver leaves", || of_one_sender(PARK, 2));
}

#[test]
fn receiver_that_leaves_two_senders() {
    explore("receiver leaves two senders", || of_two_senders(3));
}

/// Two receivers, of which one leaves.
#[test]
fn broadcast_to_two_receivers() {
    explore("broadcast", || {
        let (mut sender, receivers) = builder(PARK).broadcast::<u64>(2).unwrap();
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
