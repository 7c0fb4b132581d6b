//! The two kinds of ring, for code that is written once for both.

use lapwing::producer::{Multi, Sequencer, Single};
use lapwing::{Builder, Disruptor, Producer};

use super::event::Event;

/// A kind of ring.
pub(super) trait Kind: 'static {
    /// Its sequencer.
    type Sequencer: Sequencer + Send + 'static;

    /// Begins to build a ring.
    fn ring(capacity: usize) -> Builder<'static, Event, Self::Sequencer>;

    /// Returns another producer of the same ring, if there can be one.
    fn another(producer: &ProducerOf<Self>) -> Option<ProducerOf<Self>>;
}

/// The producer of a kind of ring.
pub(super) type ProducerOf<K> = Producer<Event, <K as Kind>::Sequencer>;

/// A ring with a single producer.
pub(super) enum One {}

impl Kind for One {
    type Sequencer = Single;

    fn ring(capacity: usize) -> Builder<'static, Event, Single> {
        Disruptor::single_producer(capacity, Event::default)
    }

    fn another(_: &ProducerOf<Self>) -> Option<ProducerOf<Self>> {
        None
    }
}

/// A ring with several producers.
pub(super) enum Many {}

impl Kind for Many {
    type Sequencer = Multi;

    fn ring(capacity: usize) -> Builder<'static, Event, Multi> {
        Disruptor::multi_producer(capacity, Event::default)
    }

    fn another(producer: &ProducerOf<Self>) -> Option<ProducerOf<Self>> {
        Some(producer.clone())
    }
}
