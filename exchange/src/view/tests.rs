//! Exact screens.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::{Screen, View};
use crate::gateway::wire::Answer;
use crate::types::{
    AccountId, Level, OrderId, OrderRef, PackedReport, Report, Side, SymbolId, SymbolSpec, Trade,
};

const SYMBOL: SymbolId = SymbolId(3);

fn record(tag: u64, is_last: u64, report: &Report) -> Answer {
    Answer { tag, sequence: 100 + tag, is_last, report: PackedReport::from(report) }
}

fn level(side: Side, price: u32, quantity: u64, orders: u32) -> Report {
    Report::Level(Level { symbol: SYMBOL, side, price, quantity, orders })
}

fn trade(taker_side: Side, price: u32, quantity: u32) -> Report {
    let nobody = OrderRef { account: AccountId(0), order: OrderId(0) };
    Report::Trade(Trade {
        symbol: SYMBOL,
        maker: nobody,
        taker: nobody,
        taker_side,
        price,
        quantity,
        maker_open: 0,
        taker_open: 0,
        taker_limit: 0,
    })
}

fn view() -> View {
    View::new("127.0.0.1:7411".into(), SYMBOL)
}

/// A view with a small book, two trades, rates and delays.
fn live() -> View {
    let mut view = view();
    for symbol in [1, 3, 8] {
        view.add_symbol(SymbolId(symbol));
    }
    let terms = SymbolSpec { symbol: SYMBOL, lowest: 1, highest: 2_000, max_orders: 10 };
    let mut number = 7;
    view.follow(&record(number, 0, &Report::SymbolAdded(terms))).unwrap();
    view.follow(&record(number, 0, &level(Side::Buy, 998, 40, 3))).unwrap();
    view.follow(&record(number, 1, &level(Side::Sell, 1_001, 10, 1))).unwrap();
    view.tick(Duration::from_secs(1));
    for report in [
        level(Side::Sell, 1_002, 25, 2),
        trade(Side::Buy, 1_001, 4),
        level(Side::Sell, 1_001, 6, 1),
        trade(Side::Sell, 998, 1),
        level(Side::Buy, 998, 39, 3),
        level(Side::Buy, 990, 1, 1),
    ] {
        number += 1;
        view.follow(&record(number, 0, &report)).unwrap();
    }
    view.tick(Duration::from_secs(3));
    view.add_delay(Duration::from_micros(180), 50);
    view.add_delay(Duration::from_millis(25), 51);
    view
}

/// Draws a screen as the program does.
fn draw(view: &View, is_paused: bool, columns: u16, lines: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| frame.render_widget(Screen::new(view, is_paused), frame.area())).unwrap();
    terminal
}

#[test]
fn a_live_book() {
    let expected =
        " 127.0.0.1:7411   symbol 3 (2 of 3)   prices 1 to 2000                      live
┌ book ──────────────────────────────────────────┐┌ last trades ───────────────┐
│ orders   quantity      price                   ││ sell         1 at       998│
│                                                ││ buy          4 at      1001│
│                                                ││                            │
│                                                ││                            │
│                                                ││                            │
│                                                ││                            │
│                                                ││                            │
│                                                ││                            │
│      2         25       1002  ███████████      │└────────────────────────────┘
│      1          6       1001  ███              │┌ traffic ───────────────────┐
│            spread          3                   ││ commands/s               3 │
│      3         39        998  █████████████████││ changes/s                2 │
│      1          1        990  █                ││ trades/s                 1 │
│                                                ││ gaps                     0 │
│                                                │└────────────────────────────┘
│                                                │┌ command to answer ─────────┐
│                                                ││ 50 %                180 us │
│                                                ││ 99 %                 25 ms │
│                                                ││ longest              25 ms │
│                                                ││ probes                   2 │
└────────────────────────────────────────────────┘└────────────────────────────┘
 q quit   left/right symbol   p pause
";
    assert_eq!(Screen::new(&live(), false).to_text(), expected);
}

#[test]
fn a_terminal_has_the_same_cells_and_colours() {
    let terminal = draw(&live(), false, 80, 24);
    let buffer = terminal.backend().buffer();
    let line = |y| (0..80).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let lines: String = (0..24).map(|y| format!("{}\n", line(y).trim_end())).collect();
    assert_eq!(lines, Screen::new(&live(), false).to_text());
    let bar = |y| (buffer[(32, y)].symbol(), buffer[(32, y)].fg);
    assert_eq!((bar(11), bar(13)), (("█", Color::Red), ("█", Color::Green)));
    assert_eq!((buffer[(2, 2)].fg, buffer[(52, 2)].fg), (Color::DarkGray, Color::Red));
}

#[test]
fn a_larger_terminal_has_more_levels_and_longer_bars() {
    let mut view = live();
    for price in 1_003..1_040 {
        let number = u64::from(price - 1_003) + 14;
        view.follow(&record(number, 0, &level(Side::Sell, price, 39, 1))).unwrap();
    }
    let screen = draw(&view, true, 110, 31).backend().to_string();
    let lines: Vec<_> = screen.lines().collect();
    assert!(lines[0].ends_with(" paused\""), "{}", lines[0]);
    // The best 13 of 39 asks, and the largest quantity fills the line.
    let bar = "█".repeat(47);
    assert!(lines[3].starts_with(&format!("\"│      1         39       1013  {bar}│")), "{screen}");
    assert!(lines[14].contains("  1002  █"), "{screen}");
    assert!(lines[15].contains("     1001  █"), "{screen}");
}

#[test]
fn a_view_says_what_it_waits_for() {
    let text = Screen::new(&view(), false).to_text();
    assert!(text.starts_with(" 127.0.0.1:7411   symbol 3  "), "{text}");
    assert!(text.lines().next().unwrap().ends_with(" waiting"), "{text}");
    assert!(text.contains("│ the exchange has not named symbol 3 yet "), "{text}");
    assert!(text.contains("│ 50 %                     - │"), "{text}");
    let mut view = view();
    view.add_symbol(SYMBOL);
    let text = Screen::new(&view, false).to_text();
    assert!(text.contains("│ waiting for the snapshot "), "{text}");
}

#[test]
fn a_lost_connection_is_said_and_the_book_stays() {
    let mut view = live();
    view.lose("the exchange has closed it".into());
    let text = Screen::new(&view, false).to_text();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].ends_with(" lost"), "{text}");
    assert!(lines[13].contains("39        998"), "{text}");
    assert_eq!(lines[23], " connection lost: the exchange has closed it; trying again");
    let terminal = draw(&view, false, 80, 24);
    assert_eq!(terminal.backend().buffer()[(1, 23)].bg, Color::Red);
    view.select(SYMBOL);
    assert_eq!(view.loss(), None);
}

#[test]
fn a_book_may_have_one_side_or_none() {
    let terms = SymbolSpec { symbol: SYMBOL, lowest: 1, highest: 9, max_orders: 10 };
    let mut view = view();
    view.follow(&record(1, 1, &Report::SymbolAdded(terms))).unwrap();
    let text = |view: &View| Screen::new(view, false).to_text();
    assert!(text(&view).contains(" empty "), "{}", text(&view));
    view.follow(&record(2, 0, &level(Side::Sell, 9, u64::MAX, 1))).unwrap();
    assert!(text(&view).contains(" no bids "), "{}", text(&view));
    view.follow(&record(3, 0, &level(Side::Sell, 9, 0, 0))).unwrap();
    view.follow(&record(4, 0, &level(Side::Buy, 1, 1, 1))).unwrap();
    assert!(text(&view).contains(" no asks "), "{}", text(&view));
}

#[test]
fn a_long_address_leaves_the_state() {
    let text = Screen::new(&View::new("x".repeat(200), SYMBOL), true).to_text();
    assert!(text.lines().next().unwrap().ends_with("xx  paused"), "{text}");
}

#[test]
fn a_small_terminal_gets_the_reason() {
    for (columns, lines) in [(79, 24), (80, 23)] {
        let screen = draw(&live(), false, columns, lines).backend().to_string();
        assert!(screen.contains("the terminal must have 80 columns and 24 lines"), "{screen}");
    }
    draw(&live(), false, 1, 1);
}

#[test]
fn a_gap_is_counted_and_a_new_snapshot_continues() {
    let mut view = live();
    view.follow(&record(15, 0, &level(Side::Buy, 990, 0, 0))).unwrap_err();
    assert_eq!(view.gaps(), 1);
    view.select(SYMBOL);
    assert!(!view.follower().is_complete());
    let text = Screen::new(&view, false).to_text();
    assert!(text.contains("│ gaps                     1 │"), "{text}");
    assert!(text.contains("sell         1 at       998"), "{text}"); // trades stay
}

#[test]
fn symbols_follow_each_other_in_a_circle() {
    let mut view = live();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let next = view.next_symbol().unwrap();
        view.select(next);
        seen.push(next.0);
    }
    assert_eq!(seen, [8, 1, 3]);
    view.select(SymbolId(1));
    assert_eq!(view.previous_symbol(), Some(SymbolId(8)));
    view.select(SymbolId(5)); // does not exist
    assert_eq!(
        (view.previous_symbol(), view.next_symbol()),
        (Some(SymbolId(3)), Some(SymbolId(8)))
    );
    assert_eq!(View::new(String::new(), SYMBOL).next_symbol(), None);
}
