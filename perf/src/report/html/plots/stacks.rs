//! Horizontal bars of several parts.

use super::Drawn;
use super::axis::{Axis, number};
use super::canvas::{Picture, SMALL, Side, Writing};
use super::rows::{Frame, Key, Line};
use crate::report::html::palette::Role;

/// Half of a bar's height.
const HALF: i32 = 7;

/// A bar of several parts.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// The contender.
    pub(crate) label: String,
    /// Whether it is Lapwing's.
    pub(crate) is_own: bool,
    /// The parts from the left, as many as there are names.
    pub(crate) parts: Vec<f64>,
    /// The total, as text.
    pub(crate) text: String,
}

/// A whole plot of stacks: groups with their headings.
#[derive(Clone, Debug)]
pub(crate) struct Stacks {
    /// What is measured, with its unit.
    pub(crate) title: String,
    /// The names of the parts, from the left.
    pub(crate) names: Vec<String>,
    /// In order, from the top.
    pub(crate) groups: Vec<(String, Vec<Stack>)>,
}

impl Stacks {
    /// Draws the plot.
    ///
    /// # Errors
    ///
    /// The error of `plotters`.
    pub(crate) fn draw(&self) -> Drawn<Picture> {
        let stacks = self.groups.iter().flat_map(|(_, stacks)| stacks).collect::<Vec<_>>();
        let mut lines = Vec::new();
        for (heading, stacks) in &self.groups {
            lines.push(Line::Heading(heading.clone()));
            let row =
                |stack: &Stack| Line::Row { label: stack.label.clone(), is_own: stack.is_own };
            lines.extend(stacks.iter().map(row));
        }
        let names = self.names.iter().enumerate();
        let texts = stacks.iter().map(|stack| stack.text.chars().count());
        let wholes = stacks.iter().map(|stack| stack.parts.iter().sum::<f64>());
        let frame = Frame {
            axis: Axis::linear(&*self.title, wholes, number),
            panels: vec![String::new()],
            lines,
            keys: names.map(|(part, name)| Key::block(Role::Series(part), name)).collect(),
            text_characters: texts.max().unwrap_or(0) + 1,
        };
        frame.draw(|place| {
            let stack = stacks[place.row];
            let (mut begin, y) = (0.0, place.y);
            for (number, part) in stack.parts.iter().enumerate() {
                let (from, to) = (place.x(begin), place.x(begin + part));
                // One pixel between parts separates them without colour as well.
                let to = if to > from + 1 { to - 1 } else { to };
                place.canvas.block((from, y - HALF), (to, y + HALF), Role::Series(number))?;
                begin += part;
            }
            let value = Writing { size: SMALL, bold: stack.is_own, ..Writing::PLAIN };
            place.canvas.text(&stack.text, (place.x(begin) + 6, y), Side::Right, value)
        })
    }
}
