//! How a stage pauses before it handles an event again. Not here: how long (`pause`), when it does
//! (`stage_loop`).

use super::StageLoop;
use crate::activity::Doing;
use crate::catch::catch;
use crate::consumer::Outcome;
use crate::consumer::access::Access;
use crate::consumer::pause::Pause;
use crate::consumer::source::Source;
use crate::consumer::work::Work;

impl<E, A: Access, S: Source<E>, H: Work<E, A>, B> StageLoop<E, A, S, H, B> {
    /// Pauses before the stage handles an event again. If several stages share the thread, it does
    /// not sleep, and the others have their turns.
    pub(super) fn pause(&mut self, pause: Pause) -> Option<Outcome> {
        self.is_announcing = false;
        self.source.activity().set(Doing::Pausing);
        if self.takes_turns {
            self.pause = Some(self.pause.map_or(pause, |before| before.and(&pause)));
            return None;
        }
        self.source.sleep(&pause);
        self.resume(pause)
    }

    /// Ends a pause, which may have been cut short. Returns how the stage ends, if it does.
    pub(super) fn resume(&mut self, pause: Pause) -> Option<Outcome> {
        if pause.restarts && !self.source.is_ending() {
            self.source.activity().set(Doing::Handling);
            if let Err(message) = catch(|| self.work.on_restart()) {
                return Some(Outcome::Panicked { message, sequence: self.source.next() });
            }
        }
        self.source.activity().set(Doing::Between);
        None
    }
}
