//! The publishing calls of a producer as data, and what each of them must answer. A new call is a
//! line of `Call::make`, and a new policy is a line of `POLICIES`.

use std::cell::Cell;
use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;

use crate::common::{MOMENT, PATIENCE};
use lapwing::error::BatchError;
use lapwing::producer::{Claim, ClaimBatch, Sequencer, Slots, WhenFull};
use lapwing::{Producer, Sequence};

/// How many slots a call asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Size {
    One,
    Batch(usize),
    UpTo(usize),
}

/// What a call does if too few slots are free: the calls without and with `try_`, and with `_or`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Policy {
    Plain,
    Try,
    Or(WhenFull),
}

/// The last two with a limit that never passes in a test.
pub(crate) const POLICIES: [Policy; 9] = [
    Policy::Try,
    Policy::Or(WhenFull::Refuse),
    Policy::Or(WhenFull::DropNew),
    Policy::Or(WhenFull::Timeout(Duration::ZERO)),
    Policy::Or(WhenFull::Timeout(MOMENT)),
    Policy::Plain,
    Policy::Or(WhenFull::Wait),
    Policy::Or(WhenFull::Timeout(PATIENCE)),
    Policy::Or(WhenFull::Timeout(Duration::MAX)),
];

/// A call of a producer, such as `publish` or `claim_batch_or(3, WhenFull::Refuse)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) is_claim: bool,
    pub(crate) size: Size,
    pub(crate) policy: Policy,
}

/// The sequences of the events, or `None` if they were dropped. The error of each call has the
/// variants of a `BatchError`, and is written as `Debug` writes it.
pub(crate) type Answer = Result<Option<Range<Sequence>>, String>;

/// What happens to a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expected {
    Answers(Answer),
    /// It waits for a slot that another thread frees.
    Waits,
}

impl Call {
    /// Returns every call that asks for so many slots.
    pub(crate) fn all(size: Size) -> impl Iterator<Item = Self> {
        let calls = [false, true].into_iter().flat_map(move |is_claim| {
            POLICIES.into_iter().map(move |policy| Self { is_claim, size, policy })
        });
        calls.filter(|call| match call.size {
            Size::UpTo(_) => call.is_claim && call.policy != Policy::Try,
            _ => true,
        })
    }

    /// Returns the number of slots that the call asks for.
    pub(crate) fn count(self) -> usize {
        match self.size {
            Size::One => 1,
            Size::Batch(count) | Size::UpTo(count) => count,
        }
    }

    /// Returns the number of events that count as dropped if the call drops its events.
    pub(crate) fn dropped(self, capacity: usize) -> u64 {
        self.count().min(capacity) as u64
    }

    /// Returns what the call must do in an open ring, of which `free` slots from `first` on are
    /// free. `is_alone` says that only this thread could free another one.
    pub(crate) fn expected(
        self,
        capacity: usize,
        first: Sequence,
        free: usize,
        is_alone: bool,
    ) -> Expected {
        if let Some(error) = self.impossible(capacity) {
            return Expected::Answers(Err(error));
        }
        let granted = match self.size {
            Size::UpTo(max) => max.min(free).max(1),
            _ => self.count(),
        };
        if granted <= free {
            return Expected::Answers(Ok(Some(first..first + granted as u64)));
        }
        let error = |error: BatchError| Expected::Answers(Err(reason(error)));
        match self.policy {
            Policy::Try | Policy::Or(WhenFull::Refuse) => error(BatchError::Full),
            Policy::Or(WhenFull::DropNew) => Expected::Answers(Ok(None)),
            _ if is_alone => error(BatchError::WouldDeadlock),
            Policy::Or(WhenFull::Timeout(time)) if time <= MOMENT => error(BatchError::TimedOut),
            Policy::Plain | Policy::Or(WhenFull::Wait | WhenFull::Timeout(_)) => Expected::Waits,
        }
    }

    /// Returns the error of a size that no state of the ring makes possible.
    pub(crate) fn impossible(self, capacity: usize) -> Option<String> {
        match self.size {
            Size::Batch(0) | Size::UpTo(0) => Some(reason(BatchError::Zero)),
            Size::Batch(requested) if requested > capacity => {
                Some(reason(BatchError::TooLarge { requested, capacity }))
            }
            _ => None,
        }
    }

    /// Makes the call. The events become `value` and the numbers after it. Checks that its closure
    /// runs if and only if the events are published, and that a claim has the sequences that it
    /// publishes.
    pub(crate) fn make<S: Sequencer>(self, producer: &mut Producer<u64, S>, value: u64) -> Answer {
        let first = Cell::new(None);
        let one = |event: &mut u64| {
            first.set(Some(None));
            *event = value;
        };
        let all = |slots: &mut Slots<'_, u64>| {
            first.set(Some(Some(slots.first_sequence())));
            (value..).zip(slots.iter_mut()).for_each(|(number, event)| *event = number);
        };
        let range = |sequence: Sequence| sequence..sequence + 1;
        let answer = match (self.is_claim, self.size, self.policy) {
            (false, Size::One, Policy::Plain) => told(producer.publish(one).map(range)),
            (false, Size::One, Policy::Try) => told(producer.try_publish(one).map(range)),
            (false, Size::One, Policy::Or(policy)) => {
                may_drop(producer.publish_or(policy, one)).map(|told| told.map(range))
            }
            (false, _, Policy::Plain) => told(producer.publish_batch(self.count(), all)),
            (false, _, Policy::Try) => told(producer.try_publish_batch(self.count(), all)),
            (false, _, Policy::Or(policy)) => {
                may_drop(producer.publish_batch_or(self.count(), policy, all))
            }
            (true, Size::One, Policy::Plain) => fill(told(producer.claim()), value),
            (true, Size::One, Policy::Try) => fill(told(producer.try_claim()), value),
            (true, Size::One, Policy::Or(policy)) => {
                fill(may_drop(producer.claim_or(policy)), value)
            }
            (true, size, policy) => {
                let batch = match (size, policy) {
                    (Size::UpTo(max), Policy::Or(policy)) => {
                        may_drop(producer.claim_up_to_or(max, policy))
                    }
                    (Size::UpTo(max), _) => told(producer.claim_up_to(max)),
                    (_, Policy::Plain) => told(producer.claim_batch(self.count())),
                    (_, Policy::Try) => told(producer.try_claim_batch(self.count())),
                    (_, Policy::Or(policy)) => {
                        may_drop(producer.claim_batch_or(self.count(), policy))
                    }
                };
                fill_all(batch, value)
            }
        };
        if !self.is_claim {
            let published = answer.as_ref().ok().and_then(Option::as_ref);
            assert_eq!(first.get().is_some(), published.is_some(), "{self:?}: {answer:?}");
            if let (Some(Some(first)), Some(published)) = (first.get(), published) {
                assert_eq!(first, published.start);
            }
        }
        answer
    }
}

/// Returns an error of any publishing call without its type.
pub(crate) fn reason(error: impl Into<BatchError>) -> String {
    error.into().to_string()
}

fn told<T>(answer: Result<T, impl Into<BatchError>>) -> Result<Option<T>, String> {
    answer.map(Some).map_err(reason)
}

fn may_drop<T>(answer: Result<Option<T>, impl Into<BatchError>>) -> Result<Option<T>, String> {
    answer.map_err(reason)
}

fn fill<S: Sequencer>(claim: Result<Option<Claim<'_, u64, S>>, String>, value: u64) -> Answer {
    let Some(mut claim) = claim? else { return Ok(None) };
    let sequence = claim.sequence();
    *claim = value;
    assert_eq!((*claim, claim.publish()), (value, Ok(sequence)));
    Ok(Some(sequence..sequence + 1))
}

fn fill_all<S: Sequencer>(
    batch: Result<Option<ClaimBatch<'_, u64, S>>, String>,
    value: u64,
) -> Answer {
    let Some(mut batch) = batch? else { return Ok(None) };
    let (sequences, len) = (batch.sequences(), batch.len());
    let mut slots = batch.slots();
    assert_eq!((slots.first_sequence(), slots.len()), (sequences.start, len));
    (value..).zip(slots.iter_mut()).for_each(|(number, event)| *event = number);
    assert_eq!(batch.publish(), Ok(sequences.clone()));
    assert_eq!(sequences.end - sequences.start, len as u64);
    Ok(Some(sequences))
}
