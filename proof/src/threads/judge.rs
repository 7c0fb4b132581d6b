//! Compares how a whole run ended with what must be: each consumer, each result of a producer, and
//! the report.

use lapwing::consumer::Outcome;
use lapwing::error::{BatchError, DynamicStageError, HaltCause};
use lapwing::graph::StartAt;
use lapwing::monitor::RingState;

use super::consumers::{Ended, Visit};
use super::past::{Ending, Past};
use super::producers::Feed;
use super::program::{End, consumer_name};
use super::rules::must;
use super::world::World;

pub(super) type Judgement = Result<(), String>;

impl World<'_> {
    /// # Errors
    ///
    /// Says what is not as it must be.
    pub(super) fn judge(&self) -> Judgement {
        self.judge_ends()?;
        self.judge_producers()?;
        self.judge_guests()?;
        self.judge_report()
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
        let next = self.account.after_given_up(past.next);
        must(next == self.account.end(), || {
            format!("it ends at {next}, the history at {}", self.account.end())
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
        let is_group = stage.is_some_and(|stage| self.program.stages[stage].is_group());
        match (&past.end, &ended.outcome) {
            (Ending::Own(own), outcome) if own == outcome => {}
            (Ending::Own(Outcome::Stopped), Outcome::Halted) => {
                self.must_be_halted(HaltCause::NoConsumers)?
            }
            (Ending::Open, Outcome::Drained) if is_group => {
                let pasts = stage.map_or(&[][..], |stage| &self.pasts[stage]);
                let done: u64 = pasts.iter().map(|past| past.handled).sum();
                must(done == self.account.events(), || format!("its group did {done} events"))?;
            }
            (Ending::Open, Outcome::Drained) => self.must_have_drained(past)?,
            (Ending::Open, Outcome::Halted) => {
                must(!self.causes.is_empty(), || "nothing halts".to_owned())?
            }
            (Ending::Open, Outcome::Stopped) => must(is_stopped, || "nothing stops it".to_owned())?,
            (end, _) => return Err(format!("its notes say {end:?}")),
        }
        let (handled, skipped) = (past.handled, past.skipped);
        must((ended.handled, ended.skipped) == (handled, skipped), || {
            format!("handled={handled}, skipped={skipped}")
        })?;
        if is_group {
            return must(ended.processed >= handled, || "it processed too few".to_owned());
        }
        let at_most = if past.end == Ending::Open {
            self.account.after_given_up(past.next)
        } else {
            past.next
        };
        let processed = past.next - past.start..=at_most - past.start;
        must(processed.contains(&ended.processed), || format!("processed={processed:?}"))
    }

    fn judge_producers(&self) -> Judgement {
        for (number, feed) in self.observed.feeds.iter().enumerate() {
            let judged = self.judge_feed(feed);
            judged.map_err(|wrong| format!("producer {number}: {wrong}"))?;
        }
        Ok(())
    }

    fn judge_feed(&self, feed: &Feed) -> Judgement {
        let is_closed = match self.program.end {
            End::DropProducers | End::Die => false,
            End::Halt(_) => self.program.by_hand,
            End::Close(_) | End::Shutdown(_) => true,
        };
        let mut is_over = None;
        for &(index, call, error) in &feed.refused {
            let is_right = match error {
                BatchError::Closed => is_closed,
                BatchError::Halted(cause) => self.causes.contains(&cause),
                _ => false,
            };
            must(is_right, || format!("{call:?}: {error:?}, causes={:?}", self.causes))?;
            is_over = is_over.or(Some(index));
        }
        let last = feed.last;
        must(is_over.is_none() || last < is_over, || {
            format!("accepted at {last:?} after an end at {is_over:?}")
        })?;
        // A close by the producer itself takes effect at once.
        if let Some(at) = feed.closed_at {
            must(last.is_none_or(|last| last < at), || {
                format!("accepted at {last:?}, closed at {at}")
            })?;
            let is_early = |&(index, _, error): &_| error == BatchError::Closed && index < at;
            must(!feed.refused.iter().any(is_early), || format!("closed before {at}"))?;
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
        let (next, first, end) = (visit.next, self.program.first, self.account.end());
        let start = match &visit.start {
            Ok(start) => *start,
            Err(DynamicStageError::NoneReserved) => {
                return must(self.program.dynamic_stages == 0, || {
                    "there are dynamic stages".to_owned()
                });
            }
            Err(DynamicStageError::NoneFree { stages }) => {
                return must(*stages == self.program.dynamic_stages && guests > *stages, || {
                    "a dynamic stage is free".to_owned()
                });
            }
            Err(DynamicStageError::Halted(cause)) => return self.must_be_halted(*cause),
            Err(DynamicStageError::OutOfRange { requested, oldest, newest }) => {
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
        let end = self.account.end();
        let is_counted =
            (snapshot.published, snapshot.claimed) == (end, end) || !self.causes.is_empty();
        must(is_counted, || format!("{end} sequences were published: {snapshot}"))
    }
}
