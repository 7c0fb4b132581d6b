//! Compares a whole run with what the model says: each consumer, each group, each result of a producer, and the report.

use std::collections::BTreeSet;

use lapwing::Sequence;
use lapwing::consumer::Outcome;
use lapwing::error::{BatchError, HaltCause, SeatError};
use lapwing::graph::StartAt;

use super::consumers::{Ended, Visit};
use super::event::{CLEARED, key_of};
use super::history::{Claimed, History};
use super::model::{Ending, Past, Rules, replay};
use super::producers::{Feed, may_refuse};
use super::program::{Deed, End, Form, Policy, Program, Stages, consumer_name, members};
use super::run::Observed;

/// What the consumers of a run have done.
struct World<'a> {
    program: &'a Program,
    observed: &'a Observed,
    history: History,
    /// By stage, and by worker.
    pasts: Vec<Vec<Past>>,
    /// By stage: what any of its workers has finished.
    done: Vec<BTreeSet<Sequence>>,
    skipped: Vec<BTreeSet<Sequence>>,
    /// By guest that got a seat.
    guests: Vec<(&'a Visit, Past)>,
    /// Why the ring may have been halted.
    causes: Vec<HaltCause>,
}

type Judgement = Result<(), String>;

/// # Errors
///
/// Says what is not as the model says.
pub(super) fn judge(program: &Program, observed: &Observed) -> Judgement {
    let world = World::new(program, observed)?;
    if world.causes.is_empty() && !world.history.is_complete() {
        return Err("a sequence was lost".to_owned());
    }
    world.judge_slots()?;
    world.judge_groups()?;
    world.judge_ends()?;
    world.judge_producers()?;
    world.judge_guests()?;
    world.judge_report()
}

fn must(is_right: bool, wrong: impl FnOnce() -> String) -> Judgement {
    if is_right { Ok(()) } else { Err(wrong()) }
}

impl<'a> World<'a> {
    fn new(program: &'a Program, observed: &'a Observed) -> Result<Self, String> {
        let history = History::new(program, &observed.feeds)?;
        let (pasts, done, skipped, guests, causes) = Default::default();
        let mut world = Self { program, observed, history, pasts, done, skipped, guests, causes };
        for (stage, notes) in observed.notes.iter().enumerate() {
            let rules = world.rules_of_stage(stage);
            let pasts: Result<Vec<_>, _> =
                notes.iter().map(|notes| replay(&rules, notes)).collect();
            let pasts = pasts.map_err(|wrong| format!("stage {stage}: {wrong}"))?;
            world.done.push(pasts.iter().flat_map(|past| past.done.keys().copied()).collect());
            world
                .skipped
                .push(pasts.iter().flat_map(|past| past.skipped.iter().copied()).collect());
            world.pasts.push(pasts);
        }
        for visit in &observed.visits {
            let Ok(start) = visit.start else { continue };
            let past = replay(&world.rules_of_guest(visit, start), &visit.log.take());
            let past = past.map_err(|wrong| format!("guest from {start}: {wrong}"))?;
            world.guests.push((visit, past));
        }
        world.causes = world.causes();
        Ok(world)
    }

    fn rules(&self, upstream: Stages) -> Rules<'_> {
        let failed =
            members(upstream).flat_map(|stage| self.skipped[stage].iter().copied()).collect();
        Rules {
            history: &self.history,
            capacity: self.program.capacity as u64,
            start: self.program.first,
            max_batch: u64::MAX,
            is_handler: true,
            is_worker: false,
            on_error: Policy::None,
            on_panic: Policy::None,
            upstream: members(upstream).map(|stage| (stage, &self.done[stage])).collect(),
            writers: self.program.writers(),
            downstream: 0,
            failed,
            sees_cleared: false,
        }
    }

    fn rules_of_stage(&self, stage: usize) -> Rules<'_> {
        let plan = &self.program.stages[stage];
        Rules {
            max_batch: plan.max_batch.map_or(u64::MAX, |events| events as u64),
            is_handler: matches!(plan.form, Form::Handler { .. } | Form::Workers { .. }),
            is_worker: matches!(plan.form, Form::Workers { .. }),
            on_error: plan.on_error,
            on_panic: plan.on_panic,
            downstream: self.program.downstream(stage),
            ..self.rules(self.program.upstream(stage))
        }
    }

    fn rules_of_guest(&self, visit: &Visit, start: Sequence) -> Rules<'_> {
        Rules {
            start,
            max_batch: visit.guest.max_batch.map_or(u64::MAX, |events| events as u64),
            is_handler: !visit.guest.polls,
            sees_cleared: self.program.clears,
            ..self.rules(self.program.upstream_of_guests())
        }
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

    /// Whether all workers of a group may have left, or all consumers.
    fn may_be_without_consumers(&self) -> bool {
        let group_has_left = |stage: usize| {
            let mut pasts = self.pasts[stage].iter().enumerate();
            pasts.all(|(worker, past)| {
                has_left(past) || past.end == Ending::Open && self.may_be_stopped(stage, worker)
            })
        };
        let stages = 0..self.program.stages.len();
        let is_group =
            |stage: &usize| matches!(self.program.stages[*stage].form, Form::Workers { .. });
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
        let is_any =
            stages.clone().any(group_has_left) || guests().any(|(_, past)| has_left(past) || stops);
        let are_gone = guests().all(|(visit, past)| is_gone(past, visit.ended.as_ref()) || stops);
        !self.program.clears && is_any && are_gone && stages.clone().all(stage_is_gone)
    }

    fn stops_guests(&self) -> bool {
        self.program.deeds.iter().any(|(_, deed)| matches!(deed, Deed::StopGuest))
    }

    /// Whether the program stops this consumer from outside.
    fn may_be_stopped(&self, stage: usize, worker: usize) -> bool {
        let plan = &self.program.stages[stage];
        self.program.deeds.iter().any(|(_, deed)| {
            matches!(*deed, Deed::Stop { stage: s, worker: w }
                if s % self.program.stages.len() == stage && w % plan.consumers() == worker)
        })
    }

    /// A slot was filled only after each stage had finished the event of a lap ago.
    fn judge_slots(&self) -> Judgement {
        for accepted in self.observed.feeds.iter().flat_map(|feed| &feed.accepted) {
            let lap = accepted.sequence.checked_sub(self.program.capacity as u64);
            let Some((lap, Claimed::Event(id))) =
                lap.and_then(|lap| Some((lap, self.history.at(lap)?)))
            else {
                continue;
            };
            // The only producer fills a slot again whose claim it gave up.
            if accepted.found.id != id {
                must(!self.program.is_multi && accepted.found.id == 0, || {
                    format!("{accepted:?} overwrote another event")
                })?;
                continue;
            }
            let by = |stage: &usize| self.done[*stage].contains(&lap);
            let by = (0..self.program.stages.len())
                .filter(by)
                .fold(0, |marks, stage| marks | 1 << stage);
            let by = if self.program.clears { by | CLEARED } else { by };
            let marks = accepted.found.marks;
            must(marks & by == by, || {
                format!("{accepted:x?} overwrote an event before {by:b} had finished it")
            })?;
        }
        Ok(())
    }

    /// The workers of a group got each event once and, by key, the events of a key in order.
    fn judge_groups(&self) -> Judgement {
        for (stage, pasts) in self.pasts.iter().enumerate() {
            let Form::Workers { by_key, .. } = self.program.stages[stage].form else { continue };
            let calls: usize = pasts.iter().map(|past| past.done.len()).sum();
            must(calls == self.done[stage].len(), || {
                format!("the group {stage} did an event twice")
            })?;
            if !by_key {
                continue;
            }
            let mut times: Vec<_> = pasts.iter().flat_map(|past| &past.done).collect();
            times.sort_unstable();
            for key in 0..3 {
                let is_of_key = |sequence: Sequence| key_of(self.history.id(sequence)) == key;
                let of_key = times.iter().filter(|(sequence, _)| is_of_key(**sequence));
                let is_sorted = of_key.map(|(_, time)| time).is_sorted();
                must(is_sorted, || format!("the group {stage} did the key {key} out of order"))?;
            }
        }
        Ok(())
    }

    fn judge_ends(&self) -> Judgement {
        for (stage, pasts) in self.pasts.iter().enumerate() {
            for (worker, past) in pasts.iter().enumerate() {
                let name = consumer_name(self.program, stage, worker);
                let is_stopped = self.may_be_stopped(stage, worker);
                let ended = if self.program.stages[stage].is_poller() {
                    None
                } else {
                    Some(self.ended(&name)?)
                };
                let judged = match ended {
                    None => self.judge_poller(past),
                    Some(ended) => self.judge_stage(past, ended, Some(stage), is_stopped),
                };
                judged.map_err(|wrong| format!("{name}: {wrong}: {ended:?}"))?;
            }
        }
        Ok(())
    }

    fn ended(&self, name: &str) -> Result<&'a Ended, String> {
        let mut ended = self.observed.ended.iter().filter(|ended| ended.name == name);
        let only = ended.next().ok_or_else(|| format!("{name} has no result"))?;
        must(ended.next().is_none(), || format!("{name} has two results"))?;
        Ok(only)
    }

    fn judge_poller(&self, past: &Past) -> Judgement {
        match &past.end {
            Ending::Left => Ok(()),
            Ending::Closed => self.must_have_drained(past),
            Ending::Halted(cause) => self.must_be_halted(*cause),
            _ => Err("a poller without an end".to_owned()),
        }
    }

    fn must_have_drained(&self, past: &Past) -> Judgement {
        let next = self.history.after_given_up(past.next);
        must(next == self.history.end(), || {
            format!("it ends at {next}, the history at {}", self.history.end())
        })
    }

    fn must_be_halted(&self, cause: HaltCause) -> Judgement {
        must(self.causes.contains(&cause), || {
            format!("halted by {cause:?}, not by one of {:?}", self.causes)
        })
    }

    /// Compares the result of a stage, a worker or a guest with what it has done.
    fn judge_stage(
        &self,
        past: &Past,
        ended: &Ended,
        stage: Option<usize>,
        is_stopped: bool,
    ) -> Judgement {
        let is_group = stage
            .is_some_and(|stage| matches!(self.program.stages[stage].form, Form::Workers { .. }));
        match (&past.end, &ended.outcome) {
            (Ending::Own(own), outcome) if own == outcome => {}
            (Ending::Own(Outcome::Stopped), Outcome::Halted) => {
                self.must_be_halted(HaltCause::NoConsumers)?
            }
            (Ending::Open, Outcome::Drained) if is_group => {
                let done = stage.map_or(0, |stage| self.done[stage].len());
                must(done == self.history.events().count(), || {
                    format!("its group did {done} events")
                })?;
            }
            (Ending::Open, Outcome::Drained) => self.must_have_drained(past)?,
            (Ending::Open, Outcome::Halted) => {
                must(!self.causes.is_empty(), || "nothing halts".to_owned())?
            }
            (Ending::Open, Outcome::Stopped) => must(is_stopped, || "nothing stops it".to_owned())?,
            (end, _) => return Err(format!("its notes say {end:?}")),
        }
        let (handled, skipped) = (past.done.len() as u64, past.skipped.len() as u64);
        must((ended.handled, ended.skipped) == (handled, skipped), || {
            format!("handled={handled}, skipped={skipped}")
        })?;
        if is_group {
            return must(ended.processed >= handled, || "it processed too few".to_owned());
        }
        let at_most = if past.end == Ending::Open {
            self.history.after_given_up(past.next)
        } else {
            past.next
        };
        let processed = past.next - past.start..=at_most - past.start;
        must(processed.contains(&ended.processed), || format!("processed={processed:?}"))
    }

    fn judge_producers(&self) -> Judgement {
        for (number, feed) in self.observed.feeds.iter().enumerate() {
            let judged = self.judge_feed(feed, number);
            judged.map_err(|wrong| format!("producer {number}: {wrong}"))?;
        }
        Ok(())
    }

    fn judge_feed(&self, feed: &Feed, number: usize) -> Judgement {
        let closes = match self.program.end {
            End::DropProducers => None,
            End::Halt(_) if !self.program.by_hand => None,
            End::Close(at) | End::Shutdown(at) | End::Halt(at) => Some(at),
        };
        let mut is_over = None;
        for &(index, call, error) in &feed.refused {
            let (may_be_full, may_time_out) = may_refuse(call.how);
            let is_right = match error {
                BatchError::Full => may_be_full,
                BatchError::TimedOut => may_time_out,
                BatchError::Closed => closes.is_some(),
                BatchError::Halted(cause) => self.causes.contains(&cause),
                _ => false,
            };
            must(is_right, || format!("{call:?}: {error:?}, causes={:?}", self.causes))?;
            if matches!(error, BatchError::Closed | BatchError::Halted(_)) {
                is_over = is_over.or(Some(index));
            }
        }
        let last = feed.accepted.last().map(|accepted| accepted.call);
        must(is_over.is_none() || last < is_over, || {
            format!("accepted at {last:?} after an end at {is_over:?}")
        })?;
        // A close by the first producer itself takes effect at once.
        if let (0, Some(at)) = (number, closes)
            && (self.program.by_hand || matches!(self.program.end, End::Close(_)))
        {
            must(last.is_none_or(|last| last < at), || {
                format!("accepted at {last:?}, closed at {at}")
            })?;
            let is_early = feed
                .refused
                .iter()
                .any(|&(index, _, error)| error == BatchError::Closed && index < at);
            must(!is_early, || format!("closed before {at}"))?;
        }
        must(feed.dropped == feed.reported_dropped, || {
            format!("dropped {} of {}", feed.reported_dropped, feed.dropped)
        })
    }

    fn judge_guests(&self) -> Judgement {
        for visit in &self.observed.visits {
            self.judge_start(visit).map_err(|wrong| format!("{wrong}: {visit:?}"))?;
        }
        let is_stopped = self.stops_guests();
        for (visit, past) in &self.guests {
            let judged = match &visit.ended {
                None => self.judge_poller(past),
                Some(ended) => self.judge_stage(past, ended, None, is_stopped),
            };
            judged.map_err(|wrong| format!("a guest: {wrong}: {visit:?}"))?;
        }
        Ok(())
    }

    fn judge_start(&self, visit: &Visit) -> Judgement {
        let guests = self.observed.visits.len();
        let is_known = !self.program.is_multi && !visit.guest.is_beside;
        let (next, first, end) = (visit.next, self.program.first, self.history.end());
        let start = match &visit.start {
            Ok(start) => *start,
            Err(SeatError::NoSeats) => {
                return must(self.program.seats == 0, || "there are seats".to_owned());
            }
            Err(SeatError::NoFreeSeat { seats }) => {
                return must(*seats == self.program.seats && guests > *seats, || {
                    "a seat is free".to_owned()
                });
            }
            Err(SeatError::Halted(cause)) => return self.must_be_halted(*cause),
            Err(SeatError::OutOfRange { requested, oldest, newest }) => {
                let is_right =
                    !(oldest..=newest).contains(&requested) && !(is_known && *requested == next);
                return must(is_right, || "it is in range".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        };
        let is_right = match visit.asked {
            StartAt::Now if is_known => start == next,
            StartAt::Now | StartAt::Oldest => (first..=end).contains(&start),
            StartAt::Sequence(asked) => start == asked,
        };
        let oldest = next.saturating_sub(self.program.capacity as u64);
        must(is_right && (start >= oldest || self.program.is_multi), || {
            format!("it begins at {start}, next={next}")
        })
    }

    fn judge_report(&self) -> Judgement {
        let is_fine = |ended: &Ended| matches!(ended.outcome, Outcome::Drained | Outcome::Stopped);
        let of_graph = self.observed.ended.iter();
        let is_well = of_graph.clone().all(is_fine);
        must(self.observed.is_well.is_none_or(|said| said == is_well), || {
            format!("the report says {is_well}")
        })?;
        let known: usize = self
            .program
            .stages
            .iter()
            .filter(|stage| !stage.is_poller())
            .map(|stage| stage.consumers())
            .sum();
        let clear = usize::from(self.program.clears);
        must(of_graph.count() == known + clear, || "a result is missing".to_owned())?;
        let dropped: u64 = self.observed.feeds.iter().map(|feed| feed.dropped).sum();
        let snapshot = &self.observed.snapshot;
        must(snapshot.dropped == dropped, || format!("{dropped} events were dropped: {snapshot}"))?;
        let end = self.history.end();
        let is_counted =
            (snapshot.published, snapshot.claimed) == (end, end) || !self.causes.is_empty();
        must(is_counted, || format!("{end} sequences were published: {snapshot}"))
    }
}

/// Whether a consumer has left the ring by itself, and did not halt it.
fn has_left(past: &Past) -> bool {
    matches!(&past.end, Ending::Left | Ending::Own(Outcome::Stopped | Outcome::Detached { .. }))
}

/// Whether a consumer has left, also because it was stopped from outside.
fn is_gone(past: &Past, ended: Option<&Ended>) -> bool {
    let is_over = |ended: &Ended| matches!(ended.outcome, Outcome::Drained | Outcome::Stopped);
    has_left(past)
        || past.end == Ending::Closed
        || past.end == Ending::Open && ended.is_some_and(is_over)
}
