//! `lapwing report`: one page with its pictures, from the JSON files of the other commands.
//!
//! ```text
//! mod --> read --> records        what a file holds, and what is refused
//!  |----> head                    machine, warnings
//!  |----> sections --> plots      one section for each benchmark; how figures become pictures
//!  \----> page, palette           the template, the colours
//! ```
//!
//! Everything is read and drawn before the first file is written.

mod error; // the errors of a report
mod format; // numbers as text
mod head; // machine, date, warnings
mod page; // the contents of the page
mod palette; // colours, light and dark
mod plots; // plots
mod read; // the folder
mod records; // the records of other commands
mod sections; // one for each benchmark
#[cfg(test)]
mod tests; // synthetic files, whole pages

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

pub(crate) use self::error::ReportError;
use self::page::Page;
use crate::measure::error::Error;
use crate::output;

/// The name of the page, unless the command line has one.
const PAGE: &str = "report.html";

/// The flags of `lapwing report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// Folder with the files that `lapwing throughput --json FOLDER/throughput.json` and the other
    /// commands have written
    #[arg(value_name = "FOLDER", value_parser = folder)]
    folder: PathBuf,

    /// Name of the page; its pictures are written beside it [default: FOLDER/report.html]
    #[arg(long, value_name = "FILE", value_parser = page_name)]
    output: Option<PathBuf>,
}

/// A file of the report.
struct Output {
    path: PathBuf,
    text: String,
}

/// Parses the name of an existing folder.
fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("expected a folder that exists".to_owned()) }
}

/// Parses the name of a page. Any other extension is refused, so that no measurement is
/// overwritten.
fn page_name(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_page = path.extension().is_some_and(|extension| extension == "html");
    if is_page { Ok(path) } else { Err("expected a name that ends in `.html`".to_owned()) }
}

/// Reads the folder, writes the report, and prints the names of the written files.
///
/// # Errors
///
/// [`Error::Report`], or [`Error::Print`] if standard output is closed.
pub(crate) fn run(arguments: &ReportArguments) -> Result<(), Error> {
    let default = arguments.folder.join(PAGE);
    let page = arguments.output.as_ref().unwrap_or(&default);
    for output in outputs(&arguments.folder, page)? {
        let written = fs::write(&output.path, &output.text);
        written.map_err(|source| ReportError::write(&output.path, source))?;
        output::print(&output.path.display().to_string())?;
    }
    Ok(())
}

/// Returns all files to write: the page `path`, and its pictures beside it.
///
/// # Errors
///
/// [`ReportError`] if something cannot be read or drawn.
fn outputs(folder: &Path, path: &Path) -> Result<Vec<Output>, ReportError> {
    let page = page(folder)?;
    let figures = page.sections.iter().flat_map(|section| &section.figures);
    let pictures = figures.map(|figure| Output {
        path: path.with_file_name(&figure.file),
        text: figure.standalone.clone(),
    });
    let pictures = pictures.collect::<Vec<_>>();
    let mut outputs = vec![Output { path: path.to_owned(), text: page.render()? }];
    outputs.extend(pictures);
    Ok(outputs)
}

/// Returns the page about the files of `folder`.
///
/// # Errors
///
/// [`ReportError`] if something cannot be read or drawn.
fn page(folder: &Path) -> Result<Page, ReportError> {
    let data = read::folder(folder)?;
    let all = sections::all(&data)?;
    let absent = all.iter().filter(|(_, section)| section.is_none());
    Ok(Page {
        machines: head::machines(&data),
        files: head::files(&data),
        warnings: head::warnings(&data),
        absent: absent.map(|(benchmark, _)| sections::absent(benchmark)).collect(),
        sections: all.into_iter().filter_map(|(_, section)| section).collect(),
    })
}
