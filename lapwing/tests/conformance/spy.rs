//! A handler that records its calls.

use std::ops::Range;

use lapwing::consumer::Failure;
use lapwing::producer::Sequencer;
use lapwing::{EventHandler, Producer, Sequence};

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Start,
    /// Size of the batch and depth of the queue.
    BatchStart(u64, u64),
    /// The event, its sequence, and whether it ends its batch.
    Event(u64, Sequence, bool),
    Failed(Sequence),
    Timeout(Sequence),
    Shutdown,
}

/// All calls in order. Repeated timeouts for the same event count once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Spy(pub(crate) Vec<Call>);

impl Spy {
    /// The events and their sequences.
    pub(crate) fn events(&self) -> Vec<(u64, Sequence)> {
        let event = |call: &Call| match *call {
            Call::Event(event, sequence, _) => Some((event, sequence)),
            _ => None,
        };
        self.0.iter().filter_map(event).collect()
    }

    /// The sequences of its events.
    pub(crate) fn sequences(&self) -> Vec<Sequence> {
        self.events().into_iter().map(|(_, sequence)| sequence).collect()
    }

    /// The sizes of its batches, derived from the events that ended them.
    pub(crate) fn batches(&self) -> Vec<u64> {
        let mut sizes = vec![0];
        for call in &self.0 {
            if let Call::Event(_, _, end_of_batch) = call {
                *sizes.last_mut().unwrap() += 1;
                sizes.extend(end_of_batch.then_some(0));
            }
        }
        assert_eq!(sizes.pop(), Some(0), "a batch has not ended");
        sizes
    }

    /// The announced batches: size and depth of the queue.
    pub(crate) fn announced(&self) -> Vec<(u64, u64)> {
        let batch = |call: &Call| match *call {
            Call::BatchStart(size, depth) => Some((size, depth)),
            _ => None,
        };
        self.0.iter().filter_map(batch).collect()
    }

    pub(crate) fn count(&self, call: Call) -> usize {
        self.0.iter().filter(|each| **each == call).count()
    }

    /// Checks that it was started first and shut down last, once each.
    #[track_caller]
    pub(crate) fn assert_one_life(&self) {
        assert_eq!((self.0.first(), self.0.last()), (Some(&Call::Start), Some(&Call::Shutdown)));
        assert_eq!((self.count(Call::Start), self.count(Call::Shutdown)), (1, 1));
    }
}

impl EventHandler<u64> for Spy {
    fn on_start(&mut self) {
        self.0.push(Call::Start);
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.0.push(Call::BatchStart(batch_size, queue_depth));
    }

    fn on_event(&mut self, event: &u64, sequence: Sequence, end_of_batch: bool) {
        self.0.push(Call::Event(*event, sequence, end_of_batch));
    }

    fn on_failed_event(&mut self, _: &u64, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.0.push(Call::Failed(sequence));
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        let call = Call::Timeout(next_sequence);
        if self.0.last() != Some(&call) {
            self.0.push(call);
        }
    }

    fn on_shutdown(&mut self) {
        self.0.push(Call::Shutdown);
    }
}

/// The value of an event, which differs from its sequence.
pub(crate) fn value_of(sequence: Sequence) -> u64 {
    sequence * 7 + 3
}

/// Publishes events with these sequences.
#[track_caller]
pub(crate) fn publish<S: Sequencer>(producer: &mut Producer<u64, S>, sequences: Range<Sequence>) {
    for sequence in sequences {
        assert_eq!(producer.publish(|event| *event = value_of(sequence)), Ok(sequence));
    }
}

/// The events with these sequences.
pub(crate) fn values(sequences: Range<Sequence>) -> Vec<(u64, Sequence)> {
    sequences.map(|sequence| (value_of(sequence), sequence)).collect()
}
