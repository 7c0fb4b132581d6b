//! A surface in pixels: shapes in the colours of the palette, and the resulting picture.

use minijinja::HtmlEscape;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, Cross, DashedPathElement, PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

use super::Drawn;
use crate::report::html::palette::{self, Role};

/// An area in pixels.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A point in pixels, from the left and the top.
pub(crate) type Point = (i32, i32);

/// The size of the main text, in pixels.
pub(crate) const TEXT: f64 = 13.0;
/// The size of ticks and notes, in pixels.
pub(crate) const SMALL: f64 = 11.5;
/// `plotters` divides sizes by this to get the pixels of SVG.
const SVG_FONT_SCALE: f64 = 1.24;
/// The largest mean width of a character in common fonts, plain and bold, as a fraction of the font
/// size.
const CHARACTER_WIDTHS: [f64; 2] = [0.6, 0.68];

/// A finished picture.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// The output of `plotters`.
    svg: String,
}

/// The surface of a picture.
pub(crate) struct Canvas<'a> {
    /// The whole surface.
    pub(crate) root: Area<'a>,
}

/// The marker of a point, so that colour is not the only difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle on its corner.
    Wedge,
}

/// The side of its point on which a text is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    /// It ends at the point.
    Left,
    /// It begins at the point.
    Right,
}

impl Marker {
    /// Returns the marker of this number. Numbers repeat after the last marker.
    pub(crate) const fn of(number: usize) -> Self {
        match number % 5 {
            0 => Self::Disc,
            1 => Self::Square,
            2 => Self::Triangle,
            3 => Self::Diamond,
            _ => Self::Wedge,
        }
    }
}

impl Picture {
    /// Draws a picture of `width` times `height` pixels.
    ///
    /// # Errors
    ///
    /// The error of `draw`.
    pub(crate) fn draw(
        (width, height): (i32, i32),
        draw: impl FnOnce(&Canvas<'_>) -> Drawn,
    ) -> Drawn<Self> {
        let mut svg = String::new();
        {
            let size = (width.unsigned_abs(), height.unsigned_abs());
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            root.fill(&Role::Surface.colour())?;
            draw(&Canvas { root: root.clone() })?;
            root.present()?;
        }
        Ok(Self { svg })
    }

    /// Returns the picture as a part of the page, which defines the colours. Screen readers read
    /// `title`.
    pub(crate) fn embedded(&self, title: &str) -> String {
        self.opened(
            &format!(" class=\"plot\" role=\"img\" aria-label=\"{}\"", HtmlEscape(title)),
            "",
        )
    }

    /// Returns the picture as a separate file.
    pub(crate) fn standalone(&self, title: &str) -> String {
        let head = format!(
            "<title>{}</title>\n<style>\ntext{{font-family:system-ui,sans-serif}}\n{}</style>\n",
            HtmlEscape(title),
            palette::file_style()
        );
        self.opened(" role=\"img\"", &head)
    }

    /// Returns the picture with `attributes` in its first tag and `head` after it.
    fn opened(&self, attributes: &str, head: &str) -> String {
        match self.svg.split_once(">\n") {
            Some((tag, rest)) => format!("{tag}{attributes}>\n{head}{rest}"),
            None => self.svg.clone(),
        }
    }
}

impl Canvas<'_> {
    /// Draws a filled rectangle.
    pub(crate) fn block(&self, from: Point, to: Point, role: Role) -> Drawn {
        self.root.draw(&Rectangle::new([from, to], role.colour().filled()))
    }

    /// Draws a line through `points`.
    pub(crate) fn line(&self, points: &[Point], role: Role, width: u32) -> Drawn {
        let style = role.colour().stroke_width(width);
        self.root.draw(&PathElement::new(points.to_vec(), style))
    }

    /// Draws a dashed line through `points`.
    pub(crate) fn dashes(&self, points: &[Point], role: Role, width: u32) -> Drawn {
        let style = role.colour().stroke_width(width);
        self.root.draw(&DashedPathElement::new(points.to_vec(), 7, 4, style))
    }

    /// Draws a marker at `point`.
    pub(crate) fn marker(&self, (x, y): Point, marker: Marker, role: Role) -> Drawn {
        let style = role.colour().filled();
        match marker {
            Marker::Disc => self.root.draw(&Circle::new((x, y), 4, style)),
            Marker::Square => self.block((x - 4, y - 4), (x + 4, y + 4), role),
            Marker::Triangle => {
                let corners = vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)];
                self.root.draw(&Polygon::new(corners, style))
            }
            Marker::Wedge => {
                let corners = vec![(x, y + 5), (x + 5, y - 4), (x - 5, y - 4)];
                self.root.draw(&Polygon::new(corners, style))
            }
            Marker::Diamond => {
                let corners = vec![(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)];
                self.root.draw(&Polygon::new(corners, style))
            }
        }
    }

    /// Draws a cross at `point`.
    pub(crate) fn cross(&self, point: Point, role: Role) -> Drawn {
        self.root.draw(&Cross::new(point, 6, role.colour().stroke_width(2)))
    }

    /// Draws one line of text beside `point`, vertically centred.
    pub(crate) fn text(&self, text: &str, point: Point, side: Side, style: Writing) -> Drawn {
        let horizontal = match side {
            Side::Left => HPos::Right,
            Side::Right => HPos::Left,
        };
        let style = style.of_plotters().pos(Pos::new(horizontal, VPos::Center));
        self.root.draw_text(&printable(text), &style, point)
    }
}

/// The style of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writing {
    /// Size in pixels.
    pub(crate) size: f64,
    /// Its colour.
    pub(crate) role: Role,
    /// Whether it is bold.
    pub(crate) bold: bool,
}

impl Writing {
    /// The main text.
    pub(crate) const PLAIN: Self = Self { size: TEXT, role: Role::Text, bold: false };
    /// A heading, or Lapwing's own row.
    pub(crate) const BOLD: Self = Self { size: TEXT, role: Role::Text, bold: true };
    /// Ticks and notes.
    pub(crate) const NOTE: Self = Self { size: SMALL, role: Role::Muted, bold: false };

    /// Returns the same for `plotters`.
    pub(crate) fn of_plotters(self) -> TextStyle<'static> {
        let weight = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::SansSerif, self.size * SVG_FONT_SCALE, weight);
        let color = self.role.colour().to_backend_color();
        TextStyle { font, color, pos: Pos::default() }
    }
}

/// Returns the style of a thin line in the colour of `role`.
pub(crate) fn thin(role: Role) -> ShapeStyle {
    let colour: RGBColor = role.colour();
    colour.stroke_width(1)
}

/// Returns the maximum width of `text` in common fonts, in pixels.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // a label is short
pub(crate) fn width(text: &str, style: Writing) -> i32 {
    let character = style.size * CHARACTER_WIDTHS[usize::from(style.bold)];
    (text.chars().count() as f64 * character).ceil() as i32
}

/// Returns `text` cut to `characters`, with a mark at the cut.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept = text.chars().take(characters.saturating_sub(1)).collect::<String>();
    kept + "…"
}

/// Returns `text` without the control characters that XML forbids.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
