//! How fast: events of 32 bytes from thread to thread through Aeron, with rings at both ends and
//! without.
//!
//! ```text
//! cargo run --release --example speed [-- ROUNDS]
//! ```
//!
//! The rows of `bare` use the same client without Lapwing: one thread offers, one polls. `bare,
//! packed` fills each frame with events as a publisher does, and is the reference. `lapwing` has
//! four threads; with `two threads`, the producer's thread sends and the subscriber's thread
//! consumes. Rounds are interleaved. Each pass checks the number, the order and the sum of its
//! events. The client, the driver and both ends share the CPUs of one machine.

mod bare;
#[path = "../common/driver.rs"]
mod driver;
mod one_thread;
mod rings;
mod row;
mod together;

use std::error::Error;

use bytemuck::{Pod, Zeroable};

use driver::Driver;
use row::{Contender, Row};

/// Rounds without an argument.
const ROUNDS: usize = 5;

/// Short terms: the pages of long ones would be touched for the first time in each pass.
const CHANNELS: [&str; 2] =
    ["aeron:ipc?term-length=1m", "aeron:udp?endpoint=127.0.0.1:40124|term-length=1m"];

const CONTENDERS: [Contender; 4] = [
    Contender {
        name: "bare, packed",
        events: 4_000_000,
        throughput: bare::packed,
        delay: bare::delay,
    },
    Contender {
        name: "bare, one by one",
        events: 1_000_000,
        throughput: bare::single,
        delay: bare::delay,
    },
    Contender {
        name: "lapwing",
        events: 4_000_000,
        throughput: rings::throughput,
        delay: rings::delay,
    },
    Contender {
        name: "lapwing, two threads",
        events: 4_000_000,
        throughput: together::throughput,
        delay: together::delay,
    },
];

/// What is carried.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Event {
    number: u64,
    /// When it was to be sent, in nanoseconds since the start of the pass.
    time_ns: u64,
    rest: [u64; 2],
}

/// Checks the events of a pass.
#[derive(Debug, Default)]
struct Check {
    next: u64,
    sum: u64,
}

impl Check {
    fn event(&mut self, event: &Event) {
        assert_eq!(event.number, self.next, "an event is missing, double or out of order");
        self.next += 1;
        self.sum = self.sum.wrapping_add(event.rest[0]);
    }

    fn end(&self, events: u64) {
        let sum =
            (0..events).fold(0_u64, |sum, number| sum.wrapping_add(Event::new(number, 0).rest[0]));
        assert_eq!((self.next, self.sum), (events, sum));
    }
}

impl Event {
    fn new(number: u64, time_ns: u64) -> Self {
        Self { number, time_ns, rest: [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), 0] }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(ROUNDS), |rounds| rounds.parse())?;
    let Some(driver) = Driver::start(&[])? else { return Ok(()) };
    one_thread::print(driver.dir(), rounds)?;
    for channel in CHANNELS {
        let mut rows: Vec<Row> = CONTENDERS.iter().map(Row::new).collect();
        for round in 0..rounds {
            for row in &mut rows {
                row.run(driver.dir(), channel, round)?;
            }
        }
        println!("\n{channel}, {rounds} rounds");
        println!(
            "{:<22}{:>12}{:>10}{:>14}{:>14}",
            "", "M events/s", "of bare", "p50 delay", "p99 delay"
        );
        let reference = rows[0].rates();
        rows.iter().for_each(|row| row.print(&reference));
    }
    Ok(())
}
