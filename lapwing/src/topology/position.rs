//! What a place is to which a stage can be added. Not here: the places (`places`).

use super::graph::Part;
use super::settings::Settings;

/// A place where a verb such as [`read`](crate::Stage::read) adds a [`Stage`](crate::Stage).
///
/// | place | its stages | a verb returns |
/// |---|---|---|
/// | [`Builder`](crate::Builder) | one after another, each [alone](Alone) | the builder |
/// | [`Parallel`](crate::graph::Parallel) | side by side | itself |
/// | [`Chain`](crate::graph::Chain) | one after another, beside others | the chain |
/// | `&mut` [`Graph`](crate::graph::Graph) | in any order; [checked](crate::Builder::build) when the ring is built | the [`StageId`](crate::graph::StageId) |
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
///     .parallel(|parallel| check(parallel.stage("left")).stage("right").poller())
///     .build()?;
/// assert_eq!(consumers.names().collect::<Vec<_>>(), ["first", "left", "right"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this stage has no place yet",
    label = "has no place",
    note = "pass it to `stage` of a builder, parallel stages, a chain or a graph, and call the verb on the result"
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
/// A [`Builder`](crate::Builder) is one. So is `&mut` [`Graph`](crate::graph::Graph), which is
/// [checked](crate::Builder::build) when the ring is built. The trait is sealed.
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
    note = "change events in a stage of the builder, before or after the stages side by side, or give them an \
            atomic or a `Mutex` for each stage side by side"
)]
pub trait Alone<'env>: Position<'env> {}

/// Keeps [`Position`] sealed.
pub(super) mod sealed {
    pub trait Sealed {}
}
