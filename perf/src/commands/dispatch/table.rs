//! What `lapwing dispatch` prints: a block for each technique in the original's form, then the
//! headline as the original publishes it, then what a reader must know.

use super::config::Config;
use super::layout::Layout;
use super::order::Payload;
use super::record::Record;
use super::segments::Percentiles;
use super::techniques::TechniqueName;
use crate::machine::Machine;
use crate::report::table;

/// The columns of a block.
const COLUMNS: [&str; 4] = ["segment", "p50 us", "p99 us", "p99.9 us"];
/// The percentiles of the headline.
const HEADLINES: [(&str, Percentile); 3] =
    [("p50", |row| row.p50_ns), ("p99", |row| row.p99_ns), ("p99.9", |row| row.p99_9_ns)];

/// One of the percentiles, in nanoseconds.
type Percentile = fn(&Percentiles) -> f64;

/// What a reader must know, and of which records.
type Note = (&'static str, fn(&Record) -> bool);

/// What is about to run.
pub(super) fn banner(
    config: &Config,
    layout: &Layout,
    payload: Payload,
    techniques: usize,
) -> String {
    let runs = techniques * config.orch_work_sweep.len() * (config.repeats as usize + 1);
    let seconds_per_run = (config.window_ns() + config.d_max_ns()) as f64 / 1e9;
    let mut lines = vec![
        format!(
            "N = {} strategies, M = {} venues, {} orders each in {} ms ({:.0} orders/s), \
             D = {} .. {} us",
            config.n_strategies,
            config.m_venues,
            config.orders_per_strategy,
            config.window_ms,
            config.orders() as f64 / config.window_ns() as f64 * 1e9,
            config.d_min_us,
            config.d_max_us,
        ),
        format!(
            "order of {} bytes, shared_cap {}, spsc_cap {}, {} repeats and one to warm up",
            payload.bytes(),
            config.shared_cap,
            config.spsc_cap,
            config.repeats,
        ),
        format!(
            "{runs} runs of {} s: at least {:.0} s in all",
            table::rounded(seconds_per_run),
            runs as f64 * seconds_per_run,
        ),
        layout.reason.clone(),
    ];
    lines.extend(layout.over_subscribed());
    lines.push(String::new());
    lines.join("\n")
}

/// All `records`, and what a reader must know about them.
pub(super) fn of(records: &[Record], layout: &Layout, machine: &Machine) -> String {
    let mut parts = Vec::new();
    for work in works(records) {
        parts.push(format!("### orch_work = {work} ns\n"));
        parts.extend(records.iter().filter(|record| record.orch_work_ns == work).map(block));
    }
    parts.extend(HEADLINES.map(|(name, value)| headline(records, name, value)));
    parts.push(closing(records, layout, machine));
    parts.join("\n")
}

/// One technique with one amount of work.
fn block(record: &Record) -> String {
    let mut rows = table::empty(&COLUMNS, 1);
    for segment in &record.segments {
        let values = HEADLINES.map(|(_, value)| microseconds(value(&segment.percentiles)));
        rows.add_row([segment.name.to_owned()].into_iter().chain(values));
    }
    format!("**{}**\n\n{rows}\n\n{}\n", record.contender.name(), notes(record))
}

/// What stands below a block.
fn notes(record: &Record) -> String {
    let (in_flight, spread) = (&record.in_flight, &record.rt_venue_spread);
    let interval = |[low, high]: [f64; 2]| table::interval(low / 1e3, high / 1e3);
    let waited = match record.full {
        0 => String::new(),
        _ => format!(
            ", longest wait for room {} us",
            microseconds(record.longest_wait_for_room_ns as f64)
        ),
    };
    [
        format!(
            "in-flight: {:.0} median peak, {} max, {} mean, {:.0} expected",
            in_flight.median_peak,
            in_flight.max,
            table::or_none(in_flight.steady_mean, |mean| format!("{mean:.0}")),
            in_flight.expected,
        ),
        format!(
            "rt-venue spread: p50 {} us, p99 {} us",
            interval(spread.p50_ns),
            interval(spread.p99_ns)
        ),
        format!(
            "stalls >10 ms: {}/{} runs, worst gap {} us; Full: {}{waited}; CPUs: {}",
            record.stalls.runs,
            record.repeats,
            microseconds(record.stalls.worst_gap_ns as f64),
            record.full,
            table::or_none(record.cpus, table::rounded),
        ),
    ]
    .join("\n")
}

/// One percentile of `rt-venue`: a line for each amount of work, a column for each technique.
fn headline(records: &[Record], name: &str, value: Percentile) -> String {
    let techniques = techniques(records);
    let mut columns = vec!["orch_work ns"];
    columns.extend(techniques.iter().map(|technique| technique.name()));
    let mut rows = table::empty(&columns, 1);
    for work in works(records) {
        let cells = techniques.iter().map(|technique| {
            let found = records
                .iter()
                .find(|record| record.contender == *technique && record.orch_work_ns == work);
            table::or_none(found, |record| microseconds(value(&record.rt_venue())))
        });
        rows.add_row([work.to_string()].into_iter().chain(cells));
    }
    format!("rt-venue {name}, us\n\n{rows}\n")
}

/// What a reader must know.
fn closing(records: &[Record], layout: &Layout, machine: &Machine) -> String {
    let runs = records.iter().map(|record| record.repeats).sum::<usize>();
    let mut lines = vec![
        "rt-venue: round trip without the time at the venue; venue_late is part of venue_svc, and \
         sched_lag of neither"
            .to_owned(),
        format!(
            "all verified: {} rows, {runs} runs, every order came back once and undamaged",
            records.len()
        ),
        layout.reason.clone(),
    ];
    lines.extend(layout.over_subscribed());
    let notes: [Note; 3] = [
        (
            "orders in flight are more than 10 % off rate times mean delay, so the pipeline was \
             overloaded or held up",
            |record| record.in_flight.as_expected == Some(false),
        ),
        ("a thread was kept from its work for more than 10 ms", |record| record.stalls.runs > 0),
        ("a hand-off was full, so this is backpressure too", |record| record.full > 0),
    ];
    for (note, applies) in notes {
        let names = records
            .iter()
            .filter(|record| applies(record))
            .map(|record| format!("{} at {} ns", record.contender.name(), record.orch_work_ns));
        let names = names.collect::<Vec<_>>();
        if !names.is_empty() {
            lines.push(format!("{note}: {}", names.join(", ")));
        }
    }
    if records.iter().any(|record| record.in_flight.steady_mean.is_none()) {
        lines.push(
            "no check by Little's law: the window is not longer than the longest delay".to_owned(),
        );
    }
    lines.extend(table::disturbance(machine));
    lines.join("\n")
}

/// The amounts of work, in the order of the records.
fn works(records: &[Record]) -> Vec<u64> {
    let mut works = records.iter().map(|record| record.orch_work_ns).collect::<Vec<_>>();
    works.dedup();
    works
}

/// The techniques, in the order of the records.
fn techniques(records: &[Record]) -> Vec<TechniqueName> {
    let mut techniques = Vec::new();
    for record in records {
        if !techniques.contains(&record.contender) {
            techniques.push(record.contender);
        }
    }
    techniques
}

/// Nanoseconds as a number of microseconds.
fn microseconds(nanoseconds: f64) -> String {
    table::rounded(nanoseconds / 1e3)
}
