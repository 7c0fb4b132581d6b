//! `lapwing ping-pong`: how long a number takes to another thread, over two bare words and through each
//! contender.

mod bare; // two words and nothing else
mod foreign; // the same in C++ and in Java
mod table; // how they are shown

use serde::Serialize;

use self::foreign::{Language, Program};
use crate::cli::PingPongArguments;
use crate::contenders::Contender;
use crate::crew::RunError;
use crate::error::Error;
use crate::harness::{self, Schedule, Timed};
use crate::machine::Machine;
use crate::neighbours::Neighbours;
use crate::progress::Progress;
use crate::report::{self, json};
use crate::run::{self, Pass, Run};

/// The name of this benchmark in a report.
const BENCHMARK: &str = "ping-pong";
/// Slots of each ring and of each queue: there is never more than one number in it.
const SLOTS: usize = 1024;

/// Who exchanges numbers.
enum Player {
    /// Two words.
    Bare,
    /// Two words, in another language.
    Foreign(Program),
    /// A ring or a queue each way.
    Contender(Box<dyn Contender>),
}

/// One player, and its runs.
struct Row {
    player: Player,
    exchanges: u32,
    runs: Vec<Run>,
}

/// One row of the report. Its keys are those of other benchmarks, where it has the same thing.
#[derive(Clone, Debug, Serialize)]
struct Record {
    /// `ping-pong`.
    benchmark: &'static str,
    /// Who exchanged numbers.
    contender: &'static str,
    /// How its threads waited.
    wait: &'static str,
    /// Threads: two.
    threads: usize,
    /// Numbers of one run that went there and back.
    events: u32,
    /// Whether every number came back in every run. A wrong one has no record.
    verified: bool,
    /// Every run that counts, in the order of the rounds.
    runs: Vec<Run>,
    /// The median of the runs: numbers that came back, each second.
    median_events_per_second: f64,
    /// The median of the per-round ratio of its speed to that of two bare words.
    ratio_to_baseline: Option<f64>,
}

impl Player {
    fn name(&self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Foreign(program) => program.name(),
            Self::Contender(contender) => contender.name(),
        }
    }

    fn wait(&self) -> &'static str {
        match self {
            Self::Bare | Self::Foreign(_) => "spin",
            Self::Contender(contender) => contender.wait(),
        }
    }

    fn run(&self, exchanges: u32) -> Result<Pass, RunError> {
        match self {
            Self::Bare => bare::run(exchanges),
            Self::Foreign(program) => program.run(exchanges),
            Self::Contender(contender) => contender.ping_pong(SLOTS, exchanges),
        }
    }
}

impl Timed for Row {
    fn label(&self) -> String {
        format!("{} {}", self.player.name(), self.player.wait())
    }

    fn events(&self) -> u32 {
        self.exchanges
    }

    fn set_events(&mut self, events: u32) {
        self.exchanges = events;
    }

    fn run(&self) -> Result<Pass, Error> {
        let (topology, contender) = (BENCHMARK, self.player.name());
        let events = self.exchanges;
        let failed = |source| Error::Run { topology, contender, source };
        let pass = self.player.run(events).map_err(failed)?;
        let last = u64::from(events);
        let expected = vec![last * (last + 1) / 2];
        pass.checked(topology, contender, events, &expected)
    }

    fn record(&mut self, run: Run) {
        self.runs.push(run);
    }
}

impl Record {
    /// The record of `row`, compared with two bare words among `rows`.
    fn new(row: &Row, rows: &[Row]) -> Self {
        let bare = rows.iter().find(|row| matches!(row.player, Player::Bare));
        Self {
            benchmark: BENCHMARK,
            contender: row.player.name(),
            wait: row.player.wait(),
            threads: 2,
            events: row.exchanges,
            verified: true, // the harness gives no row with a wrong answer
            runs: row.runs.clone(),
            median_events_per_second: run::median_speed(&row.runs),
            ratio_to_baseline: bare.and_then(|bare| run::median_ratio(&row.runs, &bare.runs)),
        }
    }
}

/// Measures and reports what `arguments` ask for.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &PingPongArguments) -> Result<(), Error> {
    if let Some(path) = &arguments.schedule.json {
        json::check(path)?;
    }
    let mut machine = Machine::detect();
    report::print(&machine.to_string())?;

    let (players, missing) = players(arguments.contenders());
    let schedule = arguments.schedule.schedule();
    let neighbours = Neighbours::watch();
    let records = measure(players, &schedule, Progress::new)?;
    machine.cpus_used_by_others = neighbours.cpus_used();
    report::print(&table::of(&records, &missing, &machine))?;

    if let Some(path) = &arguments.schedule.json {
        json::write(path, &machine, &records)?;
    }
    Ok(())
}

/// Two bare words in each language, and `contenders`; and who is missing, with the reason.
fn players(contenders: Vec<Box<dyn Contender>>) -> (Vec<Player>, Vec<(&'static str, String)>) {
    let mut players = vec![Player::Bare];
    let mut missing = Vec::new();
    for language in Language::ALL {
        match language.compile() {
            Ok(program) => players.push(Player::Foreign(program)),
            Err(reason) => missing.push((language.name(), reason)),
        }
    }
    players.extend(contenders.into_iter().map(Player::Contender));
    (players, missing)
}

/// Has each of `players` run as `schedule` says.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    players: Vec<Player>,
    schedule: &Schedule,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let row = |player| Row { player, exchanges: 1, runs: Vec::new() };
    let mut rows = players.into_iter().map(row).collect::<Vec<_>>();
    let progress = progress(harness::steps(rows.len(), schedule));
    harness::measure(&mut rows, schedule, &progress)?;
    Ok(rows.iter().map(|row| Record::new(row, &rows)).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::contenders::{ContenderName, WaitName};

    /// A few exchanges of each of `players`.
    fn records(players: Vec<Player>) -> Result<Vec<Record>, Error> {
        let run_time = Duration::from_millis(1);
        let schedule = Schedule { runs: 2, run_time, events: Some(200) };
        measure(players, &schedule, |_| Progress::Silent)
    }

    fn contenders(names: &[ContenderName]) -> Vec<Box<dyn Contender>> {
        names
            .iter()
            .flat_map(|name| name.enlist(&[WaitName::Adaptive, WaitName::Blocking]))
            .collect()
    }

    #[test]
    fn every_player_gets_every_number_back() {
        let (players, missing) = players(contenders(&ContenderName::ALL));
        let expected = players.len();
        let records = records(players).unwrap();
        assert_eq!(records.len(), expected);
        let text = table::of(&records, &missing, &Machine::detect());
        for record in &records {
            assert!(text.contains(record.contender), "{text}");
        }
        for (name, reason) in &missing {
            assert!(text.contains(&format!("{name}: {reason}")), "{text}");
        }
    }

    #[test]
    fn a_number_that_is_lost_has_no_speed() {
        let liar = contenders(&[ContenderName::WrongAnswer]).into_iter().map(Player::Contender);
        let error = records(liar.collect()).unwrap_err().to_string();
        assert!(error.starts_with("wrong answer, so no speed: topology=ping-pong"), "{error}");
    }

    #[test]
    fn json_has_the_keys_of_other_benchmarks() {
        let mut players = vec![Player::Bare];
        players.extend(contenders(&[ContenderName::Lapwing]).into_iter().map(Player::Contender));
        let records = records(players).unwrap();
        let text = json::text(&Machine::detect(), &records).unwrap();
        let report = serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let results = report["results"].as_array().unwrap();
        let names = results.iter().map(|result| result["contender"].as_str().unwrap());
        assert!(names.eq(["bare", "lapwing", "lapwing"]), "{text}");
        assert_eq!(results[2]["wait"], "blocking");
        assert_eq!(results[0]["ratio_to_baseline"], 1.0);
        assert_eq!(results[0]["runs"].as_array().unwrap().len(), 2);
    }
}
