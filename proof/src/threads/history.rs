//! What became of each sequence, as the calls of the producers say it.

use lapwing::Sequence;

use super::event::NO_EVENT;
use super::notes::Slots;
use super::program::Program;
use super::world::Account;

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
    pub(super) fn new(program: &Program, producers: &[Vec<Slots>]) -> Result<Self, String> {
        let mut history = Self { first: program.first, claimed: Vec::new() };
        for slots in producers {
            let mut next = program.first;
            for slots in slots {
                match slots {
                    Slots::Accepted(accepted) => {
                        for accepted in accepted {
                            let sequence = accepted.sequence;
                            if sequence < next {
                                return Err("a producer got its sequences out of order".to_owned());
                            }
                            next = sequence + 1;
                            history.settle(sequence, Claimed::Event(accepted.id))?;
                        }
                    }
                    // The only producer claims the same slots again.
                    Slots::GivenUp(_) if !program.is_multi => {}
                    Slots::GivenUp(sequences) => {
                        for sequence in sequences.clone() {
                            history.settle(sequence, Claimed::GivenUp)?;
                        }
                    }
                }
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

    /// `None` beyond the end.
    pub(super) fn at(&self, sequence: Sequence) -> Option<Claimed> {
        self.claimed.get(sequence.checked_sub(self.first)? as usize).copied()
    }

    /// The id of an event; that of an empty slot for anything else.
    pub(super) fn id(&self, sequence: Sequence) -> u64 {
        if let Some(Claimed::Event(id)) = self.at(sequence) { id } else { NO_EVENT }
    }

    /// Whether it is known what became of each sequence.
    pub(super) fn is_complete(&self) -> bool {
        !self.claimed.contains(&Claimed::Unknown)
    }
}

impl Account for History {
    fn end(&self) -> Sequence {
        self.first + self.claimed.len() as u64
    }

    fn after_given_up(&self, from: Sequence) -> Sequence {
        let is_passed = |sequence: &Sequence| {
            matches!(self.at(*sequence), Some(Claimed::GivenUp | Claimed::Unknown))
        };
        (from..).find(|sequence| !is_passed(sequence)).expect("the history ends")
    }

    fn events(&self) -> u64 {
        let is_event = |claimed: &&Claimed| matches!(claimed, Claimed::Event(_));
        self.claimed.iter().filter(is_event).count() as u64
    }
}
