//! The thread that records. It uses the global recorder of the process, so there is one test.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lapwing::Disruptor;
use lapwing_metrics::Exporter;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

/// A thousand times what the end of a thread takes.
const DEADLINE: Duration = Duration::from_secs(30);

/// The number of published events since the last call.
fn published(recorder: &Snapshotter) -> u64 {
    let metrics = recorder.snapshot().into_vec();
    let published = metrics.into_iter().find_map(|(key, _, _, value)| match value {
        DebugValue::Counter(total) if key.key().name() == "lapwing_published_total" => Some(total),
        _ => None,
    });
    published.unwrap_or(0)
}

#[test]
fn a_recording_records_at_intervals_and_ends_when_it_is_dropped() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();

    // At intervals: it records what happens after its start.
    let (mut producer, _consumers) =
        Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build().unwrap();
    let recording = Exporter::new(producer.monitor()).every(Duration::ZERO).unwrap();
    producer.publish(|_| {}).unwrap();
    while published(&snapshotter) == 0 {
        thread::yield_now();
    }
    recording.stop();

    // A drop does not wait for the next interval, and the last figures are complete.
    let recording = Exporter::new(producer.monitor()).every(Duration::MAX).unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    let (end, ended) = mpsc::channel();
    thread::spawn(move || {
        drop(recording);
        end.send(()).unwrap();
    });
    ended.recv_timeout(DEADLINE).expect("the drop waits for a thread that never wakes");
    assert_eq!(published(&snapshotter), 2);
}
