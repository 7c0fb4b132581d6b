//! The wait until the last stages have handled an event. Not here: the wait for the threads of the
//! stages (`lifecycle::completion`).
//!
//! The thread parks where producers do that wait for a free slot, and no stage does anything for it
//! that it does not do for them.

use std::time::{Duration, Instant};

use lapwing_core::{Awaited, Control, DETACHED, EventCount, StageIndex, Wait};

use crate::Sequence;
use crate::deadline::has_passed;
use crate::error::{HaltCause, HandledError};
use crate::on_this_thread;
use crate::ring::Shared;
use crate::sync::now;

/// Time between two checks while the stages are far from the event, so that each of their batches
/// does not cost a wake-up. 1 ms: a stage that has a quarter of a ring left usually takes longer
/// than the wake-up of a thread.
const FAR_SLEEP: Duration = Duration::from_millis(1);

/// The wait for the event `sequence`.
#[derive(Debug)]
struct Handled<'a> {
    shared: &'a Shared,
    sequence: Sequence,
}

impl Handled<'_> {
    fn control(&self) -> &Control {
        &self.shared.control
    }

    fn is_handled(&self) -> bool {
        // A consumer that leaves gives up its acknowledgement before its own word. In between, the
        // words look as if the event was acknowledged. Either the first check saw the
        // acknowledgement before that, or the second one sees that the consumer has left.
        self.is_finished() && !self.is_a_consumer_leaving() && self.is_finished()
    }

    fn is_finished(&self) -> bool {
        self.control().finished().is_some_and(|finished| finished > self.sequence)
    }

    /// Whether a consumer has given up its acknowledgement and is about to leave.
    fn is_a_consumer_leaving(&self) -> bool {
        let control = self.control();
        let has_left = |word| control.sequence_of(word) == DETACHED;
        self.stages().any(|stage| {
            let acknowledgement = control.acknowledgement_of(stage);
            acknowledgement.is_some_and(has_left) && !has_left(stage)
        })
    }

    fn stages(&self) -> impl Iterator<Item = StageIndex> {
        (0..).take_while(|&stage| self.shared.watched.description.stage(stage).is_some())
    }

    /// Whether the ring is closed and has not accepted the event.
    fn is_refused(&self) -> bool {
        self.control().end().is_some_and(|end| end <= self.sequence)
    }

    /// Whether only this thread can finish the event, by running a stage or by publishing a claim
    /// that it holds. Once true it stays true during the wait.
    fn would_deadlock(&self) -> bool {
        on_this_thread::is_behind(self.control(), self.sequence.saturating_add(1))
            || self.shared.oldest_own_claim().is_some_and(|held| held <= self.sequence)
    }

    /// Whether a quarter of the ring or more is left to handle.
    fn is_far(&self) -> bool {
        let finished = self.control().finished().unwrap_or(self.sequence);
        self.sequence.saturating_sub(finished) >= self.control().room()
    }

    /// Why the event will not be handled, if so.
    fn failure(&self) -> Option<HandledError> {
        if let Some(cause) = self.control().halt_cause() {
            // The last stage may have handled the event before the halt.
            let cause = HaltCause::of(cause);
            return (!self.is_handled())
                .then(|| HandledError::Halted { cause, behind: self.behind() });
        }
        if self.is_refused() {
            return Some(HandledError::Closed);
        }
        self.would_deadlock().then(|| HandledError::WouldDeadlock { behind: self.behind() })
    }

    /// Whether stages can get the event: it is published, and so is everything before it.
    fn is_published(&self) -> bool {
        let (control, end) = (self.control(), self.sequence.saturating_add(1));
        let accepted = control.accepted();
        // Everything below is settled: its slot was claimed again.
        let a_lap_ago = accepted.saturating_sub(control.capacity());
        accepted >= end && (a_lap_ago >= end || control.settled_prefix(a_lap_ago, end) >= end)
    }

    /// The names of the stages and guests that could go on with the event and have not finished it.
    fn behind(&self) -> Vec<String> {
        let control = self.control();
        if !self.is_published() {
            return Vec::new();
        }
        let is_culprit = |&stage: &StageIndex| {
            let mut upstream = control.ancestors_of(stage).iter();
            self.is_behind(stage) && !upstream.any(|&other| self.is_behind(other))
        };
        let culprits = self.stages().chain(control.dynamic_stages()).filter(is_culprit);
        culprits.map(|stage| self.shared.watched.description.consumer(stage).0).collect()
    }

    /// Whether the stage, its workers or its acknowledgement have not finished the event. One that
    /// has left is not behind.
    fn is_behind(&self, stage: StageIndex) -> bool {
        let control = self.control();
        let words = [stage].into_iter().chain(control.workers_of(stage).iter().copied());
        let mut words = words.chain(control.acknowledgement_of(stage));
        words.any(|word| {
            let finished = control.sequence_of(word);
            finished != DETACHED && finished <= self.sequence
        })
    }
}

impl Awaited for Handled<'_> {
    fn is_over(&self) -> bool {
        self.is_handled() || self.control().is_halted() || self.is_refused()
    }

    fn event_count(&self) -> Option<&EventCount> {
        self.control().behind_gate(self.sequence, false)
    }
}

/// Waits until every last stage has handled the event `sequence`, for `timeout` at most.
pub(crate) fn wait(
    shared: &Shared,
    sequence: Sequence,
    timeout: Duration,
) -> Result<(), HandledError> {
    let handled = Handled { shared, sequence };
    // A timeout that is too long for the clock is no limit.
    let deadline: Option<Instant> = now().checked_add(timeout);
    let wait = Wait { awaited: &handled, deadline, sleeper: None };
    loop {
        if handled.is_handled() {
            return Ok(());
        }
        if let Some(failure) = handled.failure() {
            return Err(failure);
        }
        if has_passed(deadline) {
            return Err(HandledError::TimedOut { behind: handled.behind() });
        }
        if handled.is_far() {
            shared.control.sleep(&wait, FAR_SLEEP);
        } else {
            shared.control.park(&wait);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Disruptor, Stage};

    #[test]
    fn an_event_that_nobody_acknowledged_is_not_handled_while_its_consumer_leaves() {
        let stage = Stage::new("sends").acknowledged();
        let ring = Disruptor::single_producer(8, || 0_u64).stage(stage).poller();
        let (mut producer, mut consumers) = ring.build().unwrap();
        let mut poller = consumers.take_poller("sends").unwrap();
        let _acknowledger = consumers.take_acknowledger("sends").unwrap();
        producer.publish(|_| {}).unwrap();
        poller.poll().unwrap().consume_all();
        let shared = &producer.shared;
        let behind = vec!["sends".to_owned()];
        let is_behind = Err(HandledError::TimedOut { behind });
        assert_eq!(wait(shared, 0, Duration::ZERO), is_behind);

        // As a consumer does that leaves, between its two words.
        let acknowledgement = shared.control.acknowledgement_of(0).unwrap();
        shared.control.acknowledge(acknowledgement, DETACHED);
        assert!(matches!(wait(shared, 0, Duration::ZERO), Err(HandledError::TimedOut { .. })));

        drop(poller);
        assert!(matches!(wait(shared, 0, Duration::ZERO), Err(HandledError::Halted { .. })));
    }
}
