//! A thread and the roles that it plays, from the common beginning to the end; it also notes the
//! longest time for which it was kept from them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::{Idle, Role, Turn};
use crate::load::paced::Clock;
use crate::measure::crew::{Answers, Disconnected};

/// Time from the start of the first thread to the first order: all run by then.
const LEAD_NS: u64 = 5_000_000;

/// What threads tell each other about the run as a whole.
#[derive(Debug)]
pub(in crate::commands::dispatch) struct Signals {
    /// When the run begins; set by the thread that starts first.
    epoch: OnceLock<u64>,
    /// Strategies that have not come to their end. When there are none, all others end.
    strategies: AtomicUsize,
    /// Set by a thread that panics, so that nobody waits for it.
    abandoned: AtomicBool,
}

impl Signals {
    /// For a run with this many strategies.
    pub(in crate::commands::dispatch) const fn new(strategies: usize) -> Self {
        Self {
            epoch: OnceLock::new(),
            strategies: AtomicUsize::new(strategies),
            abandoned: AtomicBool::new(false),
        }
    }

    /// A strategy has come to its end.
    pub(super) fn strategy_is_done(&self) {
        // Relaxed: it says that others may end, and carries nothing; what they did is read after a
        // join.
        self.strategies.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether every strategy has come to its end.
    pub(super) fn is_over(&self) -> bool {
        // Relaxed: as in `strategy_is_done`.
        self.strategies.load(Ordering::Relaxed) == 0
    }
}

/// Gives the run up when its thread panics.
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
pub(in crate::commands::dispatch) struct Shift<'a> {
    /// Name of the thread.
    pub(in crate::commands::dispatch) name: String,
    /// What it plays.
    pub(in crate::commands::dispatch) roles: Vec<&'a mut dyn Role>,
    /// What it does when there is nothing to do.
    pub(in crate::commands::dispatch) idle: Idle<'a>,
}

impl Shift<'_> {
    /// Plays the roles until all have come to their end. The answer is the longest time, in
    /// nanoseconds, from one turn to the next, without what the thread slept by its own choice.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if another thread panicked.
    pub(in crate::commands::dispatch) fn play(
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
            if turn.done {
                return Ok(vec![longest_gap]);
            }
            expected_at = self.idle.wait(turn, now);
        }
    }
}
