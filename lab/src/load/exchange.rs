//! Round trips of numbers between two threads, over any carrier.
//!
//! Without a pause, the two threads run in lockstep: each polls for its number at the same moment
//! of each exchange. A way of polling that is fast there need not be fast elsewhere. A random pause
//! before each number breaks the lockstep. The other thread has then polled for a while, as it does
//! for most events of a program that is not busy.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::load::paced::Clock;
use crate::machine::placement::Placement;
use crate::measure::crew::{Crew, Disconnected, RunError};
use crate::measure::run::Pass;

/// The number of round trips, and the placement of the two threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// The numbers that make a round trip: `1..=exchanges`.
    pub(crate) exchanges: u32,
    /// The placement of the threads.
    pub(crate) placement: Placement,
    /// Mean pause of the sender before each number. Each pause has between half and one and a half
    /// times this length. Pauses do not count.
    pub(crate) pause_ns: u32,
}

/// The seed of the pauses. They are the same for all contenders.
const PAUSE_SEED: u64 = 0x001a_9816_9a05;

/// Pauses before each number, and records the total length of the pauses.
struct Pauses {
    clock: Clock,
    random: fastrand::Rng,
    mean_ns: u32,
    /// The time of one clock read. One read of each pause is not between its first and its last.
    look_ns: u64,
    total_ns: u64,
}

impl Pauses {
    /// Returns `None` if the mean is zero.
    fn new(mean_ns: u32) -> Option<Self> {
        (mean_ns > 0).then(|| {
            let (clock, random) = (Clock::new(), fastrand::Rng::with_seed(PAUSE_SEED));
            Self { look_ns: clock.cost() as u64, clock, random, mean_ns, total_ns: 0 }
        })
    }

    /// Spins for one pause.
    fn stay_away(&mut self) {
        let (start, mean_ns) = (self.clock.now(), u64::from(self.mean_ns));
        let due = start + self.random.u64(mean_ns / 2..=mean_ns + mean_ns / 2);
        let mut now = start;
        while now < due {
            now = self.clock.now();
        }
        self.total_ns += now - start + self.look_ns;
    }
}

/// Runs `call` on one thread, which sends each number and waits for it, and `echo` on the other,
/// which sends it back. The answer is the sum of the numbers that came back.
///
/// # Errors
///
/// [`RunError`] if a thread could not start or did not complete.
pub(crate) fn run<'a>(
    Exchange { exchanges, placement, pause_ns }: Exchange,
    mut call: impl FnMut(u64) -> Result<u64, Disconnected> + Send + 'a,
    mut echo: impl FnMut(u64) -> Result<(), Disconnected> + Send + 'a,
) -> Result<Pass, RunError> {
    let exchanges = u64::from(exchanges);
    let away_ns = AtomicU64::new(0);
    let away = &away_ns;
    let mut pauses = Pauses::new(pause_ns);
    let mut crew = Crew::new(placement);
    crew.enlist("ping", move || {
        let mut sum = 0;
        for number in 1..=exchanges {
            pauses.iter_mut().for_each(Pauses::stay_away);
            sum += call(number)?;
        }
        // Relaxed suffices: read after the thread has ended.
        away.store(pauses.as_ref().map_or(0, |pauses| pauses.total_ns), Ordering::Relaxed);
        Ok(vec![sum])
    });
    crew.enlist("pong", move || {
        (1..=exchanges).try_for_each(&mut echo)?;
        Ok(Vec::new())
    });
    let pass = Pass::one_by_one(crew.run()?);
    if pause_ns == 0 {
        return Ok(pass);
    }
    let away = Duration::from_nanos(away_ns.into_inner());
    // The CPU time includes the pauses, so it is not reported.
    Ok(Pass { elapsed: pass.elapsed.saturating_sub(away), cpu_time: None, ..pass })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Exchanges 100 numbers over channels.
    fn pass(pause_ns: u32) -> Pass {
        let (there, numbers) = mpsc::channel();
        let (back, answers) = mpsc::channel();
        let exchange = Exchange { exchanges: 100, placement: Placement::Free, pause_ns };
        let call = move |number| {
            there.send(number).map_err(|_| Disconnected)?;
            answers.recv().map_err(|_| Disconnected)
        };
        let echo = move |_| {
            let number = numbers.recv().map_err(|_| Disconnected)?;
            back.send(number).map_err(|_| Disconnected)
        };
        run(exchange, call, echo).unwrap()
    }

    #[test]
    fn pauses_do_not_count() {
        let start = std::time::Instant::now();
        let pass = pass(2_000_000);
        // All pauses together take at least 0.1 s, and 0.2 s on average.
        let whole = start.elapsed();
        assert_eq!(pass.answers, [5_050]);
        assert!(whole >= Duration::from_millis(100), "{whole:?}");
        assert!(pass.elapsed < whole - Duration::from_millis(99), "{:?} {whole:?}", pass.elapsed);
    }

    #[test]
    fn nobody_stays_away_who_has_no_pauses() {
        let pass = pass(0);
        assert_eq!(pass.answers, [5_050]);
        assert!(Pauses::new(0).is_none());
    }
}
