//! Carries out a recording and compares each trade with it.

use super::{Fill, Recording, Step};
use crate::Exchange;
use crate::types::{Reason, Report};

/// What a replay has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Incoming orders that caused exactly their recorded trades.
    pub agree: u64,
    /// Trades of those orders.
    pub trades: u64,
    /// Other commands, which caused no trade.
    pub quiet: u64,
    /// Steps that caused other trades, or were rejected.
    pub differences: Vec<Difference>,
}

/// A step that went another way than in the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The step.
    pub step: Step,
    /// Its trades.
    pub found: Vec<Fill>,
    /// The reason, if the command was rejected.
    pub rejected: Option<Reason>,
}

impl Recording {
    /// Carries out all steps on an exchange that is new.
    pub fn replay(&self, exchange: &mut impl Exchange) -> Outcome {
        for command in &self.opening {
            exchange.apply(command, &mut |_| ());
        }
        let mut outcome = Outcome::default();
        for step in &self.steps {
            outcome.add(step, exchange);
        }
        outcome
    }
}

impl Outcome {
    fn add(&mut self, step: &Step, exchange: &mut impl Exchange) {
        let (mut found, mut rejected) = (Vec::new(), None);
        exchange.apply(&step.command, &mut |report| match report {
            Report::Trade(trade) => {
                let (maker, price, quantity) = (trade.maker, trade.price, trade.quantity);
                found.push(Fill { maker, price, quantity });
            }
            Report::Rejected { reason, .. } => rejected = Some(reason),
            _ => {}
        });
        if found != step.trades || rejected.is_some() {
            self.differences.push(Difference { step: step.clone(), found, rejected });
        } else if found.is_empty() {
            self.quiet += 1;
        } else {
            self.agree += 1;
            self.trades += found.len() as u64;
        }
    }
}
