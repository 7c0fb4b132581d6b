//! The flow with exchange-core's mix has the shares that its authors state.
#![cfg(not(miri))]

use std::collections::BTreeSet;

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::flows::mix::Mix;
use exchange::types::{Cause, Command, OrderKind, Report};

/// Which command is how frequent, in percent.
#[derive(Debug, Default)]
struct Shares {
    limit: f64,
    immediate: f64,
    cancel_or_reduce: f64,
    moves: f64,
    /// Commands that trade.
    trading: f64,
    trades: f64,
    /// Orders that a trade completes.
    completed: f64,
    rejected: u32,
}

#[test]
fn the_shares_are_those_of_exchange_core() {
    let commands = 200_000;
    let flow = Mix { commands, ..Mix::default() }.flow();
    let mut engine = Engine::default();
    let mut shares = Shares::default();
    let one = 100.0 / commands as f64;
    for command in flow.preparation() {
        engine.apply(command, &mut |_| ());
    }
    for command in &flow.commands {
        let (mut trades, mut reduces) = (false, false);
        engine.apply(command, &mut |report| {
            if let Report::Trade(trade) = report {
                trades = true;
                shares.trades += one;
                let open = [trade.maker_open, trade.taker_open];
                shares.completed += open.iter().filter(|open| **open == 0).count() as f64 * one;
            }
            reduces |= matches!(report, Report::Reduced(..));
            shares.rejected += u32::from(matches!(report, Report::Rejected { .. }));
        });
        match command {
            Command::New(new) if new.kind == OrderKind::Limit => shares.limit += one,
            Command::New(_) => shares.immediate += one,
            Command::Replace(_) if !reduces => shares.moves += one,
            _ => shares.cancel_or_reduce += one,
        }
        shares.trading += if trades { one } else { 0.0 };
    }
    let state = engine.state();
    let book = &state.books[0];
    let levels: BTreeSet<_> = book.orders().map(|(_, order)| order.price).collect();
    let orders = book.bids.len() + book.asks.len();
    println!("{shares:?} orders={orders} levels={}", levels.len());
    assert_eq!(shares.rejected, 0);
    let all = [shares.limit, shares.immediate, shares.cancel_or_reduce, shares.moves];
    for (found, expected) in all.into_iter().zip([9.0, 3.0, 6.0, 82.0]) {
        assert!((found - expected).abs() < 1.5, "expected {expected}: {shares:?}");
    }
    // 9 % come to rest and 6 % are cancelled, so trades complete 3 %, and about as many incoming orders.
    assert!((2.5..3.5).contains(&shares.trading), "{shares:?}");
    assert!((5.0..7.0).contains(&shares.trades), "{shares:?}");
    assert!((5.0..7.0).contains(&shares.completed), "{shares:?}");
    assert!((700..1_300).contains(&orders), "{orders}");
    assert!((400..1_000).contains(&levels.len()), "{}", levels.len());
}

#[test]
fn a_move_goes_towards_the_last_trade() {
    let flow = Mix { commands: 20_000, ..Mix::default() }.flow();
    let mut engine = Engine::default();
    let (mut last_trade, mut moves) = (None, 0);
    for command in flow.preparation().chain(&flow.commands) {
        engine.apply(command, &mut |report| match (report, last_trade) {
            (Report::Trade(trade), _) => last_trade = Some(trade.price),
            (Report::Replaced { new, old_price, .. }, Some(last)) => {
                let (old, new) = (last.abs_diff(old_price), last.abs_diff(new.price));
                assert!(new < old || old == 0 && new == 1, "{command:?}: {old} to {new}");
                moves += 1;
            }
            _ => {}
        });
    }
    assert!(moves > 10_000, "{moves}");
}

#[test]
fn equal_seeds_give_equal_flows() {
    let flow = |seed| Mix { seed, commands: 2_000, ..Mix::default() }.flow().commands;
    assert_eq!(flow(5), flow(5));
    assert_ne!(flow(5), flow(6));
}

#[test]
fn no_order_of_a_one_sided_flow_meets_an_own_one() {
    let mix = Mix { accounts: 7, commands: 20_000, is_one_sided: true, ..Mix::default() };
    let mut engine = Engine::default();
    let (mut trades, mut own) = (0, 0);
    let flow = mix.flow();
    for command in flow.preparation().chain(&flow.commands) {
        engine.apply(command, &mut |report| match report {
            Report::Trade(_) => trades += 1,
            Report::Cancelled(_, Cause::SelfTrade) => own += 1,
            _ => {}
        });
    }
    assert!(trades > 500, "{trades}");
    assert_eq!(own, 0);
}
