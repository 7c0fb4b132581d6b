//! The events of a group, and where they come from.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::book::Book;
use crate::common::{Kind, Lcg, ProducerOf};
use lapwing::error::PublishError;
use lapwing::producer::Slots;
use lapwing::{MultiProducer, Sequence};

/// The events of a [`Feed`] have keys below this.
pub(crate) const KEYS: u64 = 7;

/// An event. Its words are its sequence until its worker has finished it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trade {
    pub key: u64,
    /// Among the events of its key, if they come from one feed.
    pub number: u64,
    pub(super) words: [u64; 4],
}

impl Trade {
    pub(crate) fn new(key: u64, number: u64, sequence: Sequence) -> Self {
        Self { key, number, words: [sequence; 4] }
    }
}

/// Publishes events of random keys.
pub(crate) struct Feed<K: Kind> {
    pub producer: ProducerOf<Trade, K>,
    book: Arc<Book>,
    numbers: [u64; KEYS as usize],
    first: Sequence,
    next: Sequence,
    chance: Lcg,
}

impl<K: Kind> Feed<K> {
    pub(super) fn new(producer: ProducerOf<Trade, K>, book: &Arc<Book>, first: Sequence) -> Self {
        let (numbers, chance) = ([0; KEYS as usize], Lcg(first));
        Self { producer, book: Arc::clone(book), numbers, first, next: first, chance }
    }

    pub(crate) fn publish(&mut self, key: u64) -> Result<Sequence, PublishError> {
        let trade = Trade::new(key, self.numbers[key as usize], self.next);
        self.book.publishes(self.next);
        let result = self.producer.publish(|event| *event = trade);
        if result == Err(PublishError::WouldDeadlock) {
            self.book.line(self.next).is_published.store(false, Relaxed);
        }
        let sequence = result?;
        assert_eq!(sequence, self.next);
        self.next += 1;
        self.numbers[key as usize] += 1;
        Ok(sequence)
    }

    /// Publishes `events` events of random keys, and calls `meanwhile` after each of them with the
    /// number of those published before.
    pub(crate) fn publish_and(&mut self, events: u64, mut meanwhile: impl FnMut(u64)) {
        for event in 0..events {
            let key = self.chance.below(KEYS);
            self.publish(key).unwrap();
            meanwhile(event);
        }
    }

    pub(crate) fn publish_all(&mut self, events: u64) {
        self.publish_and(events, |_| {});
    }

    pub(crate) fn publish_of(&mut self, key: u64, events: u64) {
        (0..events).for_each(|_| _ = self.publish(key).unwrap());
    }

    /// Publishes events of one key together.
    pub(crate) fn publish_batch(&mut self, events: usize) {
        let Self { producer, book, numbers, next, .. } = self;
        let fill = |slots: &mut Slots<'_, Trade>| {
            for slot in slots.iter_mut() {
                book.publishes(*next);
                *slot = Trade::new(0, numbers[0], *next);
                (*next, numbers[0]) = (*next + 1, numbers[0] + 1);
            }
        };
        producer.publish_batch(events, fill).unwrap();
    }

    /// Publishes events of one key until the ring has ended.
    pub(crate) fn publish_until_the_end(&mut self) -> PublishError {
        loop {
            if let Err(error) = self.publish(0) {
                return error;
            }
        }
    }

    /// Claims an event, changes it, and gives it up.
    pub(crate) fn give_up(&mut self) {
        let mut claim = self.producer.claim().unwrap();
        *claim = Trade::new(self.next % KEYS, u64::MAX, u64::MAX);
        drop(claim);
        self.next += u64::from(K::IS_MULTI); // a single producer claims the same event again
    }

    pub(crate) fn published(&self) -> u64 {
        self.next - self.first
    }
}

/// Publishes `events` events of the key `key`, beside other threads that publish.
pub(crate) fn publish_beside_others(
    producer: &mut MultiProducer<Trade>,
    book: &Book,
    key: u64,
    events: u64,
) {
    for number in 0..events {
        let mut claim = producer.claim().unwrap();
        let sequence = claim.sequence();
        *claim = Trade::new(key, number, sequence);
        book.publishes(sequence);
        claim.publish().unwrap();
    }
}
