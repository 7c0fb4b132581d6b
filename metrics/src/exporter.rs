//! One record: a snapshot, and each of its figures for the recorder. Not here: the figures of its
//! stages (`stage`), the thread that records at intervals (`recording`).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use lapwing::monitor::{Limits, Monitor, Part, Snapshot};
use metrics::Label;

use crate::catalogue::{
    CAPACITY, CLAIM_HELD, DROPPED, FREE_SLOTS, Gauge, IDLE, LIMITED_INTERVALS, PUBLISHED,
    RING_STATE, STALLED, WAITING_PRODUCERS,
};
use crate::recording::Recording;
use crate::stage::Stage;
use crate::states::States;
use crate::total::Total;

/// Hands the figures of a ring to the recorder of the crate `metrics`.
///
/// Make one exporter for each ring, and give each ring a [name](lapwing::Builder::name) of its own:
/// two rings of one name overwrite each other's gauges.
///
/// ```
/// use lapwing::Disruptor;
/// use lapwing_metrics::Exporter;
/// use metrics_exporter_prometheus::PrometheusBuilder;
///
/// let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
/// let mut ticks = consumers.take_poller("ticks")?;
/// let mut exporter = Exporter::new(producer.monitor());
/// producer.publish_batch(5, |_| {})?;
/// ticks.poll_max(3)?.consume_all();
///
/// // A recorder for this thread. A program calls `PrometheusBuilder::install` instead.
/// let recorder = PrometheusBuilder::new().build_recorder();
/// metrics::with_local_recorder(&recorder, || exporter.record());
/// let page = recorder.handle().render();
/// assert!(page.contains("lapwing_published_total{ring=\"quotes\"} 5\n"));
/// assert!(page.contains("lapwing_stage_finished_total{ring=\"quotes\",stage=\"ticks\"} 3\n"));
/// assert!(page.contains("lapwing_stage_lag{ring=\"quotes\",stage=\"ticks\"} 2\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Exporter {
    monitor: Monitor,
    /// The label `ring`.
    ring: Label,
    /// The snapshot of the last record, or of the creation.
    earlier: Snapshot,
    published: Total,
    dropped: Total,
    limits: Limits,
    states: States,
    /// By name, with those that are no longer in the ring.
    stages: BTreeMap<String, Stage>,
}

impl Exporter {
    /// Makes an exporter of the ring of `monitor`. Its counters begin at 0 here.
    ///
    /// ```
    /// use lapwing::Disruptor;
    /// use lapwing_metrics::Exporter;
    /// use metrics_exporter_prometheus::PrometheusBuilder;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// producer.publish(|event| *event = 7)?; // before
    /// let mut exporter = Exporter::new(producer.monitor());
    /// producer.publish(|event| *event = 8)?;
    /// let recorder = PrometheusBuilder::new().build_recorder();
    /// metrics::with_local_recorder(&recorder, || exporter.record());
    /// let page = recorder.handle().render();
    /// assert!(page.contains("lapwing_published_total{ring=\"quotes\"} 1\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(monitor: Monitor) -> Self {
        let snapshot = monitor.snapshot();
        let mut exporter = Self {
            monitor,
            ring: Label::new("ring", snapshot.ring.clone()),
            earlier: snapshot.clone(),
            published: Total::default(),
            dropped: Total::default(),
            limits: Limits::new(),
            states: States::default(),
            stages: BTreeMap::new(),
        };
        exporter.add(&snapshot);
        exporter
    }

    /// Takes a snapshot and records each of its figures with the recorder of this thread, or else
    /// the global one.
    ///
    /// Never waits for the ring. It looks up each metric in the recorder, which may be installed at
    /// any time. Without a recorder, nothing is recorded, but the counters go on.
    ///
    /// Durations follow from the records: that of a stall begins with the first record that shows
    /// its cause. So record more often than the shortest stall that matters.
    ///
    /// ```
    /// use lapwing::Disruptor;
    /// use lapwing_metrics::Exporter;
    /// use metrics_exporter_prometheus::PrometheusBuilder;
    ///
    /// let (producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// let mut exporter = Exporter::new(producer.monitor());
    /// let recorder = PrometheusBuilder::new().build_recorder();
    /// let mut state_of_stage = |state: &str| {
    ///     metrics::with_local_recorder(&recorder, || exporter.record()); // for each page
    ///     let labels = format!("{{ring=\"quotes\",stage=\"ticks\",state=\"{state}\"}}");
    ///     recorder.handle().render().contains(&format!("lapwing_stage_state{labels} 1\n"))
    /// };
    /// assert!(state_of_stage("not polled"));
    /// drop(consumers); // and the poller with them
    /// assert!(state_of_stage("left"));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn record(&mut self) {
        let now = self.monitor.snapshot();
        self.add(&now);
        self.limits.add(&now.since(&self.earlier));
        self.record_ring(&now);
        self.record_limits();
        self.record_stages(&now);
        self.earlier = now;
    }

    /// Starts a thread that [records](Self::record) at once, then at each `interval`, and once more
    /// when the [`Recording`] is dropped.
    ///
    /// The thread uses the global recorder. It has the name `lapwing-metrics`, and calls
    /// [`describe`](crate::describe) first. An interval of less than a millisecond counts as one.
    /// Choose one that is no longer than the interval at which Prometheus scrapes.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    /// use lapwing_metrics::Exporter;
    /// use metrics_exporter_prometheus::PrometheusBuilder;
    ///
    /// let prometheus = PrometheusBuilder::new().install_recorder()?;
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// let recording = Exporter::new(producer.monitor()).every(Duration::from_secs(1))?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(recording);
    /// assert!(prometheus.render().contains("lapwing_published_total{ring=\"quotes\"} 1\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn every(self, interval: Duration) -> io::Result<Recording> {
        Recording::start(self, interval)
    }

    /// Adds what has happened since the last snapshot to the totals.
    fn add(&mut self, now: &Snapshot) {
        self.published.add(now.published);
        self.dropped.add(now.dropped);
        for stage in &now.stages {
            let new = || Stage::new(&self.ring, &stage.name);
            self.stages.entry(stage.name.clone()).or_insert_with(new).add(stage);
        }
    }

    fn record_ring(&mut self, now: &Snapshot) {
        let labels = [self.ring.clone()];
        PUBLISHED.record(&labels, self.published.sum());
        DROPPED.record(&labels, self.dropped.sum());
        let set = |gauge: Gauge, value: f64| gauge.record(&labels, value);
        set(CAPACITY, now.capacity as f64);
        set(FREE_SLOTS, now.free_slots as f64);
        set(WAITING_PRODUCERS, now.waiting_producers as f64);
        let seconds = |gauge: Gauge, duration: Option<Duration>| {
            set(gauge, duration.unwrap_or_default().as_secs_f64());
        };
        seconds(STALLED, now.stall(Duration::ZERO).map(|stall| stall.at_least));
        seconds(CLAIM_HELD, now.claim_held_for);
        seconds(IDLE, now.idle_for);
        self.states.record(&RING_STATE, &labels, now.state.to_string());
    }

    fn record_limits(&self) {
        for share in self.limits.shares() {
            let (part, stage) = labels_of(share.limit.as_ref());
            let part = Label::new("part", part);
            let stage = stage.map(|stage| Label::new("stage", stage.to_owned()));
            let labels: Vec<_> = [self.ring.clone(), part].into_iter().chain(stage).collect();
            LIMITED_INTERVALS.record(&labels, share.intervals);
        }
    }

    fn record_stages(&mut self, now: &Snapshot) {
        for (name, stage) in &mut self.stages {
            match now.stages.iter().find(|present| present.name == *name) {
                Some(present) => stage.record(present),
                None => stage.record_absence(),
            }
        }
    }
}

/// Returns the labels `part` and `stage` of what limits a ring.
fn labels_of(limit: Option<&Part>) -> (String, Option<&str>) {
    match limit {
        None => ("none".to_owned(), None),
        Some(Part::Producers) => ("producers".to_owned(), None),
        Some(Part::Stage { name }) => ("stage".to_owned(), Some(name)),
        Some(Part::Acknowledgement { stage }) => ("acknowledgement".to_owned(), Some(stage)),
        Some(other) => (other.to_string(), None),
    }
}
