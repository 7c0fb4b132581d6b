//! Rebuilds an incoming order from the executions that it caused.

use super::message::{Kind, Message};

use super::orders::{side_of, ticks_of};
use crate::types::{Price, Quantity, Side};

/// An incoming order, and the messages that it caused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming<'a> {
    /// Executions of visible and hidden orders. The first is of a visible one.
    pub(super) executions: &'a [Message],
    /// What rested afterwards.
    pub(super) rest: Option<&'a Message>,
}

impl<'a> Incoming<'a> {
    /// Returns the incoming order whose first execution is the first of `messages`.
    pub(super) fn first_of(messages: &'a [Message]) -> Self {
        let first = &messages[0];
        let belongs = |message: &&Message| {
            message.time_ns == first.time_ns
                && (message.kind == Kind::ExecuteHidden
                    || message.kind == Kind::Execute && message.side == first.side)
        };
        let count = messages.iter().take_while(belongs).count();
        let executions = &messages[..count];
        let side = side_of(first).opposite();
        let rest = messages.get(count).filter(|next| {
            next.kind == Kind::Add
                && next.time_ns == first.time_ns
                && side_of(next) == side
                && side.accepts(ticks_of(next), worst_price(executions, side))
        });
        Self { executions, rest }
    }

    pub(super) fn side(&self) -> Side {
        side_of(&self.executions[0]).opposite()
    }

    /// Returns the executions that a book without hidden orders can repeat.
    pub(super) fn visible(&self) -> impl Iterator<Item = &'a Message> {
        self.executions.iter().filter(|message| message.kind == Kind::Execute)
    }

    /// Returns the quantity of the visible executions.
    pub(super) fn quantity(&self) -> Quantity {
        self.visible().fold(0, |sum, message| sum.saturating_add(message.size))
    }

    /// Returns the number of executions of hidden orders.
    pub(super) fn hidden(&self) -> usize {
        self.executions.len() - self.visible().count()
    }

    /// Returns the limit: that of what rested, else the worst price of an execution.
    pub(super) fn limit(&self) -> Price {
        self.rest.map_or_else(|| worst_price(self.executions, self.side()), ticks_of)
    }

    /// Returns the number of messages.
    pub(super) fn len(&self) -> usize {
        self.executions.len() + usize::from(self.rest.is_some())
    }
}

/// Returns the worst price of the visible executions for an incoming order of a side.
fn worst_price(executions: &[Message], side: Side) -> Price {
    let visible = executions.iter().filter(|message| message.kind == Kind::Execute);
    let prices = visible.map(ticks_of);
    match side {
        Side::Buy => prices.max(),
        Side::Sell => prices.min(),
    }
    .unwrap_or(0)
}
