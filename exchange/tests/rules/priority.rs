//! Which order trades first, and what a replacement does to that.

use exchange::types::{Resting, Side};

use super::desk::{ANN, BOB, CYD, Desk};

/// Returns a desk with bids of 10 at 100 of three accounts.
fn with_three_bids() -> Desk {
    let mut desk = Desk::new();
    for account in [ANN, BOB, CYD] {
        desk.buy((account, 1), 100, 10);
    }
    desk
}

#[test]
fn the_better_price_and_then_the_older_order_is_first() {
    let mut desk = with_three_bids();
    desk.buy((CYD, 2), 101, 10);
    assert_eq!(desk.queue(Side::Buy), ["cyd2", "ann1", "bob1", "cyd1"]);
    assert_eq!(
        desk.sell((ANN, 2), 99, 12)[1..],
        [
            "trade 10 at 101: cyd2 has 0, ann2 has 2",
            "bids 101: 0 in 0",
            "cancelled ann1 10: SelfTrade",
            "trade 2 at 100: bob1 has 8, ann2 has 0",
            "bids 100: 18 in 2",
        ],
        "the price is that of the resting order"
    );
}

#[test]
fn a_smaller_total_keeps_the_priority() {
    let mut desk = with_three_bids();
    assert_eq!(
        desk.replace((ANN, 1), Resting::Limit, 100, 4),
        ["reduced ann1 by 6: Requested", "bids 100: 24 in 3"]
    );
    assert_eq!(desk.queue(Side::Buy), ["ann1", "bob1", "cyd1"]);
    let nothing = desk.replace((ANN, 1), Resting::Limit, 100, 4);
    assert_eq!(nothing, ["reduced ann1 by 0: Requested"], "the level has not changed");
}

#[test]
fn a_larger_total_or_another_price_loses_the_priority() {
    let mut desk = with_three_bids();
    assert_eq!(
        desk.replace((ANN, 1), Resting::Limit, 100, 11),
        ["replaced ann1 11 at 100, was 10 at 100", "bids 100: 20 in 2", "bids 100: 31 in 3",]
    );
    assert_eq!(desk.queue(Side::Buy), ["bob1", "cyd1", "ann1"]);
    desk.replace((BOB, 1), Resting::Limit, 99, 10);
    desk.replace((BOB, 1), Resting::Limit, 100, 10);
    assert_eq!(desk.queue(Side::Buy), ["cyd1", "ann1", "bob1"], "there and back");
}

#[test]
fn a_total_includes_what_has_traded() {
    let mut desk = with_three_bids();
    desk.sell((CYD, 2), 100, 4);
    let reports = desk.replace((ANN, 1), Resting::Limit, 100, 6);
    assert_eq!(reports, ["reduced ann1 by 4: Requested", "bids 100: 22 in 3"], "6 less 4 are open");
    let reports = desk.replace((ANN, 1), Resting::Limit, 99, 7);
    assert_eq!(reports[0], "replaced ann1 3 at 99, was 2 at 100");
    let reports = desk.replace((ANN, 1), Resting::Limit, 101, 4);
    assert_eq!(reports, ["cancelled ann1 3: Requested", "bids 99: 0 in 0"], "4 have traded");
    let reports = desk.replace((BOB, 1), Resting::Limit, 100, 0);
    assert_eq!(reports, ["cancelled bob1 10: Requested", "bids 100: 10 in 1"]);
}

#[test]
fn a_replacement_may_trade_on_its_way() {
    let mut desk = with_three_bids();
    desk.sell((BOB, 2), 102, 6);
    assert_eq!(
        desk.replace((CYD, 1), Resting::Limit, 103, 10),
        [
            "replaced cyd1 10 at 103, was 10 at 100",
            "bids 100: 20 in 2",
            "trade 6 at 102: bob2 has 0, cyd1 has 4",
            "asks 102: 0 in 0",
            "bids 103: 4 in 1",
        ]
    );
    desk.sell((BOB, 3), 103, 4);
    assert_eq!(desk.cancel((CYD, 1)), ["Cancel UnknownOrder"], "all of it has traded");
}

#[test]
fn a_post_only_replacement_that_could_trade_changes_nothing() {
    let mut desk = with_three_bids();
    desk.sell((BOB, 2), 102, 6);
    let before = desk.state().books;
    assert_eq!(desk.replace((CYD, 1), Resting::PostOnly, 102, 10), ["Replace WouldTrade"]);
    assert_eq!(desk.state().books, before);
    let reports = desk.replace((CYD, 1), Resting::PostOnly, 101, 10);
    assert_eq!(reports.last().unwrap(), "bids 101: 10 in 1");
}

#[test]
fn a_replacement_that_trades_in_full_is_gone() {
    let mut desk = with_three_bids();
    desk.sell((BOB, 2), 102, 10);
    let reports = desk.replace((CYD, 1), Resting::Limit, 102, 10);
    assert_eq!(reports.last().unwrap(), "asks 102: 0 in 0");
    assert_eq!(desk.cancel((CYD, 1)), ["Cancel UnknownOrder"]);
    assert_eq!(desk.queue(Side::Buy), ["ann1", "bob1"]);
}

#[test]
fn the_next_price_is_found_across_a_gap() {
    let mut desk = Desk::new();
    for (order, price) in [(1, 90), (2, 95), (3, 100)] {
        desk.buy((ANN, order), price, 1);
    }
    desk.cancel((ANN, 2));
    let reports = desk.sell((BOB, 1), 90, 3);
    assert_eq!(reports[3], "trade 1 at 90: ann1 has 0, bob1 has 1");
    assert_eq!(reports.last().unwrap(), "asks 90: 1 in 1");
}

#[test]
fn the_middle_and_the_ends_of_a_queue_may_go() {
    let mut desk = with_three_bids();
    desk.cancel((BOB, 1));
    assert_eq!(desk.queue(Side::Buy), ["ann1", "cyd1"]);
    desk.sell((BOB, 2), 100, 10);
    assert_eq!(desk.queue(Side::Buy), ["cyd1"], "the head has traded");
    desk.buy((ANN, 2), 100, 1);
    desk.cancel((CYD, 1));
    assert_eq!(desk.queue(Side::Buy), ["ann2"]);
    desk.cancel((ANN, 2));
    desk.buy((ANN, 3), 100, 1);
    assert_eq!(desk.queue(Side::Buy), ["ann3"], "an empty level begins anew");
}
