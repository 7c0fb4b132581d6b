//! Whether a ring has one producer or several: the second type parameter of a producer.

use std::fmt::Debug;

use lapwing_core::Claims;

use crate::chosen;
use crate::ring::Ring;

/// Whether a ring has one producer or several: [`Single`] or [`Multi`]. The trait is sealed.
///
/// A function that takes producers of both kinds is generic over it:
///
/// ```
/// use lapwing::{Disruptor, Producer, Sequence, error::PublishError, producer::Sequencer};
///
/// fn send<S: Sequencer>(producer: &mut Producer<u64, S>) -> Result<Sequence, PublishError> {
///     producer.publish(|event| *event = 7)
/// }
///
/// let (mut one, _readers) = Disruptor::single_producer(8, || 0).stage("all").poller().build()?;
/// let (mut many, _others) = Disruptor::multi_producer(8, || 0).stage("all").poller().build()?;
/// assert_eq!((send(&mut one), send(&mut many)), (Ok(0), Ok(0)));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// [`Multi`] is `Clone`, and [`Single`] is not. A function that clones its producer asks for that:
///
/// ```
/// use lapwing::{Disruptor, Producer, producer::Sequencer};
///
/// fn pair<S: Sequencer + Clone>(first: Producer<u64, S>) -> [Producer<u64, S>; 2] {
///     [first.clone(), first]
/// }
///
/// let (producer, _consumers) =
///     Disruptor::multi_producer(8, || 0).stage("all").poller().build()?;
/// let [mut first, mut second] = pair(producer);
/// assert_eq!(first.publish(|_| {}), Ok(0));
/// assert_eq!(second.publish(|_| {}), Ok(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sequencer: sealed::Sequencer + Debug {}

/// One producer, which cannot be cloned. The sequence of a claim that is given up is claimed again.
///
/// ```
/// use lapwing::{Disruptor, Producer, producer::Single};
///
/// let (mut producer, _consumers): (Producer<u64, Single>, _) =
///     Disruptor::single_producer(8, || 0).stage("all").poller().build()?;
/// drop(producer.claim()?);
/// assert_eq!(producer.claim()?.sequence(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Not `Clone`, so neither is its producer or its sender.
#[derive(Debug)]
pub enum Single {}

/// Several producers. A claim that is given up becomes a tombstone, which consumers skip.
///
/// ```
/// use lapwing::{Disruptor, Producer, producer::Multi};
///
/// let (mut producer, _consumers): (Producer<u64, Multi>, _) =
///     Disruptor::multi_producer(8, || 0).stage("all").poller().build()?;
/// drop(producer.claim()?);
/// assert_eq!(producer.claim()?.sequence(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Multi {}

impl Sequencer for Single {}
impl Sequencer for Multi {}

mod sealed {
    use super::{Claims, Multi, Ring, Single, chosen};

    /// What differs between one producer and several.
    pub trait Sequencer: 'static {
        #[doc(hidden)]
        type Claims: Claims;

        #[doc(hidden)]
        #[allow(private_interfaces)]
        fn producer<E>(ring: &Ring<E>) -> lapwing_core::Producer<E, Self::Claims>;
    }

    impl Sequencer for Single {
        type Claims = chosen::Single;

        #[allow(private_interfaces)]
        fn producer<E>(ring: &Ring<E>) -> lapwing_core::Producer<E, Self::Claims> {
            lapwing_core::Producer::only(ring.core.clone(), chosen::claims_of(ring))
        }
    }

    impl Sequencer for Multi {
        type Claims = chosen::Multi;

        #[allow(private_interfaces)]
        fn producer<E>(ring: &Ring<E>) -> lapwing_core::Producer<E, Self::Claims> {
            lapwing_core::Producer::one_more(ring.core.clone(), chosen::claims_of(ring))
        }
    }
}
