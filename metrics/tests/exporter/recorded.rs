//! What one record hands to a recorder, by name and labels.

use std::collections::BTreeMap;
use std::ops::Index;

use lapwing_metrics::Exporter;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

/// The name of each ring of these tests.
pub(crate) const RING: &str = "quotes";

/// The increases of counters and the values of gauges, by the name of the metric, followed by the values of the labels except `ring`:
/// `lapwing_stage_state ticks parked`.
#[derive(Debug)]
pub(crate) struct Recorded(BTreeMap<String, f64>);

impl Recorded {
    /// Records once, with a recorder that has seen nothing yet.
    pub(crate) fn by(exporter: &mut Exporter) -> Self {
        let recorder = DebuggingRecorder::new();
        metrics::with_local_recorder(&recorder, || exporter.record());
        Self::of(&recorder.snapshotter())
    }

    pub(crate) fn of(recorder: &Snapshotter) -> Self {
        let mut values = BTreeMap::new();
        for (key, _, _, value) in recorder.snapshot().into_vec() {
            let mut words = vec![key.key().name()];
            for label in key.key().labels() {
                match label.key() {
                    "ring" => assert_eq!(label.value(), RING),
                    "stage" | "state" | "part" => words.push(label.value()),
                    other => panic!("an unknown label: {other}"),
                }
            }
            let value = match value {
                DebugValue::Counter(increase) => increase as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(_) => panic!("no metric is a histogram"),
            };
            values.insert(words.join(" "), value);
        }
        Self(values)
    }

    /// The names of the metrics.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().filter_map(|key| key.split(' ').next())
    }

    pub(crate) fn get(&self, key: &str) -> Option<f64> {
        self.0.get(key).copied()
    }
}

impl Index<&str> for Recorded {
    type Output = f64;

    fn index(&self, key: &str) -> &f64 {
        self.0.get(key).unwrap_or_else(|| panic!("{key} is not among {:#?}", self.0))
    }
}
