//! What became of each sequence, as the calls of the producers say it.

use lapwing::Sequence;

use super::event::NO_EVENT;
use super::producers::Feed;
use super::program::Program;

/// What became of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claimed {
    /// It was accepted as the event with this id.
    Event(u64),
    /// Its claim was given up.
    GivenUp,
    /// Its call returned an error. Only a halt does that to a call that has claimed.
    Unknown,
}

/// All sequences from the first one on.
#[derive(Debug)]
pub(super) struct History {
    first: Sequence,
    claimed: Vec<Claimed>,
}

impl History {
    #[cfg(test)]
    pub(super) fn of(first: Sequence, claimed: Vec<Claimed>) -> Self {
        Self { first, claimed }
    }

    /// # Errors
    ///
    /// Two calls got the same sequence, or one producer got its sequences out of order.
    pub(super) fn new(program: &Program, feeds: &[Feed]) -> Result<Self, String> {
        let mut history = Self { first: program.first, claimed: Vec::new() };
        for feed in feeds {
            if !feed.accepted.is_sorted_by(|one, next| one.sequence < next.sequence) {
                return Err("a producer got its sequences out of order".to_owned());
            }
            for accepted in &feed.accepted {
                history.settle(accepted.sequence, Claimed::Event(accepted.id))?;
            }
            // The only producer claims the same slots again.
            for &sequence in feed.given_up.iter().filter(|_| program.is_multi) {
                history.settle(sequence, Claimed::GivenUp)?;
            }
        }
        Ok(history)
    }

    fn settle(&mut self, sequence: Sequence, as_what: Claimed) -> Result<(), String> {
        let place =
            sequence.checked_sub(self.first).ok_or("a sequence before the first one")? as usize;
        if place >= self.claimed.len() {
            self.claimed.resize(place + 1, Claimed::Unknown);
        }
        if self.claimed[place] != Claimed::Unknown {
            return Err(format!("two calls got the sequence {sequence}"));
        }
        self.claimed[place] = as_what;
        Ok(())
    }

    pub(super) fn end(&self) -> Sequence {
        self.first + self.claimed.len() as u64
    }

    /// `None` beyond the end.
    pub(super) fn at(&self, sequence: Sequence) -> Option<Claimed> {
        self.claimed.get(sequence.checked_sub(self.first)? as usize).copied()
    }

    /// The id of an event; that of an empty slot for anything else.
    pub(super) fn id(&self, sequence: Sequence) -> u64 {
        if let Some(Claimed::Event(id)) = self.at(sequence) { id } else { NO_EVENT }
    }

    /// The first sequence from `from` on that was not given up.
    pub(super) fn after_given_up(&self, from: Sequence) -> Sequence {
        let is_passed = |sequence: &Sequence| {
            matches!(self.at(*sequence), Some(Claimed::GivenUp | Claimed::Unknown))
        };
        (from..).find(|sequence| !is_passed(sequence)).expect("the history ends")
    }

    /// The sequences of all events.
    pub(super) fn events(&self) -> impl Iterator<Item = Sequence> {
        let sequences = (self.first..).zip(&self.claimed);
        sequences
            .filter(|(_, claimed)| matches!(claimed, Claimed::Event(_)))
            .map(|(sequence, _)| sequence)
    }

    /// Whether it is known what became of each sequence.
    pub(super) fn is_complete(&self) -> bool {
        !self.claimed.contains(&Claimed::Unknown)
    }
}
