//! What may happen to each kind of order.

use exchange::types::{OrderKind, Side};

use super::desk::{ANN, BOB, CYD, Desk};

/// Returns a desk with asks of 10 at 101 and 102.
fn with_two_asks() -> Desk {
    let mut desk = Desk::new();
    desk.sell((ANN, 1), 101, 10);
    desk.sell((ANN, 2), 102, 10);
    desk
}

#[test]
fn the_rest_of_a_limit_order_rests() {
    let mut desk = with_two_asks();
    assert_eq!(
        desk.buy((BOB, 1), 101, 15),
        [
            "accepted bob1 15 at 101",
            "trade 10 at 101: ann1 has 0, bob1 has 5",
            "asks 101: 0 in 0",
            "bids 101: 5 in 1",
        ]
    );
}

#[test]
fn a_sweep_reports_each_level_before_the_next() {
    let mut desk = with_two_asks();
    assert_eq!(
        desk.buy((BOB, 1), 102, 12),
        [
            "accepted bob1 12 at 102",
            "trade 10 at 101: ann1 has 0, bob1 has 2",
            "asks 101: 0 in 0",
            "trade 2 at 102: ann2 has 8, bob1 has 0",
            "asks 102: 8 in 1",
        ]
    );
}

#[test]
fn the_rest_of_an_immediate_order_is_cancelled() {
    let mut desk = with_two_asks();
    assert_eq!(
        desk.order((BOB, 1), OrderKind::ImmediateOrCancel, Side::Buy, 101, 15),
        [
            "accepted bob1 15 at 101",
            "trade 10 at 101: ann1 has 0, bob1 has 5",
            "asks 101: 0 in 0",
            "cancelled bob1 5: Unfilled",
        ]
    );
}

#[test]
fn fill_or_kill_trades_all_or_nothing() {
    let mut desk = with_two_asks();
    assert_eq!(
        desk.order((BOB, 1), OrderKind::FillOrKill, Side::Buy, 101, 11),
        ["accepted bob1 11 at 101", "cancelled bob1 11: Unfilled"]
    );
    assert_eq!(
        desk.order((BOB, 2), OrderKind::FillOrKill, Side::Buy, 102, 20).last().unwrap(),
        "asks 102: 0 in 0"
    );
}

#[test]
fn a_market_order_trades_up_to_the_edge_of_the_band() {
    let mut desk = with_two_asks();
    desk.sell((ANN, 3), 110, 1);
    let reports = desk.order((BOB, 1), OrderKind::Market, Side::Buy, 0, 30);
    assert_eq!(reports.first().unwrap(), "accepted bob1 30 at 110");
    assert_eq!(reports.last().unwrap(), "cancelled bob1 9: Unfilled");
    let reports = desk.order((BOB, 2), OrderKind::Market, Side::Sell, 0, 3);
    assert_eq!(reports, ["accepted bob2 3 at 90", "cancelled bob2 3: Unfilled"], "an empty book");
}

#[test]
fn a_post_only_order_rests_or_is_rejected() {
    let mut desk = with_two_asks();
    let post =
        |desk: &mut Desk, id, price| desk.order(id, OrderKind::PostOnly, Side::Buy, price, 1);
    assert_eq!(post(&mut desk, (BOB, 1), 101), ["New WouldTrade"]);
    assert_eq!(post(&mut desk, (BOB, 2), 100), ["accepted bob2 1 at 100", "bids 100: 1 in 1"]);
}

#[test]
fn a_cancellation_takes_what_is_open() {
    let mut desk = with_two_asks();
    desk.buy((BOB, 1), 101, 4);
    assert_eq!(desk.cancel((ANN, 1)), ["cancelled ann1 6: Requested", "asks 101: 0 in 0"]);
    assert_eq!(desk.cancel((ANN, 1)), ["Cancel UnknownOrder"]);
    assert_eq!(desk.cancel((BOB, 1)), ["Cancel UnknownOrder"], "it has traded");
}

#[test]
fn orders_of_two_accounts_may_have_the_same_number() {
    let mut desk = Desk::new();
    for account in [ANN, BOB, CYD] {
        desk.buy((account, 5), 99, 1);
    }
    assert_eq!(desk.cancel((BOB, 5)), ["cancelled bob5 1: Requested", "bids 99: 2 in 2"]);
    assert_eq!(desk.queue(Side::Buy), ["ann5", "cyd5"]);
}
