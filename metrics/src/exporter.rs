//! One record: a snapshot, and each of its figures for the recorder. Not here: the figures of its
//! stages (`stage`), the thread that records at intervals (`recording`).

use std::collections::BTreeMap;
use std::time::Duration;

use lapwing::monitor::{Monitor, Part, Snapshot};
use metrics::Label;

use crate::catalogue::{
    CAPACITY, CLAIM_HELD, DROPPED, FREE_SLOTS, Gauge, IDLE, LIMITED_INTERVALS, PUBLISHED, STALLED,
    WAITING_PRODUCERS,
};
use crate::growth::Growth;
use crate::stage::Stage;
use crate::states::record_ring_state;

/// Hands the figures of a ring to the recorder of the crate `metrics`.
///
/// Make one exporter for each ring: two would count each event twice. Give each ring a
/// [name](lapwing::Builder::name) of its own: two of one name overwrite each other's gauges.
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
    published: Growth,
    dropped: Growth,
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
        let earlier = monitor.snapshot();
        let ring = Label::new("ring", earlier.ring.clone());
        let (mut published, mut dropped) = (Growth::default(), Growth::default());
        published.up_to(earlier.published);
        dropped.up_to(earlier.dropped);
        let stages = earlier.stages.iter();
        let stages = stages.map(|stage| (stage.name.clone(), Stage::new(&ring, stage))).collect();
        Self { monitor, ring, earlier, published, dropped, stages }
    }

    /// Takes a snapshot and records each of its figures with the recorder of this thread, or else
    /// the global one.
    ///
    /// Never waits for the ring. It looks up each metric in the recorder, which may be installed at
    /// any time. Without a recorder, nothing is recorded, and no counter adds it later.
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
        self.record_ring(&now);
        self.record_limit(now.since(&self.earlier).bottleneck());
        self.record_stages(&now);
        self.earlier = now;
    }

    fn record_ring(&mut self, now: &Snapshot) {
        let labels = [self.ring.clone()];
        PUBLISHED.add(&labels, self.published.up_to(now.published));
        DROPPED.add(&labels, self.dropped.up_to(now.dropped));
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
        record_ring_state(&labels, now.state);
    }

    fn record_limit(&self, limit: Option<&Part>) {
        let (part, stage) = labels_of(limit);
        let part = Label::new("part", part);
        let stage = stage.map(|stage| Label::new("stage", stage.to_owned()));
        let labels: Vec<_> = [self.ring.clone(), part].into_iter().chain(stage).collect();
        LIMITED_INTERVALS.add(&labels, 1);
    }

    fn record_stages(&mut self, now: &Snapshot) {
        for stage in &now.stages {
            let new = || Stage::new(&self.ring, stage);
            self.stages.entry(stage.name.clone()).or_insert_with(new).record(stage);
        }
        for (name, stage) in &mut self.stages {
            if now.stages.iter().all(|present| present.name != *name) {
                stage.record_absence();
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
