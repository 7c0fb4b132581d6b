//! The page: its contents, and the rendering of the template. The template escapes all text from
//! files. Only pictures are inserted unescaped, because they escape their own text.

use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use super::error::ReportError;
use super::palette;
use super::plots::canvas::Picture;

/// The names of the templates. Their extension makes minijinja escape.
const PAGE: &str = "page.html";
const TABLE: &str = "table.html";

/// The whole page.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    /// The machines: names and values, once per machine.
    pub(crate) machines: Vec<Vec<(String, String)>>,
    /// The files that were read.
    pub(crate) files: Table,
    /// Warnings about the numbers.
    pub(crate) warnings: Vec<String>,
    /// Benchmarks with results.
    pub(crate) sections: Vec<Section>,
    /// Benchmarks without results, with the commands that measure them.
    pub(crate) absent: Vec<Absent>,
}

/// One benchmark.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Section {
    /// Its anchor in the page, and the benchmark's name.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// What is measured, and how to read it.
    pub(crate) lead: String,
    /// The plots.
    pub(crate) figures: Vec<Figure>,
    /// Every number.
    pub(crate) tables: Vec<Table>,
    /// Additional notes.
    pub(crate) notes: Vec<String>,
}

/// A plot with its caption.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    /// Its file beside the page.
    pub(crate) file: String,
    /// One sentence.
    caption: String,
    /// The picture, for the page.
    svg: String,
    /// The picture, for a separate file.
    #[serde(skip)]
    pub(crate) standalone: String,
}

/// A table.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    /// Its content.
    pub(crate) caption: String,
    /// Its columns.
    pub(crate) columns: Vec<Column>,
    /// Its rows.
    pub(crate) rows: Vec<Row>,
}

/// A column of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    /// Its heading, with the unit.
    name: &'static str,
    /// Whether it holds numbers.
    is_number: bool,
}

/// A row of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// One for each column.
    pub(crate) cells: Vec<String>,
    /// Whether it is Lapwing's.
    pub(crate) is_own: bool,
}

/// A benchmark without results.
#[derive(Debug, Serialize)]
pub(crate) struct Absent {
    /// Its name.
    pub(crate) benchmark: &'static str,
    /// The command that measures it.
    pub(crate) command: String,
}

impl Figure {
    /// Returns `picture` as a figure, in the SVG file `name`.
    pub(crate) fn new(name: &str, caption: impl Into<String>, picture: &Picture) -> Self {
        let caption = caption.into();
        Self {
            file: format!("{name}.svg"),
            svg: picture.embedded(&caption),
            standalone: picture.standalone(&caption),
            caption,
        }
    }
}

impl Table {
    /// Creates a table without rows. The `words` columns precede the `numbers` columns.
    pub(crate) fn new(
        caption: impl Into<String>,
        words: &[&'static str],
        numbers: &[&'static str],
    ) -> Self {
        let column = |is_number| move |&name: &&'static str| Column { name, is_number };
        let columns = words.iter().map(column(false)).chain(numbers.iter().map(column(true)));
        Self { caption: caption.into(), columns: columns.collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, is_own: bool, cells: impl Into<Vec<String>>) {
        self.rows.push(Row { cells: cells.into(), is_own });
    }
}

impl Page {
    /// Returns the HTML of the page.
    ///
    /// # Errors
    ///
    /// [`ReportError::Page`] if the template and the page do not match.
    pub(crate) fn render(&self) -> Result<String, ReportError> {
        let mut environment = Environment::new();
        environment.add_template(TABLE, include_str!("table.html"))?;
        environment.add_template(PAGE, include_str!("page.html"))?;
        let template = environment.get_template(PAGE)?;
        let (colours, style) = (palette::page_style(), include_str!("page.css"));
        Ok(template.render(context! { page => Serde(self), colours, style })?)
    }
}
