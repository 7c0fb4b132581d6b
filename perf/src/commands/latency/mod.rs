//! `lapwing latency`: Table 3 of the paper, the delays of the three-stage pipeline below
//! saturation.

mod arguments; // the flags
mod table; // the tables
#[cfg(test)]
mod tests; // the format of the JSON, the tables, the files

use std::fs;
use std::path::Path;

pub(crate) use self::arguments::LatencyArguments;
use crate::commands::delays::{Carrier, Record, Row, Segment, hgrm};
use crate::commands::old_session::Session;
use crate::contenders::{Entry, Roster};
use crate::load::paced::{Pace, SEGMENTS};
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::report::settings::Settings;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "latency";

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &LatencyArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.paced.json.as_deref())?;
    let Roster { entries, missing } = arguments.paced.roster();
    let rows = measure(&entries, arguments.pace(), arguments.paced.runs, Progress::new)?;
    if let Some(folder) = &arguments.hgrm {
        write_files(folder, &rows)?;
    }
    let records = records(&rows);
    session.end(&records, &missing, |machine| table::of(&records, &missing, machine))
}

/// Runs the baseline without a hand-off and each of `entries` at `pace`.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    entries: &[Entry],
    pace: Pace,
    runs: u32,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Row<'_>>, Error> {
    let carriers = entries.iter().map(Carrier::Entry);
    let carriers = [Carrier::Nobody].into_iter().chain(carriers);
    let mut rows = carriers.map(|carrier| Row::new(carrier, pace)).collect::<Vec<_>>();
    let progress = progress(harness::steps(rows.len(), runs));
    harness::measure(&mut rows, runs, &progress)?;
    Ok(rows)
}

/// Returns the records of all of `rows` that have run.
fn records(rows: &[Row<'_>]) -> Vec<Record> {
    let record = |row: &Row<'_>| Record::new(BENCHMARK, row, Segment::all(&row.delays));
    rows.iter().filter_map(record).collect()
}

/// Writes `CONTENDER-WAIT-SEGMENT.hgrm` for each segment of each of `rows` to `folder`. The
/// placement follows the wait if rows differ only in it.
///
/// # Errors
///
/// [`Error::Json`] with the first folder or file that the system refuses.
fn write_files(folder: &Path, rows: &[Row<'_>]) -> Result<(), Error> {
    let refused = |path: &Path, source| Error::Json { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| refused(folder, source))?;
    let placements = rows.iter().map(Row::placement).collect::<Vec<_>>();
    let settings = Settings::of(placements.iter().map(Option::as_deref));
    for (row, placement) in rows.iter().zip(&placements) {
        let setting = settings.name(row.wait(), placement.as_deref()).replace(' ', "-");
        for (segment, histogram) in SEGMENTS.iter().zip(&row.delays.segments) {
            let path = folder.join(format!("{}-{setting}-{segment}.hgrm", row.name()));
            let written = fs::write(&path, hgrm::text(histogram));
            written.map_err(|source| refused(&path, source))?;
        }
    }
    Ok(())
}
