//! Round trips of single events. A time of one way is half of a round trip, because it needs one
//! clock and one thread that waits on each side.

use std::time::{Duration, Instant};
use std::{io, thread};

use lapwing_lab_stats::histogram;
use serde::{Deserialize, Serialize};

use super::{Amount, END, Inlet, Outlet, digest};

/// What the caller has measured.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Called {
    /// The time of all round trips, without the pauses.
    pub(crate) elapsed: Duration,
    /// Round trips.
    pub(crate) exchanges: u64,
    /// Events that came back, and the sum of all their words.
    pub(crate) received: u64,
    pub(crate) sum: u64,
    /// Half of each round trip in nanoseconds, with three digits, and how often it occurred.
    pub(crate) halves: Vec<(u64, u64)>,
}

/// Sends `amount` one by one, each after a `pause` and after the one before it has come back, and
/// then the end.
///
/// Without a pause, the clock is read once in a round trip.
///
/// # Errors
///
/// A contender refuses, or the other end is gone.
pub(crate) fn call<const N: usize>(
    outlet: &mut impl Outlet,
    inlet: &mut impl Inlet<N>,
    amount: &Amount,
    pause: Duration,
) -> io::Result<Called> {
    let mut halves = histogram();
    let (mut elapsed, mut received, mut sum) = (Duration::ZERO, 0, 0_u64);
    let begin = Instant::now();
    let (mut before, mut exchanges) = (begin, 0);
    while exchanges < amount.events && before - begin < amount.time {
        if !pause.is_zero() {
            thread::sleep(pause);
            before = Instant::now();
        }
        outlet.send(exchanges)?;
        let expected = received + 1;
        while received < expected {
            inlet.receive(|event| {
                received += 1;
                sum = sum.wrapping_add(digest(event));
            })?;
        }
        let now = Instant::now();
        let round_trip = now - before;
        halves.saturating_record(round_trip.as_nanos() as u64 / 2);
        elapsed += round_trip;
        before = now;
        exchanges += 1;
    }
    outlet.send(END)?;
    let halves = halves.iter_recorded();
    let halves = halves.map(|half| (half.value_iterated_to(), half.count_at_value())).collect();
    Ok(Called { elapsed, exchanges, received, sum, halves })
}

/// Sends each event back, until the end.
///
/// # Errors
///
/// A contender refuses, or the other end is gone.
pub(crate) fn echo<const N: usize>(
    outlet: &mut impl Outlet,
    inlet: &mut impl Inlet<N>,
) -> io::Result<()> {
    loop {
        let mut number = None;
        while number.is_none() {
            inlet.receive(|event| number = Some(event[0]))?;
        }
        match number {
            None | Some(END) => return Ok(()),
            Some(number) => outlet.send(number)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ends;
    use super::*;

    #[test]
    fn each_event_comes_back_and_pauses_do_not_count() {
        let ((mut there, mut numbers), (mut back, mut answers)) = (ends(), ends());
        let pause = Duration::from_millis(2);
        let called = thread::scope(|scope| {
            scope.spawn(move || echo(&mut back, &mut numbers).unwrap());
            call(&mut there, &mut answers, &Amount::events(20), pause).unwrap()
        });
        assert_eq!((called.exchanges, called.received, called.sum), (20, 20, 8 * 190));
        assert_eq!(called.halves.iter().map(|(_, count)| count).sum::<u64>(), 20);
        assert!(called.elapsed < 20 * pause, "{called:?}");
    }
}
