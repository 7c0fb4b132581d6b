//! What the terminal shows: one ring, or the list of rings. Drawn from plain data.

mod list;
mod ring;

#[cfg(test)]
mod tests;

use lapwing::observe::ProcessState;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget, Wrap};

use crate::figures::Kind;

pub(crate) use list::{Entry, ListScreen};
pub(crate) use ring::{RingScreen, Scroll};

/// The smallest terminal: columns and lines. The columns are those of the narrowest table with a lag of
/// ten digits, which is the largest ring, and a margin.
pub(crate) const SMALLEST: (u16, u16) = (52, 10);

/// Says what is wrong if the terminal is too small.
fn is_too_small(area: Rect, buffer: &mut Buffer) -> bool {
    let (columns, lines) = SMALLEST;
    let is_too_small = area.width < columns || area.height < lines;
    if is_too_small {
        let text = format!(
            "The terminal has {} columns and {} lines. At least {columns} and {lines} are needed.",
            area.width, area.height
        );
        Paragraph::new(text).wrap(Wrap { trim: true }).render(area, buffer);
    }
    is_too_small
}

/// Draws lines from the top of an area, as many as fit.
fn draw(lines: impl IntoIterator<Item = Line<'static>>, area: Rect, buffer: &mut Buffer) {
    for (line, row) in lines.into_iter().zip(area.rows()) {
        line.render(row, buffer);
    }
}

fn process_style(state: ProcessState) -> Style {
    let style = Style::new().bold();
    match state {
        ProcessState::Running => style.fg(Color::Green),
        ProcessState::Dropped => style.fg(Color::Yellow),
        _ => style.fg(Color::Red),
    }
}

fn verdict_style(kind: Kind) -> Style {
    match kind {
        Kind::Ended | Kind::Stopped | Kind::Stalled | Kind::Halted => {
            Style::new().fg(Color::Red).bold()
        }
        Kind::Limited => Style::new().fg(Color::Yellow).bold(),
        Kind::KeepsUp | Kind::Idle | Kind::Drained => Style::new().fg(Color::Green),
        Kind::Dropped | Kind::Unclear | Kind::FirstLook => Style::new(),
    }
}
