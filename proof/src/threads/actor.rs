//! The handler of a stage: asks what a call does, and does it. Not here: what it wants (`will`), what a
//! call sees (`witness`), and whether that is right (`model`, `in_line`).

use std::panic;

use lapwing::consumer::{BatchHandler, Done, Exclusive, Failure, Shared};
use lapwing::{Action, EventHandler, Sequence};

use super::event::Event;
use super::program::{Verdict, message};
use super::taps::TapEnd;
use super::will::Will;
use super::witness::{Call, Told, Witness};

/// What a handler returns.
pub(super) type Said = Result<Action, String>;

/// The handler of a consumer.
#[derive(Debug)]
pub(super) struct Actor<W> {
    /// The stage, for one that writes.
    pub(super) stage: usize,
    pub(super) will: Will,
    pub(super) witness: W,
    /// The tap to which it copies events.
    pub(super) tap: Option<TapEnd>,
}

impl<W: Witness> Actor<W> {
    /// One call for one event.
    #[inline]
    pub(super) fn handle(
        &mut self,
        event: &Event,
        sequence: Sequence,
        is_last: bool,
        is_failed: bool,
    ) -> Said {
        let told = Told { sequence, is_last, is_failed };
        let verdict = self.witness.event(event, told, &mut self.will);
        if let Some(tap) = self.tap.as_mut().filter(|_| verdict.continues()) {
            tap.write(event);
        }
        act(verdict, sequence)
    }

    /// One call for a batch. The first event whose act does not continue decides. `done` is told how
    /// many events come before it.
    #[inline]
    pub(super) fn handle_batch(
        &mut self,
        events: &[Event],
        first: Sequence,
        is_failed: bool,
        done: impl FnOnce(usize),
    ) -> Said {
        let (verdict, at) = self.witness.batch(events, first, is_failed, &mut self.will);
        if let Some(tap) = self.tap.as_mut().filter(|_| verdict.continues()) {
            events.iter().for_each(|event| tap.write(event));
        }
        done((at - first) as usize);
        act(verdict, at)
    }
}

fn act(verdict: Verdict, sequence: Sequence) -> Said {
    match verdict {
        Verdict::Says(action) => Ok(action),
        Verdict::Sleeps(_) => Ok(Action::Continue),
        Verdict::Fails => Err(message(sequence)),
        // No hook prints it.
        Verdict::Panics => panic::resume_unwind(Box::new(message(sequence))),
    }
}

/// The calls between batches.
macro_rules! calls_between_batches {
    () => {
        fn on_start(&mut self) {
            self.witness.call(Call::Start);
        }

        fn on_released(&mut self, next: Sequence) {
            self.witness.call(Call::Released(next));
        }

        fn on_timeout(&mut self, next: Sequence) {
            self.witness.call(Call::Timeout(next));
        }

        fn on_restart(&mut self) {
            self.witness.call(Call::Restart);
        }

        fn on_shutdown(&mut self) {
            self.witness.call(Call::Shutdown);
        }
    };
}

impl<W: Witness> EventHandler<Event, Shared, Said> for Actor<W> {
    fn on_event(&mut self, event: &Event, sequence: Sequence, is_last: bool) -> Said {
        self.handle(event, sequence, is_last, false)
    }

    fn on_failed_event(
        &mut self,
        event: &Event,
        sequence: Sequence,
        is_last: bool,
        _: &Failure<'_>,
    ) -> Said {
        self.handle(event, sequence, is_last, true)
    }

    fn on_batch_start(&mut self, size: u64, depth: u64) {
        self.witness.call(Call::BatchStart { size, depth });
    }

    calls_between_batches!();
}

impl<W: Witness> EventHandler<Event, Exclusive, Said> for Actor<W> {
    fn on_event(&mut self, event: &mut Event, sequence: Sequence, is_last: bool) -> Said {
        event.write(self.stage);
        self.handle(event, sequence, is_last, false)
    }

    fn on_failed_event(
        &mut self,
        event: &mut Event,
        sequence: Sequence,
        is_last: bool,
        _: &Failure<'_>,
    ) -> Said {
        event.write(self.stage);
        self.handle(event, sequence, is_last, true)
    }

    fn on_batch_start(&mut self, size: u64, depth: u64) {
        self.witness.call(Call::BatchStart { size, depth });
    }

    calls_between_batches!();
}

impl<W: Witness> BatchHandler<Event, Shared, Said> for Actor<W> {
    fn on_batch(&mut self, events: &[Event], first: Sequence, mut done: Done<'_>) -> Said {
        self.handle_batch(events, first, false, |count| done.set(count))
    }

    fn on_failed_batch(
        &mut self,
        events: &[Event],
        first: Sequence,
        mut done: Done<'_>,
        _: &Failure<'_>,
    ) -> Said {
        self.handle_batch(events, first, true, |count| done.set(count))
    }

    calls_between_batches!();
}

impl<W: Witness> BatchHandler<Event, Exclusive, Said> for Actor<W> {
    fn on_batch(&mut self, events: &mut [Event], first: Sequence, mut done: Done<'_>) -> Said {
        events.iter_mut().for_each(|event| event.write(self.stage));
        self.handle_batch(events, first, false, |count| done.set(count))
    }

    fn on_failed_batch(
        &mut self,
        events: &mut [Event],
        first: Sequence,
        mut done: Done<'_>,
        _: &Failure<'_>,
    ) -> Said {
        events.iter_mut().for_each(|event| event.write(self.stage));
        self.handle_batch(events, first, true, |count| done.set(count))
    }

    calls_between_batches!();
}
