//! Sending many values at once, with one claim and one publication for each run of free slots. Not
//! here: the same as a task (`awaited`).
//!
//! The values come from a vector, not from an iterator. An iterator is user code, which may wait
//! for the same receiver that waits for the claim. Values from an iterator are sent one by one.

use std::collections::VecDeque;
use std::mem;

use super::error::{SendError, TrySendError};
use super::message_slot::{Keeping, MessageSlot};
use super::sender::Sender;
use crate::error::BatchError;
use crate::producer::{ClaimBatch, Sequencer};

/// A run is at most this part of the ring, a quarter, so that receivers can start before the rest
/// is sent. A stage releases its events in portions of the same size.
const RUNS_PER_RING: usize = 4;

impl<T, S: Sequencer> Sender<T, S> {
    /// Sends all of `values` in order, waiting while the channel is full. Afterwards the vector is
    /// empty and keeps its memory.
    ///
    /// Values are sent in runs of up to a quarter of the channel. If there are several senders,
    /// values of another sender may come between two runs. With an empty vector, the call returns
    /// `Ok` even if no receiver is left.
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
    /// [`SendError`] if no receiver is left, or the last one is dropped while the call waits. The
    /// values that were not sent are still in `values`, in order.
    ///
    /// # Blocking
    ///
    /// Waits while the channel is full, until the slowest receiver has received a value or is
    /// dropped, and again for each run. It uses the sender's wait strategy.
    /// [`try_send_batch`](Self::try_send_batch) does not wait for a slot. If this thread also owns
    /// the slowest receiver, a call that waits never returns.
    ///
    /// If the last receiver is dropped at the same moment, a single sender waits until the accepted
    /// values are counted. The count takes a few instructions and one system call.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of a value that was in a slot panics. The values that were not
    /// sent are still in `values`.
    pub fn send_batch(&mut self, values: &mut Vec<T>) -> Result<(), SendError<()>> {
        let longest = self.longest_run();
        let mut unsent = Unsent::new(values);
        while let Some(count) = unsent.next_run(longest) {
            let claim = self.producer.claim_up_to(count).map_err(|_| SendError(()))?;
            unsent.put(claim, self.keeping)?;
        }
        Ok(())
    }

    /// Sends as many of `values` as there are free slots, in order and without waiting.
    ///
    /// [`send_batch`](Self::send_batch) waits for free slots instead. With an empty vector, the
    /// call returns `Ok` even if no receiver is left.
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
    /// - [`TrySendError::Full`] if there were fewer free slots than values.
    /// - [`TrySendError::Disconnected`] if no receiver is left.
    ///
    /// The values that were not sent are still in `values`, in order.
    ///
    /// # Blocking
    ///
    /// Does not wait for a free slot.
    ///
    /// If the last receiver is dropped at the same moment, a single sender waits until the accepted
    /// values are counted. The count takes a few instructions and one system call.
    ///
    /// # Panics
    ///
    /// In a broadcast, if the drop of a value that was in a slot panics. The values that were not
    /// sent are still in `values`.
    pub fn try_send_batch(&mut self, values: &mut Vec<T>) -> Result<(), TrySendError<()>> {
        self.try_send_rest(&mut Unsent::new(values))
    }

    /// Sends as many of `unsent` as there are free slots.
    pub(super) fn try_send_rest(
        &mut self,
        unsent: &mut Unsent<'_, T>,
    ) -> Result<(), TrySendError<()>> {
        let longest = self.longest_run();
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

/// The values of a batch that are not sent yet. Its drop puts them back into the caller's vector,
/// and the memory with them.
pub(super) struct Unsent<'a, T> {
    queue: VecDeque<T>,
    values: &'a mut Vec<T>,
}

impl<'a, T> Unsent<'a, T> {
    pub(super) fn new(values: &'a mut Vec<T>) -> Self {
        Self { queue: VecDeque::from(mem::take(values)), values }
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Number of values of the next run, at most `longest`. `None` if all are sent.
    fn next_run(&self, longest: usize) -> Option<usize> {
        let count = self.queue.len().min(longest);
        (count > 0).then_some(count)
    }

    /// Publishes the first values in the slots of `claim`. Takes them back if the last receiver is
    /// already gone.
    fn put<S: Sequencer>(
        &mut self,
        claim: ClaimBatch<'_, MessageSlot<T>, S>,
        keeping: Keeping,
    ) -> Result<(), SendError<()>> {
        let mut left = self.queue.len() - claim.len();
        let first = claim.sequences().start;
        let mut mark = None;
        for (sequence, slot) in claim.events() {
            if sequence == first {
                mark = Some(slot.pending_mark::<S>());
            } else {
                slot.set_mark_ahead::<S>(sequence);
            }
            let value = self.queue.pop_front().expect("a claim has no more slots than values");
            // SAFETY: I1: the claim owns the slot; I14: a value that was moved is gone, since its
            // receiver has released the slot.
            let former = unsafe { slot.put(value, keeping) };
            // Only a broadcast has former values. They stay at the end of the queue until the claim
            // is published, since their drop is user code.
            self.queue.extend(former);
        }
        let result = match claim.publish_or_keep() {
            Ok(_) => {
                // SAFETY: I4: the claim was borrowed from a producer, which holds the ring.
                mark.inspect(|mark| unsafe { mark.set(first) });
                Ok(())
            }
            Err((refused, _)) => {
                for (_, slot) in refused.events().rev() {
                    // SAFETY: I1: the slot was not settled, so the claim still owns it; I14: the
                    // value was put there above.
                    self.queue.push_front(unsafe { slot.take_back() });
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
