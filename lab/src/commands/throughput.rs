//! `lapwing-lab throughput`: events per second in the five configurations of the Disruptor paper.

use clap::Args;

use super::graph::{self, GraphRun};
use super::session::Session;
use crate::contenders::{BASELINE, Entry, Roster};
use crate::flags::values::{self, each_once};
use crate::flags::{ContenderArguments, ScheduleArguments};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Publish, Workload};
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Row};
use crate::record::{Key, Record, by_cell, compare, figure, named_or_last};
use crate::view::{Bar, Bars, Chart, Table, View, column, notes};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "throughput",
    title: "Throughput",
    lead: "Events per second in each configuration of the Disruptor paper. All contenders do the same checked work; \
           each row is the median of its runs. A rival with several ways to wait has the fastest of them.",
    tables,
    charts,
    notes: notes::default_against_best,
};

/// The maximum memory of one ring or one queue, in bytes. A diamond has four queues.
const MAX_RING_BYTES: usize = 1 << 30;

/// The help of `--wait`.
const WAIT_HELP: &str = "Wait strategies of Lapwing's consumers and producers, separated by commas; each adds a row. \
                         Each rival runs with the fastest of its own";

/// The flags of `lapwing-lab throughput`.
#[derive(Args, Debug)]
#[command(mut_arg("wait", |wait| wait.help(WAIT_HELP)))]
pub(crate) struct ThroughputArguments {
    /// Configurations to run, separated by commas. Default: all five
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) topology: Vec<Topology>,

    #[command(flatten)]
    pub(crate) contenders: ContenderArguments,

    /// Slots of the ring and of every queue; a power of two
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = values::ring)]
    pub(crate) ring: usize,

    /// Size of one event. The producer writes every word, and every consumer reads every word
    #[arg(long, value_enum, default_value = "8")]
    pub(crate) event_bytes: EventBytes,

    /// Batching of rings: `one` event or `batch:N` events per publication. Queues have no batches
    /// and send the N events one by one
    #[arg(long, value_name = "one|batch:N", default_value = "one")]
    pub(crate) publish: Publish,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

impl ThroughputArguments {
    /// Checks that a batch fits the ring and the ring fits the memory.
    ///
    /// # Errors
    ///
    /// A message with the value that does not fit and with the limit.
    pub(crate) fn check(&self) -> Result<(), String> {
        let ring = self.ring;
        if let Publish::Batch(size) = self.publish
            && size.get() > ring
        {
            return Err(format!(
                "`--publish batch:{size}` does not fit `--ring {ring}`: a batch has 1..={ring} \
                 events"
            ));
        }
        let event_bytes = self.event_bytes.bytes();
        let ring_bytes = ring * event_bytes;
        if ring_bytes > MAX_RING_BYTES {
            let most_slots = MAX_RING_BYTES / event_bytes;
            return Err(format!(
                "`--ring {ring}` of {event_bytes} bytes takes {ring_bytes} bytes: at most \
                 {most_slots} slots of this size"
            ));
        }
        Ok(())
    }

    /// Returns a row for each of `entries` in each configuration that it supports.
    fn rows<'a>(&self, entries: &'a [Entry]) -> Vec<Row<GraphRun<'a>>> {
        let schedule = self.schedule.schedule();
        let workload = Workload {
            events: 1, // the runner settles it
            ring: self.ring,
            event_bytes: self.event_bytes,
            publish: self.publish,
            placement: schedule.placement,
        };
        let mut rows = Vec::new();
        for topology in each_once(&self.topology, &Topology::ALL) {
            let fits = entries.iter().filter(|entry| entry.refusal(topology, self.ring).is_none());
            let run = |entry| GraphRun::new(VIEW.experiment, topology, entry, workload);
            rows.extend(fits.map(|entry| Row::new(run(entry), schedule.length())));
        }
        rows
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ThroughputArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let Roster { entries, mut missing } = arguments.contenders.roster();
    let topologies = each_once(&arguments.topology, &Topology::ALL);
    missing.extend(graph::refusals(&topologies, &[arguments.ring], &entries));
    let records = measure(arguments, &entries, Progress::new)?;
    session.end(&VIEW, records, missing)
}

/// Runs each of `entries`, and compares it with the queue of the paper.
fn measure(
    arguments: &ThroughputArguments,
    entries: &[Entry],
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let rows = arguments.rows(entries);
    let mut records = runner::measure(rows, arguments.schedule.schedule().runs, progress)?;
    compare(&mut records, named_or_last(BASELINE));
    Ok(records)
}

/// Returns the records of each cell, the fastest first.
fn sorted<'a>(records: &[&'a Record]) -> Vec<Vec<&'a Record>> {
    let mut cells = by_cell(records);
    for cell in &mut cells {
        cell.sort_by(|one, other| other.rate().total_cmp(&one.rate()));
    }
    cells
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let columns = vec![
        graph::topology_column(),
        column::contender(),
        column::threads().leaves(1),
        column::setting().leaves(6),
        column::median("M events/s", figure::PER_SECOND, column::millions),
        column::range(figure::PER_SECOND, column::millions).leaves(4),
        column::ratio(records).leaves(5),
        column::interval().leaves(2),
        column::batch().leaves(7),
        column::cpus().leaves(3),
    ];
    vec![Table::of("", &sorted(records).concat(), columns)]
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let bar = |record: &&Record| Bar::of(record, column::millions);
    let group = |cell: &Vec<&Record>| {
        let pinned = if cell[0].pinned { ", pinned" } else { "" };
        (graph::heading(&cell[0].text(Key::TOPOLOGY)) + pinned, cell.iter().map(bar).collect())
    };
    let caption = "Million events per second. The bar is the median run, the thin line spans the slowest and the \
                   fastest run.";
    let bars = Bars {
        unit: "million events per second".to_owned(),
        groups: sorted(records).iter().map(group).collect(),
    };
    vec![Chart::bars(VIEW.experiment, caption, bars)]
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::contenders::{ContenderName, Setting};
    use crate::machine::Machine;
    use crate::view::terminal;

    /// Returns the records of a few events with these flags.
    fn records(flags: &str) -> Vec<Record> {
        let line = format!("lapwing throughput --runs 3 --events 100 --ring 64 {flags}");
        let Command::Throughput(arguments) = Cli::parse_from(line.split_whitespace()).command
        else {
            panic!("it is another command")
        };
        measure(&arguments, &arguments.contenders.roster().entries, |_| Progress::Silent).unwrap()
    }

    #[test]
    fn a_record_says_what_ran_and_each_run() {
        let records = records(
            "--contender std-mpsc,bounded-queue --topology unicast,diamond --event-bytes 32",
        );
        assert_eq!(records.len(), 4);
        let first = &records[0];
        assert_eq!(
            (first.text(Key::TOPOLOGY), &*first.contender),
            ("unicast".to_owned(), "std-mpsc")
        );
        assert_eq!(
            [Key::RING, Key::EVENT_BYTES, Key::EVENTS].map(|key| first.number(key)),
            [64.0, 32.0, 100.0].map(Some)
        );
        assert_eq!((first.runs.len(), first.threads, first.wait.as_deref()), (3, 2, Some("park")));
        assert_eq!(first.median(figure::BATCH), Some(1.0));
        assert_eq!(first.ratio.as_ref().unwrap().to, "bounded-queue");
        assert_eq!(records[3].ratio.as_ref().unwrap().median, 1.0);
    }

    #[test]
    fn placements_are_rows_of_lapwing_with_their_own_threads() {
        let records =
            records("--contender lapwing,bounded-queue --topology diamond --placement own,1");
        let placed = records.iter().map(|record| (record.placement.as_deref(), record.threads));
        assert!(placed.eq([(Some("own"), 4), (Some("1"), 2), (None, 4)]));
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        assert!(text.contains("adaptive 1") && !text.contains("default in"), "{text}");
        assert!(text.contains("where none is named, each consumer has a thread"), "{text}");
    }

    #[test]
    fn the_table_has_the_threads_of_each_row_and_leaves_them_out_first() {
        let records = records("--contender lapwing --topology diamond --placement own,1");
        let table = tables(&records.iter().collect::<Vec<_>>()).remove(0);
        let threads = table.headings.iter().position(|heading| heading.name == "threads").unwrap();
        let mut cells = table.rows.iter().map(|row| &*row.cells[threads]).collect::<Vec<_>>();
        cells.sort_unstable();
        assert_eq!(cells, ["2", "4"]);
        let first = table.headings.iter().filter(|heading| heading.leaves == 1);
        assert!(first.map(|heading| &*heading.name).eq(["threads"]));
    }

    /// Those of this process would be wrong.
    #[test]
    fn switches_of_another_process_are_not_known() {
        let names =
            [ContenderName::of("cpp-mutex-queue"), ContenderName::of("array-blocking-queue")];
        let roster = Roster::of(&names, &[]);
        let candidates = roster.entries.iter().flat_map(|entry| &entry.candidates);
        assert!(candidates.map(|candidate| candidate.switches()).all(|known| known.is_none()));
    }

    #[test]
    fn a_ring_that_is_too_small_for_a_rival_is_said() {
        let roster = Roster::of(&[ContenderName::of("disruptor")], &[Setting::default()]);
        let refusals = graph::refusals(&[Topology::Sequencer], &[8], &roster.entries);
        assert_eq!(refusals[0].contender, "disruptor in sequencer");
        assert_eq!(refusals[0].reason, "its ring has at least 64 slots: slots=8");
    }

    #[test]
    fn the_table_has_a_row_for_each_record() {
        let records = records("--contender std-mpsc,bounded-queue");
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        assert_eq!(text.matches("std-mpsc").count(), 5, "{text}");
        assert!(text.contains("all verified: 10 rows, 30 runs"), "{text}");
        assert!(text.contains("x bounded-queue"), "{text}");
    }
}
