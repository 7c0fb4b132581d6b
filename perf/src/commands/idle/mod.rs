//! `lapwing idle`: the cost of waiting. It runs the same graph with each wait strategy and several
//! loads, eight consumers without events, and single events after an idle period.

mod arguments; // the flags
mod lone; // a row of single events after idle periods
mod record; // the record of a row
mod row; // a row of a load
mod table; // the tables
#[cfg(test)]
mod tests; // whole measurements, a wrong answer, the format of the JSON and of the tables
mod watch; // the cost of a run

use std::time::Duration;

pub(crate) use self::arguments::IdleArguments;
use self::lone::Carrier;
use self::record::{Idle, LoneEvent, Record};
use self::row::{Row, Waiter};
use crate::commands::old_session::Session;
use crate::contenders::{ContenderName, Entry, Roster, Setting, WaitName};
use crate::load::lone::{Bare, Lone};
use crate::load::topologies::Topology;
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::report::distinct;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "idle";
/// The name of the single events in a report.
const LONE_EVENT: &str = "lone-event";

/// Consumers to which nothing is published.
const IDLE_CONSUMERS: usize = 8;
/// Windows of the consumers without events. Their cost is very small.
const IDLE_WINDOWS: u32 = 3;
/// The idle period before a single event.
const SILENCE: Duration = Duration::from_millis(100);
/// Consumers of a single event.
const LISTENERS: [usize; 2] = [1, 8];

/// The measured cases, and the number of runs.
#[derive(Clone, Debug)]
struct Plan {
    /// Events per second.
    rates: Vec<u32>,
    /// The settings of the rows of Lapwing.
    settings: Vec<Setting>,
    /// The contenders that wait.
    contenders: Vec<ContenderName>,
    /// Parallel readers, instead of three stages in a row.
    readers: Option<usize>,
    /// The measured part of a run.
    window: Duration,
    /// Counted rounds.
    runs: u32,
    /// Slots of the ring, and of every queue.
    ring: usize,
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &IdleArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.json.as_deref())?;
    let plan = arguments.plan();
    let Roster { entries, missing } = plan.roster();
    let records = measure(&plan, &entries, Progress::new)?;
    session.end(&records, &missing, |machine| table::of(&records, &missing, machine))
}

/// Runs each of `entries` and the single events as `plan` says.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    plan: &Plan,
    entries: &[Entry],
    progress: impl Fn(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let mut rows = plan.rows(entries);
    let steps = harness::steps(rows.len(), plan.runs);
    harness::measure(&mut rows, plan.runs, &progress(steps))?;
    let mut lone = plan.lone_rows();
    let steps = harness::steps(lone.len(), plan.runs);
    harness::measure(&mut lone, plan.runs, &progress(steps))?;

    let loads = rows.iter().filter_map(Idle::of).map(Record::Idle);
    let events = LoneEvent::of_rows(&lone).into_iter().map(Record::LoneEvent);
    Ok(loads.chain(events).collect())
}

impl Plan {
    /// Returns the contenders that take part.
    fn roster(&self) -> Roster {
        Roster::admitting(&self.contenders, &self.settings, |name| self.refusal(name))
            .fitting(Topology::Pipeline, self.ring)
    }

    /// Returns the reason why the contender of this name does not take part, if there is one.
    fn refusal(&self, name: ContenderName) -> Option<&'static str> {
        if name.is_process() {
            return Some(
                "its sender never sleeps, so the cost of its consumers cannot be measured",
            );
        }
        let is_rival = name != ContenderName::Lapwing;
        (is_rival && self.readers.is_some()).then_some("only Lapwing runs with parallel readers")
    }

    /// Returns the default strategy with each requested placement.
    fn default_waits(&self) -> impl Iterator<Item = Setting> {
        let placements = distinct(self.settings.iter().map(|setting| setting.placement));
        Setting::each(&[WaitName::Adaptive], &placements).into_iter()
    }

    /// Returns the rows: each waiter under each load, and the eight consumers without events.
    fn rows<'a>(&self, entries: &'a [Entry]) -> Vec<Row<'a>> {
        let waiters = match self.readers {
            Some(readers) => {
                self.settings.iter().map(|&one| Waiter::SideBySide(one, readers)).collect()
            }
            None => {
                let each = entries.iter().flat_map(|entry| &entry.candidates);
                each.map(|contender| Waiter::Pipeline(contender.as_ref())).collect::<Vec<_>>()
            }
        };
        let row = |&rate| {
            let waiters = waiters.iter();
            waiters.map(move |waiter| Row::new(*waiter, rate, self.window, self.ring))
        };
        let mut rows = self.rates.iter().flat_map(row).collect::<Vec<_>>();
        rows.extend(self.default_waits().map(|setting| {
            let eight = Waiter::SideBySide(setting, IDLE_CONSUMERS);
            Row::new(eight, 0, self.window * IDLE_WINDOWS, self.ring)
        }));
        rows
    }

    /// Returns the rows of single events to one and to several consumers, through a ring and
    /// through a bare word.
    fn lone_rows(&self) -> Vec<lone::Row> {
        let events = (self.window.as_secs_f64() / SILENCE.as_secs_f64()).ceil().max(1.0) as u32;
        let bare = Bare::ALL.iter().map(|bare| Carrier::Bare(*bare));
        let rings = self.default_waits().map(Carrier::Lapwing);
        let carriers = rings.chain(bare).collect::<Vec<_>>();
        let rows = LISTENERS.iter().flat_map(|&listeners| {
            let lone = Lone { listeners, events, silence: SILENCE };
            carriers.iter().map(move |carrier| lone::Row::new(*carrier, lone))
        });
        rows.collect()
    }
}
