//! Who may write next: claims and publications. Not here: where events lie (`ring_buffer`), who
//! reads them (`barrier`), how a producer waits on a full ring (`wait`).
//!
//! ```text
//!              next wrap: gate + capacity
//! gate ────────────┐
//!  | slots in use  |   free slots   |
//!  ├───────────────┼────────────────┤
//!  slowest       cursor           limit      try_claim(n): cursor + n <= limit, or Full
//!  consumer
//! ```

mod back_off;
mod gate;
mod multi;
mod runway;
mod single;
mod streak;

use std::fmt::Debug;
use std::ops::Range;

pub(crate) use gate::oldest_own_claim;
pub use multi::Multi;
pub use single::Single;

/// How many may publish: [`Single`] or [`Multi`]. Sealed.
///
/// A function for producers of both kinds is generic over it:
///
/// ```
/// use lapwing::{Disruptor, Producer, PublishError, Sequence, Sequencer};
///
/// fn send<S: Sequencer>(producer: &mut Producer<u64, S>) -> Result<Sequence, PublishError> {
///     producer.publish(|event| *event = 7)
/// }
///
/// let (mut one, _readers) = Disruptor::single_producer(8, || 0).then_poller("all").build()?;
/// let (mut many, _others) = Disruptor::multi_producer(8, || 0).then_poller("all").build()?;
/// assert_eq!((send(&mut one), send(&mut many)), (Ok(0), Ok(0)));
/// # Ok::<(), lapwing::BuildError>(())
/// ```
pub trait Sequencer: Claims {}

impl Sequencer for Single {}
impl Sequencer for Multi {}

pub(crate) use sealed::Claims;

mod sealed {
    use super::{Debug, Range, gate};
    use crate::Sequence;
    use crate::control::Control;
    use crate::error::{Stopped, TryPublishError};
    use crate::ring_buffer::Prefetcher;

    /// What one producer knows of the ring. All its state is the producer's own.
    pub trait Claims: Debug + Send + Default {
        /// Whether a ring may have several producers with this sequencer.
        #[doc(hidden)]
        const IS_MULTI: bool;

        /// What a producer knows when nothing has been claimed below `first`, nor from it on.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn starting_at(first: Sequence, slots: Prefetcher) -> Self;

        /// Adds it to the producers of the ring, if there may be several.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn join(&mut self, _control: &Control) {}

        /// Claims `count` sequences, `1..=capacity`, and returns the first; never waits.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn try_claim(&mut self, control: &Control, count: u64)
        -> Result<Sequence, TryPublishError>;

        /// Claims as many sequences as are free, `1..=most`, `most` being at most the capacity;
        /// never waits. Full if none is free.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn try_claim_up_to(
            &mut self,
            control: &Control,
            most: u64,
        ) -> Result<Range<Sequence>, TryPublishError>;

        /// The first sequence that nobody has claimed; with several producers, a look.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn unclaimed(&self, control: &Control) -> Sequence;

        /// Whether a claim of `count` sequences would now be granted or stopped, by a fresh look at
        /// the gate.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn is_claimable(&self, control: &Control, count: u64) -> bool {
            gate::is_passable(control, self.unclaimed(control) + count)
        }

        /// The sequence that the slowest consumer has to finish before `count` can be claimed.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn wrap_point(&self, control: &Control, count: u64) -> Sequence {
            (self.unclaimed(control) + count).saturating_sub(control.capacity)
        }

        /// Number of slots that are free to be claimed, by a fresh look at the gate; 0 once no
        /// consumer is left.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn free_slots(&self, control: &Control) -> u64 {
            // The gate first: what is claimed since makes the number too small, never too large.
            let limit = gate::limit(control);
            limit.map_or(0, |limit| limit.saturating_sub(self.unclaimed(control)))
        }

        /// Publishes the claimed sequences `first..first + count`.
        ///
        /// # Errors
        ///
        /// Why the ring had ended before. No consumer has seen the events or will, and the claim is still the caller's, to
        /// be [abandoned](Self::abandon).
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn publish(
            &mut self,
            control: &Control,
            first: Sequence,
            count: u64,
        ) -> Result<(), Stopped>;

        /// Gives up the claimed sequences `first..first + count`: nobody will see their events.
        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn abandon(&mut self, control: &Control, first: Sequence, count: u64);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
