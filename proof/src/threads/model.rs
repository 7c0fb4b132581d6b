//! What one consumer must do: a sequential program that reads the notes of the consumer and knows
//! each next note.
//!
//! Threads leave three things open: how long a batch is, when a stage is cut off by a halt or a
//! stop, and which worker of a group gets an event. The model takes these from the notes.
//! Everything else it knows: which event comes, what its upstream stages have done to it, whether
//! it is announced as failed, what follows from what the handler does, and how the stage ends.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use lapwing::consumer::Outcome;
use lapwing::{Action, Sequence};

use super::event::{Note, Seen};
use super::program::{Policy, Repeat, Verdict, message};
use super::rules::{Ending, Past, Rules, must};

/// What failed again counts as one more attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Nothing,
    Event(Sequence),
    Batch(Sequence),
}

/// A failure of a handler.
struct Failure {
    message: String,
    is_panic: bool,
}

struct Replay<'a> {
    rules: &'a Rules<'a>,
    notes: &'a [Note],
    /// Number of notes that were read.
    read: usize,
    past: Past,
    again: Again,
    attempt: u32,
    /// The end of the claim that a worker has not finished.
    claim: Option<Sequence>,
    /// When the handler was last called with each event that is not finished.
    times: BTreeMap<Sequence, (u64, u64)>,
    is_broken: bool,
}

/// Replays `notes`.
///
/// # Errors
///
/// The consumer did something else than it must.
pub(super) fn replay(rules: &Rules<'_>, notes: &[Note]) -> Result<Past, String> {
    let past = Past { start: rules.start, next: rules.start, ..Past::default() };
    let (again, times) = (Again::Nothing, BTreeMap::new());
    let mut replay = Replay {
        rules,
        notes,
        read: 0,
        past,
        again,
        attempt: 0,
        claim: None,
        times,
        is_broken: false,
    };
    replay.run().map_err(|wrong| {
        let near = replay.read.saturating_sub(3)..notes.len().min(replay.read + 2);
        format!(
            "{wrong}; next={}, notes {near:?} of {}: {:#?}",
            replay.past.next,
            notes.len(),
            &notes[near.clone()]
        )
    })?;
    Ok(replay.past)
}

type Step = Result<(), String>;

impl<'a> Replay<'a> {
    fn peek(&self) -> Option<&'a Note> {
        self.notes.get(self.read)
    }

    /// Reads the next note, which must be `expected`.
    fn expect(&mut self, expected: &Note) -> Step {
        must(self.peek() == Some(expected), || format!("{expected:?} must come next"))?;
        self.read += 1;
        Ok(())
    }

    fn run(&mut self) -> Step {
        if self.rules.is_handler {
            self.expect(&Note::Start)?;
        }
        while self.past.end == Ending::Open {
            match self.peek() {
                None | Some(Note::Shutdown) => break,
                Some(note) => {
                    self.read += 1;
                    self.follow_note(note)?;
                }
            }
        }
        if self.rules.is_handler && !self.is_broken {
            self.expect(&Note::Shutdown)?;
        }
        must(self.peek().is_none(), || "it was called after its end".to_owned())
    }

    fn follow_note(&mut self, note: &Note) -> Step {
        match note {
            Note::Timeout(next) | Note::Released(next) => self.pass_to(*next),
            Note::BatchStart { size, depth } => {
                must((*size..=self.rules.capacity).contains(depth), || {
                    format!("a depth of {depth}")
                })?;
                self.batch(*size)
            }
            Note::Event(_) if !self.rules.is_handler => self.calls(),
            Note::Batch(seen) => self.whole_batch(seen),
            Note::Polled(seen, consumed) => {
                let first = self.begin(seen)?;
                seen.iter()
                    .zip(first..)
                    .try_for_each(|(seen, sequence)| self.check(seen, sequence))?;
                self.finish(first..first + consumed);
                Ok(())
            }
            Note::Closed => self.end(Ending::Closed),
            Note::Halted(cause) => self.end(Ending::Halted(*cause)),
            Note::Left => self.end(Ending::Left),
            _ => Err("a call out of order".to_owned()),
        }
    }

    fn end(&mut self, end: Ending) -> Step {
        self.past.end = end;
        Ok(())
    }

    /// Passes claims that were given up. A worker also passes events of others.
    fn pass_to(&mut self, next: Sequence) -> Step {
        if self.rules.is_worker {
            return Ok(());
        }
        let passable = self.rules.history.after_given_up(self.past.next);
        must((self.past.next..=passable).contains(&next), || format!("it passed to {next}"))?;
        self.past.next = next;
        Ok(())
    }

    /// Begins a batch with these events, which it may see. Returns the first sequence.
    fn begin(&mut self, seen: &[Seen]) -> Result<Sequence, String> {
        let first = seen.first().ok_or("an empty batch")?.sequence;
        self.begin_at(first, seen.len() as u64)?;
        Ok(first)
    }

    fn begin_at(&mut self, first: Sequence, size: u64) -> Step {
        let Rules { capacity, max_batch, is_worker, .. } = *self.rules;
        must((1..=max_batch).contains(&size), || format!("a batch of {size} events"))?;
        must(first % capacity + size <= capacity, || format!("a batch of {size} beyond the wrap"))?;
        if is_worker {
            let must_be = self.claim.map(|end| (self.past.next, end));
            must(must_be.is_none_or(|claim| claim == (first, first + size)), || {
                format!("not the claim {must_be:?}")
            })?;
            self.past.next = first;
            return Ok(());
        }
        self.pass_to(first)?;
        must(self.past.next == first, || format!("a batch at {first}"))
    }

    /// The calls of a closure, which is not told how long its batch is. The first of them is read.
    fn calls(&mut self) -> Step {
        self.read -= 1;
        let mut size = 0;
        for note in &self.notes[self.read..] {
            let Note::Event(seen) = note else { break };
            size += 1;
            if seen.is_last || !seen.verdict.continues() {
                break;
            }
        }
        self.batch(size)
    }

    /// A batch that comes event by event.
    fn batch(&mut self, size: u64) -> Step {
        let Some(Note::Event(Seen { sequence: first, .. })) = self.peek() else {
            return Err("a batch without events".to_owned());
        };
        let batch = *first..first + size;
        self.begin_at(batch.start, size)?;
        let mut first_seen = None;
        for sequence in batch.clone() {
            let Some(Note::Event(seen)) = self.peek() else {
                return Err(format!("no call for the event {sequence}"));
            };
            self.read += 1;
            self.check(seen, sequence)?;
            self.check_kind(first_seen.get_or_insert(seen), seen)?;
            let is_cut = !self.rules.is_handler && !seen.verdict.continues();
            must(is_cut || seen.is_last == (sequence + 1 == batch.end), || {
                format!("end_of_batch={}", seen.is_last)
            })?;
            if !seen.verdict.continues() {
                return self.decide(seen.verdict, sequence, sequence..sequence + 1, &batch);
            }
        }
        self.claim = None;
        self.finish(batch.clone());
        self.release(batch.end)
    }

    /// Checks that an event and the first one of its batch have both failed, or neither has.
    fn check_kind(&self, first: &Seen, seen: &Seen) -> Step {
        must(first.is_failed == seen.is_failed, || "a batch of both kinds".to_owned())
    }

    /// The call for a batch. A handler has said that the events before the verdict are done.
    fn whole_batch(&mut self, seen: &[Seen]) -> Step {
        let first = self.begin(seen)?;
        seen.iter().zip(first..).try_for_each(|(seen, sequence)| self.check(seen, sequence))?;
        seen.iter().try_for_each(|other| self.check_kind(&seen[0], other))?;
        let batch = first..first + seen.len() as u64;
        let decides = seen.iter().find(|seen| !seen.verdict.continues());
        if let Some(seen) = decides {
            let begin = if self.rules.is_handler { seen.sequence } else { first };
            return self.decide(seen.verdict, seen.sequence, begin..batch.end, &batch);
        }
        self.finish(batch.clone());
        self.release(batch.end)
    }

    /// Checks an event that the consumer saw.
    fn check(&mut self, seen: &Seen, sequence: Sequence) -> Step {
        must(!self.past.done.contains_key(&sequence), || format!("{sequence} was done before"))?;
        self.rules.check(seen, sequence)?;
        self.times.insert(sequence, seen.time);
        Ok(())
    }

    /// What follows from a verdict about `events` of `batch`, which the handler gave at the event
    /// `at`.
    fn decide(
        &mut self,
        verdict: Verdict,
        at: Sequence,
        events: Range<Sequence>,
        batch: &Range<Sequence>,
    ) -> Step {
        let (action, failure) = match verdict {
            Verdict::Says(action) => (action, None),
            Verdict::Sleeps => (Action::Continue, None),
            Verdict::Fails | Verdict::Panics => {
                let is_panic = verdict == Verdict::Panics;
                let action = self.policy(is_panic, events.start, batch.start)?;
                (action, Some(Failure { message: message(at), is_panic }))
            }
        };
        self.follow(action, failure, events, batch)
    }

    /// What the policy decides about a failure of the event `sequence`.
    fn policy(
        &mut self,
        is_panic: bool,
        sequence: Sequence,
        batch: Sequence,
    ) -> Result<Action, String> {
        let is_again = [Again::Event(sequence), Again::Batch(batch)].contains(&self.again);
        self.attempt = if is_again { self.attempt + 1 } else { 1 };
        let policy = if is_panic { self.rules.on_panic } else { self.rules.on_error };
        let expected = match policy {
            Policy::None => Action::Halt,
            Policy::Always(action) => action,
            Policy::Retries { attempts, or, .. } if self.attempt >= attempts => or,
            Policy::Retries { repeat: Repeat::Event, .. } => Action::Retry(Duration::ZERO),
            Policy::Retries { repeat: Repeat::Batch, .. } => Action::Rewind(Duration::ZERO),
            Policy::Retries { repeat: Repeat::WithRestart, .. } => Action::Restart(Duration::ZERO),
        };
        if !matches!(policy, Policy::None) {
            let (attempt, action) = (self.attempt, expected);
            self.expect(&Note::Policy { sequence, attempt, action, is_panic })?;
        }
        self.again = match expected {
            Action::Retry(_) | Action::Restart(_) => Again::Event(sequence),
            Action::Rewind(_) => Again::Batch(batch),
            _ => Again::Nothing,
        };
        Ok(expected)
    }

    /// What `action` does to `events`, the next ones of `batch`.
    fn follow(
        &mut self,
        action: Action,
        failure: Option<Failure>,
        events: Range<Sequence>,
        batch: &Range<Sequence>,
    ) -> Step {
        let is_left = |next: Sequence| (next < batch.end).then_some(batch.end);
        match action {
            Action::Continue | Action::ReleaseNow => {
                self.claim = is_left(events.end);
                self.finish(batch.start..events.end);
                self.release(events.end)
            }
            Action::Skip => {
                self.claim = is_left(events.end);
                self.past.skipped.extend(events.clone());
                self.finish(batch.start..events.end);
                self.release(events.end)
            }
            Action::Rewind(_) => {
                self.claim = is_left(batch.start);
                self.past.next = batch.start;
                Ok(())
            }
            Action::Retry(_) | Action::Restart(_) => {
                self.claim = is_left(events.start);
                self.finish(batch.start..events.start);
                if events.start > batch.start {
                    self.release(events.start)?;
                }
                // A halt or a stop ends the pause without a restart.
                if matches!((action, self.peek()), (Action::Restart(_), Some(Note::Restart))) {
                    self.read += 1;
                } else if matches!(action, Action::Restart(_)) && self.rules.is_handler {
                    must(matches!(self.peek(), Some(Note::Shutdown)), || {
                        "it was not restarted".to_owned()
                    })?;
                }
                Ok(())
            }
            _ => {
                // Of the actions that end a stage, one takes the event with it.
                let end = if action == Action::SkipAndStop { events.end } else { events.start };
                self.past.skipped.extend(events.start..end);
                self.finish(batch.start..end);
                self.is_broken = failure.as_ref().is_some_and(|failure| failure.is_panic);
                self.end(Ending::Own(outcome(action, failure, events.start)))
            }
        }
    }

    fn finish(&mut self, events: Range<Sequence>) {
        self.past.next = events.end;
        let times = &mut self.times;
        self.past
            .done
            .extend(events.map(|sequence| (sequence, times.remove(&sequence).unwrap_or_default())));
    }

    /// A handler is told of each release.
    fn release(&mut self, next: Sequence) -> Step {
        if self.rules.is_handler { self.expect(&Note::Released(next)) } else { Ok(()) }
    }
}

/// How a stage ends by its own action.
fn outcome(action: Action, failure: Option<Failure>, sequence: Sequence) -> Outcome {
    match (action, failure) {
        (Action::Stop | Action::SkipAndStop, None) => Outcome::Stopped,
        (Action::Stop | Action::SkipAndStop, Some(Failure { message, .. })) => {
            Outcome::Detached { message, sequence }
        }
        (_, None) => Outcome::Halted,
        (_, Some(Failure { message, is_panic: true })) => Outcome::Panicked { message, sequence },
        (_, Some(Failure { message, is_panic: false })) => Outcome::Failed { message, sequence },
    }
}
