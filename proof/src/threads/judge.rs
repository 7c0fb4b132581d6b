//! Compares a whole run with what the model says: each consumer, each group, each result of a
//! producer, and the report.

use lapwing::Sequence;
use lapwing::consumer::Outcome;
use lapwing::error::{BatchError, HaltCause, SeatError};
use lapwing::graph::StartAt;
use lapwing::monitor::RingState;

use super::consumers::{Ended, Visit};
use super::event::{CLEARED, KEYS, NO_EVENT, key_of};
use super::history::Claimed;
use super::producers::{Feed, may_refuse};
use super::program::{End, Form, Program, consumer_name};
use super::rules::{Ending, Past, must};
use super::run::Observed;
use super::world::World;

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

impl World<'_> {
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
                must(!self.program.is_multi && accepted.found.id == NO_EVENT, || {
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
            let mut calls: Vec<_> = pasts.iter().flat_map(|past| &past.done).collect();
            calls.sort_unstable();
            for key in 0..KEYS {
                let is_of_key = |sequence: Sequence| key_of(self.history.id(sequence)) == key;
                let of_key = calls.iter().filter(|(sequence, _)| is_of_key(**sequence));
                let is_in_order = of_key.is_sorted_by(|(_, one), (_, next)| one.1 <= next.0);
                must(is_in_order, || format!("the group {stage} did the key {key} out of order"))?;
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
                let is_now = is_known && *requested == next;
                let is_right = !is_now && !(oldest..=newest).contains(&requested);
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
        let is_halted = snapshot.state == RingState::Halted;
        must(!is_halted || !self.causes.is_empty(), || format!("nothing halts: {snapshot}"))?;
        must(is_halted || !self.must_halt(), || format!("it is not halted: {snapshot}"))?;
        let end = self.history.end();
        let is_counted =
            (snapshot.published, snapshot.claimed) == (end, end) || !self.causes.is_empty();
        must(is_counted, || format!("{end} sequences were published: {snapshot}"))
    }
}
