//! Reads the files of a folder, and refuses those that cannot be used.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::ReportError;
use super::records::{Dispatch, Idle, Latency, LoneEvent, Rates, Record, Speed};

/// All results, by benchmark, in the order of the files and of their records.
#[derive(Debug, Default)]
pub(crate) struct Data {
    /// The files.
    pub(crate) sources: Vec<Source>,
    /// Of `lapwing throughput`.
    pub(crate) throughput: Vec<Speed>,
    /// Of `lapwing contention`.
    pub(crate) contention: Vec<Speed>,
    /// Of `lapwing ping-pong`.
    pub(crate) ping_pong: Vec<Speed>,
    /// Of `lapwing limits`.
    pub(crate) limits: Vec<Speed>,
    /// Of `lapwing perftest`.
    pub(crate) perftest: Vec<Speed>,
    /// Of `lapwing latency`.
    pub(crate) latency: Vec<Latency>,
    /// Of `lapwing sweep`.
    pub(crate) sweep: Vec<Latency>,
    /// Of `lapwing dispatch`.
    pub(crate) dispatch: Vec<Dispatch>,
    /// Of `lapwing oversubscribed`.
    pub(crate) oversubscribed: Vec<Speed>,
    /// Of `lapwing idle`.
    pub(crate) idle: Vec<Idle>,
    /// Of the same command.
    pub(crate) lone_event: Vec<LoneEvent>,
    /// Of `lapwing channels`.
    pub(crate) channels: Vec<Rates>,
    /// Of `lapwing neighbours`.
    pub(crate) neighbours: Vec<Rates>,
}

/// One file, without its records.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file's name, without its folder.
    pub(crate) file: String,
    /// The machine, as the file describes it.
    pub(crate) machine: Map<String, Value>,
    /// Contenders that could not run.
    pub(crate) missing: Vec<Missing>,
    /// Whether the measurement completed.
    pub(crate) complete: bool,
    /// The benchmarks of its records.
    pub(crate) benchmarks: BTreeSet<&'static str>,
    /// Rows with more threads than CPUs.
    pub(crate) crowded: BTreeSet<String>,
}

/// A contender that could not run.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Missing {
    /// The contender.
    pub(crate) contender: String,
    /// The cause.
    pub(crate) reason: String,
}

/// The form of a file.
#[derive(Deserialize)]
struct File {
    machine: Map<String, Value>,
    #[serde(default)]
    missing: Vec<Missing>,
    #[serde(default = "yes")]
    complete: bool,
    results: Vec<Value>,
}

/// Returns the default: a file that does not say otherwise is complete.
const fn yes() -> bool {
    true
}

/// Reads every `*.json` of `folder`, in the order of their names.
///
/// # Errors
///
/// [`ReportError`], which names the file, if a file cannot be read or used, or if there is none.
pub(crate) fn folder(folder: &Path) -> Result<Data, ReportError> {
    let mut paths = json_files(folder).map_err(|source| ReportError::read(folder, source))?;
    paths.sort();
    let mut data = Data::default();
    for path in &paths {
        data.add(path)?;
    }
    if data.sources.iter().all(|source| source.benchmarks.is_empty()) {
        return Err(ReportError::Empty { folder: folder.to_owned() });
    }
    Ok(data)
}

/// Returns the files of `folder` whose names end in `.json`.
fn json_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") && !path.is_dir() {
            paths.push(path);
        }
    }
    Ok(paths)
}

impl Data {
    /// Adds the records of the file `path`.
    fn add(&mut self, path: &Path) -> Result<(), ReportError> {
        let text = fs::read_to_string(path).map_err(|source| ReportError::read(path, source))?;
        let file = serde_json::from_str::<File>(&text);
        let file = file.map_err(|error| ReportError::form(path, error))?;
        let mut source = Source {
            file: path.file_name().map(|name| name.to_string_lossy().into()).unwrap_or_default(),
            missing: file.missing,
            complete: file.complete,
            benchmarks: BTreeSet::new(),
            crowded: BTreeSet::new(),
            machine: file.machine,
        };
        let cpus = source.available_parallelism();
        for (index, value) in file.results.into_iter().enumerate() {
            let record = record(value);
            let record = record.map_err(|reason| ReportError::Record {
                path: path.to_owned(),
                index,
                reason,
            })?;
            source.benchmarks.insert(record.benchmark());
            let (crew, threads) = record.crew();
            if threads > cpus && cpus.is_some() {
                source.crowded.insert(crew);
            }
            self.sort_in(record);
        }
        self.sources.push(source);
        Ok(())
    }

    fn sort_in(&mut self, record: Record) {
        match record {
            Record::Throughput(speed) => self.throughput.push(speed),
            Record::Contention(speed) => self.contention.push(speed),
            Record::PingPong(speed) => self.ping_pong.push(speed),
            Record::Limits(speed) => self.limits.push(speed),
            Record::Perftest(speed) => self.perftest.push(speed),
            Record::Latency(latency) => self.latency.push(latency),
            Record::Sweep(latency) => self.sweep.push(latency),
            Record::Dispatch(dispatch) => self.dispatch.push(dispatch),
            Record::Oversubscribed(speed) => self.oversubscribed.push(speed),
            Record::Idle(idle) => self.idle.push(idle),
            Record::LoneEvent(event) => self.lone_event.push(event),
            Record::Channels(rates) => self.channels.push(rates),
            Record::Neighbours(rates) => self.neighbours.push(rates),
        }
    }
}

impl Source {
    /// Returns the CPUs that the process might use, or `None` if the file does not contain them.
    pub(crate) fn available_parallelism(&self) -> Option<usize> {
        let cpus = self.machine.get("available_parallelism")?.as_u64()?;
        usize::try_from(cpus).ok()
    }
}

/// Returns the record in `value`, if it can be used.
fn record(value: Value) -> Result<Record, String> {
    if !value["benchmark"].is_string() {
        return Err("`benchmark` is missing or not a string".to_owned());
    }
    let record = serde_json::from_value::<Record>(value).map_err(|error| error.to_string())?;
    record.check()?;
    Ok(record)
}
