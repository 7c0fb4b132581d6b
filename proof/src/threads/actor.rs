//! What the handler of a stage does, and the notes that it takes. Not here: whether they are right
//! (`model`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use lapwing::consumer::{
    BatchHandler, Cause, Done, Exclusive, Failure, FailurePolicy, Retries, Shared,
};
use lapwing::{Action, EventHandler, Sequence};

use super::event::{Event, Log, Note, Seen};
use super::program::{Act, Pace, Pause, Policy, Repeat, Stages, Verdict, message};

/// What a handler returns.
pub(super) type Said = Result<Action, String>;

/// The acts of a stage. The workers of a group share them.
#[derive(Debug)]
pub(super) struct Acts {
    first: Sequence,
    acts: Vec<(Act, AtomicU32)>,
}

impl Acts {
    pub(super) fn new(first: Sequence, acts: &[Act]) -> Self {
        Self { first, acts: acts.iter().map(|&act| (act, AtomicU32::new(act.times))).collect() }
    }

    /// What the next call for `sequence` does.
    fn next(&self, sequence: Sequence) -> Verdict {
        let take = |left: &AtomicU32| {
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                .is_ok()
        };
        let at = sequence - self.first;
        let act = self.acts.iter().find(|(act, left)| act.at == at && take(left));
        act.map_or(Verdict::Says(Action::Continue), |(act, _)| act.verdict)
    }
}

/// The handler of a consumer.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) mark: Stages,
    pub(super) acts: Arc<Acts>,
    /// Number of events after which it stops, if any.
    pub(super) leaves_after: Option<u64>,
    pub(super) pace: Pace,
    pub(super) log: Log,
    /// Orders the calls of the consumers of a stage.
    pub(super) clock: Arc<AtomicU64>,
}

impl Actor {
    /// One call for one event.
    pub(super) fn handle(
        &mut self,
        event: &Event,
        sequence: Sequence,
        is_last: bool,
        is_failed: bool,
    ) -> Said {
        let seen = self.see(event, sequence);
        let verdict = self.decide(sequence);
        let time = (seen.time.0, self.tick());
        self.log.push(Note::Event(Seen { is_last, is_failed, verdict, time, ..seen }));
        act(verdict, sequence)
    }

    /// One call for a batch. The first event whose act does not continue decides. `done` is told how
    /// many events come before it.
    pub(super) fn handle_batch<'a>(
        &mut self,
        events: impl Iterator<Item = &'a Event>,
        first: Sequence,
        is_failed: bool,
        done: impl FnOnce(usize),
    ) -> Said {
        let (mut decided, mut decided_at) = (Verdict::Says(Action::Continue), first);
        let mut notes = Vec::new();
        for (event, sequence) in events.zip(first..) {
            let mut seen = Seen { is_failed, ..self.see(event, sequence) };
            if decided.continues() {
                (decided, decided_at) = (self.decide(sequence), sequence);
                seen.verdict = decided;
            }
            notes.push(seen);
        }
        self.log.push(Note::Batch(notes));
        done((decided_at - first) as usize);
        act(decided, decided_at)
    }

    /// The next moment on the clock of the stage.
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn see(&self, event: &Event, sequence: Sequence) -> Seen {
        let began = self.tick();
        Seen { time: (began, began), ..event.see(sequence, self.mark) }
    }

    /// What this call does. A pause takes place here.
    fn decide(&mut self, sequence: Sequence) -> Verdict {
        let verdict = match &mut self.leaves_after {
            Some(0) => Verdict::Says(Action::Stop),
            Some(left) => {
                *left -= 1;
                Verdict::Says(Action::Continue)
            }
            None => self.acts.next(sequence),
        };
        if verdict == Verdict::Sleeps {
            Pause::Sleep.take();
        }
        if self.tick().is_multiple_of(self.pace.every) {
            self.pace.pause.take();
        }
        verdict
    }
}

fn act(verdict: Verdict, sequence: Sequence) -> Said {
    match verdict {
        Verdict::Says(action) => Ok(action),
        Verdict::Sleeps => Ok(Action::Continue),
        Verdict::Fails => Err(message(sequence)),
        Verdict::Panics => panic!("{}", message(sequence)),
    }
}

/// The calls between batches.
macro_rules! calls_between_batches {
    () => {
        fn on_start(&mut self) {
            self.log.push(Note::Start);
        }

        fn on_released(&mut self, next: Sequence) {
            self.log.push(Note::Released(next));
        }

        fn on_timeout(&mut self, next: Sequence) {
            self.log.push(Note::Timeout(next));
        }

        fn on_restart(&mut self) {
            self.log.push(Note::Restart);
        }

        fn on_shutdown(&mut self) {
            self.log.push(Note::Shutdown);
        }
    };
}

impl EventHandler<Event, Shared, Said> for Actor {
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
        self.log.push(Note::BatchStart { size, depth });
    }

    calls_between_batches!();
}

impl EventHandler<Event, Exclusive, Said> for Actor {
    fn on_event(&mut self, event: &mut Event, sequence: Sequence, is_last: bool) -> Said {
        event.write(self.mark);
        self.handle(event, sequence, is_last, false)
    }

    fn on_failed_event(
        &mut self,
        event: &mut Event,
        sequence: Sequence,
        is_last: bool,
        _: &Failure<'_>,
    ) -> Said {
        event.write(self.mark);
        self.handle(event, sequence, is_last, true)
    }

    fn on_batch_start(&mut self, size: u64, depth: u64) {
        self.log.push(Note::BatchStart { size, depth });
    }

    calls_between_batches!();
}

impl BatchHandler<Event, Shared, Said> for Actor {
    fn on_batch(&mut self, events: &[Event], first: Sequence, mut done: Done<'_>) -> Said {
        self.handle_batch(events.iter(), first, false, |count| done.set(count))
    }

    fn on_failed_batch(
        &mut self,
        events: &[Event],
        first: Sequence,
        mut done: Done<'_>,
        _: &Failure<'_>,
    ) -> Said {
        self.handle_batch(events.iter(), first, true, |count| done.set(count))
    }

    calls_between_batches!();
}

impl BatchHandler<Event, Exclusive, Said> for Actor {
    fn on_batch(&mut self, events: &mut [Event], first: Sequence, mut done: Done<'_>) -> Said {
        events.iter_mut().for_each(|event| event.write(self.mark));
        self.handle_batch(events.iter(), first, false, |count| done.set(count))
    }

    fn on_failed_batch(
        &mut self,
        events: &mut [Event],
        first: Sequence,
        mut done: Done<'_>,
        _: &Failure<'_>,
    ) -> Said {
        events.iter_mut().for_each(|event| event.write(self.mark));
        self.handle_batch(events.iter(), first, true, |count| done.set(count))
    }

    calls_between_batches!();
}

/// A policy that notes its decisions.
#[derive(Debug, Clone)]
pub(super) struct Noting {
    pub(super) policy: Policy,
    /// The logs of the consumers of the stage.
    pub(super) logs: Vec<Log>,
}

impl FailurePolicy for Noting {
    fn decide(&mut self, failure: &Failure<'_>) -> Action {
        let action = match &self.policy {
            Policy::None => unreachable!("the stage has no policy"),
            Policy::Always(action) => *action,
            Policy::Retries { repeat, attempts, or } => {
                let retries = match repeat {
                    Repeat::Event => Retries::of_event(),
                    Repeat::Batch => Retries::of_batch(),
                    Repeat::WithRestart => Retries::with_restart(),
                };
                retries.pause(Duration::ZERO).attempts(*attempts).or(*or).decide(failure)
            }
        };
        let (sequence, attempt) = (failure.sequence(), failure.attempt());
        let is_panic = matches!(failure.cause(), Cause::Panic(_));
        let worker = failure.stage().rsplit('-').next().and_then(|worker| worker.parse().ok());
        self.logs[worker.unwrap_or(0_usize)].push(Note::Policy {
            sequence,
            attempt,
            action,
            is_panic,
        });
        action
    }
}
