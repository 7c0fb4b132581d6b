//! One technique with one amount of work, which runs once in each round: the check of its orders, and the figures of a
//! run.

use lapwing_lab_stats::histogram;

use super::config::Config;
use super::order::{Payload, SEGMENTS};
use super::play::{Played, Setting};
use super::roles::Returns;
use super::techniques::TechniqueName;
use crate::measure::error::Error;
use crate::measure::runner::{Measured, Subject, known};
use crate::record::{Figures, Key, Record, figure};

/// What percentiles are about: the segments, with the original's names, then their sum, then the main result, then two
/// values that the original leaves out. One is the lateness of strategies, which the original leaves out because it
/// counts from the actual send. The other is the lateness of gateways, which is part of `venue_svc`.
pub(super) const ROWS: [&str; SEGMENTS + 4] = [
    "submit",
    "orch_pre",
    "dispatch",
    "venue_svc",
    "completion",
    "orch_post",
    "return",
    "round_trip",
    RT_VENUE,
    "sched_lag",
    "venue_late",
];
/// The main result: the round trip without the venue.
pub(super) const RT_VENUE: &str = "rt-venue";

/// The percentiles of each of [`ROWS`].
pub(super) const PERCENTILES: [Percentile; 3] = [
    Percentile { name: "p50", key: "p50_ns", quantile: 0.5 },
    Percentile { name: "p99", key: "p99_ns", quantile: 0.99 },
    Percentile { name: "p99.9", key: "p99_9_ns", quantile: 0.999 },
];

/// The figure of the most orders in flight.
pub(super) const PEAK: &str = "in_flight_peak";
/// The figure of the mean of orders in flight in steady state. It is absent if the window is not longer than a delay.
pub(super) const STEADY_MEAN: &str = "in_flight_mean";
/// The figure of the longest time for which a thread could not run its roles.
pub(super) const LONGEST_GAP_NS: &str = "longest_gap_ns";
/// The figure of the orders that found a hand-off full.
pub(super) const FULL: &str = "full";
/// The figure of the longest time that such an order waited for a free slot.
pub(super) const LONGEST_WAIT_NS: &str = "longest_wait_for_room_ns";

/// The label of the orchestrator's work for each order.
pub(super) const ORCH_WORK_NS: Key = Key::new("orch_work_ns");
/// The fact of the orders in flight by Little's law: rate times mean delay.
pub(super) const EXPECTED_IN_FLIGHT: Key = Key::new("expected_in_flight");
/// The fact of the mode and its reason.
pub(super) const LAYOUT: Key = Key::new("layout");
/// The fact of the mode: whether roles share threads.
pub(super) const MODE: Key = Key::new("mode");
/// The fact of the orders of a run.
const ORDERS: Key = Key::new("orders");
/// The label of the size of an order.
const ORDER_BYTES: Key = Key::new("order_bytes");

/// A percentile of times.
#[derive(Clone, Copy)]
pub(super) struct Percentile {
    /// The name in a table.
    pub(super) name: &'static str,
    /// The end of the name of a figure.
    key: &'static str,
    /// The share of the times that are at most this long.
    quantile: f64,
}

impl Percentile {
    /// Returns the figure of this percentile of one of [`ROWS`].
    pub(super) fn of(self, row: &str) -> String {
        format!("{row}.{}", self.key)
    }
}

/// Orders that did not all return once and undamaged. Such a run has no times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "wrong answer, so no times: topology=dispatch contender={technique} orders={orders} \
     lost={lost} doubled={doubled} damaged={damaged} surplus={surplus}"
)]
pub(super) struct WrongOrders {
    /// The technique with the wrong answer.
    technique: &'static str,
    /// Orders of the run.
    orders: u64,
    /// Orders that did not come back.
    lost: u64,
    /// Orders that came back again.
    doubled: u64,
    /// Orders that differ from what was sent, or that returned to another strategy.
    damaged: u64,
    /// Orders that were still on their way when every strategy had as many as it sent.
    surplus: u64,
}

/// A technique with one amount of work.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    technique: TechniqueName,
    payload: Payload,
    setting: Setting<'a>,
}

impl<'a> Trial<'a> {
    /// Creates the trial of `technique` with orders of this size.
    pub(super) const fn new(
        technique: TechniqueName,
        payload: Payload,
        setting: Setting<'a>,
    ) -> Self {
        Self { technique, payload, setting }
    }
}

impl Subject for Trial<'_> {
    fn record(&self) -> Record {
        let Setting { config, layout, orch_work_ns, .. } = self.setting;
        let mut record = Record::new("dispatch", self.technique.name(), layout.threads)
            .in_cell(ORCH_WORK_NS, orch_work_ns)
            .in_cell(ORDER_BYTES, self.payload.bytes())
            .with_fact(ORDERS, Some(config.orders()))
            .with_fact(EXPECTED_IN_FLIGHT, Some(config.expected_in_flight()))
            .with_fact(MODE, Some(layout.mode.name()))
            .with_fact(LAYOUT, Some(layout.reason.as_str()));
        for (key, value) in config.values() {
            record = record.with_fact(Key::new(key), Some(value));
        }
        record.pinned = layout.pinned;
        record
    }

    fn run(&self, _: u32) -> Result<Measured, Error> {
        let (topology, contender) = ("dispatch", self.technique.name());
        let failed = |source| Error::Run { topology, contender, source };
        let played = self.technique.play(self.payload, &self.setting).map_err(failed)?;
        check(contender, self.setting.config, &played)
            .map_err(|wrong| Error::WrongOrders(wrong.to_string()))?;
        let Played { returns, pressure, peak, steady_mean, longest_gap_ns, .. } = &played;
        let mut figures = percentiles(returns);
        figures.extend(known([
            (PEAK, Some(*peak as f64)),
            (STEADY_MEAN, *steady_mean),
            (LONGEST_GAP_NS, Some(*longest_gap_ns as f64)),
            (FULL, Some(pressure.full as f64)),
            (LONGEST_WAIT_NS, Some(pressure.longest_wait_ns as f64)),
            (figure::CPUS, played.cpus),
        ]));
        Ok(Measured { elapsed: played.elapsed, figures, delays: Vec::new() })
    }
}

/// Checks that every order of what `technique` has `played` returned once and undamaged.
///
/// # Errors
///
/// [`WrongOrders`] otherwise.
pub(super) fn check(
    technique: &'static str,
    config: &Config,
    played: &Played,
) -> Result<(), WrongOrders> {
    let returns = &played.returns;
    let orders = config.orders();
    let right = returns.iter().map(|returns| returns.samples.len() as u64).sum::<u64>();
    let wrong = WrongOrders {
        technique,
        orders,
        lost: orders.saturating_sub(right),
        doubled: returns.iter().map(|returns| returns.doubled).sum(),
        damaged: returns.iter().map(|returns| returns.damaged).sum(),
        surplus: played.surplus,
    };
    let is_right = wrong.lost + wrong.doubled + wrong.damaged + wrong.surplus == 0;
    if is_right { Ok(()) } else { Err(wrong) }
}

/// Returns the percentiles of each of [`ROWS`] in one run.
fn percentiles(returns: &[Returns]) -> Figures {
    let mut histograms = ROWS.map(|_| histogram());
    let [segments @ .., round_trip, rt_venue, sched_lag, venue_late] = &mut histograms;
    for sample in returns.iter().flat_map(|returns| &returns.samples) {
        for (segment, time) in segments.iter_mut().zip(sample.times) {
            segment.saturating_record(time.into());
        }
        round_trip.saturating_record(sample.round_trip);
        rt_venue.saturating_record(sample.without_venue());
        venue_late.saturating_record(sample.late.into());
    }
    for lag in returns.iter().flat_map(|returns| &returns.lags) {
        sched_lag.saturating_record(u64::from(*lag));
    }
    let mut figures = Figures::new();
    for (row, times) in ROWS.iter().zip(&histograms) {
        for percentile in PERCENTILES {
            let time = times.value_at_quantile(percentile.quantile);
            figures.insert(percentile.of(row), time as f64);
        }
    }
    figures
}
