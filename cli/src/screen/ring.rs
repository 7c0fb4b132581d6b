//! One ring: what it is, the verdict, and its graph.

use lapwing::monitor::StageState;
use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{draw, is_too_small, process_style, verdict_style};
use crate::figures::Figures;
use crate::table::{Column, GAP, Look, Row, Table, bar};
use crate::text::{shares, title};
use crate::words::{counted, cut, optional_rate, rounded_down, wrapped};

/// From this width on, the slots have a bar, of so many columns.
const WIDE: u16 = 90;
const BAR: usize = 20;
/// From this height on, empty lines separate the parts.
const HIGH: u16 = 18;
/// Lines of a verdict. The stages that matter are named first.
const MOST_VERDICT_LINES: usize = 4;
/// Lines that the table has at least: the headings, the producers and two stages.
const LEAST_TABLE_LINES: usize = 4;

/// Where a table begins that does not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Scroll {
    /// Number of rows that are above the first one that is shown.
    pub(crate) above: usize,
}

/// Shows a ring.
#[derive(Debug)]
pub(crate) struct RingScreen<'a> {
    pub(crate) figures: &'a Figures,
    pub(crate) scroll: Scroll,
    /// A line about where this ring comes from, or that there is a newer one.
    pub(crate) note: Option<&'a str>,
    /// The keys.
    pub(crate) keys: &'a str,
}

impl Widget for RingScreen<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if is_too_small(area, buffer) {
            return;
        }
        let inner = area.inner(Margin { horizontal: 1, vertical: 0 });
        let mut lines = self.top(inner.width, area.height);
        let space = usize::from(area.height) - 1 - lines.len();
        lines.extend(self.table(inner.width.into(), space));
        lines.truncate(usize::from(area.height) - 1);
        draw(lines, inner, buffer);
        let foot = Rect { y: area.bottom() - 1, height: 1, ..inner };
        draw([Line::from(self.keys.to_owned()).dark_gray()], foot, buffer);
    }
}

impl RingScreen<'_> {
    /// The lines above the table.
    fn top(&self, width: u16, height: u16) -> Vec<Line<'static>> {
        let is_high = height >= HIGH;
        let space = |lines: &mut Vec<Line<'static>>| {
            if is_high {
                lines.push(Line::default());
            }
        };
        let mut lines = vec![self.head(width), self.slots(width)];
        space(&mut lines);
        let others = lines.len() + usize::from(self.note.is_some()) + 1 + LEAST_TABLE_LINES;
        let most = usize::from(height).saturating_sub(others).clamp(1, MOST_VERDICT_LINES);
        lines.extend(self.verdict(width.into(), most));
        lines.extend(self.note.map(|note| Line::from(cut(note, width.into())).cyan().bold()));
        if let Some(shares) = shares(self.figures).filter(|_| is_high) {
            lines.push(Line::from(cut(&shares, width.into())).dark_gray());
        }
        space(&mut lines);
        lines
    }

    fn head(&self, width: u16) -> Line<'static> {
        let Figures { identity, process, state, at, .. } = self.figures;
        let mut spans = vec![
            Span::from(cut(&title(self.figures), usize::from(width) / 2)).bold(),
            Span::from(format!("{GAP}process {} ", identity.pid)),
            Span::from(process.to_string()).style(process_style(*process)),
        ];
        spans.push(Span::from(format!("{GAP}ring {state}")));
        if width >= WIDE {
            let age = at.duration_since(identity.made_at).unwrap_or_default();
            spans.push(Span::from(format!("{GAP}made {} ago", rounded_down(age))).dark_gray());
        }
        Line::from(spans)
    }

    fn slots(&self, width: u16) -> Line<'static> {
        let figures = self.figures;
        let Figures { held_slots, capacity, .. } = figures;
        let mut spans = Vec::new();
        if width >= WIDE {
            let full = bar(*held_slots as u64, *capacity as u64, BAR);
            let empty = "░".repeat(BAR - full.chars().count());
            let nearly_full = capacity / 4 * 3;
            let colour = if figures.waiting_producers > 0 || held_slots == capacity {
                Color::Red
            } else if *held_slots > nearly_full {
                Color::Yellow
            } else {
                Color::Green
            };
            spans.extend([Span::from(full).fg(colour), Span::from(empty).dark_gray(), " ".into()]);
        }
        spans.push(format!("{held_slots} of {capacity} slots held").into());
        let rate = optional_rate(figures.published_per_second);
        spans.push(Span::from(format!("{GAP}{rate} events/s")).bold());
        if figures.dropped > 0 {
            let rate = optional_rate(figures.dropped_per_second);
            let dropped = format!("{GAP}{} dropped, {rate}/s", figures.dropped);
            spans.push(Span::from(dropped).red());
        }
        if figures.waiting_producers > 0 {
            let waiting = figures.waiting_producers;
            let waiting = counted(waiting, "producer waits", "producers wait");
            spans.push(Span::from(format!("{GAP}{waiting}")).yellow());
        }
        Line::from(spans)
    }

    fn verdict(&self, width: usize, most: usize) -> Vec<Line<'static>> {
        let verdict = &self.figures.verdict;
        let mut lines = wrapped(&verdict.sentence, width);
        if lines.len() > most {
            lines.truncate(most);
            lines[most - 1] = cut(&format!("{}…", lines[most - 1]), width);
        }
        let style = verdict_style(verdict.kind);
        lines.into_iter().map(|line| Line::from(line).style(style)).collect()
    }

    fn table(&self, width: usize, space: usize) -> Vec<Line<'static>> {
        let table = Table::fitting(self.figures, width);
        let mut lines = vec![Line::from(table.heads().join(GAP)).dark_gray().underlined()];
        let rows = space.saturating_sub(1);
        let all = table.rows.len();
        if all <= rows {
            lines.extend(table.rows.iter().map(|row| self.row(&table, row)));
            return lines;
        }
        // The last line counts what is not shown.
        let shown = rows.saturating_sub(1).max(1);
        let above = self.scroll.above.min(all - shown);
        let visible = &table.rows[above..above + shown];
        lines.extend(visible.iter().map(|row| self.row(&table, row)));
        let below = all - shown - above;
        lines.push(Line::from(format!("{above} rows above, {below} below")).dark_gray());
        lines
    }

    fn row(&self, table: &Table, row: &Row) -> Line<'static> {
        let is_culprit = matches!(row.look, Look::Stage { is_culprit: true, .. });
        let style =
            if is_culprit { verdict_style(self.figures.verdict.kind) } else { Style::new() };
        let mut spans = Vec::new();
        for ((column, _), cell) in table.columns.iter().zip(table.cells(row)) {
            let cell_style = match (column, row.look) {
                _ if is_culprit => style,
                (Column::State, Look::Stage { state, .. }) => state_style(state),
                (Column::Bar, _) => Style::new().fg(Color::Cyan),
                (Column::After | Column::For | Column::WaitsFor, _) => Style::new().dark_gray(),
                _ => style,
            };
            if !spans.is_empty() {
                spans.push(Span::from(GAP));
            }
            spans.push(Span::styled(cell, cell_style));
        }
        Line::from(spans)
    }
}

fn state_style(state: StageState) -> Style {
    match state {
        StageState::InHandler | StageState::Running | StageState::HasBatch => {
            Style::new().fg(Color::Green)
        }
        StageState::NotAsked | StageState::NotStarted | StageState::Pausing => {
            Style::new().fg(Color::Yellow)
        }
        StageState::Failed | StageState::Halted => Style::new().fg(Color::Red),
        _ => Style::new().dark_gray(),
    }
}
