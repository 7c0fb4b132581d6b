//! `lapwing-lab dispatch`: the order-dispatch pipeline of `nonblocking-dispatch-bench`, with its keys, segments and
//! techniques, and two techniques of Lapwing.
//!
//! ```text
//! strategy(N) --submit--> orchestrator --dispatch--> gateway(M): holds each order for D
//! strategy(N) <--return-- orchestrator <-completion- gateway(M)         sampler: orders in flight
//! ```
//!
//! The tested technique carries `submit` and `completion`, which have several senders and one receiver. The other
//! hand-offs are the same for all queues. Differences from the original:
//!
//! - The due times of orders do not move (`sched_lag`).
//! - A stamp stays when an order is offered again.
//! - The lateness of the gateway is reported.
//! - Memory is touched and a round warms up before anything counts.
//! - Both sides of the orchestrator alternate.
//! - Each strategy checks each of its orders.
//!
//! ```text
//! config_file -> config       layout, schedule
//! trial -> techniques -> play -> roles -> hand_off -> order
//!   \---> view                    \---> work
//! ```

mod config; // the keys and their default values
mod config_file; // the parser of the file, and its errors
mod hand_off; // the interface of a hand-off, and the case of a full one
mod layout; // the threads of the roles
mod order; // an order, its eight stamps, its seven segments
mod play; // one run
mod random; // splitmix64
mod roles; // strategies, orchestrator, gateways, sampler
mod schedule; // the due times of orders
mod techniques; // what carries the orders
mod trial; // one technique with one amount of work, run once a round
mod view; // tables, charts, notes
mod work; // the work of the orchestrator

use std::path::{Path, PathBuf};

use clap::Args;

use self::config::Config;
use self::config_file::ConfigError;
use self::layout::Layout;
use self::order::Payload;
use self::play::Setting;
use self::schedule::Schedule;
use self::techniques::TechniqueName;
use self::trial::Trial;
pub(super) use self::view::VIEW;
use self::work::Pace;
use super::session::Session;
use crate::flags::values;
use crate::load::paced::Clock;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Row};
use crate::output;
use crate::record::Record;
use crate::view::text;

/// The time for which a strategy waits without progress before it treats its orders as lost. It is far longer than any
/// scheduler delays a thread.
const PATIENCE_NS: u64 = 10_000_000_000;

/// The flags of `lapwing-lab dispatch`.
#[derive(Args, Debug)]
pub(crate) struct DispatchArguments {
    /// Settings: `key: value` lines with the keys of the original's `config.yaml`, and `mode`
    ///
    /// The keys: n_strategies, m_venues, orders_per_strategy, window_ms, d_min_us, d_max_us,
    /// repeats, shared_cap, spsc_cap, sample_us, orch_work_sweep, mode (auto, threads, shared).
    /// Keys that are not in the file have their default values. With a CPU for each of its 14
    /// threads, the default is the setup of the published results. Otherwise it is 2 strategies, 2
    /// venues, 20,000 orders per second and delays of 1 to 20 ms.
    #[arg(long, value_name = "FILE", value_parser = config)]
    config: Option<Config>,

    /// Techniques to run, separated by commas. Default: all six
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    technique: Vec<TechniqueName>,

    /// Size of an order
    #[arg(long, value_enum, default_value = "small")]
    payload: Payload,

    /// Half a second per run and three runs per technique: less than a minute
    #[arg(long, conflicts_with = "config")]
    quick: bool,

    /// Writes the machine and every result to this JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl DispatchArguments {
    /// Returns the settings.
    fn config(&self) -> Config {
        match &self.config {
            Some(config) => config.clone(),
            None if self.quick => Config::quick(),
            None => Config::default_for(layout::cpus()),
        }
    }
}

/// Reads a file of settings.
fn config(path: &str) -> Result<Config, ConfigError> {
    config_file::read(Path::new(path), Config::default_for(layout::cpus()))
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &DispatchArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.json.as_deref())?;
    let (config, payload) = (arguments.config(), arguments.payload);
    let layout = Layout::new(&config, layout::cpus());
    let techniques = values::each_once(&arguments.technique, &TechniqueName::ALL);
    output::print(&announcement(&config, &layout, payload, techniques.len()))?;

    let records = measure(&techniques, (&config, &layout), payload, Progress::new)?;
    session.end(&VIEW, records, Vec::new())
}

/// Runs each of `techniques` with each amount of work, in rounds.
fn measure(
    techniques: &[TechniqueName],
    (config, layout): (&Config, &Layout),
    payload: Payload,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let (clock, schedule) = (Clock::new(), Schedule::new(config));
    let setting = Setting {
        config,
        schedule: &schedule,
        layout,
        clock: &clock,
        pace: Pace::measure(),
        orch_work_ns: 0,
        patience_ns: PATIENCE_NS,
    };
    let rows = config.orch_work_sweep.iter().flat_map(|&orch_work_ns| {
        let setting = Setting { orch_work_ns, ..setting };
        let trial = move |&technique| Trial::new(technique, payload, setting);
        techniques.iter().map(move |technique| Row::new(trial(technique), Length::Own))
    });
    runner::measure(rows.collect(), config.repeats, progress)
}

/// Returns what is about to run.
fn announcement(config: &Config, layout: &Layout, payload: Payload, techniques: usize) -> String {
    let runs = techniques * config.orch_work_sweep.len() * (config.repeats as usize + 1);
    let seconds_per_run = (config.window_ns() + config.d_max_ns()) as f64 / 1e9;
    let orders_per_second = config.orders() as f64 / config.window_ns() as f64 * 1e9;
    let Config { n_strategies, m_venues, orders_per_strategy, window_ms, .. } = config;
    let Config { d_min_us, d_max_us, shared_cap, spsc_cap, repeats, .. } = config;
    let mut lines = vec![
        format!(
            "N = {n_strategies} strategies, M = {m_venues} venues, {orders_per_strategy} orders each in {window_ms} ms \
             ({orders_per_second:.0} orders/s), D = {d_min_us} .. {d_max_us} us"
        ),
        format!(
            "order of {} bytes, shared_cap {shared_cap}, spsc_cap {spsc_cap}, {repeats} repeats and one to warm up",
            payload.bytes()
        ),
        format!(
            "{runs} runs of {} s: at least {:.0} s in all",
            text::rounded(seconds_per_run),
            runs as f64 * seconds_per_run
        ),
        layout.reason.clone(),
    ];
    lines.extend(layout.over_subscribed());
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::config::ModeName;
    use super::*;
    use crate::machine::Machine;
    use crate::record::Key;
    use crate::view::terminal;

    /// Returns the records of a measurement of `techniques` with a few hundred orders that are held briefly.
    fn records(techniques: &[TechniqueName]) -> Result<Vec<Record>, Error> {
        let config = Config {
            orders_per_strategy: 200,
            window_ms: 10,
            d_min_us: 10,
            d_max_us: 100,
            repeats: 2,
            shared_cap: 512, // a slot for each
            spsc_cap: 512,
            sample_us: 100,
            orch_work_sweep: vec![0, 200],
            mode: ModeName::Shared,
            ..Config::scaled()
        };
        let layout = Layout::new(&config, 2);
        measure(techniques, (&config, &layout), Payload::Small, |_| Progress::Silent)
    }

    #[test]
    fn a_record_has_the_percentiles_of_each_segment_and_of_each_run() {
        let records = records(&[TechniqueName::SpscMux, TechniqueName::LapwingGraphs]).unwrap();
        assert_eq!(records.len(), 4);
        let last = &records[3];
        assert_eq!((&*last.contender, last.threads, last.pinned), ("lapwing-graphs", 3, false));
        let labels = ["orch_work_ns", "order_bytes", "orders", "window_ms"];
        assert_eq!(
            labels.map(|label| last.number(Key::new(label))),
            [200.0, 64.0, 400.0, 10.0].map(Some)
        );
        assert_eq!((last.text(trial::MODE), last.runs.len()), ("shared".to_owned(), 2));
        for row in trial::ROWS {
            for run in &last.runs {
                let percentiles = trial::PERCENTILES.map(|percentile| run[&percentile.of(row)]);
                assert!(percentiles.is_sorted(), "{row}: {percentiles:?}");
            }
        }
        assert!(last.median("venue_svc.p50_ns").unwrap() >= 10_000.0, "the shortest delay");
        assert_eq!(last.each(trial::FULL).sum::<f64>(), 0.0);
        assert!(last.median(trial::PEAK).unwrap() <= 400.0);
    }

    #[test]
    fn tables_have_each_segment_of_each_technique_and_the_headline_for_each_amount_of_work() {
        let records = records(&[TechniqueName::StdMpsc, TechniqueName::LapwingRing]).unwrap();
        let text = terminal::render(&VIEW, &records, &[], &Machine::detect());
        assert_eq!(text.matches("orch_work = ").count(), 2, "{text}");
        assert_eq!(text.matches("| rt-venue").count(), 4, "{text}");
        for headline in ["rt-venue p50, us", "rt-venue p99, us", "rt-venue p99.9, us"] {
            assert!(text.contains(headline), "{headline}: {text}");
        }
        assert!(text.contains("all verified: 4 rows, 8 runs"), "{text}");
        assert!(text.contains("mode shared: the configuration says so"), "{text}");
        let charts = (VIEW.charts)(&records.iter().collect::<Vec<_>>());
        assert_eq!(charts.len(), 2);
        assert!(charts.iter().all(|chart| chart.svg().unwrap().contains("lapwing-ring")));
    }

    #[test]
    fn orders_that_are_mistaken_for_one_another_have_no_times() {
        let error = records(&[TechniqueName::StdMpsc, TechniqueName::WrongAnswer]).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("wrong answer, so no times: topology=dispatch"), "{text}");
        assert!(text.contains("contender=wrong-answer orders=400 lost=2 doubled=2"), "{text}");
    }
}
