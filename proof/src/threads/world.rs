//! A whole run as the judge sees it: what each consumer has done, what became of the events, and
//! why the ring may have been halted.

use lapwing::Sequence;
use lapwing::consumer::Outcome;
use lapwing::error::HaltCause;

use super::consumers::{Ended, Visit};
use super::past::{Ending, Past};
use super::program::{Deed, End, Program, consumer_name};
use super::rules::must;
use super::run::Observed;

/// What became of the sequences.
pub(super) trait Account {
    /// The first sequence that is neither an event nor given up.
    fn end(&self) -> Sequence;

    /// The first sequence from `from` on that was not given up.
    fn after_given_up(&self, from: Sequence) -> Sequence;

    /// Number of events.
    fn events(&self) -> u64;
}

/// What the consumers of a run have done.
pub(super) struct World<'a> {
    pub(super) program: &'a Program,
    pub(super) observed: &'a Observed,
    pub(super) account: &'a dyn Account,
    /// By stage, and by worker.
    pub(super) pasts: Vec<Vec<Past>>,
    /// By guest that got a dynamic stage.
    pub(super) guests: Vec<(&'a Visit, Past)>,
    /// Why the ring may have been halted.
    pub(super) causes: Vec<HaltCause>,
}

impl<'a> World<'a> {
    pub(super) fn new(
        program: &'a Program,
        observed: &'a Observed,
        account: &'a dyn Account,
        pasts: Vec<Vec<Past>>,
        guests: Vec<(&'a Visit, Past)>,
    ) -> Self {
        let causes = Vec::new();
        let mut world = Self { program, observed, account, pasts, guests, causes };
        world.causes = world.causes();
        world
    }

    /// Every consumer of the graph, and every guest.
    fn everything_past(&self) -> impl Iterator<Item = &Past> {
        self.pasts.iter().flatten().chain(self.guests.iter().map(|(_, past)| past))
    }

    /// Why the ring may have been halted.
    fn causes(&self) -> Vec<HaltCause> {
        let mut causes = Vec::new();
        let by = |is_it: fn(&Outcome) -> bool| {
            self.everything_past()
                .any(|past| matches!(&past.end, Ending::Own(outcome) if is_it(outcome)))
        };
        let asks = matches!(self.program.end, End::Halt(_)) && !self.program.by_hand;
        if asks || by(|outcome| *outcome == Outcome::Halted) {
            causes.push(HaltCause::Requested);
        }
        if by(|outcome| matches!(outcome, Outcome::Failed { .. } | Outcome::Panicked { .. })) {
            causes.push(HaltCause::StageFailed);
        }
        if self.may_be_without_consumers() {
            causes.push(HaltCause::NoConsumers);
        }
        causes
    }

    /// Whether the ring must have been halted: a consumer did it, or all of them stopped, each
    /// before the end. One that stops at the last event may have drained a closed ring, and then
    /// does not halt it.
    pub(super) fn must_halt(&self) -> bool {
        let own = |past: &Past| {
            if let Ending::Own(outcome) = &past.end { Some(outcome.clone()) } else { None }
        };
        let stops =
            |past: &Past| matches!(own(past), Some(Outcome::Stopped | Outcome::Detached { .. }));
        let halts = |past: &Past| own(past).is_some() && !stops(past);
        let has_group_left = |(stage, pasts): (usize, &Vec<Past>)| {
            self.program.stages[stage].is_group() && pasts.iter().all(stops)
        };
        let stops_early = |past: &Past| stops(past) && past.next < self.account.end();
        self.everything_past().any(halts)
            || self.pasts.iter().enumerate().any(has_group_left)
            || !self.program.clears && self.everything_past().all(stops_early)
    }

    /// Whether all workers of a group may have left, or all consumers.
    fn may_be_without_consumers(&self) -> bool {
        let group_has_left = |stage: usize| {
            let mut pasts = self.pasts[stage].iter().enumerate();
            pasts.all(|(worker, past)| {
                past.has_left() || past.end == Ending::Open && self.may_be_stopped(stage, worker)
            })
        };
        let stages = 0..self.program.stages.len();
        let is_group = |stage: &usize| self.program.stages[*stage].is_group();
        if stages.clone().filter(is_group).any(group_has_left) {
            return true;
        }
        // A consumer that has drained the ring stays in the count.
        let stage_is_gone = |stage: usize| {
            let mut pasts = self.pasts[stage].iter().enumerate();
            pasts.all(|(worker, past)| {
                let ended = self.ended(&consumer_name(self.program, stage, worker)).ok();
                is_gone(past, ended)
                    || past.end == Ending::Open && self.may_be_stopped(stage, worker)
            })
        };
        let stops = self.stops_guests();
        let guests = || self.guests.iter();
        let is_any = stages.clone().any(group_has_left)
            || guests().any(|(_, past)| past.has_left() || stops);
        let are_gone = guests().all(|(visit, past)| is_gone(past, visit.ended.as_ref()) || stops);
        !self.program.clears && is_any && are_gone && stages.clone().all(stage_is_gone)
    }

    pub(super) fn stops_guests(&self) -> bool {
        self.program.deeds.iter().any(|(_, deed)| matches!(deed, Deed::StopGuest))
    }

    /// The result of a consumer of the graph.
    ///
    /// # Errors
    ///
    /// It has none, or two.
    pub(super) fn ended(&self, name: &str) -> Result<&'a Ended, String> {
        let mut ended = self.observed.ended.iter().filter(|ended| ended.name == name);
        let only = ended.next().ok_or_else(|| format!("{name} has no result"))?;
        must(ended.next().is_none(), || format!("{name} has two results"))?;
        Ok(only)
    }

    /// Whether the program stops this consumer from outside.
    pub(super) fn may_be_stopped(&self, stage: usize, worker: usize) -> bool {
        let plan = &self.program.stages[stage];
        self.program.deeds.iter().any(|(_, deed)| {
            matches!(*deed, Deed::Stop { stage: s, worker: w }
                if s % self.program.stages.len() == stage && w % plan.consumers() == worker)
        })
    }
}

/// Whether a consumer has left, also because it was stopped from outside.
fn is_gone(past: &Past, ended: Option<&Ended>) -> bool {
    let is_over = |ended: &Ended| matches!(ended.outcome, Outcome::Drained | Outcome::Stopped);
    past.has_left()
        || past.end == Ending::Closed
        || past.end == Ending::Open && ended.is_some_and(is_over)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lapwing::Action;
    use lapwing::wait::{Adaptive, Yielding};

    use crate::threads::check;
    use crate::threads::program::{
        Act, Call, End, Fate, Form, How, Pace, Patience, Pause, Place, Policy, Program, Stage,
        Threads, Verdict,
    };
    use crate::threads::waits::Strategy;

    /// Two events for one stage, which does `action` at the second. Each of its calls takes longer
    /// than the producer needs to publish and to close the ring.
    fn program(action: Action) -> Program {
        let how = How::Publish(Patience::Waits);
        let call = Call { how, count: 1, fate: Fate::Publishes, before: Pause::None };
        let stage = Stage {
            after: 0,
            is_alone: true,
            form: Form::Handler { writes: false, is_local: false },
            max_batch: None,
            wait: None,
            has_timeout: false,
            takes_failed: false,
            place: Place::Free,
            pace: Pace { pause: Pause::Sleep(Duration::from_millis(10)), every: 1 },
            on_error: Policy::None,
            on_panic: Policy::None,
            acts: vec![Act { at: 1, times: 1, verdict: Verdict::Says(action) }],
            tap: None,
        };
        Program {
            capacity: 4,
            first: 0,
            is_multi: false,
            producers: vec![vec![call; 2]],
            stages: vec![stage],
            clears: false,
            threads: Threads::PerStage,
            by_hand: false,
            announces: false,
            wait: Strategy::Yielding(Yielding::default()),
            producer_wait: Strategy::Adaptive(Adaptive::default()),
            dynamic_stages: 0,
            is_monitored: false,
            deeds: Vec::new(),
            end: End::DropProducers,
        }
    }

    #[test]
    fn a_stage_that_stops_at_the_last_event_may_have_drained_the_ring() {
        for action in [Action::SkipAndStop, Action::Stop] {
            assert_eq!(check(&program(action), Duration::from_secs(20)), Ok(()), "{action:?}");
        }
    }
}
