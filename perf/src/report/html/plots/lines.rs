//! Curves over two axes, in one or more panels. The name of each line is at its end, so no reader
//! has to match colours with a legend.

use plotters::chart::ChartBuilder;
use plotters::style::TRANSPARENT;

use super::Drawn;
use super::axis::Axis;
use super::canvas::{Canvas, Marker, Picture, Point, SMALL, Side, Writing, cut, thin, width};
use crate::report::html::palette::{Role, SERIES};

const PLOT_WIDTH: i32 = 560;
const PLOT_HEIGHT: i32 = 330;
const LEFT: i32 = 84;
const AXIS_HEIGHT: i32 = 48;
const TITLE_HEIGHT: i32 = 30;
const MARGIN: i32 = 12;
/// Between two panels.
const GAP: i32 = 18;
/// Distance of two names.
const NAME_HEIGHT: i32 = 17;
/// The space between the end of a line and its name.
const LEADER: i32 = 26;
/// Longest name, in characters.
const NAME_CHARACTERS: usize = 42;

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// The name at its end.
    pub(crate) name: String,
    /// The contender to which it belongs.
    pub(crate) whose: Whose,
    /// From the left.
    pub(crate) points: Vec<(f64, f64)>,
    /// Points that get a cross.
    pub(crate) crossed: Vec<(f64, f64)>,
    /// Whether each point has a marker.
    pub(crate) is_marked: bool,
}

/// The contender to which a line belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Lapwing's.
    Own,
    /// A rival, with a number that distinguishes it from the others in each panel.
    Other(usize),
    /// The baseline without a hand-off, which shows the overhead of the machine.
    Floor,
}

/// One panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Its title.
    pub(crate) title: String,
    /// The lines. Those of Lapwing are drawn last, above the others.
    pub(crate) series: Vec<Series>,
}

/// A whole plot: panels one below the other, with the same axes.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// Of all panels.
    pub(crate) across: Axis,
    /// Of all panels.
    pub(crate) up: Axis,
    /// In order, from the top.
    pub(crate) panels: Vec<Panel>,
}

/// The position of one panel.
struct Place {
    left: i32,
    top: i32,
    height: i32,
}

impl Series {
    fn role(&self) -> Role {
        match self.whose {
            Whose::Own => Role::Own,
            Whose::Other(number) => Role::Series(number),
            Whose::Floor => Role::Muted,
        }
    }

    /// Returns whether it is dashed: when the colours repeat, and for the baseline without a
    /// hand-off.
    const fn is_dashed(&self) -> bool {
        match self.whose {
            Whose::Own => false,
            Whose::Other(number) => (number / SERIES) % 2 == 1,
            Whose::Floor => true,
        }
    }

    fn is_own(&self) -> bool {
        self.whose == Whose::Own
    }

    /// Returns the style of its name.
    fn name_style(&self) -> Writing {
        Writing { size: SMALL, bold: self.is_own(), ..Writing::PLAIN }
    }

    fn name_width(&self) -> i32 {
        width(&cut(&self.name, NAME_CHARACTERS), self.name_style())
    }

    fn marker(&self) -> Marker {
        match self.whose {
            Whose::Own | Whose::Floor => Marker::Disc,
            Whose::Other(number) => Marker::of(1 + number % 4),
        }
    }
}

impl Lines {
    /// Draws the plot.
    ///
    /// # Errors
    ///
    /// The error of `plotters`.
    pub(crate) fn draw(&self) -> Drawn<Picture> {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        let names = series.map(|series| series.name_width());
        let total_width = LEFT + PLOT_WIDTH + LEADER + names.max().unwrap_or(0) + MARGIN;
        let heights = self.panels.iter().map(Panel::height).collect::<Vec<_>>();
        let total_height =
            heights.iter().map(|height| TITLE_HEIGHT + height + AXIS_HEIGHT + GAP).sum::<i32>();
        Picture::draw((total_width, total_height + 2 * MARGIN), |canvas| {
            let mut top = MARGIN;
            for (panel, height) in self.panels.iter().zip(heights) {
                let title = (LEFT, top + TITLE_HEIGHT / 2 - 4);
                canvas.text(&panel.title, title, Side::Right, Writing::BOLD)?;
                let place = Place { left: LEFT, top: top + TITLE_HEIGHT, height };
                self.draw_axes(canvas, &place)?;
                self.draw_names(canvas, panel, &place)?;
                self.draw_series(canvas, panel, &place)?;
                top += TITLE_HEIGHT + height + AXIS_HEIGHT + GAP;
            }
            Ok(())
        })
    }

    fn draw_axes(&self, canvas: &Canvas<'_>, place: &Place) -> Drawn {
        // Space for half a label beyond the ends of each axis.
        let overhang = 30;
        let corner = (MARGIN, place.top - overhang);
        let inside = PLOT_WIDTH + place.left - MARGIN + overhang;
        let area =
            canvas.root.clone().shrink(corner, (inside, place.height + AXIS_HEIGHT + overhang));
        let (across, up) = (&self.across, &self.up);
        let mut chart = ChartBuilder::on(&area)
            .margin_top(overhang)
            .margin_right(overhang)
            .x_label_area_size(AXIS_HEIGHT)
            .y_label_area_size(place.left - MARGIN)
            .build_cartesian_2d(across.clone(), up.clone())?;
        chart
            .configure_mesh()
            .x_labels(across.ticks.len())
            .y_labels(up.ticks.len())
            .x_label_formatter(&|position| across.label(*position))
            .y_label_formatter(&|position| up.label(*position))
            .x_desc(across.title.clone())
            .y_desc(up.title.clone())
            .bold_line_style(thin(Role::Grid))
            .light_line_style(TRANSPARENT)
            .axis_style(thin(Role::Muted))
            .label_style(Writing::NOTE.of_plotters())
            .axis_desc_style(Writing::NOTE.of_plotters())
            .draw()
    }

    fn draw_series(&self, canvas: &Canvas<'_>, panel: &Panel, place: &Place) -> Drawn {
        let (own, others): (Vec<_>, Vec<_>) =
            panel.series.iter().partition(|series| series.is_own());
        for series in others.into_iter().chain(own) {
            let points = series.points.iter().map(|point| self.pixel(*point, place));
            let points = points.collect::<Vec<_>>();
            let role = series.role();
            if series.is_dashed() {
                canvas.dashes(&points, role, 2)?;
            } else {
                canvas.line(&points, role, if series.is_own() { 3 } else { 2 })?;
            }
            if series.is_marked {
                for point in &points {
                    canvas.marker(*point, series.marker(), role)?;
                }
            }
            for point in &series.crossed {
                canvas.cross(self.pixel(*point, place), Role::Text)?;
            }
        }
        Ok(())
    }

    /// Draws the name of each line beside its end. If names had to move, a thin line connects them.
    fn draw_names(&self, canvas: &Canvas<'_>, panel: &Panel, place: &Place) -> Drawn {
        let ends = panel.series.iter().filter_map(|series| {
            let last = series.points.last()?;
            Some((series, self.pixel(*last, place)))
        });
        let mut ends = ends.collect::<Vec<_>>();
        ends.sort_by_key(|(_, (_, y))| *y);
        let wanted = ends.iter().map(|(_, (_, y))| *y).collect::<Vec<_>>();
        let (top, bottom) = (place.top, place.top + place.height);
        let given = spread_out(&wanted, NAME_HEIGHT, top, bottom);
        let right = place.left + PLOT_WIDTH;
        for ((series, (x, y)), name_y) in ends.into_iter().zip(given) {
            let role = series.role();
            let text = (right + LEADER, name_y);
            // Grey, because the leader is not a part of the curve.
            let leader = [(x, y), (right + 6, name_y), (right + LEADER - 12, name_y)];
            canvas.line(&leader, Role::Rival, 1)?;
            canvas.marker((right + LEADER - 9, name_y), series.marker(), role)?;
            let name = cut(&series.name, NAME_CHARACTERS);
            canvas.text(&name, text, Side::Right, series.name_style())?;
        }
        Ok(())
    }

    #[allow(clippy::cast_possible_truncation)] // a share of some hundred pixels
    fn pixel(&self, (across, up): (f64, f64), place: &Place) -> Point {
        let x = f64::from(PLOT_WIDTH) * self.across.share(across);
        let y = f64::from(place.height) * (1.0 - self.up.share(up));
        (place.left + x.round() as i32, place.top + y.round() as i32)
    }
}

impl Panel {
    /// Returns a height that fits the names of all lines.
    fn height(&self) -> i32 {
        let names = i32::try_from(self.series.len()).unwrap_or(i32::MAX / NAME_HEIGHT);
        PLOT_HEIGHT.max(names * NAME_HEIGHT)
    }
}

/// Moves ascending positions as little as necessary, so that they are `distance` apart within
/// `top..=bottom`.
fn spread_out(wanted: &[i32], distance: i32, top: i32, bottom: i32) -> Vec<i32> {
    let mut given = wanted.to_vec();
    let mut least = top;
    for position in &mut given {
        *position = (*position).max(least);
        least = *position + distance;
    }
    let mut most = bottom;
    for position in given.iter_mut().rev() {
        *position = (*position).min(most);
        most = *position - distance;
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_and_stay_inside() {
        assert_eq!(spread_out(&[10, 11, 12], 10, 0, 100), [10, 20, 30]);
        assert_eq!(spread_out(&[98, 99, 100], 10, 0, 100), [80, 90, 100]);
        assert_eq!(spread_out(&[5, 50], 10, 0, 100), [5, 50]);
    }
}
