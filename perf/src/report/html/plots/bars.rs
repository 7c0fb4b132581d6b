//! Horizontal bars, each with its spread and its value at the end.

use super::Drawn;
use super::axis::Axis;
use super::canvas::{Picture, SMALL, Side, Writing, width};
use super::rows::{Frame, Key, Line, Place};
use crate::measure::statistics::Spread;
use crate::report::html::palette::Role;

/// Half of a bar's height.
const HALF: i32 = 7;
/// Half of the cap of a whisker.
const CAP: i32 = 3;

/// One bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// Its length.
    pub(crate) value: f64,
    /// Its colour.
    pub(crate) role: Role,
    /// The range of the runs.
    pub(crate) spread: Option<Spread>,
    /// The published value of the same case by others.
    pub(crate) reference: Option<f64>,
    /// Its value, as it is read.
    pub(crate) text: String,
    /// A smaller text beside it.
    pub(crate) note: String,
}

/// A row, with at most one bar in each panel.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The contender.
    pub(crate) label: String,
    /// Whether it is Lapwing's.
    pub(crate) is_own: bool,
    /// By panel.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// Rows under a heading. An empty group is left out.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The common property of the rows.
    pub(crate) heading: String,
    /// In order, from the top.
    pub(crate) rows: Vec<Row>,
}

/// A whole plot of bars.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// What is measured, with its unit.
    pub(crate) title: String,
    /// Titles of the panels.
    pub(crate) panels: Vec<String>,
    /// In order, from the top.
    pub(crate) groups: Vec<Group>,
    /// Above the panels.
    pub(crate) keys: Vec<Key>,
    /// The format of tick labels.
    pub(crate) label: fn(f64) -> String,
    /// Whether bars begin at zero even if the shortest is hardly visible.
    pub(crate) is_linear: bool,
}

impl Bars {
    /// Draws the plot.
    ///
    /// # Errors
    ///
    /// The error of `plotters`.
    pub(crate) fn draw(&self) -> Drawn<Picture> {
        let rows = self.groups.iter().flat_map(|group| &group.rows).collect::<Vec<_>>();
        let bars = rows.iter().flat_map(|row| row.bars.iter().flatten());
        let length = |bar: &Bar| bar.text.chars().count() + bar.note.chars().count() + 2;
        let frame = Frame {
            axis: self.axis(),
            panels: self.panels.clone(),
            lines: lines(&self.groups),
            keys: self.keys.clone(),
            text_characters: bars.map(length).max().unwrap_or(0),
        };
        frame.draw(|place| {
            let row = rows[place.row];
            match row.bars.get(place.panel).and_then(Option::as_ref) {
                Some(bar) => draw_bar(place, bar, row.is_own),
                None => {
                    let left = (place.left() + 6, place.y);
                    place.canvas.text("not measured", left, Side::Right, Writing::NOTE)
                }
            }
        })
    }

    fn axis(&self) -> Axis {
        let values = self.values();
        if self.is_linear {
            Axis::linear(&*self.title, values, self.label)
        } else {
            Axis::bars(&self.title, &values, self.label)
        }
    }

    /// Returns all values that must fit the axis.
    fn values(&self) -> Vec<f64> {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        let bars = rows.flat_map(|row| row.bars.iter().flatten());
        bars.flat_map(|bar| {
            let spread = bar.spread.map(|spread| [spread.min, spread.max]);
            let ends = spread.into_iter().flatten();
            [bar.value].into_iter().chain(ends).chain(bar.reference)
        })
        .collect()
    }
}

/// Returns the lines of the frame for `groups`.
fn lines(groups: &[Group]) -> Vec<Line> {
    let mut lines = Vec::new();
    for group in groups {
        if !group.heading.is_empty() {
            lines.push(Line::Heading(group.heading.clone()));
        }
        lines.extend(
            group.rows.iter().map(|row| Line::Row { label: row.label.clone(), is_own: row.is_own }),
        );
    }
    lines
}

/// Draws the bar, the published reference above it, its whisker and its texts.
fn draw_bar(place: &Place<'_, '_>, bar: &Bar, is_own: bool) -> Drawn {
    let (canvas, y) = (place.canvas, place.y);
    let end = place.x(bar.value);
    let mut furthest = end;
    let bottom = if bar.reference.is_some() { y + 2 } else { y + HALF };
    canvas.block((place.left(), y - HALF), (end, bottom), bar.role)?;
    if let Some(reference) = bar.reference {
        let end = place.x(reference);
        canvas.block((place.left(), y + 3), (end, y + HALF), Role::Reference)?;
        furthest = furthest.max(end);
    }
    if let Some(spread) = bar.spread {
        let middle = i32::midpoint(y - HALF, bottom);
        let (from, to) = (place.x(spread.min), place.x(spread.max));
        if to - from > 2 {
            canvas.line(&[(from, middle), (to, middle)], Role::Text, 1)?;
            for x in [from, to] {
                canvas.line(&[(x, middle - CAP), (x, middle + CAP)], Role::Text, 1)?;
            }
        }
        furthest = furthest.max(to);
    }
    let value = Writing { size: SMALL, bold: is_own, ..Writing::PLAIN };
    canvas.text(&bar.text, (furthest + 6, y), Side::Right, value)?;
    let after = furthest + 12 + width(&bar.text, value);
    canvas.text(&bar.note, (after, y), Side::Right, Writing::NOTE)
}
