//! The publishing end of a ring: it is granted sequences and turns them into references. Not here:
//! how a thread waits until a claim is granted (`lapwing::producer`).

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::{Claim, ClaimBatch, Claims, MultiClaims, SingleClaims};
use crate::Sequence;
use crate::advice::ClaimAdvice;
use crate::control::Control;
use crate::error::ClaimError;
use crate::ring::Ring;

/// What a producer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// This many sequences.
    Exactly(u64),
    /// As many sequences as are free, at least one and at most this many.
    UpTo(u64),
}

/// Sequences that a [`Trying`] was granted. `'p` is that attempt alone, so no other producer can fill
/// them.
#[derive(Debug)]
#[must_use = "what is granted and not used is given up"]
pub struct Granted<'p> {
    first: Sequence,
    end: Sequence,
    /// Invariant: a grant is of exactly one attempt.
    attempt: PhantomData<fn(&'p ()) -> &'p ()>,
}

/// An attempt to claim that was refused once. It can be repeated. What it was granted and did not
/// use is given up when it is dropped.
#[derive(Debug)]
pub struct Trying<'p, 'a, C: Claims> {
    claims: &'a mut C,
    control: &'a Control,
    wish: Wish,
    /// What it was granted, until the claim is made.
    granted: Option<Range<Sequence>>,
    attempt: PhantomData<fn(&'p ()) -> &'p ()>,
}

impl<'p, 'a, C: Claims> Trying<'p, 'a, C> {
    fn new(claims: &'a mut C, control: &'a Control, wish: Wish) -> Self {
        Self { claims, control, wish, granted: None, attempt: PhantomData }
    }

    /// Tries again. Never waits. After a grant, returns the same one.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] if too few slots are free, or if the ring has ended.
    pub fn again(&mut self) -> Result<Granted<'p>, ClaimError> {
        let range = match (self.granted.take(), self.wish) {
            (Some(granted), _) => granted,
            (None, Wish::Exactly(count)) => {
                let first = self.claims.try_claim(self.control, count)?;
                first..first + count
            }
            (None, Wish::UpTo(most)) => self.claims.try_claim_up_to(self.control, most)?,
        };
        let Range { start: first, end } = *self.granted.insert(range);
        Ok(Granted { first, end, attempt: PhantomData })
    }

    /// Uses what it was granted, for a claim.
    fn use_up(mut self, granted: Granted<'p>) -> Range<Sequence> {
        self.granted = None;
        granted.first..granted.end
    }
}

impl<C: Claims> Drop for Trying<'_, '_, C> {
    fn drop(&mut self) {
        // A close counts every claim of several producers, and consumers wait for each.
        if let Some(Range { start, end }) = self.granted.take() {
            self.claims.abandon(self.control, start, end - start);
        }
    }
}

/// The only producer of a ring, or one of several.
pub struct Producer<E, C: Claims> {
    ring: Ring<E>,
    claims: C,
}

impl<E, A: ClaimAdvice> Producer<E, SingleClaims<A>> {
    /// Creates the producer of `ring`.
    ///
    /// # Panics
    ///
    /// If the ring has had a producer already, or is made for several.
    #[must_use]
    pub fn only(ring: Ring<E>, advice: A) -> Self {
        assert!(!ring.control().is_multi(), "the ring is made for several producers");
        assert!(ring.control().publication().take_producer(), "a ring has one producer, once");
        ring.control().life().add_producer();
        let claims = SingleClaims::new(ring.control(), advice);
        Self { ring, claims }
    }
}

impl<E, A: ClaimAdvice> Producer<E, MultiClaims<A>> {
    /// Creates one more producer of `ring`.
    ///
    /// # Panics
    ///
    /// If the ring is made for one producer.
    #[must_use]
    pub fn one_more(ring: Ring<E>, advice: A) -> Self {
        assert!(ring.control().is_multi(), "the ring is made for one producer");
        ring.control().life().add_producer();
        let claims = MultiClaims::new(advice);
        Self { ring, claims }
    }
}

impl<E, C: Claims> Producer<E, C> {
    /// Returns the ring.
    #[inline]
    #[must_use]
    pub fn ring(&self) -> &Ring<E> {
        &self.ring
    }

    /// Claims the next slot. If it is not granted, `wait` tries again as often as it likes.
    ///
    /// # Errors
    ///
    /// The error of `wait`.
    #[inline]
    pub fn claim<X>(
        &mut self,
        wait: impl for<'p> FnOnce(&mut Trying<'p, '_, C>, ClaimError) -> Result<Granted<'p>, X>,
    ) -> Result<Claim<'_, E, C>, X> {
        let Self { ring, claims } = self;
        let sequence = match claims.try_claim(ring.control(), 1) {
            Ok(sequence) => sequence,
            // Several producers: with this in line, the claim would be too long to be in line in a
            // program. One producer: as a call, this would keep what `wait` needs in memory.
            Err(why) if C::IS_MULTI => claim_later(claims, ring.control(), why, wait)?,
            Err(why) => try_again(claims, ring.control(), Wish::Exactly(1), why, wait)?.start,
        };
        Ok(Claim::new(claims, ring, sequence))
    }

    /// Claims the next `count` slots. If they are not granted, `wait` tries again as often as it
    /// likes.
    ///
    /// # Errors
    ///
    /// The error of `wait`.
    ///
    /// # Panics
    ///
    /// If `count` is not in `1..=capacity`.
    #[inline]
    pub fn claim_batch<X>(
        &mut self,
        count: u64,
        wait: impl for<'p> FnOnce(&mut Trying<'p, '_, C>, ClaimError) -> Result<Granted<'p>, X>,
    ) -> Result<ClaimBatch<'_, E, C>, X> {
        let Self { ring, claims } = self;
        check_count(ring, count);
        let range = match claims.try_claim(ring.control(), count) {
            Ok(first) => first..first + count,
            Err(why) => try_again(claims, ring.control(), Wish::Exactly(count), why, wait)?,
        };
        Ok(ClaimBatch::new(claims, ring, range))
    }

    /// Claims as many slots as are free, at most `most`. If none is, `wait` tries again as often as
    /// it likes.
    ///
    /// # Errors
    ///
    /// The error of `wait`.
    ///
    /// # Panics
    ///
    /// If `most` is not in `1..=capacity`.
    pub fn claim_up_to<X>(
        &mut self,
        most: u64,
        wait: impl for<'p> FnOnce(&mut Trying<'p, '_, C>, ClaimError) -> Result<Granted<'p>, X>,
    ) -> Result<ClaimBatch<'_, E, C>, X> {
        let Self { ring, claims } = self;
        check_count(ring, most);
        let range = match claims.try_claim_up_to(ring.control(), most) {
            Ok(range) => range,
            Err(why) => try_again(claims, ring.control(), Wish::UpTo(most), why, wait)?,
        };
        Ok(ClaimBatch::new(claims, ring, range))
    }
}

/// Claims what the ring refused once, because of `why`: `wait` tries again as often as it likes.
#[inline(always)]
fn try_again<C: Claims, X>(
    claims: &mut C,
    control: &Control,
    wish: Wish,
    why: ClaimError,
    wait: impl for<'p> FnOnce(&mut Trying<'p, '_, C>, ClaimError) -> Result<Granted<'p>, X>,
) -> Result<Range<Sequence>, X> {
    let mut trying = Trying::new(claims, control, wish);
    let granted = wait(&mut trying, why)?;
    Ok(trying.use_up(granted))
}

/// Claims a slot that the ring refused once, by a call. A closure would not do: it would keep in
/// memory what is an argument here.
#[cold]
#[inline(never)]
fn claim_later<C: Claims, X>(
    claims: &mut C,
    control: &Control,
    why: ClaimError,
    wait: impl for<'p> FnOnce(&mut Trying<'p, '_, C>, ClaimError) -> Result<Granted<'p>, X>,
) -> Result<Sequence, X> {
    Ok(try_again(claims, control, Wish::Exactly(1), why, wait)?.start)
}

#[inline]
fn check_count<E>(ring: &Ring<E>, count: u64) {
    let is_possible = 0 < count && count <= ring.control().capacity();
    assert!(is_possible, "a claim has at least one sequence and at most a lap: count={count}");
}

impl<E, C: Claims> Drop for Producer<E, C> {
    fn drop(&mut self) {
        let control = self.ring.control();
        if control.life().remove_producer() {
            control.close();
        }
    }
}

impl<E, C: Claims> fmt::Debug for Producer<E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").field("claims", &self.claims).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::advice::Plain;
    use crate::parking::Waits;
    use crate::ring::Room;
    use crate::ring_buffer::Factory;
    use crate::stages::Graph;
    use crate::words::Words;

    #[test]
    fn a_second_producer_that_was_refused_kept_the_ring_open() {
        let graph = Graph::new(vec![Box::default()]);
        let room = Room::<u64>::reserve(&mut Words::private(), 8, false).unwrap();
        let ring =
            room.into_ring(&mut Words::private(), Factory::of(|| 0), graph, 0, Waits::default());
        let make = || Producer::only(ring.clone(), Plain);
        let producer = make();
        assert!(catch_unwind(AssertUnwindSafe(make)).is_err());
        drop(producer);
        assert!(!ring.control().is_open());
        let is_late = "it would claim while the ring closes";
        assert!(catch_unwind(AssertUnwindSafe(make)).is_err(), "{is_late}");
    }
}
