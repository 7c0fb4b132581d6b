//! `lapwing` without arguments: the five configurations and five contenders in about a minute, and
//! the one table that answers "how fast is it here?".

use std::time::Duration;

use crate::contenders::{ContenderName, WaitName};
use crate::error::Error;
use crate::harness::Schedule;
use crate::machine::Machine;
use crate::report::{self, table};
use crate::throughput::{self, Plan};
use crate::topologies::Topology;
use crate::workload::{EventBytes, Publish, Workload};

/// Rounds that count. Odd, so that a median is a run.
const RUNS: u32 = 7;
/// Time of one run. With 25 rows and 8 rounds this is 50 s, plus calibration and checking.
const RUN_TIME: Duration = Duration::from_millis(250);
/// Slots of the ring, as in LMAX's own tests.
const RING: usize = 65_536;

/// Measures and reports.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be printed.
pub(crate) fn run() -> Result<(), Error> {
    let mut machine = Machine::detect();
    report::print(&machine.to_string())?;
    report::print("quick evaluation, about a minute; `lapwing throughput --help` for more\n")?;

    let records = throughput::measure(&plan(), &mut machine)?;
    report::print(&table::detailed(&records))?;
    report::print("")?;
    report::print(&table::summary(&records))?;
    report::print(&table::closing(&records, &machine))?;
    Ok(())
}

/// Everything, for a short time each.
fn plan() -> Plan {
    let contenders = ContenderName::QUICK.iter();
    Plan {
        topologies: Topology::ALL.to_vec(),
        contenders: contenders
            .flat_map(|contender| contender.enlist(&[WaitName::Adaptive]))
            .collect(),
        workload: Workload {
            events: 1, // calibration settles it
            ring: RING,
            event_bytes: EventBytes::B8,
            publish: Publish::One,
        },
        schedule: Schedule { runs: RUNS, run_time: RUN_TIME, events: None },
    }
}
