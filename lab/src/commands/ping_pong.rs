//! `lapwing-lab ping-pong`: the time of a number to another thread, over bare words and through each contender.

use std::sync::Arc;

use clap::{Args, value_parser};

use super::session::Session;
use crate::contenders::{ContenderName, Entry, PlacementName, Roster, Setting, WaitName};
use crate::flags::{ScheduleArguments, values};
use crate::foreign::{CppRival, JavaRival, Rival};
use crate::load::bare::{self, Carrier, Look};
use crate::load::exchange::Exchange;
use crate::machine::placement::Placement;
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::run::Pass;
use crate::measure::runner::{self, Measured, Row, Subject};
use crate::record::{Key, Missing, Record, compare, figure, named};
use crate::view::{Bar, Bars, Chart, Column, Table, View, by_caption, column, notes, text};

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "ping-pong",
    title: "Ping-pong",
    lead: "The time of a number to another thread, without other load: half of a round trip, as the mean of a run. Two \
           bare words in memory are the limit of the machine, and the same program in other languages shows that the \
           limit does not depend on Rust. Without a pause, the two threads run in lockstep. With a pause before each \
           number, the other thread has waited for a while.",
    tables,
    charts,
    notes: notes_of,
};

/// Slots of each ring and of each queue. It never contains more than one number.
const SLOTS: usize = 1024;
/// The label of the cell that says whether the sender pauses.
const EXCHANGE: Key = Key::new("exchange");
/// The fact with the mean pause of the sender before each number, in nanoseconds.
const PAUSE_NS: Key = Key::new("pause_ns");

/// The flags of `lapwing-lab ping-pong`.
#[derive(Args, Debug)]
pub(crate) struct PingPongArguments {
    /// Contenders to run beside the bare exchange, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<ContenderName>,

    /// Wait strategies of Lapwing's ends, separated by commas; each adds a row. Default: all six.
    /// Each rival runs with the fastest of its own
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    wait: Vec<WaitName>,

    /// Mean pause of the sender before each number, in nanoseconds; random from half to one and a
    /// half of it, and not counted. With 0, the two threads run in lockstep
    #[arg(long, value_name = "NS", default_value_t = 0)]
    #[arg(value_parser = value_parser!(u32).range(..=1_000_000))]
    pause: u32,

    #[command(flatten)]
    schedule: ScheduleArguments,
}

impl PingPongArguments {
    /// Returns the requested contenders whose sender can pause, each once.
    fn roster(&self) -> Roster {
        let waits = values::each_once(&self.wait, &WaitName::ALL);
        let settings = Setting::each(&waits, &[PlacementName::Own]); // pollers have no thread
        let names = values::each_once(&self.contender, &ContenderName::all());
        Roster::admitting(&names, &settings, |name| {
            (self.pause > 0 && name.is_process()).then_some("its program sends without a pause")
        })
    }

    /// Returns bare words and slots, two words in each other language, and the contenders; and those that are missing.
    fn players(&self) -> (Vec<Player>, Vec<Missing>) {
        let mut players: Vec<_> = Carrier::ALL.map(Player::Bare).into();
        let mut missing = Vec::new();
        // Programs in other languages send without pauses.
        let languages: &[Language] = if self.pause == 0 { &Language::ALL } else { &[] };
        for &language in languages {
            match language.compile() {
                Ok(rival) => players.push(Player::Foreign(language, rival)),
                Err(reason) => {
                    missing.push(Missing { contender: language.name().to_owned(), reason });
                }
            }
        }
        let roster = self.roster();
        players.extend(roster.entries.into_iter().map(Player::Contender));
        missing.extend(roster.missing);
        (players, missing)
    }
}

/// A language of the bare exchange other than Rust. A missing compiler is not an error; the report names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Cpp,
    Java,
}

impl Language {
    const ALL: [Self; 2] = [Self::Cpp, Self::Java];

    /// Returns the name in a report.
    const fn name(self) -> &'static str {
        match self {
            Self::Cpp => "bare-cpp",
            Self::Java => "bare-java",
        }
    }

    /// Compiles the program.
    ///
    /// # Errors
    ///
    /// The missing tool, in a few words.
    fn compile(self) -> Result<Rival, String> {
        let program = match self {
            Self::Cpp => CppRival::Bare.build(),
            Self::Java => JavaRival::Bare.build(),
        };
        let program = program.map_err(|error| error.to_string())?;
        Ok(Rival::new(Arc::new(program), &[]))
    }
}

/// The carriers of the exchange.
enum Player {
    /// Bare words.
    Bare(Carrier),
    /// Two words, in another language.
    Foreign(Language, Rival),
    /// A ring or a queue each way.
    Contender(Entry),
}

/// A player with its setting.
struct Match {
    player: Player,
    chosen: usize,
    placement: Placement,
    pause_ns: u32,
}

impl Match {
    fn name(&self) -> &'static str {
        match &self.player {
            Player::Bare(carrier) => carrier.name(),
            Player::Foreign(language, _) => language.name(),
            Player::Contender(entry) => entry.candidates[self.chosen].name(),
        }
    }

    fn wait(&self) -> &'static str {
        match &self.player {
            Player::Bare(_) => Look::ALL[self.chosen].name,
            Player::Foreign(..) => "spin",
            Player::Contender(entry) => entry.candidates[self.chosen].wait(),
        }
    }

    fn play(&self, exchange: Exchange) -> Result<Pass, RunError> {
        match &self.player {
            Player::Bare(carrier) => bare::run(*carrier, Look::ALL[self.chosen], exchange),
            Player::Foreign(_, rival) => Ok(rival.ping_pong(SLOTS, exchange)?),
            Player::Contender(entry) => entry.candidates[self.chosen].ping_pong(SLOTS, exchange),
        }
    }
}

impl Subject for Match {
    fn record(&self) -> Record {
        let exchange = match self.pause_ns {
            0 => "lockstep".to_owned(),
            pause => format!("exchanges after pauses of {pause} ns"),
        };
        let mut record = Record::new(VIEW.experiment, self.name(), 2)
            .in_cell(EXCHANGE, exchange)
            .with_fact(PAUSE_NS, (self.pause_ns > 0).then_some(self.pause_ns));
        record.wait = Some(self.wait().to_owned());
        record.pinned = self.placement.pins(record.threads);
        record
    }

    fn settings(&self) -> usize {
        match &self.player {
            Player::Bare(_) => Look::ALL.len(),
            Player::Foreign(..) => 1,
            Player::Contender(entry) => entry.candidates.len(),
        }
    }

    fn choose(&mut self, setting: usize) {
        self.chosen = setting;
    }

    /// Sends so many numbers there and back. The rate is that of round trips.
    fn run(&self, exchanges: u32) -> Result<Measured, Error> {
        let (topology, contender) = (VIEW.experiment, self.name());
        let failed = |source| Error::Run { topology, contender, source };
        let Self { placement, pause_ns, .. } = *self;
        let pass = self.play(Exchange { exchanges, placement, pause_ns }).map_err(failed)?;
        let last = u64::from(exchanges);
        let expected = vec![last * (last + 1) / 2];
        let pass = pass.checked(topology, contender, exchanges, &expected)?;
        Ok(Measured::speed(&pass, exchanges, 1))
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &PingPongArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let (players, missing) = arguments.players();
    let records = measure(arguments, players, Progress::new)?;
    session.end(&VIEW, records, missing)
}

/// Runs each of `players`, and compares it with two bare words.
fn measure(
    arguments: &PingPongArguments,
    players: Vec<Player>,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let schedule = arguments.schedule.schedule();
    let (placement, pause_ns) = (schedule.placement, arguments.pause);
    let row =
        |player| Row::new(Match { player, chosen: 0, placement, pause_ns }, schedule.length());
    let rows = players.into_iter().map(row).collect();
    let mut records = runner::measure(rows, schedule.runs, progress)?;
    compare(&mut records, named(Carrier::Word.name()));
    Ok(records)
}

/// Returns the nanoseconds of one way, of so many round trips per second.
const fn one_way(exchanges_per_second: f64) -> f64 {
    column::nanoseconds(exchanges_per_second) / 2.0
}

/// Returns the records of each placement and pause, the fastest first.
fn sorted<'a>(records: &[&'a Record]) -> Vec<(String, Vec<&'a Record>)> {
    let mut groups = by_caption(records, |record| {
        format!("{}, {}", record.text(EXCHANGE), text::placement(record.pinned))
    });
    for (_, records) in &mut groups {
        records.sort_by(|one, other| other.rate().total_cmp(&one.rate()));
    }
    groups
}

fn tables(records: &[&Record]) -> Vec<Table> {
    let table = |(caption, records): (String, Vec<&Record>)| {
        let columns = vec![
            Column::words("through", |record| record.contender.clone()),
            column::setting().leaves(3),
            column::median("ns one way", figure::PER_SECOND, one_way),
            column::range(figure::PER_SECOND, one_way).leaves(2),
            column::times_as_long("x bare"),
            column::cpus().leaves(1),
        ];
        Table::of(caption, &records, columns)
    };
    sorted(records).into_iter().map(table).collect()
}

fn charts(records: &[&Record]) -> Vec<Chart> {
    let bar = |record: &&Record| Bar::of(record, one_way);
    let groups = sorted(records).into_iter();
    let groups = groups.map(|(caption, records)| (caption, records.iter().map(bar).collect()));
    let bars = Bars { unit: "nanoseconds one way".to_owned(), groups: groups.collect() };
    let caption = "Nanoseconds one way; shorter is better. The bar is the median run, the thin line spans the fastest \
                   and the slowest run.";
    vec![Chart::bars(VIEW.experiment, caption, bars)]
}

fn notes_of(records: &[&Record]) -> Vec<String> {
    let mut notes = notes::default_against_best(records);
    if let Some(pause_ns) = records.iter().find_map(|record| record.number(PAUSE_NS)) {
        let (least, most) = (pause_ns / 2.0, pause_ns * 1.5);
        notes.push(format!(
            "the sender pauses for {least:.0} to {most:.0} ns before each number; pauses do not count"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::machine::Machine;
    use crate::view::terminal;

    /// Returns the arguments of a few exchanges with these flags.
    fn arguments(flags: &str) -> PingPongArguments {
        let line = format!("lapwing ping-pong --runs 2 --events 50 {flags}");
        let Command::PingPong(arguments) = Cli::parse_from(line.split_whitespace()).command else {
            panic!("it is another command")
        };
        arguments
    }

    /// Returns the records of all players, and what is missing.
    fn records(flags: &str) -> (Vec<Record>, Vec<Missing>) {
        let arguments = arguments(flags);
        let (players, missing) = arguments.players();
        let expected = players.len();
        let records = measure(&arguments, players, |_| Progress::Silent).unwrap();
        assert_eq!(records.len(), expected);
        (records, missing)
    }

    fn rendered(records: &[Record], missing: &[Missing]) -> String {
        terminal::render(&VIEW, records, missing, &Machine::detect())
    }

    #[test]
    fn every_player_gets_every_number_back() {
        let (records, missing) = records("--wait adaptive,blocking");
        let text = rendered(&records, &missing);
        for record in &records {
            assert!(text.contains(&record.contender), "{text}");
        }
        for Missing { contender, reason } in &missing {
            assert!(text.contains(&format!("{contender}: {reason}")), "{text}");
        }
        assert!(text.contains("lapwing's default in lockstep: "), "{text}");
    }

    #[test]
    fn a_number_that_is_lost_has_no_speed() {
        let arguments = arguments("--contender wrong-answer");
        let liars = arguments.roster().entries.into_iter().map(Player::Contender).collect();
        let error = measure(&arguments, liars, |_| Progress::Silent).unwrap_err().to_string();
        assert!(error.starts_with("wrong answer, so no speed: topology=ping-pong"), "{error}");
    }

    #[test]
    fn programs_in_other_languages_do_not_pause() {
        let (records, missing) = records("--pause 1000 --wait adaptive,blocking");
        let languages = ["bare-cpp", "bare-java", "lmax", "moodycamel"];
        assert!(records.iter().all(|record| !languages.contains(&&*record.contender)));
        assert!(records.iter().all(|record| record.number(PAUSE_NS) == Some(1e3)));
        assert!(missing.iter().any(|missing| missing.contender == "lmax"));
        let text = rendered(&records, &missing);
        assert!(text.contains("the sender pauses for 500 to 1500 ns before each number"), "{text}");
        assert!(text.contains("default in exchanges after pauses of 1000 ns: "), "{text}");
    }

    #[test]
    fn a_row_has_the_time_of_one_way_and_is_compared_with_bare_words() {
        let exchange = |contender: &str, round_trips: f64| {
            let mut record =
                Record::new(VIEW.experiment, contender, 2).in_cell(EXCHANGE, "lockstep");
            record.wait = Some("spin".to_owned());
            record.runs = vec![[(figure::PER_SECOND.to_owned(), round_trips)].into()];
            record
        };
        let mut records = vec![exchange("lapwing", 5e6), exchange("bare", 1e7)];
        compare(&mut records, named(Carrier::Word.name()));
        let pinned = Record { pinned: true, ..exchange("lapwing", 1e8) };
        let tables = tables(&[&records[0], &records[1], &pinned]);
        let cells = |row: usize| tables[0].rows[row].cells.join("|");
        assert_eq!(cells(0), "bare|spin|50.0|50.0 .. 50.0|1.00|-");
        assert_eq!(cells(1), "lapwing|spin|100|100 .. 100|2.00|-");
        assert_eq!(tables[1].caption, "lockstep, each thread on its own CPU");
        assert_eq!(tables[1].rows.len(), 1);
        let drawn = charts(&[&records[0], &pinned])[0].svg().unwrap();
        assert!(drawn.contains("lockstep, threads on any CPU"));
    }
}
