//! `lapwing-lab contention`: Table 1 of the paper, the cost of an increment with and without contention.

use clap::Args;

use super::session::Session;
use crate::flags::{ScheduleArguments, values};
use crate::load::increments::Case;
use crate::machine::placement::Placement;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Measured, Row, Subject};
use crate::record::{Key, Record, compare, figure, named};
use crate::view::{Bar, Bars, Chart, Column, Table, View, by_caption, column, text};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "contention",
    title: "Contention",
    lead: "The cost of an increment of a 64-bit counter on one thread, with a lock, with compare-and-swap, and while a \
           second thread increments too. Figures are nanoseconds from one increment to the next over all threads. \
           Because of this cost, a Disruptor has one writer for each word. Two threads that share one CPU take turns \
           and do not contend.",
    tables,
    charts,
    notes,
};

/// The fact with the nanoseconds of an increment in Table 1 of the paper.
const IN_PAPER: Key = Key::new("nanoseconds_in_paper");

/// The flags of `lapwing-lab contention`.
#[derive(Args, Debug)]
pub(crate) struct ContentionArguments {
    /// Cases to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    case: Vec<Case>,

    #[command(flatten)]
    schedule: ScheduleArguments,
}

/// One way to increment.
struct Counting {
    case: Case,
    placement: Placement,
}

impl Subject for Counting {
    fn record(&self) -> Record {
        let mut record = Record::new(VIEW.experiment, self.case.name(), self.case.threads())
            .with_fact(IN_PAPER, self.case.nanoseconds_in_paper());
        record.pinned = self.placement.pins(record.threads);
        record
    }

    fn run(&self, increments: u32) -> Result<Measured, Error> {
        let (topology, contender) = ("counter", self.case.name());
        let failed = |source| Error::Run { topology, contender, source };
        let pass = self.case.run(increments, self.placement).map_err(failed)?;
        let expected = vec![u64::from(increments)];
        let pass = pass.checked(topology, contender, increments, &expected)?;
        Ok(Measured::speed(&pass, increments, 1))
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ContentionArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let records = measure(arguments, Progress::new)?;
    session.end(&VIEW, records, Vec::new())
}

/// Runs each case, and compares it with one thread without protection.
fn measure(
    arguments: &ContentionArguments,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let schedule = arguments.schedule.schedule();
    let counting = |case| Counting { case, placement: schedule.placement };
    let cases = values::each_once(&arguments.case, &Case::ALL);
    let rows = cases.into_iter().map(|case| Row::new(counting(case), schedule.length()));
    let mut records = runner::measure(rows.collect(), schedule.runs, progress)?;
    compare(&mut records, named(Case::Plain.name()));
    Ok(records)
}

/// Returns the records of pinned threads apart from those of others.
fn by_placement<'a>(records: &[&'a Record]) -> Vec<(String, Vec<&'a Record>)> {
    by_caption(records, |record| text::placement(record.pinned).to_owned())
}

/// Returns what a case does, in the words of the paper where it has the case.
fn description(record: &Record) -> String {
    let known = Case::ALL.into_iter().find(|case| case.name() == record.contender);
    known.map_or_else(|| record.contender.clone(), |case| case.description().to_owned())
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let table = |(caption, records): (String, Vec<&Record>)| {
        let columns = vec![
            Column::words("a counter incremented by", description),
            Column::words("case", |record| record.contender.clone()).leaves(2),
            column::median("ns", figure::PER_SECOND, column::nanoseconds),
            column::range(figure::PER_SECOND, column::nanoseconds).leaves(1),
            column::times_as_long("x one thread"),
            column::number("ns in the paper", IN_PAPER).leaves(3),
        ];
        Table::of(caption, &records, columns)
    };
    by_placement(records).into_iter().map(table).collect()
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let of_case = |record: &Record| {
        let measured = Bar {
            name: "this machine".to_owned(),
            is_own: true,
            ..Bar::of(record, column::nanoseconds)
        };
        let paper = record.number(IN_PAPER).map(|value| Bar {
            name: "the paper".to_owned(),
            value,
            range: None,
            is_own: false,
        });
        [Some(measured), paper].into_iter().flatten().collect()
    };
    let group = |placement: &str, record: &Record| {
        let words = [&*description(record), placement].map(str::to_owned);
        let heading = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
        (heading.join(", "), of_case(record))
    };
    let groups = by_placement(records).into_iter().flat_map(|(placement, records)| {
        records.into_iter().map(|record| group(&placement, record)).collect::<Vec<_>>()
    });
    let bars = Bars { unit: "nanoseconds for one increment".to_owned(), groups: groups.collect() };
    let caption = "Nanoseconds from one increment to the next over all threads; shorter is better. The thin line \
                   spans the fastest and the slowest run. The paper's machine ran Java (Westmere, 2011).";
    vec![Chart::bars(VIEW.experiment, caption, bars)]
}

fn notes(records: &[&Record]) -> Vec<String> {
    let is_in_paper = records.iter().any(|record| record.number(IN_PAPER).is_some());
    is_in_paper.then(|| "the paper: Java, Westmere, 2011".to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::machine::Machine;
    use crate::view::terminal;

    /// Returns the records of a few increments with these flags.
    fn records(flags: &str) -> Result<Vec<Record>, Error> {
        let line = format!("lapwing contention --runs 3 --events 1000 {flags}");
        let Command::Contention(arguments) = Cli::parse_from(line.split_whitespace()).command
        else {
            panic!("it is another command")
        };
        measure(&arguments, |_| Progress::Silent)
    }

    #[test]
    fn a_lost_increment_has_no_speed() {
        let text = records("--case plain,wrong-answer").unwrap_err().to_string();
        assert!(text.starts_with("wrong answer, so no speed: topology=counter"), "{text}");
        assert!(text.contains("contender=wrong-answer events=1000"), "{text}");
    }

    #[test]
    fn a_case_is_compared_with_one_thread_and_with_the_paper() {
        let records = records("--case cas-two,plain").unwrap();
        let (cas, plain) = (&records[0], &records[1]);
        assert_eq!(
            (&*cas.contender, cas.threads, cas.number(Key::EVENTS)),
            ("cas-two", 2, Some(1e3))
        );
        assert_eq!(cas.number(IN_PAPER), Some(60.0));
        assert_eq!(cas.ratio.as_ref().unwrap().to, "plain");
        assert_eq!((plain.ratio.as_ref().unwrap().median, plain.runs.len()), (1.0, 3));
    }

    #[test]
    fn without_the_baseline_nothing_is_compared() {
        let records = records("--case cas,release").unwrap();
        assert!(records.iter().all(|record| record.ratio.is_none()));
    }

    #[test]
    fn the_table_has_a_line_for_each_case_in_its_order() {
        let records = records("").unwrap();
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        for (line, case) in text.lines().skip(2).zip(Case::ALL) {
            assert!(line.contains(case.description()), "{line} {case:?}");
        }
        assert!(text.contains("all verified: 11 rows, 33 runs"), "{text}");
        assert!(text.contains("Westmere"), "{text}");
    }

    #[test]
    fn pinned_threads_have_a_table_of_their_own() {
        let free = records("--case plain").unwrap().remove(0);
        let pinned = Record { pinned: true, ..free.clone() };
        assert_eq!(tables(&[&free]).len(), 1);
        let tables = tables(&[&free, &pinned]);
        assert_eq!(tables[1].caption, "each thread on its own CPU");
        assert!(charts(&[&free, &pinned])[0].svg().unwrap().contains("this machine"));
    }
}
