//! The thread that records at intervals.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::catalogue::describe;
use crate::exporter::Exporter;

/// A thread that records more often keeps a CPU busy.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// A thread that records the figures of a ring at intervals, until this is dropped. Started by
/// [`Exporter::every`].
///
/// A drop wakes the thread, which records once more, so that the last figures are complete. The
/// drop waits for the end of the thread, which takes as long as this record. The recorder keeps the
/// last values.
///
/// ```
/// use std::time::Duration;
/// use lapwing::Disruptor;
/// use lapwing_metrics::{Exporter, Recording};
/// use metrics_exporter_prometheus::PrometheusBuilder;
///
/// let prometheus = PrometheusBuilder::new().install_recorder()?;
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("all").poller().build()?;
/// let exporter = Exporter::new(producer.monitor());
/// let recording: Recording = exporter.every(Duration::from_secs(3600))?;
/// producer.publish(|event| *event = 7)?;
/// drop(recording); // does not wait for an hour
/// assert!(prometheus.render().contains("lapwing_published_total{ring=\"quotes\"} 1\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the recording"]
pub struct Recording {
    /// Its drop is the signal to end.
    end: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    /// Starts a thread that [records](Self::record) at once, then at each `interval`, and once more
    /// when the [`Recording`] is dropped.
    ///
    /// The thread uses the global recorder. It has the name `lapwing-metrics`, and calls
    /// [`describe`] first. An interval of less than a millisecond counts as one.
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
}

impl Recording {
    fn start(exporter: Exporter, interval: Duration) -> io::Result<Self> {
        let (end, ended) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("lapwing-metrics".to_owned())
            .spawn(move || run(exporter, interval.max(LEAST_INTERVAL), &ended))?;
        Ok(Self { end: Some(end), thread: Some(thread) })
    }

    /// Ends the recording, as a drop does.
    ///
    /// # Blocking
    ///
    /// Waits until the thread has recorded once more and ended.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    /// use lapwing_metrics::Exporter;
    /// use metrics_exporter_prometheus::PrometheusBuilder;
    ///
    /// let prometheus = PrometheusBuilder::new().install_recorder()?;
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// let recording = Exporter::new(producer.monitor()).every(Duration::from_secs(3600))?;
    /// drop(producer); // closes the ring
    /// recording.stop();
    /// let page = prometheus.render();
    /// assert!(page.contains("lapwing_ring_state{ring=\"quotes\",state=\"closed\"} 1\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop(self) {}
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // Its panic, which only a recorder can cause, has been printed.
            let _ = thread.join();
        }
    }
}

fn run(mut exporter: Exporter, interval: Duration, ended: &Receiver<Infallible>) {
    describe();
    loop {
        exporter.record();
        match ended.recv_timeout(interval) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Ok(never) => match never {},
        }
    }
    exporter.record();
}
