//! Several handlers that act as one: each event goes to all of them, in their order.

use super::access::Access;
use super::action::IntoAction;
use super::failure::Failure;
use super::handler::EventHandler;
use crate::Sequence;

impl<E, A, R, H> EventHandler<E, A, R> for Box<H>
where
    A: Access,
    H: EventHandler<E, A, R> + ?Sized,
{
    fn on_start(&mut self) {
        (**self).on_start();
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        (**self).on_batch_start(batch_size, queue_depth);
    }

    fn on_event(&mut self, event: A::Ref<'_, E>, sequence: Sequence, end_of_batch: bool) -> R {
        (**self).on_event(event, sequence, end_of_batch)
    }

    fn on_failed_event(
        &mut self,
        event: A::Ref<'_, E>,
        sequence: Sequence,
        end_of_batch: bool,
        failure: &Failure<'_>,
    ) -> R
    where
        R: IntoAction,
    {
        (**self).on_failed_event(event, sequence, end_of_batch, failure)
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        (**self).on_released(next_sequence);
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        (**self).on_timeout(next_sequence);
    }

    fn on_restart(&mut self) {
        (**self).on_restart();
    }

    fn on_shutdown(&mut self) {
        (**self).on_shutdown();
    }
}

impl<E, A, R, First, Second> EventHandler<E, A, R> for (First, Second)
where
    A: Access,
    R: IntoAction,
    First: EventHandler<E, A, R>,
    Second: EventHandler<E, A, R>,
{
    fn on_start(&mut self) {
        self.0.on_start();
        self.1.on_start();
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.0.on_batch_start(batch_size, queue_depth);
        self.1.on_batch_start(batch_size, queue_depth);
    }

    #[inline]
    fn on_event(&mut self, mut event: A::Ref<'_, E>, sequence: Sequence, end_of_batch: bool) -> R {
        let said = self.0.on_event(A::reborrow(&mut event), sequence, end_of_batch);
        if said.is_done() {
            both(said, self.1.on_event(event, sequence, end_of_batch))
        } else {
            said
        }
    }

    fn on_failed_event(
        &mut self,
        mut event: A::Ref<'_, E>,
        sequence: Sequence,
        end_of_batch: bool,
        failure: &Failure<'_>,
    ) -> R {
        let said = self.0.on_failed_event(A::reborrow(&mut event), sequence, end_of_batch, failure);
        if said.is_done() {
            both(said, self.1.on_failed_event(event, sequence, end_of_batch, failure))
        } else {
            said
        }
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        self.0.on_released(next_sequence);
        self.1.on_released(next_sequence);
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        self.0.on_timeout(next_sequence);
        self.1.on_timeout(next_sequence);
    }

    fn on_restart(&mut self) {
        self.0.on_restart();
        self.1.on_restart();
    }

    fn on_shutdown(&mut self) {
        self.0.on_shutdown();
        self.1.on_shutdown();
    }
}

/// The result of a pair whose first handler is done with the event. The first result counts if the
/// second one is `Continue`, so that a [`ReleaseNow`](crate::Action::ReleaseNow) of the first is
/// not lost.
#[inline]
fn both<R: IntoAction>(first: R, second: R) -> R {
    if second.continues() { first } else { second }
}

/// The handlers of a `Vec` return `()`, the only result that an empty `Vec` can give.
impl<E, A, H> EventHandler<E, A> for Vec<H>
where
    A: Access,
    H: EventHandler<E, A>,
{
    fn on_start(&mut self) {
        self.iter_mut().for_each(H::on_start);
    }

    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        self.iter_mut().for_each(|handler| handler.on_batch_start(batch_size, queue_depth));
    }

    fn on_event(&mut self, mut event: A::Ref<'_, E>, sequence: Sequence, end_of_batch: bool) {
        for handler in self {
            handler.on_event(A::reborrow(&mut event), sequence, end_of_batch);
        }
    }

    fn on_failed_event(
        &mut self,
        mut event: A::Ref<'_, E>,
        sequence: Sequence,
        end_of_batch: bool,
        failure: &Failure<'_>,
    ) {
        for handler in self {
            handler.on_failed_event(A::reborrow(&mut event), sequence, end_of_batch, failure);
        }
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        self.iter_mut().for_each(|handler| handler.on_released(next_sequence));
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        self.iter_mut().for_each(|handler| handler.on_timeout(next_sequence));
    }

    fn on_restart(&mut self) {
        self.iter_mut().for_each(H::on_restart);
    }

    fn on_shutdown(&mut self) {
        self.iter_mut().for_each(H::on_shutdown);
    }
}
