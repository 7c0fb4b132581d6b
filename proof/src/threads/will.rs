//! What a consumer wants to do: at which event, and after a failure.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use lapwing::consumer::{Failure, FailurePolicy, Retries};
use lapwing::{Action, Sequence};

use super::program::{Act, Pace, Pause, Policy, Repeat, Verdict};

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

    /// Whether each call for one of `sequences` continues.
    fn are_none_in(&self, sequences: Range<Sequence>) -> bool {
        self.acts.iter().all(|(act, _)| !sequences.contains(&(self.first + act.at)))
    }
}

/// What a consumer wants to do.
#[derive(Debug)]
pub(super) struct Will {
    pub(super) acts: Arc<Acts>,
    /// Number of events after which it stops, if any.
    pub(super) leaves_after: Option<u64>,
    pub(super) pace: Pace,
}

impl Will {
    /// What the call for `sequence` does. A pause takes place here.
    #[inline]
    pub(super) fn decide(
        &mut self,
        sequence: Sequence,
        tick: u64,
        sleep: impl Fn(Duration),
    ) -> Verdict {
        let verdict = match &mut self.leaves_after {
            Some(0) => Verdict::Says(Action::Stop),
            Some(left) => {
                *left -= 1;
                Verdict::Says(Action::Continue)
            }
            None => self.acts.next(sequence),
        };
        if let Verdict::Sleeps(time) = verdict {
            sleep(time);
        }
        self.pause(tick, sleep);
        verdict
    }

    /// Whether the calls for `sequences` do nothing but continue.
    pub(super) fn is_quiet(&self, sequences: Range<Sequence>) -> bool {
        self.leaves_after.is_none() && self.acts.are_none_in(sequences)
    }

    /// Pauses if that is due.
    #[inline]
    pub(super) fn pause(&self, tick: u64, sleep: impl Fn(Duration)) {
        if !matches!(self.pace.pause, Pause::None) && tick.is_multiple_of(self.pace.every) {
            self.pace.pause.take(sleep);
        }
    }
}

impl Pause {
    pub(super) fn take(self, sleep: impl FnOnce(Duration)) {
        match self {
            Self::None => {}
            Self::Yield => thread::yield_now(),
            Self::Sleep(time) => sleep(time),
        }
    }
}

/// Asks the library what `policy` decides about a failure.
pub(super) fn decide(policy: Policy, failure: &Failure<'_>) -> Action {
    match policy {
        Policy::None => unreachable!("the stage has no policy"),
        Policy::Always(action) => action,
        Policy::Retries { repeat, attempts, or } => {
            let retries = match repeat {
                Repeat::Event => Retries::of_event(),
                Repeat::Batch => Retries::of_batch(),
                Repeat::WithRestart => Retries::with_restart(),
            };
            retries.pause(Duration::ZERO).attempts(attempts).or(or).decide(failure)
        }
    }
}
