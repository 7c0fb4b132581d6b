//! What one consumer must do: a sequential program that reads the notes of the consumer and knows
//! each next note.
//!
//! Threads leave three things open: how long a batch is, when a stage is cut off by a halt or a
//! stop, and which worker of a group gets an event. The model takes these from the notes.
//! Everything else it knows: which event comes, what its upstream stages have done to it, whether
//! it is announced as failed, what follows from what the handler does, and how the stage ends.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lapwing::Sequence;

use super::notes::{Note, Seen};
use super::past::{Effect, Ending, Past, Reactions};
use super::program::Verdict;
use super::rules::{Rules, must};
use super::witness::Call;
use super::world::Account;

/// What a consumer has done, event by event.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The events that it has finished, and when the last call for each of them began and ended.
    pub(super) done: BTreeMap<Sequence, (u64, u64)>,
    pub(super) skipped: BTreeSet<Sequence>,
}

struct Replay<'a> {
    rules: &'a Rules<'a>,
    notes: &'a [Note],
    /// Number of notes that were read.
    read: usize,
    past: Past,
    events: Events,
    reactions: Reactions,
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
pub(super) fn replay(rules: &Rules<'_>, notes: &[Note]) -> Result<(Past, Events), String> {
    let mut replay = Replay {
        rules,
        notes,
        read: 0,
        past: Past::new(rules.start),
        events: Events::default(),
        reactions: Reactions::new(rules.on_error, rules.on_panic),
        claim: None,
        times: BTreeMap::new(),
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
    Ok((replay.past, replay.events))
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
            self.expect(&Note::Call(Call::Start))?;
        }
        while self.past.end == Ending::Open {
            match self.peek() {
                None | Some(Note::Call(Call::Shutdown)) => break,
                Some(note) => {
                    self.read += 1;
                    self.follow_note(note)?;
                }
            }
        }
        if self.rules.is_handler && !self.is_broken {
            self.expect(&Note::Call(Call::Shutdown))?;
        }
        must(self.peek().is_none(), || "it was called after its end".to_owned())
    }

    fn follow_note(&mut self, note: &Note) -> Step {
        match note {
            Note::Event(_) if !self.rules.is_handler => self.calls(),
            Note::Batch(seen) => self.whole_batch(seen),
            Note::Polled(seen, consumed) => {
                let first = self.begin(seen)?;
                seen.iter()
                    .zip(first..)
                    .try_for_each(|(seen, sequence)| self.check(seen, sequence))?;
                self.finish(&Effect::of_all(first..first + consumed));
                Ok(())
            }
            Note::Call(call) => self.follow_call(*call),
            _ => Err("a call out of order".to_owned()),
        }
    }

    fn follow_call(&mut self, call: Call) -> Step {
        match call {
            Call::Timeout(next) | Call::Released(next) => self.pass_to(next),
            Call::BatchStart { size, depth } => {
                must((size..=self.rules.capacity).contains(&depth), || {
                    format!("a depth of {depth}")
                })?;
                self.batch(size)
            }
            Call::Closed => self.end(Ending::Closed),
            Call::Halted(cause) => self.end(Ending::Halted(cause)),
            Call::Left => self.end(Ending::Left),
            Call::Start | Call::Restart | Call::Shutdown => Err("a call out of order".to_owned()),
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
        self.finish(&Effect::of_all(batch.clone()));
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
        self.finish(&Effect::of_all(batch.clone()));
        self.release(batch.end)
    }

    /// Checks an event that the consumer saw.
    fn check(&mut self, seen: &Seen, sequence: Sequence) -> Step {
        must(!self.events.done.contains_key(&sequence), || format!("{sequence} was done before"))?;
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
        let (effect, decision) = self.reactions.follow(verdict, at, events, batch.start);
        if let Some(decision) = decision {
            self.expect(&Note::Policy(decision))?;
        }
        self.finish(&effect);
        if let Some(outcome) = &effect.outcome {
            // A handler that panicked is not called again.
            self.is_broken = matches!(verdict, Verdict::Panics);
            return self.end(Ending::Own(outcome.clone()));
        }
        let next = effect.finished.end;
        self.claim = (next < batch.end).then_some(batch.end);
        if !effect.finished.is_empty() {
            self.release(next)?;
        }
        if effect.restarts { self.restart() } else { Ok(()) }
    }

    /// A halt or a stop ends the pause without a restart.
    fn restart(&mut self) -> Step {
        match self.peek() {
            Some(Note::Call(Call::Restart)) => self.read += 1,
            Some(Note::Call(Call::Shutdown)) => {}
            _ if self.rules.is_handler => return Err("it was not restarted".to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, effect: &Effect) {
        self.past.add(effect);
        self.events.skipped.extend(effect.skipped.clone());
        let Self { events, times, .. } = self;
        let time = |sequence| (sequence, times.remove(&sequence).unwrap_or_default());
        events.done.extend(effect.finished.clone().map(time));
    }

    /// A handler is told of each release.
    fn release(&mut self, next: Sequence) -> Step {
        if self.rules.is_handler { self.expect(&Note::Call(Call::Released(next))) } else { Ok(()) }
    }
}
