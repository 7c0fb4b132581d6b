//! Exports the figures of [Lapwing](lapwing) rings through the facade [`metrics`](mod@metrics), to
//! Prometheus for example.
//!
//! An [`Exporter`] takes snapshots with a [`Monitor`](lapwing::monitor::Monitor) and hands each
//! figure to the recorder that the program has installed. [`Exporter::every`] does so on a thread
//! of its own. [`Exporter::record`] does so once, for a program that has its own timer or that
//! records before it renders a page.
//!
//! ```
//! use std::time::Duration;
//! use lapwing::Disruptor;
//! use lapwing_metrics::Exporter;
//! use metrics_exporter_prometheus::PrometheusBuilder;
//!
//! let prometheus = PrometheusBuilder::new().install_recorder()?; // or `install`, for a server
//! let (mut producer, consumers) =
//!     Disruptor::single_producer(8, || 0_u64).name("orders")
//!         .stage("sum").read(|_, _, _| {}).build()?;
//! let recording = Exporter::new(producer.monitor()).every(Duration::from_secs(1))?;
//! let running = consumers.start()?;
//! for number in [1, 2, 3] {
//!     producer.publish(|event| *event = number)?;
//! }
//! running.shutdown()?;
//! recording.stop(); // records once more
//!
//! let page = prometheus.render();
//! assert!(page.contains("lapwing_published_total{ring=\"orders\"} 3\n"));
//! assert!(page.contains("lapwing_stage_finished_total{ring=\"orders\",stage=\"sum\"} 3\n"));
//! assert!(page.contains("lapwing_ring_state{ring=\"orders\",state=\"closed\"} 1\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The metrics
//!
//! A name is made of the field of the [`Snapshot`] or, after `stage_`, of the [`StageSnapshot`],
//! whose docs define it. Every metric has the label `ring`. Those of stages also have the label
//! `stage`.
//!
//! | counter | increases with |
//! |---|---|
//! | `lapwing_published_total` | [published] events |
//! | `lapwing_dropped_total` | [dropped] events |
//! | `lapwing_limited_intervals_total` | intervals between two records, by the [limit] |
//! | `lapwing_stage_finished_total` | [finished] events |
//! | `lapwing_stage_batches_total` | finished [batches] |
//! | `lapwing_stage_parks_total` | [parks] of its thread |
//! | `lapwing_stage_wakes_total` | [wake-ups] of its thread |
//!
//! | gauge | value |
//! |---|---|
//! | `lapwing_capacity` | slots |
//! | `lapwing_free_slots` | [free] slots |
//! | `lapwing_waiting_producers` | [producers] that wait for free slots |
//! | `lapwing_ring_state` | 1 for the present `state` ([`RingState`]), 0 for the others |
//! | `lapwing_stalled_seconds` | for how long the ring has been [stalled] |
//! | `lapwing_claim_held_seconds` | for how long [a claim] has held up the stages |
//! | `lapwing_idle_seconds` | for how long the ring has been [idle] |
//! | `lapwing_stage_lag` | published events that the stage has [not finished] |
//! | `lapwing_stage_available` | events that are [ready] for the stage: its queue |
//! | `lapwing_stage_unacknowledged` | finished events that are not [acknowledged] |
//! | `lapwing_stage_state` | 1 for the present `state` ([`StageState`]), 0 for the others |
//! | `lapwing_stage_stuck_seconds` | for how long it could have gone on and [has not] |
//! | `lapwing_stage_unacknowledged_seconds` | for how long an event is [not acknowledged] |
//!
//! The label `state` has the words of a monitor's table, such as `in its handler`. The label `part`
//! of `lapwing_limited_intervals_total` is `producers`, `stage`, `acknowledgement` or `none`, and
//! the label `stage` then names the stage. It is a counter, so that each interval counts, also
//! those between two scrapes.
//!
//! A duration that does not apply is 0. Durations are lower bounds, because they follow from the
//! snapshots of the exporter. `lapwing_stalled_seconds` has no label for the cause: it is one of
//! the stages, acknowledgements and claims with a duration of their own.
//!
//! # Counters begin at 0
//!
//! A counter adds what has happened since the exporter was made, or since the first record that
//! shows the stage. So a ring that [begins](lapwing::Builder::first_sequence) at a high sequence
//! has published nothing yet, and the counters continue if a program builds a ring of the same name
//! again. The mean length of a batch is the increase of `lapwing_stage_finished_total`, divided by
//! that of `lapwing_stage_batches_total`.
//!
//! # Stages that leave
//!
//! The facade cannot remove a metric. When a stage has left, its gauges become 0, except that its
//! `state` becomes `left`. Its counters keep their values. A consumer in a
//! [dynamic stage](lapwing::graph::DynamicStages) that has left is recorded once more and then no
//! longer, so a recorder can drop it as idle. If a consumer of the same name joins, the counters
//! continue. Events that a consumer finishes after the last record that shows it are not counted.
//!
//! Each name of a ring, a stage or a consumer makes about twenty time series, which the exporter and
//! the recorder keep. Use few names: `audit`, not `audit-17341`.
//!
//! [`Snapshot`]: lapwing::monitor::Snapshot
//! [`StageSnapshot`]: lapwing::monitor::StageSnapshot
//! [`RingState`]: lapwing::monitor::RingState
//! [`StageState`]: lapwing::monitor::StageState
//! [published]: lapwing::monitor::Snapshot::published
//! [dropped]: lapwing::monitor::Snapshot::dropped
//! [limit]: lapwing::monitor::Throughput::bottleneck
//! [finished]: lapwing::monitor::StageThroughput::finished
//! [batches]: lapwing::monitor::StageSnapshot::batches
//! [parks]: lapwing::monitor::StageSnapshot::parks
//! [wake-ups]: lapwing::monitor::StageSnapshot::wakes
//! [free]: lapwing::monitor::Snapshot::free_slots
//! [producers]: lapwing::monitor::Snapshot::waiting_producers
//! [stalled]: lapwing::monitor::Snapshot::stall
//! [a claim]: lapwing::monitor::Snapshot::claim_held_for
//! [idle]: lapwing::monitor::Snapshot::idle_for
//! [not finished]: lapwing::monitor::StageSnapshot::lag
//! [ready]: lapwing::monitor::StageSnapshot::available
//! [acknowledged]: lapwing::monitor::StageSnapshot::acknowledged
//! [has not]: lapwing::monitor::StageSnapshot::stuck_for
//! [not acknowledged]: lapwing::monitor::StageSnapshot::unacknowledged_for
#![forbid(unsafe_code)]

mod catalogue;
mod growth;

mod states;

mod stage;

mod exporter;

mod recording;

pub use catalogue::describe;
pub use exporter::Exporter;
pub use recording::Recording;

/// The examples of the README run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
