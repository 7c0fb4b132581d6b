//! Plots. `plotters` draws axes, grids and shapes, and this module computes their positions. The
//! meaning of the figures is in `sections`.
//!
//! ```text
//! bars, stacks, dots -> rows (labels, groups, panels, axis) --\
//! lines (panels, two axes, labels at the lines' ends) ---------+--> canvas, axis
//! ```

pub(crate) mod axis; // scales and ticks
pub(crate) mod bars; // horizontal bars with their spread
pub(crate) mod canvas; // shapes in pixels, the finished picture
pub(crate) mod dots; // several percentiles of one row
pub(crate) mod lines; // curves
pub(crate) mod rows; // the frame of all plots with one row per contender
pub(crate) mod stacks; // bars of several parts

use std::io;

use plotters::drawing::DrawingAreaErrorKind;

/// The result of drawing.
pub(crate) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<io::Error>>;
