//! The processes of the example `ticks`.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use lapwing_shared::Segment;
use lapwing_shared::error::WaitError;

/// A price.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Tick {
    price: f64,
    quantity: u32,
    symbol: [u8; 4],
}

lapwing_shared::event!(Tick { price, quantity, symbol });

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (role, ticks) = (std::env::args().nth(1), Segment::<Tick>::named("ticks"));
    match role.as_deref() {
        Some("write") => write(ticks),
        Some("read") => read(ticks),
        _ => Err("usage: ticks write|read".into()),
    }
}

/// Publishes a price every 100 ms.
fn write(ticks: Segment<Tick>) -> Result<(), Box<dyn Error>> {
    let mut writer = ticks.create(1024)?;
    let how = if writer.has_taken_over() { "goes on" } else { "begins" };
    println!("{how} with sequence {}", writer.sequence());
    let mut price = 100.0;
    loop {
        price += f64::sin(writer.sequence() as f64);
        writer.publish(|tick| *tick = Tick { price, quantity: 10, symbol: *b"LAPW" });
        if writer.sequence().is_multiple_of(50) {
            for reader in writer.readers() {
                println!("process {} reads, at sequence {}", reader.pid, reader.sequence);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Prints the last price of each second.
fn read(ticks: Segment<Tick>) -> Result<(), Box<dyn Error>> {
    let mut reader = ticks.open_timeout(Duration::from_secs(60))?;
    let mut printed = Instant::now();
    loop {
        let end = reader.run(|tick, sequence, _| {
            if printed.elapsed() >= Duration::from_secs(1) {
                printed = Instant::now();
                println!(
                    "{sequence}: {} of {:?} at {:.3}",
                    tick.quantity,
                    symbol(tick),
                    tick.price
                );
            }
            ControlFlow::<()>::Continue(())
        });
        match end {
            Err(WaitError::WriterGone) => println!("the writer is gone; waiting for another one"),
            _ => return Ok(()),
        }
        while !reader.wait_for_writer(Duration::from_secs(60)) {}
    }
}

fn symbol(tick: &Tick) -> &str {
    std::str::from_utf8(&tick.symbol).unwrap_or("?")
}
