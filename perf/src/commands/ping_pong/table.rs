//! The table of `lapwing ping-pong`.

use super::Record;
use crate::contenders::WaitName;
use crate::machine::Machine;
use crate::report::Missing;
use crate::report::{strategies, table};

/// The columns; from the third on they hold numbers.
const COLUMNS: [&str; 6] = ["through", "wait", "ns one way", "min .. max", "x bare", "CPUs"];

/// All `records`, the fastest first, and what a reader must know about them.
pub(super) fn of(records: &[Record], missing: &[Missing], machine: &Machine) -> String {
    let mut sorted = records.iter().collect::<Vec<_>>();
    sorted.sort_by(|one, other| {
        let speed = |record: &Record| record.speed.median_events_per_second;
        speed(other).total_cmp(&speed(one))
    });
    let mut lines = table::empty(&COLUMNS, 2);
    for record in sorted {
        lines.add_row(row(record));
    }
    let mut closing = vec![table::fitted(lines, &["CPUs", "min .. max", "wait"])];
    closing.extend(table::absences(missing));
    let own = records.iter().filter(|record| record.contender == "lapwing");
    closing.extend(strategies::default_against_best(
        super::BENCHMARK,
        WaitName::Adaptive.name(),
        own.map(|record| (record.wait, &record.speed)),
    ));
    closing.push("one way: half of there and back, the mean of a run".to_owned());
    if let Some(pause_ns) = records.iter().find_map(|record| record.pause_ns) {
        let (least, most) = (pause_ns / 2, pause_ns + pause_ns / 2);
        closing.push(format!(
            "the sender stays away for {least} to {most} ns before each number, which does not count"
        ));
    }
    closing.push(table::verified(records.iter().map(|record| &record.speed)));
    if machine.available_parallelism() < 2 {
        closing.push("two threads on one CPU: this is the scheduler, not the machine".to_owned());
    }
    closing.extend(table::disturbance(machine));
    closing.join("\n")
}

fn row(record: &Record) -> [String; COLUMNS.len()] {
    let Record { contender, wait, speed, .. } = record;
    let one_way = |exchanges_per_second: f64| 1e9 / exchanges_per_second / 2.0;
    [
        (*contender).to_owned(),
        (*wait).to_owned(),
        table::rounded(one_way(speed.median_events_per_second)),
        table::or_none(speed.spread(|run| one_way(run.events_per_second)), table::range),
        table::or_none(speed.ratio_to_baseline, |ratio| table::rounded(1.0 / ratio)),
        table::or_none(speed.cpus(), table::rounded),
    ]
}
