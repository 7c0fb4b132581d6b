//! The tables of `lapwing idle`.

use super::record::{Idle, LoneEvent, Record};
use crate::machine::Machine;
use crate::report::settings::Settings;
use crate::report::{Missing, table};

/// The columns of the loads; from the fourth on they hold numbers.
const LOADS: [&str; 10] = [
    "events/s",
    "contender",
    "wait",
    "consumers",
    "CPU %",
    "wake-ups/s",
    "involuntary/s",
    "p50 ns",
    "p99 ns",
    "sender CPU %",
];
/// The columns of single events after an idle period. From the third on they hold numbers.
const LONE: [&str; 7] =
    ["single event through", "wait", "consumers", "half, ns", "x bare", "last, ns", "x bare"];

/// All `records`, in their order, and what a reader must know about them.
pub(super) fn of(records: &[Record], missing: &[Missing], machine: &Machine) -> String {
    let settings = Settings::of(records.iter().map(Record::placement));
    let mut loads = table::empty(&LOADS, 3);
    let mut lone = table::empty(&LONE, 2);
    let mut threads = 0;
    for record in records {
        match record {
            Record::Idle(idle) => {
                loads.add_row(of_load(idle, settings));
                threads = threads.max(idle.threads);
            }
            Record::LoneEvent(event) => {
                lone.add_row(of_event(event, settings));
            }
        }
    }
    let mut closing = vec![
        table::fitted(loads, &["sender CPU %", "involuntary/s", "p99 ns", "wait"]),
        String::new(),
        table::fitted(lone, &["wait"]),
    ];
    closing.extend(table::absences(missing));
    closing.push(
        "CPU %: of one CPU, the whole process without its sender; wake-ups: how often the other threads \
         went to sleep; involuntary: how often they lost the CPU or yielded it; p50 and p99 from when an event was to be sent to its end"
            .to_owned(),
    );
    closing.push(
        "lone event: from its publication after a silence until half of the consumers, and the last of them, have it; bare: a word and the system's wake, the faster \
         of its ways is the limit; ratios are the medians of those of each round"
            .to_owned(),
    );
    closing.push(format!("all verified: {} rows, every event at every consumer", records.len()));
    if threads > machine.available_parallelism() {
        closing.push(format!(
            "up to {threads} threads on {} usable CPUs: at 1,000,000 events a second this is also the scheduler",
            machine.available_parallelism()
        ));
    }
    closing.extend(settings.note());
    closing.extend(table::disturbance(machine));
    closing.join("\n")
}

fn of_load(record: &Idle, settings: Settings) -> [String; LOADS.len()] {
    let count = |rate: Option<f64>| table::or_none(rate, table::rounded);
    let graph = if record.topology == "pipeline" { " in a row" } else { " side by side" };
    [
        record.offered_per_second.to_string(),
        record.contender.to_owned(),
        settings.name(record.wait, record.placement.as_deref()),
        format!("{}{graph}", record.consumers),
        table::or_none(record.cpu_percent, |percent| format!("{percent:.2}")),
        count(record.wakes_per_second),
        count(record.involuntary_per_second),
        table::or_none(record.p50_ns, |ns| ns.to_string()),
        table::or_none(record.p99_ns, |ns| ns.to_string()),
        table::or_none(record.sender_cpu_percent, |percent| format!("{percent:.2}")),
    ]
}

fn of_event(record: &LoneEvent, settings: Settings) -> [String; LONE.len()] {
    let times = |ratio: Option<f64>| table::or_none(ratio, |ratio| format!("{ratio:.2}"));
    [
        record.contender.to_owned(),
        settings.name(record.wait, record.placement.as_deref()),
        record.consumers.to_string(),
        format!("{:.0}", record.half_ns),
        times(record.half_times_bare),
        format!("{:.0}", record.last_ns),
        times(record.last_times_bare),
    ]
}
