//! `lapwing-lab report`: one page from the files of `--json`, with its charts beside it.
//!
//! Everything is read and drawn before the first file is written.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use super::{Table, View, terminal};
use crate::measure::error::Error;
use crate::output;
use crate::record::{self, File, Missing, Record};

/// The name of the page, unless the command line has one.
const PAGE: &str = "report.html";

/// The flags of `lapwing-lab report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// Folder with the files that `lapwing-lab throughput --json FOLDER/throughput.json` and the other
    /// commands have written
    #[arg(value_name = "FOLDER", value_parser = folder)]
    folder: PathBuf,

    /// Name of the page; its charts are written beside it [default: FOLDER/report.html]
    #[arg(long, value_name = "FILE", value_parser = page_name)]
    output: Option<PathBuf>,
}

/// The whole page.
#[derive(Serialize)]
struct Page {
    /// The files, each with its machine.
    files: Vec<Source>,
    /// What a reader must know about all numbers.
    warnings: Vec<String>,
    /// Experiments with results.
    sections: Vec<Section>,
    /// Experiments without results.
    absent: Vec<&'static str>,
}

/// A file that was read.
#[derive(Serialize)]
struct Source {
    name: String,
    machine: String,
    measured_at: String,
    experiments: String,
}

/// One experiment.
#[derive(Serialize)]
struct Section {
    id: &'static str,
    title: &'static str,
    lead: &'static str,
    charts: Vec<Drawn>,
    tables: Vec<Table>,
    notes: Vec<String>,
}

/// A chart as SVG.
#[derive(Serialize)]
struct Drawn {
    file: String,
    caption: String,
    svg: String,
}

/// Parses the name of an existing folder.
fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("expected a folder that exists".to_owned()) }
}

/// Parses the name of a page. Any other extension is refused, so that no measurement is overwritten.
fn page_name(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_page = path.extension().is_some_and(|extension| extension == "html");
    if is_page { Ok(path) } else { Err("expected a name that ends in `.html`".to_owned()) }
}

/// Reads the folder, writes the page of all `views` and its charts, and prints the names of the written files.
///
/// # Errors
///
/// [`Error::Report`] if a file cannot be read or shown, or if there is none; [`Error::Print`] if standard output is
/// closed.
pub(crate) fn run(arguments: &ReportArguments, views: &[View]) -> Result<(), Error> {
    let default = arguments.folder.join(PAGE);
    let path = arguments.output.as_ref().unwrap_or(&default);
    let page = page(views, &read(&arguments.folder)?)?;
    write(path, &page.render()?)?;
    for chart in page.sections.iter().flat_map(|section| &section.charts) {
        write(&path.with_file_name(&chart.file), &chart.svg)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |error| Error::Report(format!("cannot write {}: {error}", path.display()));
    fs::write(path, text).map_err(failed)?;
    Ok(output::print(&path.display().to_string())?)
}

/// Reads every `*.json` of `folder`, in the order of their names.
fn read(folder: &Path) -> Result<Vec<(String, File)>, Error> {
    let unreadable = |error| Error::Report(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths = entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, File::read(path).map_err(Error::Report)?))
    };
    let files = paths.iter().map(named).collect::<Result<Vec<_>, Error>>()?;
    if files.iter().all(|(_, file)| file.results.is_empty()) {
        let folder = folder.display();
        return Err(Error::Report(format!(
            "no results in {folder}: run a command with --json first"
        )));
    }
    Ok(files)
}

/// Returns the page about `files`.
fn page(views: &[View], files: &[(String, File)]) -> Result<Page, Error> {
    let all = files.iter().flat_map(|(_, file)| &file.results).collect::<Vec<_>>();
    let mut sections = Vec::new();
    let mut absent = Vec::new();
    for view in views {
        match record::of(&all, view.experiment) {
            records if records.is_empty() => absent.push(view.experiment),
            records => sections.push(section(view, &records)?),
        }
    }
    let sources = files.iter().map(|(name, file)| source(name, file)).collect();
    Ok(Page { files: sources, warnings: warnings(files), sections, absent })
}

fn section(view: &View, records: &[&Record]) -> Result<Section, Error> {
    let charts = (view.charts)(records).into_iter().map(|chart| {
        let svg = chart.svg().map_err(|error| Error::Report(format!("cannot draw: {error}")))?;
        Ok(Drawn { file: format!("{}.svg", chart.name), caption: chart.caption, svg })
    });
    Ok(Section {
        id: view.experiment,
        title: view.title,
        lead: view.lead,
        charts: charts.collect::<Result<_, Error>>()?,
        tables: (view.tables)(records),
        notes: (view.notes)(records),
    })
}

fn source(name: &str, file: &File) -> Source {
    let mut experiments =
        file.results.iter().map(|record| record.experiment.as_str()).collect::<Vec<_>>();
    experiments.dedup();
    Source {
        name: name.to_owned(),
        machine: file.machine.to_string(),
        measured_at: file.machine.measured_at().to_owned(),
        experiments: experiments.join(", "),
    }
}

/// Returns what a reader must know about the numbers of all `files`.
fn warnings(files: &[(String, File)]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut machines = files.iter().map(|(_, file)| file.machine.to_string()).collect::<Vec<_>>();
    machines.sort();
    machines.dedup();
    if machines.len() > 1 {
        warnings.push(
            "The files come from different machines or builds: do not compare figures of different files.".to_owned(),
        );
    }
    for (name, file) in files {
        let said = |text: String| format!("{name}: {text}");
        let records = file.results.iter().collect::<Vec<_>>();
        warnings.extend(
            (!file.complete).then(|| said("ended early, so runs or rows are missing".to_owned())),
        );
        warnings.extend(terminal::crowded(&records, &file.machine).map(said));
        warnings.extend(file.machine.disturbance().map(said));
        let missing = file.missing.iter();
        warnings.extend(
            missing.map(|Missing { contender, reason }| {
                said(format!("not run: {contender}: {reason}"))
            }),
        );
    }
    warnings
}

impl Page {
    /// Returns the HTML of the page. The template escapes all text from files; only charts are inserted as they are,
    /// because they escape their own text.
    fn render(&self) -> Result<String, Error> {
        let render = || {
            let mut environment = Environment::new();
            environment.add_template("page.html", include_str!("page.html"))?;
            environment.get_template("page.html")?.render(context! { page => Serde(self) })
        };
        render().map_err(|error| Error::Report(format!("cannot render the page: {error:#}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::VIEWS;
    use crate::machine::Machine;
    use crate::record::{Figures, Key, figure};

    fn record(contender: &str, rates: &[f64]) -> Record {
        let mut record = Record::new("throughput", contender, 2).in_cell(Key::TOPOLOGY, "unicast");
        let run = |rate: &f64| Figures::from([(figure::PER_SECOND.to_owned(), *rate)]);
        record.runs = rates.iter().map(run).collect();
        record
    }

    fn file(results: Vec<Record>) -> File {
        File { machine: Machine::detect(), missing: Vec::new(), complete: true, results }
    }

    /// Returns the page about one file of `results`.
    fn rendered(results: Vec<Record>) -> Page {
        page(VIEWS, &[("throughput.json".to_owned(), file(results))]).unwrap()
    }

    #[test]
    fn a_section_has_the_tables_and_charts_of_its_view() {
        let page = rendered(vec![record("lapwing", &[2e6, 4e6, 3e6]), record("rtrb", &[1e6])]);
        let section = &page.sections[0];
        assert_eq!((page.sections.len(), section.id), (1, "throughput"));
        assert_eq!(section.tables[0].rows.len(), 2);
        assert!(section.charts[0].svg.contains("lapwing"), "{}", section.charts[0].svg);
        assert!(page.absent.contains(&"neighbours"), "{:?}", page.absent);
        let html = page.render().unwrap();
        for text in ["<section id=\"throughput\">", "throughput.svg", ">3.00</td>", "<svg "] {
            assert!(html.contains(text), "{text} in {html}");
        }
    }

    #[test]
    fn text_of_a_file_is_escaped() {
        let html = rendered(vec![record("<script>", &[1e6])]).render().unwrap();
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script>"), "{html}");
    }

    #[test]
    fn what_disturbed_the_runs_is_said_with_its_file() {
        let mut early = file(vec![record("lapwing", &[1e6])]);
        early.complete = false;
        early.machine.cpus_used_by_others = Some(0.5);
        early.missing.push(Missing { contender: "lmax".into(), reason: "no Java".into() });
        let warnings = warnings(&[("early.json".to_owned(), early)]);
        for reason in ["ended early", "others used 0.50 CPUs", "not run: lmax: no Java"] {
            let is_said = |line: &String| line.starts_with("early.json: ") && line.contains(reason);
            assert!(warnings.iter().any(is_said), "{reason} in {warnings:?}");
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("throughput.json");
        file(vec![record("lapwing", &[1.5e6])]).write(&path).unwrap();
        let files = read(folder.path()).unwrap();
        assert_eq!(files[0].0, "throughput.json");
        assert_eq!(files[0].1.results[0].rate(), 1.5e6);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_refused_with_its_name_and_the_reason() {
        let wrong = Record { verified: false, ..record("lapwing", &[1.0]) };
        let wrong = serde_json::to_string(&file(vec![wrong])).unwrap();
        for (text, reason) in
            [("{}", "not a report of lapwing"), (&*wrong, "record 0: its answer was not verified")]
        {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("bad.json"), text).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(error.contains("bad.json") && error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_folder_without_results_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("no results in "), "{error}");
    }
}
