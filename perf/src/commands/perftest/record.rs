//! The record of one test.

use lapwing_lab_stats::Percentiles;
use serde::Serialize;

use super::ping_pong::PAUSE_NS;
use super::trial::{Bench, CONTENDER};
use crate::measure::row::{Row, Speed};

/// The name of the delays as measured.
const MEASURED: &str = "round-trip";
/// The name of the delays as LMAX counts them.
const CORRECTED: &str = "round-trip-corrected";

/// One row of the report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Record {
    /// `perftest`.
    benchmark: &'static str,
    /// The test, by the name of LMAX's class.
    pub(super) topology: &'static str,
    /// `lapwing`.
    contender: &'static str,
    /// The wait of its consumers.
    wait: &'static str,
    /// Producers and consumers.
    pub(super) shape: &'static str,
    /// Slots of the ring, or of each ring.
    ring: usize,
    /// Size of one event in its slot.
    event_bytes: usize,
    /// Events of one run of LMAX's test.
    lmax_events: u32,
    /// LMAX's operations per event.
    operations_per_event: u32,
    /// Its speed, in LMAX's operations. There is no baseline.
    #[serde(flatten)]
    pub(super) speed: Speed,
    /// The round trips, if the test measures them: as measured, and as LMAX counts them. For each
    /// round trip longer than the pause, LMAX adds those that were not sent meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) segments: Vec<Percentiles>,
}

impl Record {
    /// Creates the record of `bench`.
    pub(super) fn new(bench: &Bench) -> Self {
        let Bench { row, delays } = bench;
        let test = row.subject.test;
        let mut segments = Vec::new();
        if !delays.is_empty() {
            let corrected = delays.clone_correct(PAUSE_NS);
            segments.push(Percentiles::of(MEASURED, delays));
            segments.push(Percentiles::of(CORRECTED, &corrected));
        }
        Self {
            benchmark: super::BENCHMARK,
            topology: test.name,
            contender: CONTENDER,
            wait: test.wait,
            shape: test.shape,
            ring: test.ring,
            event_bytes: test.event_bytes,
            lmax_events: test.lmax_events,
            operations_per_event: test.operations_per_event,
            speed: Row::speed(row, None),
            segments,
        }
    }

    /// Returns the value that LMAX's tests print as `BatchPercent`: the share of the events that
    /// did not begin a batch.
    pub(super) fn batch_percent(&self) -> Option<f64> {
        let events_per_batch = self.speed.events_per_batch()?;
        Some(100.0 * (1.0 - 1.0 / events_per_batch))
    }
}
