//! Charts: bars with their ranges, and lines. `plotters` draws both as SVG, which stands in the page and in a file of
//! its own. Colours are readable on white, the background of every chart.

use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, LabelAreaPosition, SeriesLabelPosition};
use plotters::coord::Shift;
use plotters::coord::combinators::IntoLogRange;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{PathElement, Rectangle, Text};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, Color, Palette, Palette99, RGBColor, TextStyle, WHITE};

use super::text;
use crate::record::{Record, figure};

/// The width of a chart, in pixels.
const WIDTH: u32 = 900;
/// The height of a chart of lines, and of a row of bars.
const LINES_HEIGHT: u32 = 460;
const ROW_HEIGHT: u32 = 21;
/// The space of the names left of the bars, and of the values right of them.
const NAMES: u32 = 250;
const VALUES: f64 = 0.12;
/// The colours of Lapwing, and of a rival in a chart of bars.
const OWN: RGBColor = RGBColor(196, 78, 24);
const RIVAL: RGBColor = RGBColor(120, 144, 168);

/// A chart with its name and caption.
#[derive(Debug)]
pub(crate) struct Chart {
    /// The name of its file, without the extension.
    pub(crate) name: String,
    /// One sentence.
    pub(crate) caption: String,
    /// What is drawn.
    pub(crate) drawing: Drawing,
}

/// What is drawn.
#[derive(Debug)]
pub(crate) enum Drawing {
    /// A bar for each row.
    Bars(Bars),
    /// A line for each contender.
    Lines(Lines),
}

/// Horizontal bars under headings.
#[derive(Debug)]
pub(crate) struct Bars {
    /// What the length of a bar means, with its unit.
    pub(crate) unit: String,
    /// Headings, each with its bars from the top.
    pub(crate) groups: Vec<(String, Vec<Bar>)>,
}

/// A bar.
#[derive(Debug)]
pub(crate) struct Bar {
    /// What it is about.
    pub(crate) name: String,
    /// Its length.
    pub(crate) value: f64,
    /// The range of the runs, which a thin line spans.
    pub(crate) range: Option<(f64, f64)>,
    /// Whether it is Lapwing's.
    pub(crate) is_own: bool,
}

/// Lines over an axis.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The axis across, with its unit.
    pub(crate) across: Axis,
    /// The axis up, with its unit.
    pub(crate) up: Axis,
    /// The lines.
    pub(crate) series: Vec<Series>,
}

/// An axis.
#[derive(Debug)]
pub(crate) struct Axis {
    /// What it measures.
    pub(crate) name: String,
    /// The text of a value.
    pub(crate) label: fn(f64) -> String,
}

/// A line. The points ascend.
#[derive(Debug)]
pub(crate) struct Series {
    /// What it is about.
    pub(crate) name: String,
    /// Its points.
    pub(crate) points: Vec<(f64, f64)>,
    /// Whether it is Lapwing's.
    pub(crate) is_own: bool,
}

impl Bar {
    /// Creates the bar of the median rate of `record` and of the range of its runs, both converted to a unit.
    pub(crate) fn of(record: &Record, unit: fn(f64) -> f64) -> Self {
        let range = record.range(figure::PER_SECOND).map(|(one, other)| (unit(one), unit(other)));
        Self {
            name: format!("{} {}", record.contender, record.setting()),
            value: unit(record.rate()),
            range: range.map(|(one, other)| (one.min(other), one.max(other))),
            is_own: record.is_own(),
        }
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The result of drawing. The backend writes to memory, so no drawing fails in practice.
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

impl Chart {
    /// Creates a chart of bars.
    pub(crate) fn bars(name: &str, caption: &str, bars: Bars) -> Self {
        Self { name: name.to_owned(), caption: caption.to_owned(), drawing: Drawing::Bars(bars) }
    }

    /// Creates a chart of lines.
    pub(crate) fn lines(name: &str, caption: &str, lines: Lines) -> Self {
        Self { name: name.to_owned(), caption: caption.to_owned(), drawing: Drawing::Lines(lines) }
    }

    /// Returns the chart as SVG.
    ///
    /// # Errors
    ///
    /// The error of `plotters`, as text.
    pub(crate) fn svg(&self) -> Result<String, String> {
        let mut svg = String::new();
        let drawn = match &self.drawing {
            Drawing::Bars(bars) => on_white(&mut svg, bars.height(), |area| bars.draw(area)),
            Drawing::Lines(lines) => on_white(&mut svg, LINES_HEIGHT, |area| lines.draw(area)),
        };
        drawn.map_err(|error| error.to_string())?;
        Ok(svg)
    }
}

fn on_white(svg: &mut String, height: u32, draw: impl FnOnce(&Area<'_>) -> Drawn) -> Drawn {
    let area = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    area.fill(&WHITE)?;
    draw(&area)?;
    area.present()
}

impl Bars {
    /// Returns the rows of the chart: a heading, or a bar.
    fn rows(&self) -> Vec<Result<&Bar, &str>> {
        let mut rows = Vec::new();
        for (heading, bars) in &self.groups {
            if !heading.is_empty() {
                rows.push(Err(heading.as_str()));
            }
            rows.extend(bars.iter().map(Ok));
        }
        rows
    }

    fn height(&self) -> u32 {
        ROW_HEIGHT * (self.rows().len() as u32 + 3)
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let rows = self.rows();
        let bars = self.groups.iter().flat_map(|(_, bars)| bars);
        let longest = bars.map(|bar| bar.range.map_or(bar.value, |(_, most)| most.max(bar.value)));
        let longest = longest.fold(f64::MIN_POSITIVE, f64::max) * (1.0 + VALUES);
        let mut chart = ChartBuilder::on(area)
            .set_label_area_size(LabelAreaPosition::Left, NAMES)
            .set_label_area_size(LabelAreaPosition::Bottom, 2 * ROW_HEIGHT)
            .margin(8)
            .build_cartesian_2d(0.0..longest, rows.len() as f64..0.0)?;
        let label = |value: &f64| text::rounded(*value);
        let mut mesh = chart.configure_mesh();
        mesh.disable_y_mesh()
            .disable_y_axis()
            .x_max_light_lines(1)
            .x_desc(&self.unit)
            .x_label_formatter(&label)
            .draw()?;
        for (row, top) in rows.into_iter().zip(0_u32..) {
            let top = f64::from(top);
            let name = match row {
                Ok(bar) => &bar.name,
                Err(heading) => heading,
            };
            let (x, y) = chart.plotting_area().map_coordinate(&(0.0, top + 0.5));
            let weight = if row.is_ok_and(|bar| !bar.is_own) { "normal" } else { "bold" };
            let style = named(weight).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(name.to_owned(), (x - 6, y), style))?;
            if let Ok(bar) = row {
                let colour = if bar.is_own { OWN } else { RIVAL };
                let corners = [(0.0, top + 0.15), (bar.value, top + 0.85)];
                chart.plotting_area().draw(&Rectangle::new(corners, colour.filled()))?;
                let (low, high) = bar.range.unwrap_or((bar.value, bar.value));
                let line = vec![(low, top + 0.5), (high, top + 0.5)];
                chart.plotting_area().draw(&PathElement::new(line, BLACK.stroke_width(1)))?;
                let (x, y) =
                    chart.plotting_area().map_coordinate(&(high.max(bar.value), top + 0.5));
                let style = named("normal").pos(Pos::new(HPos::Left, VPos::Center));
                area.draw(&Text::new(text::rounded(bar.value), (x + 6, y), style))?;
            }
        }
        Ok(())
    }
}

impl Lines {
    /// Draws the lines. Both axes are logarithmic, because rates and delays span powers of ten.
    fn draw(&self, area: &Area<'_>) -> Drawn {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (Some(across), Some(up)) =
            (span(points().map(|point| point.0)), span(points().map(|point| point.1)))
        else {
            return Ok(());
        };
        let mut chart = ChartBuilder::on(area)
            .set_label_area_size(LabelAreaPosition::Left, 90)
            .set_label_area_size(LabelAreaPosition::Bottom, 2 * ROW_HEIGHT)
            .margin(8)
            .build_cartesian_2d((across.0..across.1).log_scale(), (up.0..up.1).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(&self.across.name)
            .y_desc(&self.up.name)
            .x_label_formatter(&|value| (self.across.label)(*value))
            .y_label_formatter(&|value| (self.up.label)(*value))
            .draw()?;
        for (index, series) in self.series.iter().enumerate() {
            let colour =
                if series.is_own { OWN.to_rgba() } else { Palette99::pick(index + 1).to_rgba() };
            let style = colour.stroke_width(if series.is_own { 3 } else { 1 });
            let line = LineSeries::new(series.points.iter().copied(), style);
            let key = move |(x, y)| PathElement::new(vec![(x, y), (x + 20, y)], style);
            chart.draw_series(line)?.label(&series.name).legend(key);
        }
        let mut labels = chart.configure_series_labels();
        labels
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(RIVAL);
        labels.draw()
    }
}

fn named(weight: &str) -> TextStyle<'_> {
    ("sans-serif", 12.0, weight).into()
}

/// Returns the smallest and the largest of `values` above zero, a bit apart.
fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = lapwing_lab_stats::range(values.filter(|value| *value > 0.0))?;
    Some((low * 0.95, high * 1.05))
}
