//! The places that a stage can be added to, and what its verb returns there.

use super::builder::Builder;
use super::graph::{Graph, Part, StageId};
use super::side::{Chain, Side};
use super::stage::Settings;
use crate::producer::Sequencer;

/// A place where a verb such as [`read`](crate::Stage::read) adds a [`Stage`](crate::Stage).
///
/// | place | its stages | a verb returns |
/// |---|---|---|
/// | [`Builder`] | one after another, each [alone](Alone) | the builder |
/// | [`Side`] | side by side | the side |
/// | [`Chain`] | one after another, beside others | the chain |
/// | `&mut` [`Graph`] | in any order; [checked](crate::Builder::build) when the ring is built | the [`StageId`] |
///
/// The trait is sealed: there are no other places.
///
/// ```
/// use lapwing::{Disruptor, Stage, graph::Position};
///
/// /// Adds a stage that checks events, at any place.
/// fn check<'env, P: Position<'env, Event = u64>>(stage: Stage<P>) -> P::Next {
///     stage.read(|event, sequence, _| assert_eq!(*event, sequence))
/// }
///
/// let builder = Disruptor::single_producer(8, || 0_u64);
/// let (_producer, consumers) = check(builder.stage("first"))
///     .side_by_side(|side| check(side.stage("left")).stage("right").poller())
///     .build()?;
/// assert_eq!(consumers.names().collect::<Vec<_>>(), ["first", "left", "right"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this stage has no place yet",
    label = "has no place",
    note = "pass it to `stage` of a builder, a side, a chain or a graph, and call the verb on the result"
)]
pub trait Position<'env>: Sized + sealed::Sealed {
    /// The event type of the ring.
    type Event: Send + 'env;
    /// The type that a verb returns.
    type Next;

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn place(self, stage: Settings, part: Part<'env, Self::Event>) -> Self::Next;
}

/// A [`Position`] where a stage may change events, since no other stage has the event at the same
/// time.
///
/// A [`Builder`] is one. So is `&mut` [`Graph`], which is [checked](crate::Builder::build) when the
/// ring is built. The trait is sealed.
///
/// ```
/// use lapwing::{Disruptor, Stage, graph::Alone};
///
/// fn double<'env, P: Alone<'env, Event = u64>>(stage: Stage<P>) -> P::Next {
///     stage.write(|event, _, _| *event *= 2)
/// }
///
/// let ring = double(Disruptor::single_producer(8, || 0_u64).stage("double"));
/// let (mut producer, mut consumers) = ring.stage("result").poller().build()?;
/// let mut result = consumers.take_poller("result")?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 7)?;
/// assert_eq!(result.wait()?.as_slice(), [14]);
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a stage beside others cannot change events",
    label = "other stages read the same events at the same time",
    note = "change events in a stage of the builder, before or after the stages side by side"
)]
pub trait Alone<'env>: Position<'env> {}

#[allow(private_interfaces)]
impl<'env, E: Send + 'env, S: Sequencer> Position<'env> for Builder<'env, E, S> {
    type Event = E;
    type Next = Self;

    fn place(self, stage: Settings, part: Part<'env, E>) -> Self {
        self.push(stage, part)
    }
}

impl<'env, E: Send + 'env, S: Sequencer> Alone<'env> for Builder<'env, E, S> {}

#[allow(private_interfaces)]
impl<'env, E: Send + Sync + 'env> Position<'env> for Side<'_, 'env, E> {
    type Event = E;
    type Next = Self;

    fn place(self, stage: Settings, part: Part<'env, E>) -> Self {
        self.push(stage, part)
    }
}

#[allow(private_interfaces)]
impl<'env, E: Send + Sync + 'env> Position<'env> for Chain<'_, 'env, E> {
    type Event = E;
    type Next = Self;

    fn place(self, stage: Settings, part: Part<'env, E>) -> Self {
        self.push(stage, part)
    }
}

#[allow(private_interfaces)]
impl<'env, E: Send + 'env> Position<'env> for &mut Graph<'env, E> {
    type Event = E;
    type Next = StageId;

    fn place(self, stage: Settings, part: Part<'env, E>) -> StageId {
        self.push(stage, part)
    }
}

impl<'env, E: Send + 'env> Alone<'env> for &mut Graph<'env, E> {}

mod sealed {
    use super::{Builder, Chain, Graph, Side};

    pub trait Sealed {}

    impl<E, S> Sealed for Builder<'_, E, S> {}
    impl<E> Sealed for Side<'_, '_, E> {}
    impl<E> Sealed for Chain<'_, '_, E> {}
    impl<E> Sealed for &mut Graph<'_, E> {}
}
