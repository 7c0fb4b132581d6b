//! Round trips of a number over two rings, with a pause between them.
//!
//! ```text
//! ping --> [ring] --> pong
//!   ^----- [ring] <-----+
//! ```
//!
//! A number is due one pause after the previous answer. Its round trip begins then, not at the
//! actual send. If the thread loses its CPU, the delay counts.

use std::thread;

use lapwing_lab_stats::histogram;

use super::test::{Delayed, Load, PerfTest, Work};
use crate::contenders::WaitName;
use crate::contenders::ping_pong;
use crate::load::exchange::{self, Exchange};
use crate::load::paced::Clock;
use crate::measure::crew::RunError;

/// The time from an answer to the next number.
pub(super) const PAUSE_NS: u64 = 1_000;

/// The name of the delays as measured.
pub(super) const ROUND_TRIP: &str = "round-trip";
/// The name of the delays as LMAX counts them: for each that is longer than the pause, it adds those that were not sent
/// meanwhile.
pub(super) const CORRECTED: &str = "round-trip-corrected";

/// The only test of delays.
pub(super) const PING_PONG: PerfTest = PerfTest {
    name: "PingPongSequencedLatencyTest",
    shape: "1P-1C, twice",
    threads: 2,
    ring: 1_024,
    wait: "blocking",
    event_bytes: 8,
    lmax_events: 3_000_000,
    operations_per_event: 1,
    expected: |events| {
        let last = u64::from(events);
        vec![last * (last + 1) / 2]
    },
    work: Work::Latency(run),
};

fn run(load: Load) -> Result<Delayed, RunError> {
    let (mut pinger, mut ponger) = ping_pong::ends(WaitName::Blocking, load.ring)?;
    let (clock, mut delays) = (Clock::new(), histogram());
    let mut due = 0;
    let recorded = &mut delays;
    // If the job fails, the ends are dropped with it, so that the other thread does not wait for
    // them.
    let paced_call = move |number| {
        while clock.now() < due {
            thread::yield_now(); // as LMAX's pinger does
        }
        let sent = if number == 1 { clock.now() } else { due };
        let answer = pinger.call(number)?;
        let received = clock.now();
        recorded.saturating_record(received.saturating_sub(sent));
        due = received + PAUSE_NS;
        Ok(answer)
    };
    let Load { events: exchanges, placement, .. } = load;
    let exchange = Exchange { exchanges, placement, pause_ns: 0 }; // this test has its own
    let pass = exchange::run(exchange, paced_call, move |_| ponger.echo())?;
    Ok(Delayed { pass, delays: Some(delays) })
}
