//! The frame of every plot with one row per contender: labels on the left, groups with headings,
//! one or two adjacent panels over a common axis, and a legend.

use plotters::chart::ChartBuilder;
use plotters::style::TRANSPARENT;

use super::Drawn;
use super::axis::Axis;
use super::canvas::{Canvas, Marker, Picture, Point, Side, Writing, cut, thin, width};
use crate::report::html::palette::Role;

const ROW_HEIGHT: i32 = 21;
const HEADING_HEIGHT: i32 = 30;
const AXIS_HEIGHT: i32 = 46;
const LEGEND_HEIGHT: i32 = 26;
const PANEL_TITLE_HEIGHT: i32 = 26;
const MARGIN: i32 = 14;
/// The width of the bars, for one panel and for each of two.
const PANEL_WIDTHS: [i32; 2] = [430, 300];
/// Longest label, in characters.
const LABEL_CHARACTERS: usize = 42;

/// A line of the frame.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// The name of a group.
    Heading(String),
    /// A row with its label.
    Row {
        /// The contender.
        label: String,
        /// Whether it is Lapwing's.
        is_own: bool,
    },
}

/// The meaning of a colour or a shape.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    /// Its colour.
    pub(crate) role: Role,
    /// Its shape; a block if absent.
    pub(crate) marker: Option<Marker>,
    /// Its meaning.
    pub(crate) text: String,
}

/// Everything except the marks.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Of all panels.
    pub(crate) axis: Axis,
    /// Titles of the panels. An empty one takes no space.
    pub(crate) panels: Vec<String>,
    /// In order, from the top.
    pub(crate) lines: Vec<Line>,
    /// Above the panels.
    pub(crate) keys: Vec<Key>,
    /// The longest text to the right of a mark, in characters.
    pub(crate) text_characters: usize,
}

/// The position of the marks of one row in one panel.
pub(crate) struct Place<'a, 'b> {
    /// The surface.
    pub(crate) canvas: &'a Canvas<'b>,
    /// The row's number, headings not counted.
    pub(crate) row: usize,
    /// The panel's number.
    pub(crate) panel: usize,
    /// The middle of the row.
    pub(crate) y: i32,
    axis: &'a Axis,
    left: i32,
    right: i32,
}

/// The positions of the parts of the frame.
struct Layout {
    label_right: i32,
    panel_width: i32,
    text_width: i32,
    top: i32,
    rows_height: i32,
}

impl Place<'_, '_> {
    /// Returns the position of `value`.
    #[allow(clippy::cast_possible_truncation)] // a share of some hundred pixels
    pub(crate) fn x(&self, value: f64) -> i32 {
        self.left + (f64::from(self.right - self.left) * self.axis.share(value)).round() as i32
    }

    /// Returns the start of the axis.
    pub(crate) const fn left(&self) -> i32 {
        self.left
    }
}

impl Frame {
    /// Draws the frame, and `marks` for each row in each panel.
    ///
    /// # Errors
    ///
    /// The error of `plotters`.
    pub(crate) fn draw(&self, marks: impl Fn(&Place<'_, '_>) -> Drawn) -> Drawn<Picture> {
        let layout = self.layout();
        let panels = i32::try_from(self.panels.len()).unwrap_or(1);
        let own_width = layout.label_right + panels * (layout.panel_width + layout.text_width);
        let size = (own_width + MARGIN, layout.top + layout.rows_height + AXIS_HEIGHT + MARGIN / 2);
        Picture::draw(size, |canvas| {
            self.draw_keys(canvas)?;
            for (panel, title) in self.panels.iter().enumerate() {
                let step = layout.panel_width + layout.text_width;
                let left = layout.label_right + i32::try_from(panel).unwrap_or(0) * step;
                let middle = layout.top - PANEL_TITLE_HEIGHT / 2 - 2;
                canvas.text(title, (left, middle), Side::Right, Writing::BOLD)?;
                self.draw_panel(canvas, left, &layout)?;
                self.draw_marks(canvas, panel, left, &layout, &marks)?;
            }
            self.draw_labels(canvas, &layout)
        })
    }

    fn layout(&self) -> Layout {
        let widths = self.lines.iter().map(|line| match line {
            Line::Heading(_) => 0,
            Line::Row { label, is_own } => {
                width(&cut(label, LABEL_CHARACTERS), label_style(*is_own))
            }
        });
        let titled = self.panels.iter().any(|title| !title.is_empty());
        let top = MARGIN
            + if self.keys.is_empty() { 0 } else { LEGEND_HEIGHT }
            + if titled { PANEL_TITLE_HEIGHT } else { 0 };
        Layout {
            label_right: MARGIN + widths.max().unwrap_or(0).max(90) + 8,
            panel_width: PANEL_WIDTHS[usize::from(self.panels.len() > 1)],
            text_width: width(&"x".repeat(self.text_characters), Writing::NOTE) + 20,
            top,
            rows_height: self.lines.iter().map(Line::height).sum::<i32>() + 6,
        }
    }

    /// Draws the axis of one panel and its grid.
    fn draw_panel(&self, canvas: &Canvas<'_>, left: i32, layout: &Layout) -> Drawn {
        let size = (layout.panel_width, layout.rows_height + AXIS_HEIGHT);
        // Space for half a label beyond each end of the axis.
        let overhang = 40;
        let area = canvas
            .root
            .clone()
            .shrink((left - overhang, layout.top), (size.0 + 2 * overhang, size.1));
        let axis = &self.axis;
        let mut chart = ChartBuilder::on(&area)
            .margin_left(overhang)
            .margin_right(overhang)
            .x_label_area_size(AXIS_HEIGHT)
            .build_cartesian_2d(axis.clone(), 0.0..1.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .x_labels(axis.ticks.len())
            .x_label_formatter(&|position| axis.label(*position))
            .x_desc(axis.title.clone())
            .bold_line_style(thin(Role::Grid))
            .light_line_style(TRANSPARENT)
            .axis_style(thin(Role::Muted))
            .label_style(Writing::NOTE.of_plotters())
            .axis_desc_style(Writing::NOTE.of_plotters())
            .draw()
    }

    fn draw_marks(
        &self,
        canvas: &Canvas<'_>,
        panel: usize,
        left: i32,
        layout: &Layout,
        marks: &impl Fn(&Place<'_, '_>) -> Drawn,
    ) -> Drawn {
        let right = left + layout.panel_width;
        for (row, y) in self.middles(layout).into_iter().enumerate() {
            marks(&Place { canvas, row, panel, y, axis: &self.axis, left, right })?;
        }
        // The start of the axis is in front of the bars.
        let bottom = layout.top + layout.rows_height;
        canvas.line(&[(left, layout.top), (left, bottom)], Role::Muted, 1)
    }

    fn draw_labels(&self, canvas: &Canvas<'_>, layout: &Layout) -> Drawn {
        let mut top = layout.top;
        for line in &self.lines {
            match line {
                Line::Heading(text) => {
                    let place = (MARGIN, top + HEADING_HEIGHT - ROW_HEIGHT / 2);
                    let ground = (MARGIN + width(text, Writing::BOLD), place.1 + 9);
                    canvas.block((MARGIN, place.1 - 9), ground, Role::Surface)?;
                    canvas.text(text, place, Side::Right, Writing::BOLD)?;
                }
                Line::Row { label, is_own } => {
                    let place = (layout.label_right - 8, top + ROW_HEIGHT / 2);
                    let text = cut(label, LABEL_CHARACTERS);
                    canvas.text(&text, place, Side::Left, label_style(*is_own))?;
                }
            }
            top += line.height();
        }
        Ok(())
    }

    fn draw_keys(&self, canvas: &Canvas<'_>) -> Drawn {
        draw_keys(canvas, &self.keys, (MARGIN, MARGIN + LEGEND_HEIGHT / 2 - 4))
    }

    /// Returns the centres of the rows, without headings.
    fn middles(&self, layout: &Layout) -> Vec<i32> {
        let mut top = layout.top;
        let mut middles = Vec::new();
        for line in &self.lines {
            if matches!(line, Line::Row { .. }) {
                middles.push(top + ROW_HEIGHT / 2);
            }
            top += line.height();
        }
        middles
    }
}

impl Line {
    const fn height(&self) -> i32 {
        match self {
            Self::Heading(_) => HEADING_HEIGHT,
            Self::Row { .. } => ROW_HEIGHT,
        }
    }
}

/// Returns the style of the label of a row.
const fn label_style(is_own: bool) -> Writing {
    if is_own { Writing { role: Role::Own, ..Writing::BOLD } } else { Writing::PLAIN }
}

impl Key {
    /// Returns the key of a block of this colour.
    pub(crate) fn block(role: Role, text: impl Into<String>) -> Self {
        Self { role, marker: None, text: text.into() }
    }
}

/// Draws `keys` in one line from `start` on.
///
/// # Errors
///
/// The error of `plotters`.
pub(crate) fn draw_keys(canvas: &Canvas<'_>, keys: &[Key], start: Point) -> Drawn {
    let (mut x, y) = start;
    for key in keys {
        match key.marker {
            Some(marker) => canvas.marker((x + 6, y), marker, key.role)?,
            None => canvas.block((x, y - 5), (x + 12, y + 5), key.role)?,
        }
        canvas.text(&key.text, (x + 18, y), Side::Right, Writing::NOTE)?;
        x += 18 + width(&key.text, Writing::NOTE) + 14;
    }
    Ok(())
}
