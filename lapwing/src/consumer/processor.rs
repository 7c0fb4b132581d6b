//! A stage with its handler, which starts on the thread that runs it. Not here: the loop
//! (`stage_loop`).

use std::any::Any;
use std::marker::PhantomData;

use super::access::Access;
use super::source::Source;
use super::stage_loop::StageLoop;
use super::stop::StopHandle;
use super::task::{Begin, Post, Task, drop_all};
use super::work::Work;
use super::{Outcome, StageReport};
use crate::activity::Doing;
use crate::catch::catch;
use crate::on_this_thread;

/// A stage that has not started. `make` makes its handler. `hand_back` returns what the report gets
/// of the handler.
pub(crate) struct Processor<E, A, S, M, B> {
    post: Post<S>,
    make: M,
    hand_back: B,
    access: PhantomData<(fn() -> E, A)>,
}

impl<E, A, S: Source<E>, M, B> Processor<E, A, S, M, B> {
    pub(crate) fn new(post: Post<S>, make: M, hand_back: B) -> Self {
        Self { post, make, hand_back, access: PhantomData }
    }
}

impl<'env, E, A, S, M, B, H> Begin<'env> for Processor<E, A, S, M, B>
where
    E: Send + 'env,
    A: Access,
    S: Source<E> + Send + 'env,
    M: FnOnce() -> H + Send,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    H: Work<E, A> + 'env,
{
    fn begin(self: Box<Self>, name: String) -> Result<Box<dyn Task + 'env>, StageReport> {
        let Self { mut post, make, hand_back, access: _ } = *self;
        let (control, stage) = (post.source.control(), post.source.stage());
        post.lifeline.arm(control);
        let here = on_this_thread::enter(control, stage, post.source.group());
        post.source.activity().set(Doing::Handling);
        match catch(make) {
            Ok(work) => {
                post.source.activity().set(Doing::Between);
                Ok(Box::new(StageLoop::<E, A, S, _, _>::new(name, post, work, hand_back, here)))
            }
            Err(message) => {
                let Post { source, recovery, lifeline, .. } = post;
                let (processed, given_up) = (source.processed(), source.given_up());
                let outcome = Outcome::Panicked { message, sequence: source.next() };
                // Before the rest is dropped, which may take long.
                source.activity().set(Doing::Failed);
                lifeline.fail();
                // The panic of the factory is the cause, so panics of these drops are not reported.
                let _ = drop_all(source, recovery);
                Err(StageReport {
                    name,
                    outcome,
                    processed,
                    given_up,
                    skipped: 0,
                    handler: None.into(),
                })
            }
        }
    }

    fn stop_handle(&self) -> StopHandle {
        self.post.source.stop_handle()
    }
}
