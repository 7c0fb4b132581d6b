//! A desk sends short commands to both exchanges and reads their reports as text.

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::plain::PlainExchange;
use exchange::state::{AccountState, State};
use exchange::types::{
    AccountId, Cancel, Command, Deposit, Limits, Memory, NewOrder, OrderId, OrderKind, OrderRef,
    Replace, Report, Resting, SelfTrade, Side, SymbolId, SymbolSpec,
};

pub(crate) const ANN: AccountId = AccountId(1);
pub(crate) const BOB: AccountId = AccountId(2);
pub(crate) const CYD: AccountId = AccountId(3);
pub(crate) const SYMBOL: SymbolId = SymbolId(7);

/// The band is 90 to 110.
pub(crate) const SPEC: SymbolSpec =
    SymbolSpec { symbol: SYMBOL, lowest: 90, highest: 110, max_orders: 6 };

/// What each account has at the start.
pub(crate) const CASH: i64 = 1_000_000;

/// Limits that nothing here reaches.
pub(crate) const WIDE: Limits =
    Limits { max_order: 1_000, max_long: 10_000, max_short: 10_000, max_open_notional: 10_000_000 };

/// Both exchanges.
#[derive(Default)]
pub(crate) struct Desk {
    engine: Engine,
    plain: PlainExchange,
}

impl Desk {
    /// Returns a desk with one symbol and three accounts.
    pub(crate) fn new() -> Self {
        let mut desk = Self::default();
        desk.send(Command::AddSymbol(SPEC));
        for account in [ANN, BOB, CYD] {
            desk.send(Command::AddAccount(account));
            desk.send(Command::Deposit(Deposit { account, amount: CASH }));
            desk.send(Command::SetLimits(account, WIDE));
        }
        desk
    }

    /// Carries out a command on both exchanges, which must report the same. Returns the reports.
    pub(crate) fn send(&mut self, command: Command) -> Vec<String> {
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        self.engine.apply(&command, &mut |report| found.push(report));
        self.plain.apply(&command, &mut |report| expected.push(report));
        assert_eq!(found, expected, "{command:?}");
        assert_eq!(self.engine.state(), self.plain.state(), "{command:?}");
        found.iter().map(text).collect()
    }

    /// Sends an order that cancels older ones of its account.
    pub(crate) fn order(
        &mut self,
        (account, order): (AccountId, u64),
        kind: OrderKind,
        side: Side,
        price: u32,
        quantity: u32,
    ) -> Vec<String> {
        self.send(new((account, order), kind, side, price, quantity, SelfTrade::CancelOldest))
    }

    pub(crate) fn buy(&mut self, id: (AccountId, u64), price: u32, quantity: u32) -> Vec<String> {
        self.order(id, OrderKind::Limit, Side::Buy, price, quantity)
    }

    pub(crate) fn sell(&mut self, id: (AccountId, u64), price: u32, quantity: u32) -> Vec<String> {
        self.order(id, OrderKind::Limit, Side::Sell, price, quantity)
    }

    pub(crate) fn cancel(&mut self, (account, order): (AccountId, u64)) -> Vec<String> {
        self.send(Command::Cancel(Cancel { account, order: OrderId(order), symbol: SYMBOL }))
    }

    pub(crate) fn replace(
        &mut self,
        id: (AccountId, u64),
        kind: Resting,
        price: u32,
        quantity: u32,
    ) -> Vec<String> {
        let (account, order) = (id.0, OrderId(id.1));
        let (symbol, self_trade) = (SYMBOL, SelfTrade::CancelOldest);
        let terms = Replace { account, order, symbol, kind, self_trade, price, quantity };
        self.send(Command::Replace(terms))
    }

    pub(crate) fn memory(&self) -> &Memory {
        self.engine.memory()
    }

    pub(crate) fn state(&self) -> State {
        self.engine.state()
    }

    pub(crate) fn account(&self, id: AccountId) -> AccountState {
        let state = self.state();
        state.accounts.iter().find(|account| account.id == id).expect("it exists").clone()
    }

    /// Returns the names of the resting orders of a side, in the order in which they trade.
    pub(crate) fn queue(&self, side: Side) -> Vec<String> {
        let state = self.state();
        let orders = state.books[0].orders().filter(|(of, _)| *of == side);
        orders.map(|(_, order)| name(order.id)).collect()
    }
}

/// Returns a new order for the symbol.
pub(crate) fn new(
    (account, order): (AccountId, u64),
    kind: OrderKind,
    side: Side,
    price: u32,
    quantity: u32,
    self_trade: SelfTrade,
) -> Command {
    let (order, symbol) = (OrderId(order), SYMBOL);
    Command::New(NewOrder { account, order, symbol, side, kind, self_trade, price, quantity })
}

fn name(id: OrderRef) -> String {
    let account = match id.account {
        ANN => "ann",
        BOB => "bob",
        CYD => "cyd",
        _ => "?",
    };
    format!("{account}{}", id.order.0)
}

/// Returns a report as a short text.
fn text(report: &Report) -> String {
    match report {
        Report::Accepted(order) => {
            format!("accepted {} {} at {}", name(order.id), order.open, order.price)
        }
        Report::Rejected { request, reason, .. } => format!("{request:?} {reason:?}"),
        Report::Trade(trade) => format!(
            "trade {} at {}: {} has {}, {} has {}",
            trade.quantity,
            trade.price,
            name(trade.maker),
            trade.maker_open,
            name(trade.taker),
            trade.taker_open
        ),
        Report::Cancelled(order, cause) => {
            format!("cancelled {} {}: {cause:?}", name(order.id), order.open)
        }
        Report::Replaced { new, old_price, old_open } => format!(
            "replaced {} {} at {}, was {old_open} at {old_price}",
            name(new.id),
            new.open,
            new.price
        ),
        Report::Reduced(order, cause) => {
            format!("reduced {} by {}: {cause:?}", name(order.id), order.open)
        }
        Report::Level(level) => format!(
            "{} {}: {} in {}",
            if level.side == Side::Buy { "bids" } else { "asks" },
            level.price,
            level.quantity,
            level.orders
        ),
        other => format!("{other:?}"),
    }
}
