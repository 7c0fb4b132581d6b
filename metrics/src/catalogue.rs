//! The metrics: their names, units and descriptions. Not here: their values (`exporter`, `stage`).

use metrics::{Label, Unit};

// Of a ring.

pub(crate) const PUBLISHED: Counter = Counter::new("lapwing_published_total", "Events published");
pub(crate) const DROPPED: Counter = Counter::new(
    "lapwing_dropped_total",
    "Events that producers dropped because the ring was full",
);
pub(crate) const LIMITED_INTERVALS: Counter = Counter::new(
    "lapwing_limited_intervals_total",
    "Intervals between two records in which this part limited the ring",
);
pub(crate) const CAPACITY: Gauge = Gauge::of_count("lapwing_capacity", "Slots of the ring");
pub(crate) const FREE_SLOTS: Gauge =
    Gauge::of_count("lapwing_free_slots", "Slots that producers can claim");
pub(crate) const WAITING_PRODUCERS: Gauge =
    Gauge::of_count("lapwing_waiting_producers", "Producers that wait for free slots");
pub(crate) const RING_STATE: Gauge =
    Gauge::of_count("lapwing_ring_state", "1 for the present state of the ring, 0 for the others");
pub(crate) const STALLED: Gauge = Gauge::of_seconds(
    "lapwing_stalled_seconds",
    "Least time for which a part of the ring could have made progress and has not",
);
pub(crate) const CLAIM_HELD: Gauge = Gauge::of_seconds(
    "lapwing_claim_held_seconds",
    "Least time for which a claim has held up the stages",
);
pub(crate) const IDLE: Gauge = Gauge::of_seconds(
    "lapwing_idle_seconds",
    "Least time for which the ring has had nothing to do",
);

// Of a stage.

pub(crate) const FINISHED: Counter =
    Counter::new("lapwing_stage_finished_total", "Events that the stage has finished");
pub(crate) const BATCHES: Counter =
    Counter::new("lapwing_stage_batches_total", "Batches that the stage has finished");
pub(crate) const PARKS: Counter =
    Counter::new("lapwing_stage_parks_total", "Times that the thread of the stage parked");
pub(crate) const WAKES: Counter =
    Counter::new("lapwing_stage_wakes_total", "Parks that another thread ended with a wake-up");
pub(crate) const LAG: Gauge =
    Gauge::of_count("lapwing_stage_lag", "Published events that the stage has not finished");
pub(crate) const AVAILABLE: Gauge = Gauge::of_count(
    "lapwing_stage_available",
    "Events that are ready for the stage or that it is handling",
);
pub(crate) const UNACKNOWLEDGED: Gauge =
    Gauge::of_count("lapwing_stage_unacknowledged", "Finished events that are not acknowledged");
pub(crate) const STAGE_STATE: Gauge = Gauge::of_count(
    "lapwing_stage_state",
    "1 for the present state of the stage, 0 for the others",
);
pub(crate) const STUCK: Gauge = Gauge::of_seconds(
    "lapwing_stage_stuck_seconds",
    "Least time for which the stage could have made progress and has not",
);
pub(crate) const UNACKNOWLEDGED_FOR: Gauge = Gauge::of_seconds(
    "lapwing_stage_unacknowledged_seconds",
    "Least time for which a finished event has not been acknowledged",
);

const COUNTERS: [Counter; 7] =
    [PUBLISHED, DROPPED, LIMITED_INTERVALS, FINISHED, BATCHES, PARKS, WAKES];
const GAUGES: [Gauge; 13] = [
    CAPACITY,
    FREE_SLOTS,
    WAITING_PRODUCERS,
    RING_STATE,
    STALLED,
    CLAIM_HELD,
    IDLE,
    LAG,
    AVAILABLE,
    UNACKNOWLEDGED,
    STAGE_STATE,
    STUCK,
    UNACKNOWLEDGED_FOR,
];

/// A count that only grows, in events or other things.
pub(crate) struct Counter {
    name: &'static str,
    description: &'static str,
}

/// A value that rises and falls.
pub(crate) struct Gauge {
    name: &'static str,
    unit: Unit,
    description: &'static str,
}

/// Registers the unit and the description of each metric with the recorder.
///
/// Call it once, after the recorder is installed. [`Exporter::every`](crate::Exporter::every) calls
/// it by itself.
///
/// ```
/// use lapwing::Disruptor;
/// use lapwing_metrics::{Exporter, describe};
/// use metrics_exporter_prometheus::PrometheusBuilder;
///
/// let (producer, _consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// let recorder = PrometheusBuilder::new().build_recorder();
/// metrics::with_local_recorder(&recorder, || {
///     describe();
///     Exporter::new(producer.monitor()).record();
/// });
/// let page = recorder.handle().render();
/// assert!(page.contains("# HELP lapwing_free_slots Slots that producers can claim\n"));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
pub fn describe() {
    for Counter { name, description } in COUNTERS {
        metrics::describe_counter!(name, Unit::Count, description);
    }
    for Gauge { name, unit, description } in GAUGES {
        metrics::describe_gauge!(name, unit, description);
    }
}

impl Counter {
    const fn new(name: &'static str, description: &'static str) -> Self {
        Self { name, description }
    }

    /// Adds `increase` to the count. Zero shows the recorder that the metric is in use.
    pub(crate) fn add(&self, labels: &[Label], increase: u64) {
        metrics::counter!(self.name, labels.to_vec()).increment(increase);
    }
}

impl Gauge {
    const fn of_count(name: &'static str, description: &'static str) -> Self {
        Self { name, unit: Unit::Count, description }
    }

    const fn of_seconds(name: &'static str, description: &'static str) -> Self {
        Self { name, unit: Unit::Seconds, description }
    }

    /// Records the present value.
    pub(crate) fn record(&self, labels: &[Label], value: f64) {
        metrics::gauge!(self.name, labels.to_vec()).set(value);
    }
}
