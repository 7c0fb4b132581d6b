//! How a verb adds a stage. Not here: the verbs (`read_verbs`, `write_verbs`), a stage of several
//! workers (`workers`).

use std::any::Any;

use super::{Settings, Stage};
use crate::consumer::{
    Access, Consumer, IntoAction, Post, Processor, Recovery, Source, StageReader, WholeLife, Work,
};
use crate::topology::graph::{Abilities, Body, Part};
use crate::topology::position::Position;

impl<'env, P: Position<'env>> Stage<P> {
    /// Adds the stage at its place, with a handler that its thread makes.
    pub(super) fn add<A: Access, H: Work<P::Event, A> + 'env, R: IntoAction>(
        self,
        make: impl FnOnce() -> H + Send + 'env,
        hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    ) -> P::Next {
        let abilities = Abilities::of::<P::Event, A, H, R>(&self.settings);
        let body = Box::new(move |reader, stage| {
            consumer::<P::Event, A, StageReader<P::Event>, H>(reader, stage, make, hand_back)
        });
        let body = Body::Handler(body);
        self.position.place(self.settings, Part { is_exclusive: A::IS_EXCLUSIVE, abilities, body })
    }
}

/// A consumer that gets its events from `source`.
pub(super) fn consumer<'env, E, A, S, H>(
    source: S,
    stage: Settings,
    make: impl FnOnce() -> H + Send + 'env,
    hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
) -> Consumer<'env>
where
    E: Send + 'env,
    A: Access,
    S: Source<E> + Send + 'env,
    H: Work<E, A> + 'env,
{
    let Settings { name, pin, thread, timeout, takes_failed, on_error, on_panic, .. } = stage;
    let post = Post::new(source, timeout, Recovery::new(on_error, on_panic));
    let post = post.taking_failed(takes_failed);
    let processor = Processor::<E, A, S, _, _>::new(post, make, hand_back);
    Consumer::new(name, (pin, thread), processor)
}

/// Hands back nothing: for a closure, or a handler that belongs to its thread.
pub(super) fn nothing<H>(_: H) -> Option<Box<dyn Any + Send>> {
    None
}

/// Hands back the handler itself.
pub(super) fn itself<H: Send + 'static, R>(work: WholeLife<H, R>) -> Option<Box<dyn Any + Send>> {
    Some(Box::new(work.0))
}
