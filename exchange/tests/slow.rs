//! Commands for which all others waited. No time is compared with a fixed one: what must be quick is
//! compared with what takes as long as before, in the same process.
#![cfg(not(miri))]

use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::types::{
    AccountId, Command, Deposit, Limits, MAX_ACCOUNTS, MAX_CASH, MAX_SYMBOLS, NewOrder, OrderId,
    OrderKind, Report, SelfTrade, Side, SymbolId, SymbolSpec,
};

const MAKER: AccountId = AccountId(1);
const TAKER: AccountId = AccountId(2);
const SYMBOL: SymbolId = SymbolId(0);
/// How many orders rest, at as many prices as fit.
const ORDERS: u32 = 200_000;
/// How many times something is measured. The shortest time counts.
const TRIES: u32 = 7;

fn reports_of(engine: &mut Engine, command: Command) -> Vec<Report> {
    let mut reports = Vec::new();
    engine.apply(&command, &mut |report| reports.push(report));
    reports
}

fn order(account: AccountId, order: u64, side: Side, kind: OrderKind, price: u32) -> NewOrder {
    let (symbol, self_trade) = (SYMBOL, SelfTrade::CancelNewest);
    NewOrder { account, order: OrderId(order), symbol, side, kind, self_trade, price, quantity: 1 }
}

/// Returns an engine with many sell orders of one lot, at so many prices.
fn full_book(prices: u32) -> Engine {
    let mut engine = Engine::default();
    let spec = SymbolSpec { symbol: SYMBOL, lowest: 1, highest: ORDERS, max_orders: ORDERS + 1 };
    reports_of(&mut engine, Command::AddSymbol(spec));
    for account in [MAKER, TAKER] {
        let amount = MAX_CASH / 4;
        reports_of(&mut engine, Command::AddAccount(account));
        reports_of(&mut engine, Command::Deposit(Deposit { account, amount }));
        reports_of(&mut engine, Command::SetLimits(account, Limits::UNLIMITED));
    }
    // Neighbours in a queue are far from each other in memory.
    for id in 1..=ORDERS {
        let price = 1 + (u64::from(id) * 7_919 % u64::from(prices)) as u32;
        let new = order(MAKER, u64::from(id), Side::Sell, OrderKind::Limit, price);
        assert_eq!(reports_of(&mut engine, Command::New(new)).len(), 2);
    }
    engine
}

/// Returns the shortest time of several.
fn shortest(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    (0..TRIES).map(time).min().expect("there are several")
}

#[test]
fn a_fill_or_kill_order_that_cannot_fill_walked_all_orders() {
    for prices in [1, 1_000, ORDERS] {
        let mut engine = full_book(prices);
        let walk = shortest(|| _ = engine.state());
        let mut next = 0;
        let refusal = shortest(|| {
            next += 1;
            let new = order(TAKER, next, Side::Buy, OrderKind::FillOrKill, ORDERS);
            let reports =
                reports_of(&mut engine, Command::New(NewOrder { quantity: ORDERS + 1, ..new }));
            assert!(matches!(reports[..], [Report::Accepted(_), Report::Cancelled(..)]));
        });
        assert!(refusal < walk / 10, "{prices} prices: {refusal:?}, a walk takes {walk:?}");
    }
}

/// An account with orders of its own in the way could repeat this for nothing.
#[test]
fn a_fill_or_kill_order_walked_all_orders_up_to_those_of_its_own_account() {
    let mut engine = full_book(1_000);
    let walk = shortest(|| _ = engine.state());
    let last = order(TAKER, 1, Side::Sell, OrderKind::Limit, ORDERS);
    reports_of(&mut engine, Command::New(NewOrder { quantity: 9, ..last }));
    let mut next = u64::from(ORDERS);
    for (account, quantity, self_trade) in [
        (MAKER, 10, SelfTrade::CancelOldest),
        (TAKER, ORDERS + 1, SelfTrade::CancelNewest),
        (TAKER, ORDERS + 1, SelfTrade::Decrement),
        (TAKER, ORDERS + 1, SelfTrade::CancelOldest),
    ] {
        let refusal = shortest(|| {
            next += 1;
            let new = order(account, next, Side::Buy, OrderKind::FillOrKill, ORDERS);
            let new = NewOrder { quantity, self_trade, ..new };
            let reports = reports_of(&mut engine, Command::New(new));
            assert!(matches!(reports[..], [Report::Accepted(_), Report::Cancelled(..)]));
        });
        assert!(refusal < walk / 10, "{self_trade:?}: {refusal:?}, a walk takes {walk:?}");
    }
}

#[test]
fn a_copy_of_the_state_followed_the_queue_of_each_price() {
    for prices in [1_000, ORDERS] {
        let engine = full_book(prices);
        let state = shortest(|| _ = engine.image().into_state());
        let image = shortest(|| _ = engine.image());
        assert!(image * 4 < state * 3, "{prices} prices: {image:?}, all of it takes {state:?}");
        assert_eq!(engine.image().into_state(), engine.state());
    }
}

/// Returns a number of bytes from what the system knows of this process.
#[cfg(target_os = "linux")]
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Runs a test of this file in a process of its own, since it measures the process. Returns whether
/// this is that process.
#[cfg(target_os = "linux")]
fn is_alone(name: &str) -> bool {
    const PART: &str = "LAPWING_MEASURE_MEMORY";
    if std::env::var_os(PART).is_some() {
        return true;
    }
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    let status = alone.args([name, "--exact", "--test-threads=1"]).env(PART, "1").status();
    assert!(status.unwrap().success());
    false
}

#[test]
#[cfg(target_os = "linux")]
fn a_large_account_number_took_as_much_memory_as_all_smaller_ones() {
    if !is_alone("a_large_account_number_took_as_much_memory_as_all_smaller_ones") {
        return;
    }
    let mut engine = Engine::default();
    let before = status("VmRSS:");
    let last = AccountId(MAX_ACCOUNTS - 1);
    assert_eq!(reports_of(&mut engine, Command::AddAccount(last)), [Report::AccountAdded(last)]);
    let symbol = SymbolId(MAX_SYMBOLS - 1);
    let spec = SymbolSpec { symbol, lowest: 1, highest: 1, max_orders: 1 };
    assert_eq!(reports_of(&mut engine, Command::AddSymbol(spec)), [Report::SymbolAdded(spec)]);
    let taken = status("VmRSS:") - before;
    assert!(taken < 2 << 20, "bytes={taken}");
    assert_eq!(engine.state().accounts.len(), 1);
}

/// The rules say what a command takes. A snapshot needs the most: copy, state and bytes.
#[test]
#[cfg(target_os = "linux")]
fn what_is_counted_is_more_than_what_is_taken() {
    if !is_alone("what_is_counted_is_more_than_what_is_taken") {
        return;
    }
    let before = status("VmRSS:");
    let mut engine = full_book(ORDERS);
    for id in 3..100_000 {
        let account = AccountId(id);
        reports_of(&mut engine, Command::AddAccount(account));
        reports_of(&mut engine, Command::Deposit(Deposit { account, amount: 1_000_000 }));
        reports_of(&mut engine, Command::SetLimits(account, Limits::UNLIMITED));
        let new = order(account, 1, Side::Buy, OrderKind::ImmediateOrCancel, ORDERS);
        assert_eq!(reports_of(&mut engine, Command::New(new)).len(), 3);
    }
    let bytes = engine.image().into_state().to_bytes();
    let taken = status("VmHWM:") - before;
    let counted = (u64::from(engine.memory().limit()) << 20) - engine.memory().rest();
    assert!(taken < counted, "bytes={} taken={taken} counted={counted}", bytes.len());
}
