//! Several claimed slots that a producer fills.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::MutexGuard;

use super::Claims;
use crate::Sequence;
use crate::error::Ended;
use crate::ring::Ring;

/// Several claimed slots, one after another. They are given up if the batch is dropped.
#[must_use = "dropping a claim gives it up; call `publish`"]
pub struct ClaimBatch<'a, E, C: Claims> {
    claims: &'a mut C,
    ring: &'a Ring<E>,
    range: Range<Sequence>,
    events: PhantomData<&'a mut [E]>,
    /// Keeps the claim on its thread (`!Send`), and lets others look at it.
    thread: PhantomData<MutexGuard<'static, ()>>,
}

impl<'a, E, C: Claims> ClaimBatch<'a, E, C> {
    /// Creates the claim of `range`, which `claims` was granted.
    #[inline]
    pub(super) fn new(claims: &'a mut C, ring: &'a Ring<E>, range: Range<Sequence>) -> Self {
        Self { claims, ring, range, events: PhantomData, thread: PhantomData }
    }

    /// Returns the sequences.
    #[inline]
    #[must_use]
    pub fn sequences(&self) -> Range<Sequence> {
        self.range.clone()
    }

    /// Returns the events up to the end of the ring, and those after it.
    #[inline]
    pub fn slots(&mut self) -> (&mut [E], &mut [E]) {
        let buffer = self.ring.buffer();
        let Range { start, end } = self.range;
        let wrap = buffer.wrap_after(start).min(end);
        // SAFETY: I1: this claim owns its slots until it is published or given up, which takes
        // `self`. `publish` hands it back only if the slots were not settled. `self` is borrowed
        // mutably, and the slice ends at the wrap.
        let before_wrap = unsafe { buffer.slice_mut(start..wrap) };
        // SAFETY: I1: as above. The slice begins at the wrap and does not reach `start` again,
        // since a batch has at most as many events as the ring has slots.
        let after_wrap = unsafe { buffer.slice_mut(wrap..end) };
        (before_wrap, after_wrap)
    }

    /// Returns the events with their sequences, shared.
    #[inline]
    pub fn events(&self) -> impl DoubleEndedIterator<Item = (Sequence, &E)> {
        let buffer = self.ring.buffer();
        self.range.clone().map(|sequence| {
            // SAFETY: I1: as in `slots`, and `self` is borrowed.
            (sequence, unsafe { buffer.event(sequence) })
        })
    }

    /// Publishes the events.
    ///
    /// # Errors
    ///
    /// The claim and the reason, if the ring ended before. No consumer sees any of the events then.
    #[inline]
    pub fn publish(self) -> Result<Range<Sequence>, (Self, Ended)> {
        // A published claim must not be abandoned.
        let mut batch = ManuallyDrop::new(self);
        let range = batch.range.clone();
        let Self { claims, ring, .. } = &mut *batch;
        ring.buffer().watch_write(range.clone());
        match claims.publish(ring.control(), range.start, range.end - range.start) {
            Ok(()) => Ok(range),
            Err(why) => Err((ManuallyDrop::into_inner(batch), why)),
        }
    }
}

impl<E, C: Claims> Drop for ClaimBatch<'_, E, C> {
    fn drop(&mut self) {
        let Range { start, end } = self.range;
        self.claims.abandon(self.ring.control(), start, end - start);
    }
}

impl<E, C: Claims> fmt::Debug for ClaimBatch<'_, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimBatch").field("range", &self.range).finish_non_exhaustive()
    }
}
