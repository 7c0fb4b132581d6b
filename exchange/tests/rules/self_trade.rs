//! What happens where an account would trade with itself.

use exchange::types::{
    Command, Deposit, Limits, MOST_CHECKED_ORDERS, OrderKind, SelfTrade, Side, SymbolSpec,
};

use super::desk::{ANN, BOB, CASH, Desk, SPEC, new};

/// Returns a desk with asks at 101: 5 of bob, 10 of ann, 20 of bob.
fn with_own_ask_between() -> Desk {
    let mut desk = Desk::new();
    desk.sell((BOB, 1), 101, 5);
    desk.sell((ANN, 1), 101, 10);
    desk.sell((BOB, 2), 101, 20);
    desk
}

fn buy(desk: &mut Desk, kind: OrderKind, quantity: u32, self_trade: SelfTrade) -> Vec<String> {
    desk.send(new((ANN, 2), kind, Side::Buy, 101, quantity, self_trade))
}

#[test]
fn cancel_newest_cancels_the_rest_of_the_incoming_order() {
    let mut desk = with_own_ask_between();
    assert_eq!(
        buy(&mut desk, OrderKind::Limit, 12, SelfTrade::CancelNewest)[1..],
        [
            "trade 5 at 101: bob1 has 0, ann2 has 7",
            "asks 101: 30 in 2",
            "cancelled ann2 7: SelfTrade",
        ]
    );
    assert_eq!(desk.queue(Side::Sell), ["ann1", "bob2"]);
}

#[test]
fn cancel_oldest_cancels_the_resting_order_and_goes_on() {
    let mut desk = with_own_ask_between();
    assert_eq!(
        buy(&mut desk, OrderKind::Limit, 12, SelfTrade::CancelOldest)[1..],
        [
            "trade 5 at 101: bob1 has 0, ann2 has 7",
            "cancelled ann1 10: SelfTrade",
            "trade 7 at 101: bob2 has 13, ann2 has 0",
            "asks 101: 13 in 1",
        ]
    );
}

#[test]
fn decrement_takes_the_smaller_quantity_from_both() {
    let mut desk = with_own_ask_between();
    assert_eq!(
        buy(&mut desk, OrderKind::Limit, 12, SelfTrade::Decrement)[1..],
        [
            "trade 5 at 101: bob1 has 0, ann2 has 7",
            "reduced ann1 by 7: SelfTrade",
            "cancelled ann2 7: SelfTrade",
            "asks 101: 23 in 2",
        ],
        "the resting order is larger"
    );
    let mut desk = with_own_ask_between();
    assert_eq!(
        buy(&mut desk, OrderKind::Limit, 17, SelfTrade::Decrement)[2..],
        [
            "cancelled ann1 10: SelfTrade",
            "reduced ann2 by 10: SelfTrade",
            "trade 2 at 101: bob2 has 18, ann2 has 0",
            "asks 101: 18 in 1",
        ],
        "the incoming order is larger"
    );
}

#[test]
fn decrement_may_end_both() {
    let mut desk = with_own_ask_between();
    assert_eq!(
        buy(&mut desk, OrderKind::Limit, 15, SelfTrade::Decrement)[2..],
        ["cancelled ann1 10: SelfTrade", "cancelled ann2 10: SelfTrade", "asks 101: 20 in 1",]
    );
}

#[test]
fn fill_or_kill_counts_orders_of_others_only() {
    let killed = |quantity| {
        [format!("accepted ann2 {quantity} at 101"), format!("cancelled ann2 {quantity}: Unfilled")]
    };
    for self_trade in [SelfTrade::CancelNewest, SelfTrade::Decrement] {
        let mut desk = with_own_ask_between();
        assert_eq!(buy(&mut desk, OrderKind::FillOrKill, 6, self_trade), killed(6));
        assert_eq!(desk.queue(Side::Sell), ["bob1", "ann1", "bob2"], "the book is as it was");
    }
    let mut desk = with_own_ask_between();
    assert_eq!(buy(&mut desk, OrderKind::FillOrKill, 26, SelfTrade::CancelOldest), killed(26));
    assert_eq!(desk.queue(Side::Sell), ["bob1", "ann1", "bob2"], "25 of others were there");
}

#[test]
fn fill_or_kill_may_pass_own_orders_with_cancel_oldest() {
    let mut desk = with_own_ask_between();
    let reports = buy(&mut desk, OrderKind::FillOrKill, 25, SelfTrade::CancelOldest);
    assert_eq!(reports[2], "cancelled ann1 10: SelfTrade");
    assert_eq!(reports.last().unwrap(), "asks 101: 0 in 0");
    let mut desk = with_own_ask_between();
    let reports = buy(&mut desk, OrderKind::FillOrKill, 5, SelfTrade::CancelNewest);
    assert_eq!(reports[1], "trade 5 at 101: bob1 has 0, ann2 has 0", "it does not reach ann1");
}

/// Beyond the limit of the walk, the sums decide, or the order is cancelled.
#[test]
fn a_fill_or_kill_order_passes_so_many_orders_if_its_account_has_some() {
    let most = MOST_CHECKED_ORDERS as u32;
    let mut desk = Desk::default();
    desk.send(Command::AddSymbol(SymbolSpec { max_orders: most + 2, ..SPEC }));
    for account in [ANN, BOB] {
        desk.send(Command::AddAccount(account));
        desk.send(Command::Deposit(Deposit { account, amount: CASH }));
        desk.send(Command::SetLimits(account, Limits::UNLIMITED));
    }
    for id in 1..=most {
        desk.sell((BOB, u64::from(id)), 100, 1);
    }
    desk.sell((BOB, u64::from(most) + 1), 101, 1);
    desk.sell((ANN, 1), 102, 5);
    let buy = |desk: &mut Desk, id, limit, quantity, self_trade| {
        let fok = OrderKind::FillOrKill;
        desk.send(new((ANN, id), fok, Side::Buy, limit, quantity, self_trade)).len()
    };
    // One order of others is beyond the limit: the sums do not say that none of its own is before.
    for (id, self_trade) in [(2, SelfTrade::CancelNewest), (3, SelfTrade::Decrement)] {
        assert_eq!(buy(&mut desk, id, 101, most + 1, self_trade), 2, "it is cancelled");
    }
    assert_eq!(buy(&mut desk, 4, 101, most + 1, SelfTrade::CancelOldest), 2, "it is cancelled");
    // The sums say that enough of others is there.
    assert!(buy(&mut desk, 5, 102, most + 1, SelfTrade::CancelOldest) > 2, "it trades");
    assert_eq!(desk.queue(Side::Sell), ["ann1"]);
}
