//! The head of the page: the machines, the dates, and warnings about the numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::format;
use super::page::Table;
use super::read::{Data, Source};

/// The CPUs that others used, which belong to one measurement and not to the machine.
const BUSY: &str = "cpus_used_by_others";
/// The start, which belongs to one measurement and not to the machine.
const BEGAN: &str = "measured_at";
/// The known keys of a machine, in words.
const KNOWN: [(&str, &str); 11] = [
    ("cpu", "CPU"),
    ("logical_cpus", "CPUs"),
    ("available_parallelism", "CPUs usable"),
    ("quota_cpus", "CPUs by quota"),
    ("affinity", "CPUs by number"),
    ("os", "operating system"),
    ("kernel", "kernel"),
    ("arch", "architecture"),
    ("rustc", "compiler"),
    ("lapwing", "Lapwing"),
    ("commit", "commit"),
];
/// CPUs that others can use on a machine that still counts as idle.
const QUIET_CPUS: f64 = 0.1;

/// Returns the names and values of each machine, once.
pub(super) fn machines(data: &Data) -> Vec<Vec<(String, String)>> {
    let mut seen: Vec<Map<String, Value>> = Vec::new();
    for source in &data.sources {
        let mut machine = source.machine.clone();
        machine.retain(|key, _| key != BUSY && key != BEGAN);
        if !seen.contains(&machine) {
            seen.push(machine);
        }
    }
    seen.iter().map(items).collect()
}

/// Returns the names and values of `machine`: known keys first, in their order.
fn items(machine: &Map<String, Value>) -> Vec<(String, String)> {
    let known = KNOWN.iter().map(|(key, name)| (*key, (*name).to_owned()));
    let is_known = |key: &str| KNOWN.iter().any(|(known, _)| *known == key);
    let others = machine.keys().filter(|key| !is_known(key));
    let others = others.map(|key| (key.as_str(), key.replace('_', " ")));
    known.chain(others).filter_map(|(key, name)| Some((name, text(machine.get(key)?)?))).collect()
}

/// Returns a value in words, or `None` if there is none.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => Some(values.iter().filter_map(text).collect::<Vec<_>>().join(", ")),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        other => Some(other.to_string()),
    }
}

/// Returns the files with their contents.
pub(super) fn files(data: &Data) -> Table {
    let words = ["file", "benchmarks", "begun", "complete"];
    let mut table = Table::new("", &words, &["CPUs used by others"]);
    for source in &data.sources {
        let benchmarks = source.benchmarks.iter().copied().collect::<Vec<_>>().join(", ");
        let cells = vec![
            source.file.clone(),
            if benchmarks.is_empty() { "none".to_owned() } else { benchmarks },
            began(source).unwrap_or(format::NONE).to_owned(),
            if source.complete { "yes" } else { "no" }.to_owned(),
            format::optional(busy(source)),
        ];
        table.add(false, cells);
    }
    table
}

/// Returns the warnings about the numbers: a line per kind, with its files.
pub(super) fn warnings(data: &Data) -> Vec<String> {
    let mut warnings = Vec::new();
    if machines(data).len() > 1 {
        warnings.push(
            "The files come from different machines or builds. Do not compare figures of different \
             files."
                .to_owned(),
        );
    }
    let early = data.sources.iter().filter(|source| !source.complete);
    let early = early.map(|source| source.file.clone()).collect::<Vec<_>>();
    if !early.is_empty() {
        warnings
            .push(format!("Ended early, so some runs or rows are missing: {}.", early.join(", ")));
    }
    let busy = data.sources.iter().filter_map(|source| {
        let others = busy(source).filter(|others| *others > QUIET_CPUS)?;
        Some(format!("{} {others:.2}", source.file))
    });
    let busy = busy.collect::<Vec<_>>();
    if !busy.is_empty() {
        warnings.push(format!(
            "Other processes used the CPUs. Repeat on an idle machine before you compare: {}.",
            busy.join(", ")
        ));
    }
    warnings.extend(crowded(data));
    for source in &data.sources {
        let missing = source.missing.iter();
        warnings.extend(
            missing.map(|one| {
                format!("Not run in {}: {}: {}", source.file, one.contender, one.reason)
            }),
        );
    }
    warnings
}

/// Returns the rows with more threads than CPUs, by the number of CPUs.
fn crowded(data: &Data) -> Vec<String> {
    let mut crowded = BTreeMap::<_, BTreeSet<_>>::new();
    for source in &data.sources {
        if let Some(cpus) = source.available_parallelism() {
            crowded.entry(cpus).or_default().extend(source.crowded.iter().map(|name| name.trim()));
        }
    }
    crowded.retain(|_, names| !names.is_empty());
    let line = |(cpus, names): (usize, BTreeSet<&str>)| {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        format!(
            "More threads than the {cpus} usable CPUs, so the scheduler affects the results: \
            {names}."
        )
    };
    crowded.into_iter().map(line).collect()
}

/// Returns the start of the measurement.
fn began(source: &Source) -> Option<&str> {
    source.machine.get(BEGAN)?.as_str()
}

/// Returns the CPUs that others used during the measurement.
fn busy(source: &Source) -> Option<f64> {
    source.machine.get(BUSY)?.as_f64()
}
