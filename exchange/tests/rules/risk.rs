//! Cash, positions and limits.

use exchange::types::{Command, Deposit, Limits, OrderKind, Resting, Side};

use super::desk::{ANN, BOB, CASH, Desk, WIDE};

/// Returns cash, reserved cash, open notional and lots of an account.
fn money(desk: &Desk, id: exchange::types::AccountId) -> (i64, u64, u64, i64) {
    let account = desk.account(id);
    let lots = account.positions.first().map_or(0, |position| position.lots);
    (account.cash - CASH, account.reserved, account.open_notional, lots)
}

fn with_limits(limits: Limits) -> Desk {
    let mut desk = Desk::new();
    desk.send(Command::SetLimits(ANN, limits));
    desk
}

#[test]
fn a_trade_moves_cash_and_lots_at_the_price_of_the_resting_order() {
    let mut desk = Desk::new();
    desk.sell((BOB, 1), 101, 10);
    assert_eq!(money(&desk, BOB), (0, 0, 1_010, 0), "a sell order reserves no cash");
    desk.buy((ANN, 1), 105, 15);
    assert_eq!(money(&desk, ANN), (-1_010, 525, 525, 10), "5 rest at 105");
    assert_eq!(money(&desk, BOB), (1_010, 0, 0, -10));
    desk.cancel((ANN, 1));
    assert_eq!(money(&desk, ANN), (-1_010, 0, 0, 10));
}

#[test]
fn a_buy_order_needs_free_cash_at_its_limit() {
    let mut desk = with_limits(Limits { max_order: u32::MAX, ..WIDE });
    assert_eq!(desk.buy((ANN, 1), 100, 10_001), ["New PositionLimit"]);
    desk.send(Command::Deposit(Deposit { account: ANN, amount: 1_000 - CASH }));
    assert_eq!(desk.buy((ANN, 2), 100, 11), ["New NotEnoughCash"]);
    assert_eq!(desk.buy((ANN, 3), 100, 10).len(), 2, "exactly all cash");
    assert_eq!(desk.buy((ANN, 4), 90, 1), ["New NotEnoughCash"]);
    assert_eq!(desk.replace((ANN, 3), Resting::Limit, 101, 10), ["Replace NotEnoughCash"]);
    assert_eq!(desk.replace((ANN, 3), Resting::Limit, 99, 10).len(), 3, "its own cash is free");
    let withdraw = |amount| Command::Deposit(Deposit { account: ANN, amount });
    assert_eq!(desk.send(withdraw(-11)), ["Deposit NotEnoughCash"]);
    assert_eq!(desk.send(withdraw(-10)).len(), 1);
}

#[test]
fn a_market_order_reserves_at_the_edge_of_the_band() {
    let mut desk = Desk::new();
    desk.send(Command::Deposit(Deposit { account: ANN, amount: 1_099 - CASH }));
    assert_eq!(desk.order((ANN, 1), OrderKind::Market, Side::Buy, 0, 10), ["New NotEnoughCash"]);
    desk.send(Command::Deposit(Deposit { account: ANN, amount: 1 }));
    assert_eq!(desk.order((ANN, 2), OrderKind::Market, Side::Buy, 0, 10).len(), 2);
    assert_eq!(money(&desk, ANN), (1_100 - CASH, 0, 0, 0), "all is released");
}

#[test]
fn positions_stay_within_limits_if_all_of_a_side_trades() {
    let mut desk = with_limits(Limits { max_long: 10, max_short: 5, ..WIDE });
    assert_eq!(desk.buy((ANN, 1), 99, 10).len(), 2);
    assert_eq!(desk.buy((ANN, 2), 99, 1), ["New PositionLimit"]);
    assert_eq!(desk.sell((ANN, 3), 105, 6), ["New PositionLimit"], "the bid may never trade");
    assert_eq!(desk.sell((ANN, 4), 105, 5).len(), 2);
    desk.sell((BOB, 1), 99, 10);
    assert_eq!(desk.sell((ANN, 5), 105, 11), ["New PositionLimit"]);
    assert_eq!(desk.sell((ANN, 6), 105, 10).len(), 2, "10 long, 15 offered, 5 short at worst");
    assert_eq!(desk.replace((ANN, 6), Resting::Limit, 105, 11), ["Replace PositionLimit"]);
    assert_eq!(desk.replace((ANN, 6), Resting::Limit, 104, 10).len(), 3);
}

#[test]
fn lots_count_for_their_own_side_and_against_the_other() {
    let mut desk = with_limits(Limits { max_long: 10, max_short: 5, ..WIDE });
    desk.sell((BOB, 1), 100, 8);
    desk.buy((ANN, 1), 100, 8);
    assert_eq!(desk.buy((ANN, 2), 99, 3), ["New PositionLimit"], "8 long");
    assert_eq!(desk.buy((ANN, 3), 99, 2).len(), 2);
    assert_eq!(desk.sell((ANN, 4), 105, 14), ["New PositionLimit"]);
    assert_eq!(desk.sell((ANN, 5), 105, 13).len(), 2, "8 long, 5 short at worst");
}

#[test]
fn the_open_notional_counts_both_sides() {
    let mut desk = with_limits(Limits { max_open_notional: 2_000, ..WIDE });
    desk.buy((ANN, 1), 99, 10);
    assert_eq!(desk.sell((ANN, 2), 102, 10), ["New NotionalLimit"], "990 and 1020");
    assert_eq!(desk.sell((ANN, 3), 101, 10).len(), 2, "990 and 1010");
}

#[test]
fn the_largest_order_is_a_total() {
    let mut desk = with_limits(Limits { max_order: 10, ..WIDE });
    assert_eq!(desk.buy((ANN, 1), 99, 11), ["New OrderTooLarge"]);
    desk.buy((ANN, 2), 99, 10);
    desk.sell((BOB, 1), 99, 6);
    assert_eq!(desk.replace((ANN, 2), Resting::Limit, 99, 11), ["Replace OrderTooLarge"]);
}

#[test]
fn new_limits_leave_open_orders_alone() {
    let mut desk = Desk::new();
    desk.buy((ANN, 1), 99, 10);
    desk.send(Command::SetLimits(ANN, Limits::default()));
    assert_eq!(desk.buy((ANN, 2), 99, 1), ["New OrderTooLarge"]);
    assert_eq!(desk.queue(Side::Buy), ["ann1"]);
    assert_eq!(desk.replace((ANN, 1), Resting::Limit, 99, 9).len(), 2, "smaller is no new risk");
    assert_eq!(desk.sell((BOB, 1), 99, 9).len(), 3);
}
