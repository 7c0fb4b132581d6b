//! A thread and its roles, from the common start to the end. It also records the longest time for
//! which it could not run them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::{Idle, Role, Turn};
use crate::load::paced::Clock;
use crate::measure::crew::{Answers, Disconnected};

/// The time from the start of the first thread to the first order. All threads run by then.
const LEAD_NS: u64 = 5_000_000;

/// The shared state of the threads of a run.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The start of the run. The thread that starts first sets it.
    epoch: OnceLock<u64>,
    /// Strategies that have not completed. When there are none, the run is over.
    strategies: AtomicUsize,
    /// Set by a thread that panics, so that no thread waits for it.
    abandoned: AtomicBool,
}

impl Signals {
    /// Creates the state of a run with this many strategies.
    pub(crate) const fn new(strategies: usize) -> Self {
        Self {
            epoch: OnceLock::new(),
            strategies: AtomicUsize::new(strategies),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Records that a strategy has completed.
    pub(super) fn strategy_is_done(&self) {
        // Relaxed: it only ends the run. Their results are read after a join.
        self.strategies.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns whether every strategy has completed.
    fn is_over(&self) -> bool {
        // Relaxed: as in `strategy_is_done`.
        self.strategies.load(Ordering::Relaxed) == 0
    }
}

/// Abandons the run when its thread panics.
struct AbandonOnPanic<'a>(&'a Signals);

impl Drop for AbandonOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            // Relaxed: it carries nothing.
            self.0.abandoned.store(true, Ordering::Relaxed);
        }
    }
}

/// A thread to be.
pub(crate) struct Shift<'a> {
    /// Name of the thread.
    pub(crate) name: String,
    /// Its roles.
    pub(crate) roles: Vec<&'a mut dyn Role>,
    /// Its wait without work.
    pub(crate) idle: Idle<'a>,
}

impl Shift<'_> {
    /// Runs the roles until every strategy has completed. The answer is the longest time between two turns,
    /// in nanoseconds, without its own sleeps.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if another thread panicked.
    pub(crate) fn play(
        &mut self,
        clock: &Clock,
        signals: &Signals,
    ) -> Result<Answers, Disconnected> {
        let _guard = AbandonOnPanic(signals);
        let epoch = *signals.epoch.get_or_init(|| clock.now() + LEAD_NS);
        self.roles.iter_mut().for_each(|role| role.begin(epoch));

        let mut longest_gap = 0;
        let mut expected_at = clock.now();
        loop {
            // Relaxed: it carries nothing.
            if signals.abandoned.load(Ordering::Relaxed) {
                return Err(Disconnected);
            }
            let now = clock.now();
            longest_gap = longest_gap.max(now.saturating_sub(expected_at));

            let turns = self.roles.iter_mut().map(|role| role.turn(now));
            let turn = turns.fold(Turn::NOTHING, Turn::and);
            if signals.is_over() {
                return Ok(vec![longest_gap]);
            }
            expected_at = self.idle.wait(turn, now);
        }
    }
}
