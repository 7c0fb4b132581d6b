//! Two processes: the events of a ring in one are the events of a ring in the other.
//!
//! ```text
//!        first process                                second process
//! ┌────────────────────────────┐                ┌─────────────────────────────┐
//! │ producer ──> [ring]        │                │             [ring] ──> book │
//! │                └> Publisher ───> Aeron ───> Subscriber ──┘                │
//! └────────────────────────────┘                └─────────────────────────────┘
//! ```
//!
//! ```text
//! cargo run --release --example two_processes
//! ```
//!
//! The program starts a media driver and itself a second time, first with IPC, then with UDP on the
//! loopback interface.

#[path = "common/driver.rs"]
mod driver;

use std::error::Error;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use lapwing::Disruptor;
use lapwing_aeron::{Client, Notice, Publisher, Stream, Subscriber};

use driver::Driver;

const TRADES: u64 = 500_000;
/// How long a driver may take to start and to answer.
const ANSWER: Duration = Duration::from_secs(20);
const UDP: &str = "127.0.0.1:40123";

/// Both processes copy its bytes, so its layout is fixed.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Trade {
    number: u64,
    price: u32,
    quantity: u32,
}

impl Trade {
    fn new(number: u64) -> Self {
        let price = 10_000 + (number % 97) as u32;
        Self { number, price, quantity: 1 + (number % 5) as u32 }
    }

    fn value(&self) -> u64 {
        u64::from(self.price) * u64::from(self.quantity)
    }
}

fn stream(name: &str) -> Result<Stream, Box<dyn Error>> {
    Ok(if name == "udp" { Stream::udp(UDP, 7)? } else { Stream::ipc(7) })
}

/// The first process: sends every trade, and returns once Aeron has accepted the last one.
fn send(dir: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let mut publisher = Publisher::plain(&Client::new(dir), stream(name)?);
    publisher.open(ANSWER)?;
    let figures = publisher.figures();
    let (mut producer, consumers) = Disruptor::single_producer(4096, Trade::default)
        .stage("send")
        .read_batch_handler(publisher) // waits for a subscriber
        .build()?;
    let running = consumers.start()?;
    for number in 0..TRADES {
        if producer.publish(|trade| *trade = Trade::new(number)).is_err() {
            break; // the report says what has failed
        }
    }
    running.shutdown()?;
    println!("{name}: {} trades sent in {} messages", figures.sent(), figures.messages());
    Ok(())
}

/// The second process: receives until the publication has gone, and checks each trade.
fn receive(dir: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let mut subscriber = Subscriber::plain(&Client::new(dir), stream(name)?);
    subscriber.open(ANSWER)?;
    let (mut count, mut value) = (0, 0);
    let (mut producer, consumers) = Disruptor::single_producer(4096, Trade::default)
        .stage("book")
        .read(|trade, sequence, _| {
            assert_eq!(trade.number, sequence); // in order, and each once
            count += 1;
            value += trade.value();
        })
        .build()?;
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let running = consumers.start_scoped(scope)?;
        let ended = Arc::clone(&stop);
        subscriber.run(&mut producer, &stop, move |notice| {
            println!("{name}: {notice}");
            if matches!(notice, Notice::ImageLost { .. }) {
                ended.store(true, Ordering::Release);
            }
        })?;
        running.shutdown()?;
        Ok::<(), Box<dyn Error>>(())
    })?;
    println!("{name}: {count} trades received, worth {value}");
    assert_eq!(count, TRADES);
    assert_eq!(value, (0..TRADES).map(|number| Trade::new(number).value()).sum());
    Ok(())
}

/// Ends the second process if the first one fails.
struct SecondProcess(Child);

impl SecondProcess {
    fn start(dir: &Path, name: &str) -> std::io::Result<Self> {
        let program = std::env::current_exe()?;
        Command::new(program).arg("receive").arg(name).arg(dir).spawn().map(Self)
    }

    fn succeeds(mut self) -> Result<(), Box<dyn Error>> {
        let status = self.0.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the second process: {status}").into()) }
    }
}

impl Drop for SecondProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name, dir] = &arguments[..]
        && command == "receive"
    {
        return receive(Path::new(dir), name);
    }
    let Some(driver) = Driver::start(&[])? else { return Ok(()) };
    for name in ["ipc", "udp"] {
        let second = SecondProcess::start(driver.dir(), name)?;
        send(driver.dir(), name)?;
        second.succeeds()?;
    }
    Ok(())
}
