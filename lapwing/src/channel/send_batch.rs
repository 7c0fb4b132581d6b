//! Sending many values at once: one claim and one publication for a run of them, as long as there
//! are free slots.
//!
//! Values come from a vector, not from an iterator: an iterator is code of the user's, which may
//! wait for the very receiver that waits for the claim. Those who have one send value by value.

use std::collections::VecDeque;
use std::mem;

use super::error::{SendError, TrySendError};
use super::letter::{Keeping, Letter};
use super::sender::Sender;
use crate::error::BatchError;
use crate::producer::{ClaimBatch, Sequencer};

/// A run is at most this part of the ring, so that receivers have something to go on with before the
/// rest is there; as a stage lets go of its events.
const RUNS_PER_RING: usize = 4;

impl<T, S: Sequencer> Sender<T, S> {
    /// Sends all of `values`, in order; waits while the channel is full. The vector is then empty
    /// and keeps its memory.
    ///
    /// They go in runs of up to a quarter of the channel; of several senders, another one's values
    /// may come between two runs.
    ///
    /// ```
    /// use lapwing::channel::{self, SendError};
    ///
    /// let (mut sender, mut receiver) = channel::mpsc(8)?;
    /// let mut values = vec![1, 2, 3];
    /// sender.send_batch(&mut values)?;
    /// assert!(values.is_empty());
    /// assert!(receiver.try_iter().eq([1, 2, 3]));
    ///
    /// drop(receiver);
    /// values.extend([4, 5]);
    /// assert_eq!(sender.send_batch(&mut values), Err(SendError(())));
    /// assert_eq!(values, [4, 5]); // what was not sent
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`] if no receiver is left, or none is before there is room for all. What was not
    /// sent is still in `values`, in order.
    ///
    /// # Blocking
    ///
    /// As [`send`](Self::send), for each run. [`try_send_batch`](Self::try_send_batch) does not
    /// wait.
    pub fn send_batch(&mut self, values: &mut Vec<T>) -> Result<(), SendError<()>> {
        let longest = self.longest_run();
        let mut unsent = Unsent::new(values);
        while let Some(count) = unsent.next_run(longest) {
            let claim = self.producer.claim_up_to(count).map_err(|_| SendError(()))?;
            unsent.put(claim, self.keeping)?;
        }
        Ok(())
    }

    /// As [`send_batch`](Self::send_batch), but sends what there is room for and never waits.
    ///
    /// ```
    /// use lapwing::channel::{self, TrySendError};
    ///
    /// let (mut sender, mut receiver) = channel::spsc(4)?;
    /// let mut values = vec![1, 2, 3, 4, 5, 6];
    /// assert_eq!(sender.try_send_batch(&mut values), Err(TrySendError::Full(())));
    /// assert_eq!(values, [5, 6]); // four have been sent
    /// assert!(receiver.try_iter().eq([1, 2, 3, 4]));
    /// assert_eq!(sender.try_send_batch(&mut values), Ok(()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] if there was not room for all, and [`TrySendError::Disconnected`] if
    /// no receiver is left. What was not sent is still in `values`, in order.
    pub fn try_send_batch(&mut self, values: &mut Vec<T>) -> Result<(), TrySendError<()>> {
        let longest = self.longest_run();
        let mut unsent = Unsent::new(values);
        while let Some(count) = unsent.next_run(longest) {
            match self.producer.try_claim_up_to(count) {
                Ok(claim) => unsent.put(claim, self.keeping)?,
                Err(BatchError::Full) => return Err(TrySendError::Full(())),
                Err(_) => return Err(TrySendError::Disconnected(())),
            }
        }
        Ok(())
    }

    fn longest_run(&self) -> usize {
        (self.capacity() / RUNS_PER_RING).max(1)
    }
}

/// The values of a batch that are not sent yet. They go back to where they came from however the
/// call ends, and so does the memory.
struct Unsent<'a, T> {
    queue: VecDeque<T>,
    values: &'a mut Vec<T>,
}

impl<'a, T> Unsent<'a, T> {
    fn new(values: &'a mut Vec<T>) -> Self {
        Self { queue: VecDeque::from(mem::take(values)), values }
    }

    /// Number of values to claim slots for next; none if all are sent.
    fn next_run(&self, longest: usize) -> Option<usize> {
        let count = self.queue.len().min(longest);
        (count > 0).then_some(count)
    }

    /// Publishes the first values in the slots of `claim`, or takes them back if the last receiver
    /// left before.
    fn put<S: Sequencer>(
        &mut self,
        claim: ClaimBatch<'_, Letter<T>, S>,
        keeping: Keeping,
    ) -> Result<(), SendError<()>> {
        let mut left = self.queue.len() - claim.len();
        let first = claim.sequences().start;
        let mut notice = None;
        for (sequence, letter) in claim.events() {
            if sequence == first {
                notice = Some(letter.pending_notice::<S>());
            } else {
                letter.give_notice_ahead::<S>(sequence);
            }
            let value = self.queue.pop_front().expect("a claim is no longer than what is unsent");
            // SAFETY: I1: the claim has the slot; I14: what was moved is gone, since its receiver let go of the slot.
            let former = unsafe { letter.put(value, keeping) };
            // Of a broadcast. Kept at the end for now: its drop is code of the user's, which must
            // not run before the claim is published.
            self.queue.extend(former);
        }
        let result = match claim.publish_or_keep() {
            Ok(_) => {
                // SAFETY: I4: the claim was borrowed from a producer, which has the ring.
                notice.inspect(|notice| unsafe { notice.give(first) });
                Ok(())
            }
            Err((refused, _)) => {
                for (_, letter) in refused.events().rev() {
                    // SAFETY: I1: it was not settled, so the claim still has the slot; I14: the value was put there
                    // just now.
                    self.queue.push_front(unsafe { letter.take_back() });
                    left += 1;
                }
                Err(SendError(()))
            }
        };
        self.queue.truncate(left);
        result
    }
}

impl<T> Drop for Unsent<'_, T> {
    fn drop(&mut self) {
        *self.values = Vec::from(mem::take(&mut self.queue));
    }
}
