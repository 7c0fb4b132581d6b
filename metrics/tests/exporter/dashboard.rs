//! The metrics that are described, recorded, documented and drawn are the same.

use std::collections::BTreeSet;
use std::sync::Mutex;

use lapwing::Disruptor;
use lapwing::monitor::StageState;
use lapwing_metrics::Exporter;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;

use super::recorded::{RING, Recorded};

const DASHBOARD: &str = include_str!("../../grafana/lapwing.json");
const DOCS: &str = include_str!("../../src/lib.rs");
const README: &str = include_str!("../../README.md");

/// Each state, by its number in the dashboard, which begins at 1.
const STATES: [StageState; 12] = [
    StageState::NotStarted,
    StageState::Running,
    StageState::Waiting,
    StageState::Parked,
    StageState::Pausing,
    StageState::InHandler,
    StageState::NotAsked,
    StageState::HasBatch,
    StageState::Drained,
    StageState::Halted,
    StageState::Failed,
    StageState::Left,
];

/// Keeps the names that are described.
#[derive(Default)]
struct Names(Mutex<BTreeSet<String>>);

impl Names {
    fn add(&self, name: &KeyName, unit: Option<Unit>, description: &SharedString) {
        assert!(!description.is_empty());
        let is_time = name.as_str().ends_with("_seconds");
        assert_eq!(unit, Some(if is_time { Unit::Seconds } else { Unit::Count }));
        assert!(self.0.lock().unwrap().insert(name.as_str().to_owned()), "described twice");
    }
}

impl Recorder for Names {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, description: SharedString) {
        assert!(name.as_str().ends_with("_total"));
        self.add(&name, unit, &description);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, description: SharedString) {
        assert!(!name.as_str().ends_with("_total"));
        self.add(&name, unit, &description);
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("no metric is a histogram");
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn described() -> BTreeSet<String> {
    let names = Names::default();
    metrics::with_local_recorder(&names, lapwing_metrics::describe);
    names.0.into_inner().unwrap()
}

/// The words of `text` that look like the name of a metric.
fn names_in(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| word.starts_with("lapwing_"));
    words.filter(|word| *word != "lapwing_metrics").map(str::to_owned).collect()
}

fn dashboard() -> Value {
    serde_json::from_str(DASHBOARD).unwrap()
}

fn panels(dashboard: &Value) -> &[Value] {
    dashboard["panels"].as_array().unwrap()
}

fn queries(panel: &Value) -> impl Iterator<Item = &str> {
    panel["targets"].as_array().unwrap().iter().map(|target| target["expr"].as_str().unwrap())
}

#[test]
fn each_metric_is_described_and_each_described_metric_is_recorded() {
    let (producer, _consumers) =
        Disruptor::single_producer(8, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    let recorded: BTreeSet<_> = Recorded::by(&mut exporter).names().map(str::to_owned).collect();
    assert_eq!(recorded, described());
}

#[test]
fn prometheus_keeps_the_names_and_so_do_its_recommended_ones() {
    let (producer, _consumers) =
        Disruptor::single_producer(8, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    for is_recommended in [false, true] {
        let recorder =
            PrometheusBuilder::new().with_recommended_naming(is_recommended).build_recorder();
        metrics::with_local_recorder(&recorder, || {
            lapwing_metrics::describe();
            exporter.record();
        });
        assert_eq!(names_in(&recorder.handle().render()), described());
    }
}

#[test]
fn the_docs_list_each_metric_and_no_other() {
    let rows = |text: &str| {
        let rows = text.lines().filter(|line| line.contains("| `lapwing_"));
        rows.flat_map(|row| names_in(row.split('|').nth(1).unwrap())).collect::<BTreeSet<_>>()
    };
    assert_eq!(rows(DOCS), described());
    assert_eq!(names_in(README).difference(&described()).next(), None);
}

#[test]
fn the_dashboard_shows_each_metric_and_no_other() {
    let dashboard = dashboard();
    let shown = panels(&dashboard).iter().flat_map(queries).flat_map(names_in);
    assert_eq!(shown.collect::<BTreeSet<_>>(), described());
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        let names = names_in(variable["query"]["query"].as_str().unwrap());
        assert!(!names.is_empty() && names.is_subset(&described()));
    }
}

#[test]
fn each_query_of_the_dashboard_selects_the_ring() {
    let dashboard = dashboard();
    for query in panels(&dashboard).iter().flat_map(queries) {
        let selectors = query.matches("{instance=\"$instance\", ring=\"$ring\"").count();
        assert_eq!(selectors, query.matches("lapwing_").count(), "{query}");
    }
}

#[test]
fn the_dashboard_asks_for_its_data_source() {
    let dashboard = dashboard();
    assert_eq!(dashboard["__inputs"][0]["name"], "DS_PROMETHEUS");
    assert!(dashboard["schemaVersion"].as_u64().unwrap() >= 39);
    let mut ids = BTreeSet::new();
    for panel in panels(&dashboard) {
        assert!(ids.insert(panel["id"].as_u64().unwrap()));
        assert_eq!(panel["datasource"]["uid"], "${DS_PROMETHEUS}");
        for target in panel["targets"].as_array().unwrap() {
            assert_eq!(target["datasource"]["uid"], "${DS_PROMETHEUS}");
        }
    }
}

#[test]
fn the_dashboard_knows_each_state_of_a_stage() {
    let dashboard = dashboard();
    let is_timeline = |panel: &&Value| panel["type"] == "state-timeline";
    let panel = panels(&dashboard).iter().find(is_timeline).unwrap();
    let query = queries(panel).next().unwrap();
    let texts = panel["fieldConfig"]["defaults"]["mappings"][0]["options"].as_object().unwrap();
    assert_eq!(texts.len(), STATES.len());
    for (number, state) in (1..).zip(STATES) {
        assert!(query.contains(&format!("state=\"{state}\"}} * {number}")), "{state}");
        assert_eq!(texts[&number.to_string()]["text"], state.to_string());
    }
}
