//! A claimed slot that a producer fills.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;

use super::Claims;
use crate::Sequence;
use crate::control::Control;
use crate::error::Ended;
use crate::ring::Ring;
use crate::ring_buffer::RingBuffer;

/// A claimed slot. It dereferences to the event in it, and is given up if it is dropped.
#[must_use = "dropping a claim gives it up; call `publish`"]
pub struct Claim<'a, E, C: Claims> {
    // Three references in place of one to the producer, so that a loop that publishes keeps them in
    // registers.
    claims: &'a mut C,
    control: &'a Control,
    buffer: &'a RingBuffer<E>,
    sequence: Sequence,
    event: PhantomData<&'a mut E>,
    /// Keeps the claim on its thread (`!Send`), and lets others look at it.
    thread: PhantomData<MutexGuard<'static, ()>>,
}

impl<'a, E, C: Claims> Claim<'a, E, C> {
    /// Creates the claim of `sequence`, which `claims` was granted.
    #[inline]
    pub(super) fn new(claims: &'a mut C, ring: &'a Ring<E>, sequence: Sequence) -> Self {
        let (control, buffer) = (&**ring.control(), ring.buffer());
        Self { claims, control, buffer, sequence, event: PhantomData, thread: PhantomData }
    }

    /// Returns the sequence.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Publishes the event.
    ///
    /// # Errors
    ///
    /// The claim and the reason, if the ring ended before. No consumer sees the event then.
    #[inline(always)]
    pub fn publish(self) -> Result<Sequence, (Self, Ended)> {
        // A published claim must not be abandoned.
        let mut claim = ManuallyDrop::new(self);
        let Self { claims, control, buffer, sequence, .. } = &mut *claim;
        buffer.watch_write(*sequence..*sequence + 1);
        match claims.publish(control, *sequence, 1) {
            Ok(()) => Ok(*sequence),
            Err(why) => Err((ManuallyDrop::into_inner(claim), why)),
        }
    }
}

impl<E, C: Claims> Deref for Claim<'_, E, C> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        // SAFETY: I1: this claim owns the slot until it is published or given up, which takes
        // `self`. `publish` hands it back only if the slot was not settled.
        unsafe { self.buffer.event(self.sequence) }
    }
}

impl<E, C: Claims> DerefMut for Claim<'_, E, C> {
    #[inline]
    fn deref_mut(&mut self) -> &mut E {
        // SAFETY: I1: as in `deref`, and `self` is borrowed mutably.
        unsafe { self.buffer.event_mut(self.sequence) }
    }
}

impl<E, C: Claims> Drop for Claim<'_, E, C> {
    fn drop(&mut self) {
        self.claims.abandon(self.control, self.sequence, 1);
    }
}

impl<E, C: Claims> fmt::Debug for Claim<'_, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
