//! A view as cells of a terminal.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Widget};

use super::View;
use crate::types::{Level, Side};

/// The smallest terminal: columns and lines.
const SMALLEST: (u16, u16) = (80, 24);
/// Columns of trades, rates and delays.
const RIGHT_COLUMNS: u16 = 30;
/// Columns of the state, with a space before it.
const STATE_COLUMNS: u16 = 8;
/// Columns of a level before its bar.
const LEVEL_COLUMNS: u16 = 31;

/// Shows a view.
#[derive(Clone, Copy, Debug)]
pub struct Screen<'a> {
    view: &'a View,
    is_paused: bool,
}

impl<'a> Screen<'a> {
    /// Creates a screen. One that is paused says so.
    #[must_use]
    pub fn new(view: &'a View, is_paused: bool) -> Self {
        Self { view, is_paused }
    }

    /// Returns the smallest screen as lines of text, without colours.
    #[must_use]
    pub fn to_text(self) -> String {
        let (columns, lines) = SMALLEST;
        let area = Rect::new(0, 0, columns, lines);
        let mut buffer = Buffer::empty(area);
        self.render(area, &mut buffer);
        let line = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..lines).map(|y| format!("{}\n", line(y).trim_end())).collect()
    }

    fn title(&self) -> Line<'static> {
        let View { address, symbols, follower, .. } = self.view;
        let symbol = follower.symbol();
        let place = symbols.iter().position(|&known| known == symbol);
        let place = place.map_or(String::new(), |at| format!(" ({} of {})", at + 1, symbols.len()));
        let band = follower.terms().map_or(String::new(), |terms| {
            format!("   prices {} to {}", terms.lowest, terms.highest)
        });
        Line::from(format!(" {address}   symbol {}{place}{band}", symbol.0))
    }

    fn state(&self) -> Line<'static> {
        let View { follower, loss, .. } = self.view;
        let (state, colour) = match loss {
            Some(_) => ("lost", Color::Red),
            None if self.is_paused => ("paused", Color::Yellow),
            None if follower.is_complete() => ("live", Color::Green),
            None => ("waiting", Color::Yellow),
        };
        Line::from(state).fg(colour).bold().right_aligned()
    }

    /// The last line: what is wrong, or the keys.
    fn foot(&self) -> Line<'static> {
        match &self.view.loss {
            Some(reason) => {
                Line::from(format!(" connection lost: {reason}; trying again ")).white().on_red()
            }
            None => Line::from(" q quit   left/right symbol   p pause").dark_gray(),
        }
    }

    fn render_book(&self, area: Rect, buffer: &mut Buffer) {
        let follower = &self.view.follower;
        let block = Block::bordered().title(" book ");
        let inner = block.inner(area);
        block.render(area, buffer);
        if !follower.is_complete() {
            let symbol = follower.symbol();
            let text = match self.view.symbols.contains(&symbol) {
                true => " waiting for the snapshot".to_owned(),
                false => format!(" the exchange has not named symbol {} yet", symbol.0),
            };
            return Paragraph::new(text).render(inner, buffer);
        }
        let [head, asks, middle, bids] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Fill(1),
        ])
        .areas(inner);
        Line::from(" orders   quantity      price").dark_gray().render(head, buffer);
        let levels = follower.levels();
        let asked: Vec<_> = levels.asks().take(asks.height.into()).collect();
        let bid: Vec<_> = levels.bids().take(bids.height.into()).collect();
        let largest = asked.iter().chain(&bid).map(|level| level.quantity).max().unwrap_or(1);
        let line = |level: &&Level| level_line(level, largest, inner.width);
        // The best ask stands above the spread.
        let free = asks.height - asked.len() as u16;
        let stack = Rect { y: asks.y + free, height: asks.height - free, ..asks };
        Paragraph::new(asked.iter().rev().map(line).collect::<Vec<_>>()).render(stack, buffer);
        spread(bid.first(), asked.first()).render(middle, buffer);
        Paragraph::new(bid.iter().map(line).collect::<Vec<_>>()).render(bids, buffer);
    }

    fn render_trades(&self, area: Rect, buffer: &mut Buffer) {
        let lines = self.view.trades.iter().take(area.height.into()).map(|trade| {
            let side = side_name(trade.taker_side);
            let text = format!(" {side:<4} {:>9} at {:>9}", trade.quantity, trade.price);
            Line::from(text).style(side_style(trade.taker_side))
        });
        let block = Block::bordered().title(" last trades ");
        Paragraph::new(lines.collect::<Vec<_>>()).block(block).render(area, buffer);
    }

    fn render_rates(&self, area: Rect, buffer: &mut Buffer) {
        let View { rates, gaps, .. } = self.view;
        let rate = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.0}"));
        let rows = [
            ("commands/s", rate(rates.of(|counts| counts.commands))),
            ("changes/s", rate(rates.of(|counts| counts.changes))),
            ("trades/s", rate(rates.of(|counts| counts.trades))),
            ("gaps", gaps.to_string()),
        ];
        table(" traffic ", &rows).render(area, buffer);
    }

    fn render_delays(&self, area: Rect, buffer: &mut Buffer) {
        let delays = &self.view.delays;
        let rows = [
            ("50 %", time(delays.at(50))),
            ("99 %", time(delays.at(99))),
            ("longest", time(delays.at(100))),
            ("probes", delays.count().to_string()),
        ];
        table(" command to answer ", &rows).render(area, buffer);
    }
}

impl Widget for Screen<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (columns, lines) = SMALLEST;
        if area.width < columns || area.height < lines {
            let text = format!("the terminal must have {columns} columns and {lines} lines");
            return Paragraph::new(text).render(area, buffer);
        }
        let [title, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
                .areas(area);
        let columns = [Constraint::Fill(1), Constraint::Length(RIGHT_COLUMNS)];
        let [book, right] = Layout::horizontal(columns).areas(body);
        let parts = [Constraint::Fill(1), Constraint::Length(6), Constraint::Length(6)];
        let [trades, rates, delays] = Layout::vertical(parts).areas(right);
        // The state is there also if an address is too long for the line.
        let [title, state] =
            Layout::horizontal([Constraint::Fill(1), Constraint::Length(STATE_COLUMNS)])
                .areas(title);
        self.title().render(title, buffer);
        self.state().render(state, buffer);
        self.render_book(book, buffer);
        self.render_trades(trades, buffer);
        self.render_rates(rates, buffer);
        self.render_delays(delays, buffer);
        self.foot().render(foot, buffer);
    }
}

fn level_line(level: &Level, largest: u64, width: u16) -> Line<'static> {
    let most = u64::from(width.saturating_sub(LEVEL_COLUMNS));
    // A level that rests has a bar. Its quantity is a sum of 32-bit ones, so this may not fit 64 bits.
    let bar = (u128::from(level.quantity) * u128::from(most)).div_ceil(u128::from(largest.max(1)));
    let text = format!("{:>7} {:>10} {:>10}  ", level.orders, level.quantity, level.price);
    let bar = Span::from("\u{2588}".repeat(bar as usize)).style(side_style(level.side));
    Line::from(vec![Span::from(text), bar])
}

fn spread(bid: Option<&&Level>, ask: Option<&&Level>) -> Line<'static> {
    let text = match (bid, ask) {
        (Some(bid), Some(ask)) => format!("{:>18} {:>10}", "spread", ask.price - bid.price),
        (None, None) => format!("{:>29}", "empty"),
        (None, _) => format!("{:>29}", "no bids"),
        (_, None) => format!("{:>29}", "no asks"),
    };
    Line::from(text).dark_gray()
}

/// Rows of a name and a value.
fn table(title: &'static str, rows: &[(&str, String)]) -> Paragraph<'static> {
    let line = |(name, value): &(&str, String)| Line::from(format!(" {name:<14}{value:>12}"));
    Paragraph::new(rows.iter().map(line).collect::<Vec<_>>()).block(Block::bordered().title(title))
}

fn time(time: Option<Duration>) -> String {
    match time.map(|time| time.as_micros()) {
        None => "-".into(),
        Some(us @ ..10_000) => format!("{us} us"),
        Some(us) => format!("{} ms", us / 1_000),
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    }
}

fn side_style(side: Side) -> Style {
    Style::new().fg(match side {
        Side::Buy => Color::Green,
        Side::Sell => Color::Red,
    })
}
