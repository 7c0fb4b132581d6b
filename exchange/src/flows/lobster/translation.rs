//! Translates messages to commands, one after the other.

use std::collections::BTreeMap;

use super::message::{Kind, Message};

use super::incoming::Incoming;
use super::orders::{Earlier, MAKERS, Orders, earlier_orders, side_of, ticks_of};
use super::queues::Queues;
use super::{Counts, Fill, Recording, Step, has_level};
use crate::types::{
    AccountId, Cancel, Command, Deposit, Limits, MAX_CASH, NewOrder, OrderKind, OrderRef, Price,
    Quantity, Replace, Resting, SelfTrade, Side, SymbolId, SymbolSpec,
};

const SYMBOL: SymbolId = SymbolId(0);
/// How many orders may rest. The recorded hour has up to some thousands.
const MAX_RESTING: u32 = 1 << 16;

pub(super) fn translate(messages: &[Message]) -> Recording {
    let mut translation = Translation {
        steps: Vec::new(),
        orders: Orders::new(),
        queues: Queues::default(),
        earlier: earlier_orders(messages),
        counts: Counts { messages: messages.len() as u64, ..Counts::default() },
        message: 0,
    };
    translation.counts.older = translation.earlier.len() as u64;
    while let Some(first) = messages.get(translation.message) {
        translation.enter_earlier_orders(first);
        translation.message += translation.step(first, &messages[translation.message..]);
    }
    Recording { opening: opening(messages), steps: translation.steps, counts: translation.counts }
}

struct Translation {
    steps: Vec<Step>,
    orders: Orders,
    queues: Queues,
    /// Orders that are older than their first message and are not entered yet.
    earlier: BTreeMap<i64, Earlier>,
    counts: Counts,
    /// The number of messages that are translated.
    message: usize,
}

impl Translation {
    /// Enters those that are older than the order of `message`.
    fn enter_earlier_orders(&mut self, message: &Message) {
        let is_named =
            matches!(message.kind, Kind::Add | Kind::Cancel | Kind::Delete | Kind::Execute);
        while is_named
            && let Some(entry) = self.earlier.first_entry()
            && *entry.key() <= message.order_id
        {
            let (file_id, order) = entry.remove_entry();
            let id = self.orders.add(file_id, order.quantity);
            let Earlier { side, price, quantity } = order;
            self.queues.add(file_id, side, price, quantity);
            self.push(new(id, side, OrderKind::PostOnly, price, quantity));
        }
    }

    /// Translates the first of `messages`, or the incoming order that begins with it. Returns the
    /// number of messages.
    fn step(&mut self, first: &Message, messages: &[Message]) -> usize {
        match first.kind {
            Kind::Add => self.add(first),
            Kind::Cancel => {
                self.queues.take(first.order_id, first.size);
                self.reduce(first);
            }
            Kind::Delete => self.delete(first),
            Kind::Execute => return self.incoming(&Incoming::first_of(messages)),
            Kind::ExecuteHidden | Kind::Cross | Kind::Halt => self.counts.without_command += 1,
        }
        1
    }

    fn add(&mut self, message: &Message) {
        if self.orders.is_known(message.order_id) {
            return;
        }
        let id = self.orders.add(message.order_id, message.size);
        let (side, price) = (side_of(message), ticks_of(message));
        self.queues.add(message.order_id, side, price, message.size);
        self.push(new(id, side, OrderKind::Limit, price, message.size));
    }

    /// Makes an order smaller, or cancels it if nothing is left.
    fn reduce(&mut self, message: &Message) {
        let Some(known) = self.orders.get_mut(message.order_id) else { return };
        known.total = known.total.saturating_sub(message.size);
        let OrderRef { account, order } = known.id;
        let quantity = known.total;
        self.push(Command::Replace(Replace {
            account,
            order,
            symbol: SYMBOL,
            kind: Resting::PostOnly,
            self_trade: SelfTrade::CancelNewest,
            price: ticks_of(message),
            quantity,
        }));
    }

    fn delete(&mut self, message: &Message) {
        let Some(known) = self.orders.get_mut(message.order_id) else { return };
        let OrderRef { account, order } = known.id;
        self.queues.remove(message.order_id);
        self.push(Command::Cancel(Cancel { account, order, symbol: SYMBOL }));
    }

    fn incoming(&mut self, incoming: &Incoming<'_>) -> usize {
        self.counts.incoming += 1;
        self.counts.without_command += incoming.hidden() as u64;
        if self.executes_in_turn(incoming) {
            self.enter(incoming);
        } else {
            self.counts.out_of_turn += 1;
            incoming.visible().for_each(|message| self.reduce(message));
            incoming.rest.into_iter().for_each(|rest| self.add(rest));
        }
        incoming.len()
    }

    /// Takes the executions from the queues. Returns whether each order was the first.
    fn executes_in_turn(&mut self, incoming: &Incoming<'_>) -> bool {
        let side = incoming.side().opposite();
        let mut passes_over = |message: &&Message| {
            let is_first = self.queues.is_first(message.order_id, side);
            self.queues.take(message.order_id, message.size);
            !is_first
        };
        // Each execution is taken, also behind one that is out of turn.
        incoming.visible().filter(&mut passes_over).count() == 0
    }

    fn enter(&mut self, incoming: &Incoming<'_>) {
        let trades: Vec<_> = incoming.visible().filter_map(|message| self.fill(message)).collect();
        let quantity = incoming.quantity();
        let (side, limit) = (incoming.side(), incoming.limit());
        let command = if let Some(rest) = incoming.rest {
            let makers: Vec<_> = trades.iter().map(|fill| fill.maker).collect();
            let total = quantity.saturating_add(rest.size);
            let id = self.orders.add_incoming(rest.order_id, total, &makers);
            self.queues.add(rest.order_id, side, limit, rest.size);
            self.counts.incoming_rested += 1;
            new(id, side, OrderKind::Limit, limit, total)
        } else {
            new(self.orders.taker(), side, OrderKind::ImmediateOrCancel, limit, quantity)
        };
        self.steps.push(Step { command, trades, message: self.message });
    }

    fn fill(&mut self, message: &Message) -> Option<Fill> {
        let maker = self.orders.get_mut(message.order_id)?.id;
        Some(Fill { maker, price: ticks_of(message), quantity: message.size })
    }

    fn push(&mut self, command: Command) {
        self.steps.push(Step { command, trades: Vec::new(), message: self.message });
    }
}

fn new(id: OrderRef, side: Side, kind: OrderKind, price: Price, quantity: Quantity) -> Command {
    Command::New(NewOrder {
        account: id.account,
        order: id.order,
        symbol: SYMBOL,
        side,
        kind,
        self_trade: SelfTrade::CancelNewest,
        price,
        quantity,
    })
}

/// Returns the commands that open a book with all prices of the file, and the accounts.
fn opening(messages: &[Message]) -> Vec<Command> {
    let prices = || {
        messages
            .iter()
            .filter(|message| has_level(message))
            .map(ticks_of)
            .filter(|&price| price > 0)
    };
    let (lowest, highest) = (prices().min().unwrap_or(1), prices().max().unwrap_or(1));
    let spec = SymbolSpec { symbol: SYMBOL, lowest, highest, max_orders: MAX_RESTING };
    let mut commands = vec![Command::AddSymbol(spec)];
    let amount = MAX_CASH / i64::from(MAKERS + 1);
    for account in (0..=MAKERS).map(AccountId) {
        commands.extend([
            Command::AddAccount(account),
            Command::Deposit(Deposit { account, amount }),
            Command::SetLimits(account, Limits::UNLIMITED),
        ]);
    }
    commands
}
