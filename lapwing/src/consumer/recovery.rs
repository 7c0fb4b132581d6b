//! How a stage reacts to a failure of its handler: it counts the attempts, and asks its policy.

use super::action::{Action, BoxError};
use super::failure::{AnyPolicy, Cause, Failure, KeptPolicy};
use crate::Sequence;
use crate::catch::catch;
use crate::unshared::Unshared;

/// What the stage repeats after the last failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// The event with this sequence.
    Event(Sequence),
    /// The batch that begins with this sequence.
    Batch(Sequence),
}

/// The policies of a stage, and how often the same event or batch has failed in a row.
#[derive(Default)]
pub(crate) struct Recovery {
    /// `None`: an error halts the ring.
    pub(crate) on_error: Option<Box<dyn AnyPolicy>>,
    /// `None`: a panic halts the ring.
    pub(crate) on_panic: Option<Box<dyn AnyPolicy>>,
    again: Option<Again>,
    attempt: u32,
}

impl Recovery {
    pub(crate) fn new(on_error: Option<KeptPolicy>, on_panic: Option<KeptPolicy>) -> Self {
        let [on_error, on_panic] = [on_error, on_panic].map(|kept| kept.map(Unshared::into_inner));
        Self { on_error, on_panic, again: None, attempt: 0 }
    }

    /// Decides about the failure of `sequence`, in a batch that begins with `batch`.
    pub(crate) fn decide(
        &mut self,
        stage: &str,
        sequence: Sequence,
        batch: Sequence,
        cause: Cause<'_>,
    ) -> Action {
        let is_again = self
            .again
            .is_some_and(|again| [Again::Event(sequence), Again::Batch(batch)].contains(&again));
        self.attempt = if is_again { self.attempt.saturating_add(1) } else { 1 };
        let policy = match cause {
            // A policy is not asked about an action.
            Cause::Error(_) | Cause::Action => &mut self.on_error,
            Cause::Panic(_) => &mut self.on_panic,
        };
        let failure = Failure { stage, sequence, attempt: self.attempt, cause };
        let action = policy.as_mut().map_or(Action::Halt, |policy| policy.decide(&failure));
        self.again = match action {
            Action::Retry(_) | Action::Restart(_) => Some(Again::Event(sequence)),
            Action::Rewind(_) => Some(Again::Batch(batch)),
            _ => None,
        };
        action
    }

    /// How many times in a row the last event or batch that failed has done so.
    pub(crate) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Decides about an error, like [`decide`](Self::decide). Drops the error, unless the event is
    /// skipped and `keeps` is true.
    ///
    /// # Errors
    ///
    /// The message of a panic: of the policy, or of the `Display` or the `Drop` of `error`.
    pub(crate) fn decide_error(
        &mut self,
        stage: &str,
        sequence: Sequence,
        batch: Sequence,
        error: BoxError,
        keeps: bool,
    ) -> Result<Decided, String> {
        let action = catch(|| self.decide(stage, sequence, batch, Cause::Error(&*error)));
        let ends =
            |action: &Action| matches!(action, Action::Stop | Action::SkipAndStop | Action::Halt);
        let is_told = action.as_ref().is_ok_and(ends);
        let message = if is_told { catch(|| error.to_string()) } else { Ok(String::new()) };
        let skips = |action: &Action| matches!(action, Action::Skip | Action::SkipAndStop);
        let is_kept = keeps && message.is_ok() && action.as_ref().is_ok_and(skips);
        let (kept, rest) = if is_kept { (Some(error), None) } else { (None, Some(error)) };
        // Caught on its own: a second panic during an unwind aborts the process.
        let dropped = catch(|| drop(rest));
        let decided = Decided { action: action?, message: message?, kept };
        dropped.map(|()| decided)
    }
}

/// What a policy has decided about an error.
pub(crate) struct Decided {
    pub(crate) action: Action,
    /// The message of the error, if the stage ends with it.
    pub(crate) message: String,
    /// The error, for downstream stages.
    pub(crate) kept: Option<BoxError>,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::{Action, Again, Cause, Recovery};
    use crate::consumer::Retries;
    use crate::unshared::Unshared;

    /// The decision of `policy` about the next attempt, after `failed` attempts of one event.
    fn after(failed: u32, policy: Retries) -> Action {
        let mut recovery = Recovery::new(Some(Unshared::new(Box::new(policy))), None);
        (recovery.again, recovery.attempt) = (Some(Again::Event(7)), failed);
        recovery.decide("send", 7, 7, Cause::Error(&*Box::from("no route")))
    }

    #[test]
    fn attempts_are_counted_to_the_last_that_there_is() {
        let policy = Retries::of_event().attempts(u32::MAX);
        assert_eq!(after(u32::MAX - 2, policy), Action::Retry(Duration::ZERO));
        assert_eq!(after(u32::MAX - 1, policy), Action::Halt, "the last attempt");
        assert_eq!(after(u32::MAX, policy), Action::Halt, "the counter is at its maximum");
    }

    /// Without a default limit, a pause would grow to days, and then to `Duration::MAX`.
    #[test]
    fn a_pause_grew_without_a_limit_unless_one_was_given() {
        let policy = Retries::of_event().pause(Duration::from_micros(10));
        assert_eq!(after(3, policy), Action::Retry(Duration::from_micros(80)));
        for failed in [17, 40, 94, u32::MAX] {
            assert_eq!(after(failed, policy), Action::Retry(Retries::LONGEST_PAUSE));
        }
        let hour = Duration::from_secs(3600);
        let unlimited = policy.longest_pause(Duration::MAX);
        let pause = Duration::from_micros(10) * (1 << 30);
        assert_eq!(after(30, unlimited), Action::Retry(pause), "as asked");
        for failed in [0, 1, 40] {
            assert_eq!(after(failed, policy.pause(hour)), Action::Retry(hour), "the first one");
        }
        let short = policy.pause(hour).longest_pause(Duration::from_millis(1));
        assert_eq!(after(0, short), Action::Retry(Duration::from_millis(1)));
    }

    /// A pause must not stay the same after the 33rd attempt.
    #[test]
    fn a_pause_doubles_until_no_duration_is_longer() {
        let policy =
            Retries::of_batch().pause(Duration::from_nanos(1)).longest_pause(Duration::MAX);
        assert_eq!(after(0, policy), Action::Rewind(Duration::from_nanos(1)));
        assert_eq!(after(40, policy), Action::Rewind(Duration::from_nanos(1 << 40)));
        assert_eq!(after(90, policy), Action::Rewind(Duration::from_nanos(1 << 60) * (1 << 30)));
        for failed in [94, 1_000, u32::MAX] {
            assert_eq!(after(failed, policy), Action::Rewind(Duration::MAX));
        }
        let longest = policy.longest_pause(Duration::from_secs(1));
        assert_eq!(after(u32::MAX, longest), Action::Rewind(Duration::from_secs(1)));
        assert_eq!(after(u32::MAX, policy.pause(Duration::ZERO)), Action::Rewind(Duration::ZERO));
    }
}
