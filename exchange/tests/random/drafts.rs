//! Random commands. A draft becomes a command when the state is known, so that most cancellations and
//! replacements name a live order.

use exchange::state::{BookState, RestingOrder, State};
use exchange::types::{
    AccountId, Cancel, Command, DEFAULT_MEMORY, Deposit, Limits, MAX_ACCOUNTS, MAX_BAND, MAX_CASH,
    MAX_ORDERS, MAX_PRICE, MAX_SYMBOLS, NewOrder, OrderId, OrderKind, OrderRef, Replace, Resting,
    SelfTrade, Side, SymbolId, SymbolSpec,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A symbol with few prices and few places, and one with large numbers.
const SYMBOLS: [SymbolSpec; 2] = [
    SymbolSpec { symbol: SymbolId(0), lowest: 100, highest: 112, max_orders: 12 },
    SymbolSpec {
        symbol: SymbolId(3),
        lowest: MAX_PRICE - 3,
        highest: MAX_PRICE,
        max_orders: 1_000,
    },
];

const ACCOUNTS: [AccountId; 4] = [AccountId(0), AccountId(1), AccountId(2), AccountId(9)];

/// What the random commands must reach.
pub(crate) const RULES: &[&str] = &[
    "Accepted",
    "Trade",
    "Replaced",
    "Level",
    "SymbolAdded",
    "AccountAdded",
    "Deposited",
    "LimitsSet",
    "Cancelled Requested",
    "Cancelled Unfilled",
    "Cancelled SelfTrade",
    "Reduced Requested",
    "Reduced SelfTrade",
    "New UnknownAccount",
    "New StaleOrderId",
    "New UnknownSymbol",
    "New NoQuantity",
    "New PriceOutsideBand",
    "New PriceOfMarketOrder",
    "New OrderTooLarge",
    "New PositionLimit",
    "New NotionalLimit",
    "New NotEnoughCash",
    "New BookFull",
    "New WouldTrade",
    "Cancel UnknownAccount",
    "Cancel UnknownSymbol",
    "Cancel UnknownOrder",
    "Replace UnknownAccount",
    "Replace UnknownSymbol",
    "Replace UnknownOrder",
    "Replace PriceOutsideBand",
    "Replace OrderTooLarge",
    "Replace PositionLimit",
    "Replace NotionalLimit",
    "Replace NotEnoughCash",
    "Replace WouldTrade",
    "AddSymbol IdTooLarge",
    "AddSymbol Exists",
    "AddSymbol BadBand",
    "AddSymbol BadCapacity",
    "AddAccount IdTooLarge",
    "AddAccount Exists",
    "Deposit UnknownAccount",
    "Deposit NoAmount",
    "Deposit TooMuchCash",
    "Deposit NotEnoughCash",
    "SetLimits UnknownAccount",
    "MemorySet",
    "New NoMemory",
    "AddSymbol NoMemory",
    "AddAccount NoMemory",
];

/// Returns the commands that open the books and accounts.
pub(crate) fn opening() -> Vec<Command> {
    let mut commands: Vec<_> = SYMBOLS.map(Command::AddSymbol).into();
    for account in ACCOUNTS {
        commands.extend([
            Command::AddAccount(account),
            Command::Deposit(Deposit { account, amount: MAX_CASH / 5 }),
            Command::SetLimits(account, Limits::UNLIMITED),
        ]);
    }
    commands
}

/// A command without what depends on the state.
#[derive(Clone, Debug)]
pub(crate) enum Draft {
    New { new: NewOrder, is_stale: bool },
    Cancel { target: Index, is_wrong: bool },
    Replace { target: Index, is_wrong: bool, terms: Replace },
    Ready(Command),
}

impl Draft {
    /// Returns the command. Accounts count their orders on their own, so two may have the same id.
    pub(crate) fn command(&self, state: &State) -> Command {
        match *self {
            Self::New { new, is_stale } => {
                let account = state.accounts.iter().find(|account| account.id == new.account);
                let last = account.map_or(0, |account| account.last_order.0);
                Command::New(NewOrder { order: OrderId(last + u64::from(!is_stale)), ..new })
            }
            Self::Cancel { target, is_wrong } => {
                let (OrderRef { account, order }, symbol, _) = pick(state, target, is_wrong);
                Command::Cancel(Cancel { account, order, symbol })
            }
            Self::Replace { target, is_wrong, terms } => {
                let (OrderRef { account, order }, symbol, old) = pick(state, target, is_wrong);
                // Half of the replacements keep the price, many only shrink.
                let price = if terms.price % 2 == 0 { old.price } else { terms.price };
                Command::Replace(Replace { account, order, symbol, price, ..terms })
            }
            Self::Ready(command) => command,
        }
    }
}

/// Returns a live order, or one that is wrong in its account, symbol or id.
fn pick(state: &State, target: Index, is_wrong: bool) -> (OrderRef, SymbolId, RestingOrder) {
    let of = |book: &BookState| {
        let orders = book.bids.iter().chain(&book.asks);
        orders.map(|&order| (order.id, book.spec.symbol, order)).collect::<Vec<_>>()
    };
    let mut live: Vec<_> = state.books.iter().flat_map(of).collect();
    if live.is_empty() {
        let id = OrderRef { account: ACCOUNTS[0], order: OrderId(1) };
        live.push((id, SYMBOLS[0].symbol, RestingOrder { id, price: 100, open: 1, filled: 0 }));
    }
    let (mut id, mut symbol, order) = live[target.index(live.len())];
    if is_wrong {
        match target.index(4) {
            0 => id.account = AccountId(77),
            1 => id.account = ACCOUNTS[target.index(ACCOUNTS.len())],
            2 => id.order = OrderId(id.order.0 + 1),
            _ => symbol = SymbolId(target.index(5) as u32),
        }
    }
    (id, symbol, order)
}

/// Returns random commands.
pub(crate) fn drafts() -> impl Strategy<Value = Draft> {
    let is_rare = || prop::bool::weighted(0.05);
    let new = (new_order(), is_rare()).prop_map(|(new, is_stale)| Draft::New { new, is_stale });
    let cancel = (any::<Index>(), is_rare())
        .prop_map(|(target, is_wrong)| Draft::Cancel { target, is_wrong });
    let replace = (any::<Index>(), is_rare(), terms())
        .prop_map(|(target, is_wrong, terms)| Draft::Replace { target, is_wrong, terms });
    prop_oneof![
        12 => new,
        2 => cancel,
        6 => replace,
        1 => deposit().prop_map(|deposit| Draft::Ready(Command::Deposit(deposit))),
        1 => limits().prop_map(Draft::Ready),
        1 => admin().prop_map(Draft::Ready),
    ]
}

fn new_order() -> impl Strategy<Value = NewOrder> {
    let of_symbol = |spec: SymbolSpec| {
        (account(), side(), kind(), self_trade(), price(spec), quantity(spec), Just(spec.symbol))
    };
    let any_symbol = prop_oneof![8 => Just(SYMBOLS[0]), 3 => Just(SYMBOLS[1])];
    let orders = any_symbol.prop_flat_map(of_symbol);
    (orders, prop::bool::weighted(0.02), prop::bool::weighted(0.95)).prop_map(
        |((account, side, kind, self_trade, price, quantity, symbol), is_lost, has_no_price)| {
            let price = if kind == OrderKind::Market && has_no_price { 0 } else { price };
            let symbol = if is_lost { SymbolId(1) } else { symbol };
            let order = OrderId(0);
            NewOrder { account, order, symbol, side, kind, self_trade, price, quantity }
        },
    )
}

fn terms() -> impl Strategy<Value = Replace> {
    let spec = SYMBOLS[0];
    let kind = prop_oneof![3 => Just(Resting::Limit), 1 => Just(Resting::PostOnly)];
    (kind, self_trade(), price(spec), quantity(spec)).prop_map(
        move |(kind, self_trade, price, quantity)| Replace {
            account: ACCOUNTS[0],
            order: OrderId(0),
            symbol: spec.symbol,
            kind,
            self_trade,
            price,
            quantity,
        },
    )
}

fn account() -> impl Strategy<Value = AccountId> {
    prop_oneof![40 => select(&ACCOUNTS[..]), 1 => select(vec![AccountId(5), AccountId(u32::MAX)])]
}

fn side() -> impl Strategy<Value = Side> {
    select(vec![Side::Buy, Side::Sell])
}

fn self_trade() -> impl Strategy<Value = SelfTrade> {
    select(vec![SelfTrade::CancelNewest, SelfTrade::CancelOldest, SelfTrade::Decrement])
}

fn kind() -> impl Strategy<Value = OrderKind> {
    prop_oneof![
        8 => Just(OrderKind::Limit),
        2 => Just(OrderKind::PostOnly),
        2 => Just(OrderKind::ImmediateOrCancel),
        2 => Just(OrderKind::FillOrKill),
        1 => Just(OrderKind::Market),
    ]
}

fn price(spec: SymbolSpec) -> impl Strategy<Value = u32> {
    let outside = vec![0, spec.lowest - 1, spec.highest + 1, u32::MAX];
    prop_oneof![40 => spec.lowest..=spec.highest, 1 => select(outside)]
}

fn quantity(spec: SymbolSpec) -> impl Strategy<Value = u32> {
    let usual = if spec.lowest > 1_000 { 1..=400_000_000_u32 } else { 1..=30 };
    prop_oneof![60 => usual, 1 => select(vec![0, u32::MAX, u32::MAX / 2])]
}

fn deposit() -> impl Strategy<Value = Deposit> {
    let large = vec![0, MAX_CASH, -MAX_CASH / 5, i64::MAX, i64::MIN, -MAX_CASH / 6, MAX_CASH / 5];
    let amount = prop_oneof![1 => -100_000_i64..100_000, 2 => select(large)];
    (account(), amount).prop_map(|(account, amount)| Deposit { account, amount })
}

fn limits() -> impl Strategy<Value = Command> {
    let lots = || prop_oneof![3 => Just(u32::MAX), 2 => 0..200_u32];
    let money = prop_oneof![3 => Just(u64::MAX), 2 => 0..20_000_u64];
    (account(), lots(), lots(), lots(), money).prop_map(
        |(account, max_order, max_long, max_short, max_open_notional)| {
            let limits = Limits { max_order, max_long, max_short, max_open_notional };
            Command::SetLimits(account, limits)
        },
    )
}

/// Returns commands of the operator at the bounds of what is valid. A book may be small only: its
/// levels would take megabytes in each case.
fn admin() -> impl Strategy<Value = Command> {
    let spec = |symbol, lowest, highest, max_orders| {
        Command::AddSymbol(SymbolSpec { symbol: SymbolId(symbol), lowest, highest, max_orders })
    };
    select(vec![
        spec(2, 1, 1, 1),
        spec(4, MAX_PRICE, MAX_PRICE, 3),
        spec(0, 1, 10, 10),
        spec(MAX_SYMBOLS, 1, 10, 10),
        spec(MAX_SYMBOLS - 1, 1, 64, 10),
        spec(5, 0, 10, 10),
        spec(5, 11, 10, 10),
        spec(5, 1, MAX_PRICE + 1, 10),
        spec(5, 1, MAX_BAND + 1, 10),
        spec(5, 1, 10, 0),
        spec(5, 1, 10, MAX_ORDERS + 1),
        // With the other books of the opening, it leaves two positions of one MiB.
        spec(6, 1, 1, 4_368),
        Command::AddAccount(AccountId(1)),
        Command::AddAccount(AccountId(6)),
        Command::AddAccount(AccountId(MAX_ACCOUNTS)),
        // What is open takes more. So nothing is added until the next command.
        Command::SetMemory(0),
        Command::SetMemory(0),
        Command::SetMemory(1),
        Command::SetMemory(DEFAULT_MEMORY),
        Command::SetMemory(u32::MAX),
    ])
}
