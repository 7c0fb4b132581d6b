//! `lapwing limits`: the limits of this machine. Every other table can be read as a fraction of
//! them.

mod arguments; // the flags
mod claims; // several threads and one counter
mod hint; // prefetch hints
mod leisure; // the reader's back-off between two batches
mod probe; // the cases
mod singles; // single events between two threads
mod solo; // one thread alone
mod stream; // events in blocks between two threads
mod table; // the tables

use serde::Serialize;

pub(crate) use self::arguments::LimitsArguments;
use self::probe::{Probe, Setting};
use crate::commands::old_session::Session;
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::measure::row::{Row, Speed, Subject};
use crate::measure::schedule::Schedule;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "limits";

/// One row of the report.
#[derive(Clone, Debug, Serialize)]
struct Record {
    /// `limits`.
    benchmark: &'static str,
    /// The case.
    contender: &'static str,
    /// Size of one event.
    event_bytes: usize,
    /// Slots of the ring, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<usize>,
    /// Size of one block of the stream, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    block_bytes: Option<usize>,
    /// Total size of all blocks of the stream, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer_bytes: Option<usize>,
    /// The setting of the case. For an exchange: the way of polling. For singles: the back-off of
    /// the reader. For a stream: whether the reader acquires cache lines. For claims: the back-off
    /// after a lost claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<&'static str>,
    /// What an event counts for in the speed: 2 for an exchange, whose speed is that of one
    /// direction.
    operations_per_event: u32,
    /// Its speed. There is no baseline, because these are the limits.
    #[serde(flatten)]
    speed: Speed,
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &LimitsArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let schedule = arguments.schedule.schedule();
    let records = measure(arguments.probes(schedule.placement), schedule, Progress::new)?;
    session.end(&records, &[], |machine| table::of(&records, machine))
}

/// Runs each of `probes` as `schedule` says.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    probes: Vec<Probe>,
    schedule: Schedule,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let rows = probes.into_iter().map(|probe| Row::new(probe, schedule));
    let mut rows = rows.collect::<Vec<_>>();
    let progress = progress(harness::steps(rows.len(), schedule.runs));
    harness::measure(&mut rows, schedule.runs, &progress)?;
    Ok(rows.iter().filter(|row| !row.runs.is_empty()).map(record).collect())
}

/// Returns the record of `row`.
fn record(row: &Row<Probe>) -> Record {
    let probe = &row.subject;
    let (mut ring, mut shape, mut wait) = (None, None, None);
    match probe.setting() {
        Setting::Only => {}
        Setting::Slots(slots) => ring = Some(slots),
        Setting::Shape(chosen) => {
            shape = Some(chosen);
            wait = chosen.takes_lines.then_some("lines");
        }
        Setting::Exchange(_, look) => wait = Some(look.name),
        Setting::Singles(leisure) => wait = Some(leisure.name),
        Setting::Claims(back_off, _) => wait = Some(back_off.name),
    }
    Record {
        benchmark: BENCHMARK,
        contender: probe.case.name(),
        event_bytes: probe.event_bytes.bytes(),
        ring,
        block_bytes: shape.map(|shape| shape.block_bytes),
        buffer_bytes: shape.map(|shape| shape.buffer_bytes),
        wait,
        operations_per_event: probe.operations_per_event(),
        speed: row.speed(None),
    }
}

#[cfg(test)]
mod tests {
    use super::probe::Case;
    use super::*;
    use crate::load::workload::EventBytes;
    use crate::machine::Machine;
    use crate::machine::placement::Placement;
    use crate::report::json;

    /// Returns the records of a few events of each of `cases`.
    fn records(cases: &[(Case, EventBytes)]) -> Result<Vec<Record>, Error> {
        let probe = |(case, bytes): &(Case, EventBytes)| Probe::new(*case, *bytes, Placement::Free);
        let probes = cases.iter().map(probe).collect();
        measure(probes, Schedule::short(2, 200), |_| Progress::Silent)
    }

    /// Returns the records of everything that the command measures by default.
    fn all() -> Vec<Record> {
        let streams = EventBytes::ALL.map(|bytes| (Case::Stream, bytes));
        let [exchange, slots, claims, read, ring, plain, singles, small, in_a_ring] = [
            Case::Exchange,
            Case::SlotExchange,
            Case::Claims,
            Case::ClaimsRead,
            Case::SoloRing,
            Case::SoloLoop,
            Case::Singles,
            Case::SmallSingles,
            Case::RingStream,
        ]
        .map(|case| (case, EventBytes::B8));
        let others = [claims, ring, plain, slots, read, singles, small, in_a_ring];
        records(&[&[exchange][..], &streams, &others].concat()).unwrap()
    }

    #[test]
    fn a_wrong_answer_has_no_speed() {
        let cases = [(Case::SoloLoop, EventBytes::B8), (Case::WrongAnswer, EventBytes::B8)];
        let error = records(&cases).unwrap_err().to_string();
        assert!(error.starts_with("wrong answer, so no speed: topology=limits"), "{error}");
        assert!(error.contains("contender=wrong-answer events=200"), "{error}");
    }

    #[test]
    fn json_has_the_keys_of_other_benchmarks_and_the_settings_that_were_chosen() {
        let records = all();
        let report = json::read_back(&records);
        let exchange = &report["results"][0];
        assert_eq!(exchange["benchmark"], "limits");
        assert_eq!(exchange["contender"], "exchange");
        assert_eq!(exchange["operations_per_event"], 2);
        assert_eq!(exchange["threads"], 2);
        assert!(exchange.get("block_bytes").is_none(), "{exchange}");
        let stream = &report["results"][4];
        assert_eq!(stream["contender"], "stream");
        assert_eq!(stream["event_bytes"], 256);
        assert!(stream["block_bytes"].as_u64().unwrap() >= 4_096);
        assert!(stream["buffer_bytes"].as_u64().unwrap() >= 256 << 10);
        assert_eq!(stream["runs"].as_array().unwrap().len(), 2);
        assert!(stream["ratio_to_baseline"].is_null());
        let claims = &report["results"][5];
        assert_eq!(claims["contender"], "claims");
        assert_eq!(claims["threads"], 3);
        let waits = ["at-once", "64-to-256-hints", "256-to-1024-hints"];
        assert!(waits.contains(&claims["wait"].as_str().unwrap()));
        let ring = &report["results"][6];
        assert_eq!(ring["contender"], "solo-ring");
        assert_eq!(ring["threads"], 1);
        assert!(ring["ring"].as_u64().unwrap() >= 1_024);
        let slots = &report["results"][8];
        assert_eq!(slots["contender"], "slot-exchange");
        assert_eq!(slots["operations_per_event"], 2);
        let read = &report["results"][9];
        assert_eq!((&read["contender"], &read["threads"]), (&"claims-read".into(), &4.into()));
        let singles = &report["results"][10];
        assert_eq!((&singles["contender"], &singles["threads"]), (&"singles".into(), &2.into()));
        assert!(singles["wait"].as_str().unwrap().ends_with("-hints"), "{singles}");
        assert_eq!(report["results"][11]["contender"], "small-singles");
        let in_a_ring = &report["results"][12];
        assert_eq!(in_a_ring["contender"], "ring-stream");
        assert_eq!(in_a_ring["buffer_bytes"], 8 << 16);
    }

    #[test]
    fn table_has_a_line_for_each_limit() {
        let records = all();
        let text = table::of(&records, &Machine::detect());
        assert_eq!(text.matches("| stream").count(), 4, "{text}");
        assert!(text.contains("all verified: 13 rows, 26 runs"), "{text}");
    }
}
