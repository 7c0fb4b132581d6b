//! `lapwing-lab neighbours`: the paper's five configurations beside busy threads of another process.

use clap::{Args, value_parser};

use super::graph::{self, GraphRun};
use super::session::Session;
use crate::contenders::{Entry, Roster};
use crate::flags::values::{self, each_once};
use crate::flags::{ContenderArguments, TimedArguments};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Publish, Workload};
use crate::machine::placement::Placement;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Row};
use crate::record::{Key, Record, by_cell, compare, fastest};
use crate::view::{Table, View, column, no_charts, notes};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "neighbours",
    title: "Graphs beside busy threads",
    lead: "The five configurations of the paper beside busy threads of another process, which preempt threads in the \
           middle of a run. Rates are medians of the runs, ratios are medians of the ratios within a round to the \
           fastest row of the cell. Switches are voluntary and involuntary ones of all threads.",
    tables,
    charts: no_charts,
    notes: notes::standings,
};

/// The length of one run without `--quick`, in milliseconds.
const RUN_MS: u32 = 150;
/// The reason why a program in another language does not take part.
const IS_PROCESS: &str = "the cost of its threads cannot be measured";

/// The help of `--contender`.
const CONTENDER_HELP: &str =
    "Contenders to run, separated by commas. Each rival runs with its fastest wait in each cell";

/// The flags of `lapwing-lab neighbours`.
#[derive(Args, Debug)]
#[command(mut_arg("contender", |contender| contender.help(CONTENDER_HELP).default_value("lapwing,disruptor")))]
#[command(mut_arg("placement", |placement| placement.default_value("own,auto")))]
pub(crate) struct NeighboursArguments {
    /// Configurations to run, separated by commas. Default: all five
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    topology: Vec<Topology>,

    /// Slots of the ring, separated by commas; powers of two
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "256,1024,8192")]
    #[arg(value_parser = values::ring)]
    ring: Vec<usize>,

    /// Numbers of busy threads of another process, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "0,1,2,4")]
    #[arg(value_parser = value_parser!(u32).range(0..=64))]
    busy: Vec<u32>,

    #[command(flatten)]
    contenders: ContenderArguments,

    #[command(flatten)]
    timed: TimedArguments,
}

impl NeighboursArguments {
    /// Returns the requested contenders, each once.
    fn roster(&self) -> Roster {
        let (names, settings) = (self.contenders.names(&[]), self.contenders.settings());
        Roster::admitting(&names, &settings, |name| name.is_process().then_some(IS_PROCESS))
    }

    /// Returns a row for each of `entries` in each cell: by busy threads, then by topology, then by slots.
    fn rows<'a>(&self, entries: &'a [Entry]) -> Vec<Row<GraphRun<'a>>> {
        let length = Length::Following(self.timed.run_time(RUN_MS));
        let mut rows = Vec::new();
        for busy_threads in each_once(&self.busy, &[]) {
            for topology in each_once(&self.topology, &Topology::ALL) {
                for ring in each_once(&self.ring, &[]) {
                    let workload = Workload {
                        events: 0, // the runner settles it
                        ring,
                        event_bytes: EventBytes::B8,
                        publish: Publish::One,
                        placement: Placement::Free,
                    };
                    let fits =
                        entries.iter().filter(|entry| entry.refusal(topology, ring).is_none());
                    rows.extend(fits.map(|entry| {
                        let run = GraphRun::new(VIEW.experiment, topology, entry, workload);
                        Row::new(run.beside(busy_threads), length)
                    }));
                }
            }
        }
        rows
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &NeighboursArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.timed.json.as_deref())?;
    let Roster { entries, mut missing } = arguments.roster();
    let topologies = each_once(&arguments.topology, &Topology::ALL);
    missing.extend(graph::refusals(&topologies, &each_once(&arguments.ring, &[]), &entries));
    let mut records =
        runner::measure(arguments.rows(&entries), arguments.timed.rounds(), Progress::new)?;
    compare(&mut records, fastest);
    session.end(&VIEW, records, missing)
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let mut cells = by_cell(records);
    for cell in &mut cells {
        cell.sort_by(|one, other| other.rate().total_cmp(&one.rate()));
    }
    let columns = vec![
        column::label("busy threads", Key::BUSY_THREADS),
        graph::topology_column(),
        column::number("slots", Key::RING).leaves(6),
        column::contender(),
        column::setting().leaves(5),
        column::rate(),
        column::quartiles().leaves(4),
        column::ratio_to("x first"),
        column::stalled().leaves(2),
        column::cpus().leaves(3),
        column::switches().leaves(1),
    ];
    vec![Table::of("", &cells.concat(), columns)]
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::contenders::{ContenderName, Setting};
    use crate::machine::Machine;
    use crate::record::figure;
    use crate::view::terminal;

    #[test]
    fn each_cell_has_its_contenders_and_says_who_is_first() {
        let line = "lapwing neighbours --topology unicast,diamond --ring 64,128 --busy 0 --run-ms 2 --rounds 3 \
                    --contender lapwing,bounded-queue --placement own";
        let Command::Neighbours(arguments) = Cli::parse_from(line.split_whitespace()).command
        else {
            panic!("it is another command")
        };
        let roster = arguments.roster();
        let rows = arguments.rows(&roster.entries);
        assert_eq!(rows.len(), 8);
        let mut records = runner::measure(rows, 3, |_| Progress::Silent).unwrap();
        compare(&mut records, fastest);
        assert_eq!(
            records.iter().filter(|record| record.number(Key::RING) == Some(128.0)).count(),
            4
        );
        assert!(records.iter().all(|record| record.runs.len() == 3 && record.rate() > 0.0));
        #[cfg(unix)]
        assert!(records.iter().all(|record| record.median(figure::VOLUNTARY).is_some()));
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        assert!(text.contains("best rival in ") && text.contains(" of 4 cells"), "{text}");
    }

    /// The process of the busy threads is this program, which a unit test is not. So the rows are not run.
    #[test]
    fn each_number_of_busy_threads_has_a_cell() {
        let line =
            "lapwing neighbours --topology unicast --ring 64 --busy 0,2 --contender bounded-queue";
        let Command::Neighbours(arguments) = Cli::parse_from(line.split_whitespace()).command
        else {
            panic!("it is another command")
        };
        let roster = arguments.roster();
        let labels = arguments.rows(&roster.entries).iter().map(Row::label).collect::<Vec<_>>();
        assert_eq!(labels.len(), 2);
        assert!(labels[0].starts_with("0 ") && labels[1].starts_with("2 "), "{labels:?}");
    }

    #[test]
    fn programs_in_other_languages_do_not_take_part() {
        let names = [ContenderName::of("lmax")];
        let refused = |name: ContenderName| name.is_process().then_some(IS_PROCESS);
        let roster = Roster::admitting(&names, &[Setting::default()], refused);
        assert_eq!(roster.missing[0].reason, IS_PROCESS);
    }
}
