//! Several percentiles of one row, joined by a line, which shows the distance of the tail from the
//! median.

use super::Drawn;
use super::axis::Axis;
use super::canvas::{Marker, Picture, SMALL, Side, Writing};
use super::rows::{Frame, Key, Line};
use crate::report::html::format;
use crate::report::html::palette::Role;

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Dots {
    /// The contender.
    pub(crate) label: String,
    /// Whether it is Lapwing's.
    pub(crate) is_own: bool,
    /// One value for each name, ascending.
    pub(crate) values: Vec<f64>,
    /// The values, as they are read.
    pub(crate) text: String,
}

/// A whole plot: groups with their headings.
#[derive(Clone, Debug)]
pub(crate) struct DotRows {
    /// What is measured, with its unit.
    pub(crate) title: String,
    /// The names of the percentiles.
    pub(crate) names: Vec<String>,
    /// In order, from the top.
    pub(crate) groups: Vec<(String, Vec<Dots>)>,
}

impl DotRows {
    /// Draws the plot.
    ///
    /// # Errors
    ///
    /// The error of `plotters`.
    pub(crate) fn draw(&self) -> Drawn<Picture> {
        let rows = self.groups.iter().flat_map(|(_, rows)| rows).collect::<Vec<_>>();
        let mut lines = Vec::new();
        for (heading, rows) in &self.groups {
            lines.push(Line::Heading(heading.clone()));
            let line = |row: &Dots| Line::Row { label: row.label.clone(), is_own: row.is_own };
            lines.extend(rows.iter().map(line));
        }
        let key = |(number, name): (usize, &String)| Key {
            role: Role::Text,
            marker: Some(Marker::of(number)),
            text: name.clone(),
        };
        let values = rows.iter().flat_map(|row| row.values.iter().copied());
        let texts = rows.iter().map(|row| row.text.chars().count());
        let frame = Frame {
            axis: Axis::logarithmic(format!("{}, logarithmic", self.title), values, format::time),
            panels: vec![String::new()],
            lines,
            keys: self.names.iter().enumerate().map(key).collect(),
            text_characters: texts.max().unwrap_or(0) + 1,
        };
        frame.draw(|place| {
            let (row, y) = (rows[place.row], place.y);
            let role = if row.is_own { Role::Own } else { Role::Muted };
            let xs = row.values.iter().map(|value| place.x(*value)).collect::<Vec<_>>();
            let points = xs.iter().map(|x| (*x, y)).collect::<Vec<_>>();
            place.canvas.line(&points, role, 2)?;
            for (number, point) in points.iter().enumerate() {
                place.canvas.marker(*point, Marker::of(number), role)?;
            }
            let furthest = xs.into_iter().max().unwrap_or(place.left());
            let value = Writing { size: SMALL, bold: row.is_own, ..Writing::PLAIN };
            place.canvas.text(&row.text, (furthest + 10, y), Side::Right, value)
        })
    }
}
