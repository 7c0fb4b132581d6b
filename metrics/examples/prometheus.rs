//! Prometheus: serves the figures of a ring, to draw them with `metrics/grafana/lapwing.json`.
//!
//! ```text
//! producer ──> [ring] ──> decode ─┬──> journal (its disk is slow)
//!                                 └──> risk
//! ```
//!
//! ```text
//! cargo run --package lapwing-metrics --example prometheus             serves until Ctrl-C
//! cargo run --package lapwing-metrics --example prometheus -- --once   prints one page and ends
//! ```

use std::env;
use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use lapwing::error::PublishError;
use lapwing::{Consumers, Disruptor, Producer, producer};
use lapwing_metrics::Exporter;
use metrics_exporter_prometheus::PrometheusBuilder;

/// No longer than the interval at which Prometheus scrapes.
const INTERVAL: Duration = Duration::from_secs(1);
/// Duration of one write to the disk.
const WRITE: Duration = Duration::from_millis(4);
/// Number of orders that come at once, and the pause after them.
const BURST: u64 = 100;
const PAUSE: Duration = Duration::from_millis(20);
/// Number of bursts of which `--once` shows the figures.
const BURSTS: u64 = 10;

type Orders = Producer<u64, producer::Single>;

fn build() -> Result<(Orders, Consumers<'static, u64>), Box<dyn Error>> {
    let ring = Disruptor::single_producer(256, u64::default)
        .name("orders")
        .stage("decode")
        .write(|order, _, _| *order += 1)
        .parallel(|parallel| {
            parallel
                .stage("journal")
                .max_batch(16)
                .read(|_, _, end_of_batch| {
                    if end_of_batch {
                        thread::sleep(WRITE);
                    }
                })
                .stage("risk")
                .read(|_, _, _| {})
        })
        .build()?;
    Ok(ring)
}

fn feed(orders: &mut Orders, bursts: impl Iterator<Item = u64>) -> Result<(), PublishError> {
    for burst in bursts {
        for order in 0..BURST {
            orders.publish(|event| *event = burst * BURST + order)?;
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Handles some orders and returns the page that Prometheus would get.
fn once() -> Result<String, Box<dyn Error>> {
    let prometheus = PrometheusBuilder::new().install_recorder()?;
    let (mut orders, consumers) = build()?;
    let recording = Exporter::new(orders.monitor()).every(INTERVAL)?;
    let running = consumers.start()?;
    feed(&mut orders, 0..BURSTS)?;
    running.shutdown()?;
    recording.stop(); // records the last figures
    Ok(prometheus.render())
}

fn serve(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    PrometheusBuilder::new().with_http_listener(address).install()?;
    println!("serving http://{address}/metrics");
    let (mut orders, consumers) = build()?;
    let recording = Exporter::new(orders.monitor()).every(INTERVAL)?;
    let running = consumers.start()?;
    feed(&mut orders, 0..)?;
    running.shutdown()?;
    recording.stop();
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().any(|argument| argument == "--once") {
        let page = once()?;
        print!("{page}");
        let orders = BURSTS * BURST;
        assert!(page.contains(&format!("lapwing_published_total{{ring=\"orders\"}} {orders}\n")));
        return Ok(());
    }
    serve(SocketAddr::from(([127, 0, 0, 1], 9000)))
}
