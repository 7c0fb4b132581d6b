//! `lapwing` without arguments: the five configurations and five contenders in about a minute, and
//! the one table that answers "how fast is it here?"; and what is left of it beside busy threads of another process.

use std::time::Duration;

use crate::commands::neighbours;
use crate::commands::session::Session;
use crate::commands::throughput::{self, Plan, table};
use crate::contenders::{ContenderName, Roster, Setting};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Publish, Workload};
use crate::machine::placement::Placement;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::schedule::Schedule;
use crate::output;

/// Rounds that count. Odd, so that a median is a run.
const RUNS: u32 = 7;
/// Time of one run. With 25 rows and 8 rounds this is 50 s, plus calibration and checking.
const RUN_TIME: Duration = Duration::from_millis(250);
/// Slots of the ring, as in LMAX's own tests.
const RING: usize = 65_536;

/// Configurations beside busy threads: one producer, and three.
const BESIDE: [Topology; 2] = [Topology::Unicast, Topology::Sequencer];
/// Slots of the ring there, and of every queue: as many as a program with neighbours has, not as a benchmark.
const BESIDE_RING: usize = 1_024;
/// Threads of another process that compute meanwhile.
const BUSY_THREADS: u32 = 2;
/// Rounds that count there, and the time of one run: 10 rows take 5 s, plus calibration.
const BESIDE_ROUNDS: u32 = 5;
const BESIDE_RUN_TIME: Duration = Duration::from_millis(80);

/// Measures and reports.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be printed.
pub(crate) fn run() -> Result<(), Error> {
    let session = Session::begin(None)?;
    output::print("quick evaluation, about a minute; `lapwing --help` for more\n")?;

    let Roster { entries, missing } = Roster::of(ContenderName::QUICK, &[Setting::default()]);
    let records = throughput::measure(&plan(), &entries, Progress::new)?;
    let beside = neighbours::measure(&beside_plan(), &entries, Progress::new)?;
    session.end(&records, &missing, |machine| {
        let detailed = table::detailed(&records, &missing);
        let summary = table::summary(&records);
        let beside = neighbours::summary(&beside);
        format!("{detailed}\n\n{summary}\n\n{beside}\n\n{}", table::closing(&records, machine))
    })
}

/// Two configurations beside busy threads, for a short time each.
fn beside_plan() -> neighbours::Plan {
    neighbours::Plan {
        topologies: BESIDE.to_vec(),
        rings: vec![BESIDE_RING],
        busy_threads: vec![BUSY_THREADS],
        run_time: BESIDE_RUN_TIME,
        rounds: BESIDE_ROUNDS,
    }
}

/// Everything, for a short time each.
fn plan() -> Plan {
    let placement = Placement::Free;
    Plan {
        topologies: Topology::ALL.to_vec(),
        workload: Workload {
            events: 1, // calibration settles it
            ring: RING,
            event_bytes: EventBytes::B8,
            publish: Publish::One,
            placement,
        },
        schedule: Schedule { runs: RUNS, run_time: RUN_TIME, events: None, placement },
    }
}
