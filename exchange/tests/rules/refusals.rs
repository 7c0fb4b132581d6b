//! The order of the checks, and that a rejection changes nothing.

use exchange::types::{
    AccountId, Cancel, Command, Deposit, Limits, MAX_ACCOUNTS, MAX_BAND, MAX_CASH, MAX_ORDERS,
    MAX_PRICE, MAX_SYMBOLS, NewOrder, OrderId, OrderKind, Replace, Resting, SelfTrade, Side,
    SymbolId, SymbolSpec,
};

use super::desk::{ANN, BOB, CASH, Desk, SPEC, SYMBOL};

/// A new order that breaks all rules. Each step of a test mends one.
const WRONG: NewOrder = NewOrder {
    account: AccountId(9),
    order: OrderId(0),
    symbol: SymbolId(8),
    side: Side::Buy,
    kind: OrderKind::PostOnly,
    self_trade: SelfTrade::CancelNewest,
    price: 111,
    quantity: 0,
};

#[test]
fn a_new_order_is_refused_for_the_first_rule_that_it_breaks() {
    let mut desk = Desk::new();
    for id in 1..=6 {
        desk.sell((BOB, id), 105, 1);
    }
    let mut limits = Limits::default();
    desk.send(Command::SetLimits(ANN, limits));
    let mut order = WRONG;
    refuses(&mut desk, order, "New UnknownAccount");
    order.account = ANN;
    refuses(&mut desk, order, "New StaleOrderId");
    order.order = OrderId(1);
    refuses(&mut desk, order, "New UnknownSymbol");
    order.symbol = SYMBOL;
    refuses(&mut desk, order, "New NoQuantity");
    order.quantity = 10_000;
    refuses(&mut desk, order, "New PriceOutsideBand");
    order.price = 110;
    refuses(&mut desk, NewOrder { kind: OrderKind::Market, ..order }, "New PriceOfMarketOrder");
    refuses(&mut desk, order, "New OrderTooLarge");
    limits.max_order = 10_000;
    desk.send(Command::SetLimits(ANN, limits));
    refuses(&mut desk, order, "New PositionLimit");
    limits.max_long = 10_000;
    desk.send(Command::SetLimits(ANN, limits));
    refuses(&mut desk, order, "New NotionalLimit");
    limits.max_open_notional = u64::MAX;
    desk.send(Command::SetLimits(ANN, limits));
    refuses(&mut desk, order, "New NotEnoughCash");
    desk.send(Command::Deposit(Deposit { account: ANN, amount: CASH }));
    refuses(&mut desk, order, "New BookFull");
    desk.cancel((BOB, 1));
    refuses(&mut desk, order, "New WouldTrade");
}

/// Sends an order with the next number of its account, unless it has number 0.
fn refuses(desk: &mut Desk, order: NewOrder, expected: &str) {
    let next = desk.account(ANN).last_order.0 + 1;
    let order = NewOrder { order: OrderId(order.order.0.min(1) * next), ..order };
    let before = desk.state().books;
    assert_eq!(desk.send(Command::New(order)), [expected]);
    assert_eq!(desk.state().books, before);
}

#[test]
fn a_full_book_takes_orders_that_do_not_rest() {
    let mut desk = Desk::new();
    for id in 1..=6 {
        desk.sell((BOB, id), 105, 1);
    }
    assert_eq!(desk.buy((ANN, 1), 105, 1), ["New BookFull"], "although it would trade");
    assert_eq!(desk.order((ANN, 2), OrderKind::ImmediateOrCancel, Side::Buy, 105, 1).len(), 3);
    assert_eq!(desk.buy((ANN, 3), 99, 1).len(), 2);
    assert_eq!(desk.buy((ANN, 4), 99, 1), ["New BookFull"]);
    assert_eq!(desk.replace((ANN, 3), Resting::Limit, 98, 5).len(), 3, "it has its place");
}

#[test]
fn a_rejected_order_uses_up_its_number() {
    let mut desk = Desk::new();
    assert_eq!(desk.buy((ANN, 5), 111, 1), ["New PriceOutsideBand"]);
    assert_eq!(desk.buy((ANN, 5), 99, 1), ["New StaleOrderId"]);
    assert_eq!(desk.buy((ANN, 4), 99, 1), ["New StaleOrderId"]);
    assert_eq!(desk.buy((ANN, 6), 99, 1).len(), 2);
    assert_eq!(desk.buy((ANN, 6), 99, 1), ["New StaleOrderId"], "sent twice");
    assert_eq!(desk.account(ANN).last_order, OrderId(6));
}

#[test]
fn a_change_is_refused_for_the_first_rule_that_it_breaks() {
    let mut desk = Desk::new();
    desk.buy((ANN, 1), 99, 10);
    let cancel = |account, symbol, order| {
        Command::Cancel(Cancel { account, order: OrderId(order), symbol: SymbolId(symbol) })
    };
    assert_eq!(desk.send(cancel(AccountId(9), 8, 1)), ["Cancel UnknownAccount"]);
    assert_eq!(desk.send(cancel(BOB, 8, 1)), ["Cancel UnknownSymbol"]);
    assert_eq!(desk.send(cancel(BOB, 7, 1)), ["Cancel UnknownOrder"], "it is not bob's");
    let replace = |account, symbol, price| {
        let (kind, self_trade) = (Resting::Limit, SelfTrade::CancelNewest);
        let (order, symbol) = (OrderId(1), SymbolId(symbol));
        let quantity = 0;
        Command::Replace(Replace { account, order, symbol, kind, self_trade, price, quantity })
    };
    assert_eq!(desk.send(replace(AccountId(9), 8, 89)), ["Replace UnknownAccount"]);
    assert_eq!(desk.send(replace(BOB, 8, 89)), ["Replace UnknownSymbol"]);
    assert_eq!(desk.send(replace(BOB, 7, 89)), ["Replace UnknownOrder"]);
    assert_eq!(desk.send(replace(ANN, 7, 89)), ["Replace PriceOutsideBand"]);
    assert_eq!(desk.queue(Side::Buy), ["ann1"]);
}

#[test]
fn the_operator_is_refused_at_the_bounds() {
    let mut desk = Desk::new();
    let symbol = |symbol, lowest, highest, max_orders| {
        Command::AddSymbol(SymbolSpec { symbol: SymbolId(symbol), lowest, highest, max_orders })
    };
    for (command, reason) in [
        (symbol(MAX_SYMBOLS, 1, 9, 9), "AddSymbol IdTooLarge"),
        (Command::AddSymbol(SPEC), "AddSymbol Exists"),
        (symbol(1, 0, 9, 9), "AddSymbol BadBand"),
        (symbol(1, 9, 8, 9), "AddSymbol BadBand"),
        (symbol(1, MAX_PRICE, MAX_PRICE + 1, 9), "AddSymbol BadBand"),
        (symbol(1, 1, MAX_BAND + 1, 9), "AddSymbol BadBand"),
        (symbol(1, 1, 9, 0), "AddSymbol BadCapacity"),
        (symbol(1, 1, 9, MAX_ORDERS + 1), "AddSymbol BadCapacity"),
        (Command::AddAccount(AccountId(MAX_ACCOUNTS)), "AddAccount IdTooLarge"),
        (Command::AddAccount(ANN), "AddAccount Exists"),
        (Command::SetLimits(AccountId(9), Limits::default()), "SetLimits UnknownAccount"),
    ] {
        assert_eq!(desk.send(command), [reason]);
    }
    assert_eq!(desk.send(symbol(1, MAX_PRICE, MAX_PRICE, 1)).len(), 1);
    assert_eq!(desk.send(symbol(MAX_SYMBOLS - 1, 1, MAX_BAND, 1)).len(), 1);
}

#[test]
fn all_deposits_together_have_a_bound() {
    let mut desk = Desk::new();
    let mut deposit = |amount| desk.send(Command::Deposit(Deposit { account: ANN, amount }));
    assert_eq!(deposit(0), ["Deposit NoAmount"]);
    assert_eq!(deposit(i64::MAX), ["Deposit TooMuchCash"]);
    assert_eq!(deposit(MAX_CASH - 3 * CASH + 1), ["Deposit TooMuchCash"]);
    assert_eq!(deposit(MAX_CASH - 3 * CASH).len(), 1);
    assert_eq!(deposit(1), ["Deposit TooMuchCash"]);
    assert_eq!(deposit(i64::MIN), ["Deposit NotEnoughCash"]);
    assert_eq!(deposit(-1).len(), 1);
    assert_eq!(deposit(1).len(), 1, "what was withdrawn may come back");
}
