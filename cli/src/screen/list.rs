//! The list of rings, to choose one.

use lapwing::observe;
use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{draw, is_too_small, process_style, verdict_style};
use crate::figures::Figures;
use crate::table::GAP;
use crate::words::{columns, counted, cut, optional_rate};

/// Columns of a name, a process, its state, a sequence and a rate.
const NAME: usize = 20;
const PID: usize = 7;
const PROCESS: usize = 8;
const SEQUENCE: usize = 14;
const RATE: usize = 9;
/// The width from which on the number of published events is shown.
const WIDE: u16 = 90;
/// The width from which on the rate is shown.
const MIDDLE: u16 = 64;
/// Lines beside the rings: the head, an empty line, the headings and the keys.
const OTHER_LINES: u16 = 4;

/// A ring of the list.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) pid: u32,
    /// The figures, or why there are none.
    pub(crate) figures: Result<&'a Figures, String>,
}

/// Shows the list.
#[derive(Debug)]
pub(crate) struct ListScreen<'a> {
    pub(crate) entries: &'a [Entry<'a>],
    pub(crate) selected: usize,
    pub(crate) keys: &'a str,
}

impl Widget for ListScreen<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if is_too_small(area, buffer) {
            return;
        }
        let inner = area.inner(Margin { horizontal: 1, vertical: 0 });
        let width = inner.width;
        let count = counted(self.entries.len() as u64, "ring", "rings");
        let mut lines = vec![Line::from(count).bold(), Line::default()];
        if self.entries.is_empty() {
            let folder = observe::folder();
            lines.push(Line::from(cut(
                &format!("waiting for a ring in {}", folder.display()),
                width.into(),
            )));
        } else {
            let heads = ["name", "process", "state", "published", "events/s", "verdict"];
            let line = cells(heads.map(str::to_owned), width).join(GAP);
            lines.push(Line::from(line).dark_gray().underlined());
        }
        let shown = usize::from(area.height.saturating_sub(OTHER_LINES)).max(1);
        let first = (self.selected + 1).saturating_sub(shown);
        let entries = self.entries.iter().enumerate().skip(first).take(shown);
        lines.extend(entries.map(|(at, entry)| row(entry, width, at == self.selected)));
        draw(lines, inner, buffer);
        let foot = Rect { y: area.bottom() - 1, height: 1, ..inner };
        draw([Line::from(self.keys.to_owned()).dark_gray()], foot, buffer);
    }
}

fn row(entry: &Entry<'_>, width: u16, is_selected: bool) -> Line<'static> {
    let (name, pid) = (entry.name.to_owned(), entry.pid.to_string());
    let (cells, process, verdict) = match &entry.figures {
        Ok(figures) => {
            let rate = optional_rate(figures.published_per_second);
            let (published, short) = (figures.published.to_string(), figures.verdict.short.clone());
            let cells =
                cells([name, pid, figures.process.to_string(), published, rate, short], width);
            (cells, process_style(figures.process), verdict_style(figures.verdict.kind))
        }
        Err(reason) => {
            let none = || "-".to_owned();
            let cells = cells([name, pid, none(), none(), none(), reason.clone()], width);
            (cells, Style::new(), Style::new().red())
        }
    };
    let last = cells.len() - 1;
    let mut spans = Vec::new();
    for (at, cell) in cells.into_iter().enumerate() {
        let style = match at {
            // The mark has one colour.
            _ if is_selected => Style::new(),
            2 => process,
            _ if at == last => verdict,
            _ => Style::new(),
        };
        spans.extend([Span::styled(cell, style), Span::from(GAP)]);
    }
    let line = Line::from(spans);
    if is_selected { line.reversed() } else { line }
}

/// Pads the cells of a row, without those of the sequence and of the rate if the terminal is narrow. The last one has
/// the rest.
fn cells([name, pid, process, published, rate, verdict]: [String; 6], width: u16) -> Vec<String> {
    let left = |text: &str, width: usize| {
        let text = cut(text, width);
        format!("{text}{}", " ".repeat(width - columns(&text)))
    };
    let right = |text: &str, width: usize| {
        let text = cut(text, width);
        format!("{}{text}", " ".repeat(width - columns(&text)))
    };
    let name_width = if width >= WIDE { NAME } else { NAME / 2 };
    let mut cells = vec![left(&name, name_width), right(&pid, PID), left(&process, PROCESS)];
    if width >= WIDE {
        cells.push(right(&published, SEQUENCE));
    }
    if width >= MIDDLE {
        cells.push(right(&rate, RATE));
    }
    let used: usize = cells.iter().map(|cell| columns(cell) + GAP.len()).sum();
    cells.push(left(&verdict, usize::from(width).saturating_sub(used)));
    cells
}
