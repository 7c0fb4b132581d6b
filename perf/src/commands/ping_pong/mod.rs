//! `lapwing ping-pong`: the time of a number to another thread, over bare words and through each
//! contender.

mod arguments; // the flags
mod foreign; // the same in C++ and in Java
mod table; // the tables

use serde::Serialize;

pub(crate) use self::arguments::PingPongArguments;
use self::foreign::Language;
use crate::commands::old_session::Session;
use crate::contenders::{Entry, Roster};
use crate::foreign::Rival;
use crate::load::bare::{self, Carrier, Look};
use crate::load::exchange::Exchange;
use crate::machine::placement::Placement;
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::measure::row::{Row, Speed, Subject};
use crate::measure::run::Pass;
use crate::measure::schedule::Schedule;
use crate::report::Missing;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "ping-pong";
/// Slots of each ring and of each queue. It never contains more than one number.
const SLOTS: usize = 1024;

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

/// One row of the report.
#[derive(Clone, Debug, Serialize)]
struct Record {
    /// `ping-pong`.
    benchmark: &'static str,
    /// The contender.
    contender: &'static str,
    /// The wait of its threads.
    wait: &'static str,
    /// Mean pause of the sender before each number, if it pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_ns: Option<u32>,
    /// Its speed. An event is a round trip of a number. The baseline is two bare words.
    #[serde(flatten)]
    speed: Speed,
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
    fn label(&self) -> String {
        format!("{} {}", self.name(), self.wait())
    }

    fn threads(&self) -> usize {
        2
    }

    fn candidates(&self) -> usize {
        match &self.player {
            Player::Bare(_) => Look::ALL.len(),
            Player::Foreign(..) => 1,
            Player::Contender(entry) => entry.candidates.len(),
        }
    }

    fn choose(&mut self, candidate: usize) {
        self.chosen = candidate;
    }

    fn run(&self, exchanges: u32) -> Result<Pass, Error> {
        let (topology, contender) = (BENCHMARK, self.name());
        let failed = |source| Error::Run { topology, contender, source };
        let Self { placement, pause_ns, .. } = *self;
        let exchange = Exchange { exchanges, placement, pause_ns };
        let pass = self.play(exchange).map_err(failed)?;
        let last = u64::from(exchanges);
        pass.checked(topology, contender, exchanges, &vec![last * (last + 1) / 2])
    }
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &PingPongArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let pause_ns = arguments.pause;
    let (players, missing) = players(arguments.roster(), pause_ns);
    let schedule = arguments.schedule.schedule();
    let records = measure(players, pause_ns, schedule, Progress::new)?;
    session.end(&records, &missing, |machine| table::of(&records, &missing, machine))
}

/// Returns two bare words in each language, bare slots of two kinds, and the contenders of
/// `roster`, and what is missing. Other languages send without pauses.
fn players(roster: Roster, pause_ns: u32) -> (Vec<Player>, Vec<Missing>) {
    let mut players: Vec<_> = Carrier::ALL.map(Player::Bare).into();
    let mut missing = Vec::new();
    let languages: &[Language] = if pause_ns == 0 { &Language::ALL } else { &[] };
    for &language in languages {
        match language.compile() {
            Ok(rival) => players.push(Player::Foreign(language, rival)),
            Err(reason) => {
                missing.push(Missing { contender: language.name().to_owned(), reason });
            }
        }
    }
    players.extend(roster.entries.into_iter().map(Player::Contender));
    missing.extend(roster.missing);
    (players, missing)
}

/// Runs each of `players` as `schedule` says.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    players: Vec<Player>,
    pause_ns: u32,
    schedule: Schedule,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let placement = schedule.placement;
    let matches =
        players.into_iter().map(|player| Match { player, chosen: 0, placement, pause_ns });
    let mut rows = matches.map(|each| Row::new(each, schedule)).collect::<Vec<_>>();
    let progress = progress(harness::steps(rows.len(), schedule.runs));
    harness::measure(&mut rows, schedule.runs, &progress)?;

    let bare = rows.iter().find(|row| matches!(row.subject.player, Player::Bare(Carrier::Word)));
    let run = rows.iter().filter(|row| !row.runs.is_empty());
    Ok(run.map(|row| record(row, bare)).collect())
}

/// Returns the record of `row`, compared with two `bare` words.
fn record(row: &Row<Match>, bare: Option<&Row<Match>>) -> Record {
    let (contender, wait) = (row.subject.name(), row.subject.wait());
    let speed = row.speed(bare.map(|bare| (bare.subject.name(), bare)));
    let pause_ns = (row.subject.pause_ns > 0).then_some(row.subject.pause_ns);
    Record { benchmark: BENCHMARK, contender, wait, pause_ns, speed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::{ContenderName, Setting, WaitName};
    use crate::machine::Machine;
    use crate::report::json;

    /// Returns the records of a few exchanges of each of `players`.
    fn records(players: Vec<Player>) -> Result<Vec<Record>, Error> {
        measure(players, 0, Schedule::short(2, 50), |_| Progress::Silent)
    }

    fn roster(names: &[ContenderName], pause_ns: u32) -> Roster {
        let settings = [WaitName::Adaptive, WaitName::Blocking].map(Setting::from);
        arguments::roster(names, &settings, pause_ns)
    }

    #[test]
    fn every_player_gets_every_number_back() {
        let (players, missing) = players(roster(&ContenderName::ALL, 0), 0);
        let expected = players.len();
        let records = records(players).unwrap();
        assert_eq!(records.len(), expected);
        let text = table::of(&records, &missing, &Machine::detect());
        for record in &records {
            assert!(text.contains(record.contender), "{text}");
        }
        for Missing { contender, reason } in &missing {
            assert!(text.contains(&format!("{contender}: {reason}")), "{text}");
        }
    }

    #[test]
    fn a_number_that_is_lost_has_no_speed() {
        let liar =
            roster(&[ContenderName::WrongAnswer], 0).entries.into_iter().map(Player::Contender);
        let error = records(liar.collect()).unwrap_err().to_string();
        assert!(error.starts_with("wrong answer, so no speed: topology=ping-pong"), "{error}");
    }

    #[test]
    fn programs_in_other_languages_do_not_pause() {
        let (players, missing) = players(roster(&ContenderName::ALL, 1_000), 1_000);
        let schedule = Schedule::short(1, 50);
        let records = measure(players, 1_000, schedule, |_| Progress::Silent).unwrap();
        let languages = ["bare-cpp", "bare-java", "lmax", "moodycamel"];
        assert!(records.iter().all(|record| !languages.contains(&record.contender)));
        assert!(records.iter().all(|record| record.pause_ns == Some(1_000)));
        assert!(missing.iter().any(|missing| missing.contender == "lmax"));
        let text = table::of(&records, &missing, &Machine::detect());
        assert!(
            text.contains("the sender stays away for 500 to 1500 ns before each number"),
            "{text}"
        );
    }

    #[test]
    fn json_has_the_keys_of_other_benchmarks() {
        let mut players: Vec<_> = Carrier::ALL.map(Player::Bare).into();
        let lapwing = roster(&[ContenderName::Lapwing], 0).entries;
        players.extend(lapwing.into_iter().map(Player::Contender));
        let records = records(players).unwrap();
        let report = json::read_back(&records);
        let results = report["results"].as_array().unwrap();
        let names = results.iter().map(|result| result["contender"].as_str().unwrap());
        assert!(names.eq(["bare", "bare-stamp", "bare-slot", "lapwing", "lapwing"]), "{report}");
        assert_eq!(results[4]["wait"], "blocking");
        assert_eq!(results[0]["ratio_to_baseline"], 1.0);
        assert_eq!(results[0]["runs"].as_array().unwrap().len(), 2);
    }
}
