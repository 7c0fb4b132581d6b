//! Values through a bounded channel for a fixed time: from senders to one receiver, or in round
//! trips, one at a time. Rates of channels under load differ by a factor of a thousand, so the time
//! of a run is fixed and the number of values is not. The channels are in `contenders::channels`.
//!
//! ```text
//! clock      sleeps ................. stop
//! senders    1, 2, 3, ............... end
//! receiver   counts and adds up all numbers, until it has an end of each sender
//! ```
//!
//! A sender sends the numbers from 1 on, so the number of sent values determines the sum that the
//! receiver must have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::load::queue::Queue;
use crate::load::value::Value;
use crate::machine::placement::Placement;
use crate::machine::switches::Switches;
use crate::measure::crew::{Crew, Disconnected, RunError};
use crate::measure::runner::{known, switches};
use crate::record::{Figures, figure};

/// The number of the last value of each sender. It is necessary because channels report the end of
/// senders in different ways.
const END: u64 = 0;

/// The longest time of one send, in nanoseconds. Only runs that time each send have this figure.
pub(crate) const LONGEST_SEND_NS: &str = "longest_send_ns";
/// Values of the sender that sent the fewest divided by those of the sender that sent the most. A run with one sender
/// does not have this figure.
pub(crate) const FAIRNESS: &str = "fairness";

/// The time for which senders send, and whether each send is timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// Until senders stop.
    pub(crate) run_time: Duration,
    /// Whether each send is timed, which costs two clock reads.
    pub(crate) times_sends: bool,
}

/// A completed run.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Traffic {
    /// The time from the release of all threads to the end of the last one.
    pub(crate) elapsed: Duration,
    /// The figures of the run.
    pub(crate) figures: Figures,
    /// The number of sent values, and the sum of their numbers.
    pub(crate) sent: [u64; 2],
    /// The number of received values, and the sum of their numbers.
    pub(crate) received: [u64; 2],
}

/// Sends from this many `senders` over one `channel` until the time is over, and receives everything.
///
/// # Errors
///
/// [`RunError`] if a thread could not start or did not complete.
pub(crate) fn one_way<T: Value, Q: Queue>(
    channel: Q,
    slots: usize,
    senders: usize,
    timing: Timing,
) -> Result<Traffic, RunError> {
    let (ends, mut receiver) = channel.bounded::<T>(slots, senders);
    let stop = AtomicBool::new(false);
    let stop = &stop;
    let mut crew = clock(stop, timing);
    for (number, mut sender) in ends.into_iter().enumerate() {
        crew.enlist(format!("sender-{number}"), move || {
            let (sent, longest) =
                send_all(stop, timing, |number| Q::send(&mut sender, T::of(number)))?;
            Q::send(&mut sender, T::of(END))?;
            Ok(vec![sent, longest])
        });
    }
    crew.enlist("receiver", move || receive_all(senders, || Q::receive::<T>(&mut receiver)));
    finished(crew, senders)
}

/// Sends a value over one `channel`, waits until it comes back over another one, and repeats until the time is over.
///
/// # Errors
///
/// [`RunError`] if a thread could not start or did not complete.
pub(crate) fn round_trips<T: Value, Q: Queue>(
    channel: Q,
    slots: usize,
    timing: Timing,
) -> Result<Traffic, RunError> {
    let (mut there, mut arrivals) = channel.one_to_one::<T>(slots);
    let (mut back, mut returns) = channel.one_to_one::<T>(slots);
    let stop = AtomicBool::new(false);
    let stop = &stop;
    let mut crew = clock(stop, timing);
    crew.enlist("ping", move || {
        let (sent, longest) = send_all(stop, timing, |number| {
            Q::send(&mut there, T::of(number))?;
            let is_same = Q::receive::<T>(&mut returns)?.number() == number;
            is_same.then_some(()).ok_or(Disconnected)
        })?;
        Q::send(&mut there, T::of(END))?;
        Ok(vec![sent, longest])
    });
    crew.enlist("pong", move || {
        receive_all(1, || {
            let value = Q::receive::<T>(&mut arrivals)?;
            if value.number() != END {
                Q::send(&mut back, value.clone())?;
            }
            Ok(value)
        })
    });
    finished(crew, 1)
}

/// Creates a crew with a worker that sets `stop` when the time is over.
fn clock(stop: &AtomicBool, timing: Timing) -> Crew<'_> {
    let mut crew = Crew::new(Placement::Free);
    crew.enlist("clock", move || {
        thread::sleep(timing.run_time);
        // Relaxed suffices: the flag orders nothing.
        stop.store(true, Ordering::Relaxed);
        Ok(Vec::new())
    });
    crew
}

/// Sends the numbers from 1 on until `stop`, and at least one, so that the run has a speed. Returns
/// the number of values, and the longest send in nanoseconds.
fn send_all(
    stop: &AtomicBool,
    timing: Timing,
    mut send: impl FnMut(u64) -> Result<(), Disconnected>,
) -> Result<(u64, u64), Disconnected> {
    let (mut sent, mut longest) = (0, Duration::ZERO);
    loop {
        sent += 1;
        if timing.times_sends {
            let start = Instant::now();
            send(sent)?;
            longest = longest.max(start.elapsed());
        } else {
            send(sent)?;
        }
        // Relaxed suffices: as in `clock`.
        if stop.load(Ordering::Relaxed) {
            return Ok((sent, u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX)));
        }
    }
}

/// Receives until each sender has sent its end. Returns the number of values and the sum of their
/// numbers.
fn receive_all<T: Value>(
    senders: usize,
    mut receive: impl FnMut() -> Result<T, Disconnected>,
) -> Result<Vec<u64>, Disconnected> {
    let (mut ends, mut count, mut sum) = (0, 0_u64, 0_u64);
    while ends < senders {
        match receive()?.number() {
            END => ends += 1,
            number => {
                count += 1;
                sum = sum.wrapping_add(number);
            }
        }
    }
    Ok(vec![count, sum])
}

/// Runs `crew`: a clock, `senders` senders and a receiver.
fn finished(crew: Crew<'_>, senders: usize) -> Result<Traffic, RunError> {
    let before = Switches::so_far();
    let finish = crew.run()?;
    let (of_senders, received) = finish.answers.split_at(2 * senders);
    let counts = || of_senders.iter().step_by(2).copied();
    let longest = of_senders.iter().skip(1).step_by(2).copied().max().unwrap_or(0);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let seconds = finish.elapsed.as_secs_f64();
    let count = counts().sum::<u64>();
    let mut figures = known([
        (figure::PER_SECOND, Some(count as f64 / seconds)),
        (figure::CPUS, finish.cpu_time.map(|time| time.as_secs_f64() / seconds)),
        (LONGEST_SEND_NS, (longest > 0).then_some(longest as f64)),
        (FAIRNESS, (senders > 1).then_some(least as f64 / most.max(1) as f64)),
    ]);
    figures.extend(switches(before, finish.elapsed));
    Ok(Traffic {
        elapsed: finish.elapsed,
        figures,
        sent: [count, counts().map(sum_up_to).fold(0, u64::wrapping_add)],
        received: [received[0], received[1]],
    })
}

/// Returns the sum of the numbers from 1 to `last`, with wrapping additions.
pub(crate) fn sum_up_to(last: u64) -> u64 {
    let last = u128::from(last);
    (last * (last + 1) / 2) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::channels::wrong_answer::WrongAnswer;
    use crate::contenders::queues::StdMpsc;

    const TIMING: Timing = Timing { run_time: Duration::from_millis(2), times_sends: true };

    #[test]
    fn sums_wrap_as_additions_do() {
        let last = u64::from(u32::MAX) + 10;
        assert_eq!(sum_up_to(4), 10);
        assert_eq!(sum_up_to(last).wrapping_add(last + 1), sum_up_to(last + 1));
    }

    #[test]
    fn what_is_sent_comes() {
        let traffic = one_way::<String, _>(StdMpsc, 4, 3, TIMING).unwrap();
        assert_eq!(traffic.sent, traffic.received);
        assert!(traffic.figures[LONGEST_SEND_NS] > 0.0);
        assert!((0.0..=1.0).contains(&traffic.figures[FAIRNESS]));
    }

    #[test]
    fn round_trips_end_where_they_began() {
        let timing = Timing { times_sends: false, ..TIMING };
        let traffic = round_trips::<u64, _>(StdMpsc, 1, timing).unwrap();
        assert_eq!(traffic.sent, traffic.received);
        assert!(traffic.sent[0] > 0);
        let has = |name: &str| traffic.figures.contains_key(name);
        assert!(has(figure::PER_SECOND) && !has(LONGEST_SEND_NS) && !has(FAIRNESS));
    }

    #[test]
    fn a_loss_shows() {
        let traffic = one_way::<u64, _>(WrongAnswer, 4, 1, TIMING).unwrap();
        assert_ne!(traffic.sent, traffic.received);
    }
}
