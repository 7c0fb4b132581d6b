//! What a program adds to the service: a stage, a condition for answers, and a look at the engine.
//! Not here: the graph that they become part of (`mod`).

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use lapwing::{Action, Sequence};

use super::Opened;
use super::confirmed::Confirmed;
use super::events::Input;
use crate::engine::Engine;

/// An error of a hook.
pub type HookError = Box<dyn Error + Send + Sync>;

/// What the program has added.
#[derive(Default)]
pub(super) struct Hooks {
    pub(super) after_synced: Option<AfterSynced>,
    pub(super) confirmed: Option<Arc<Confirmed>>,
    pub(super) watch: Option<Watch>,
}

/// The handler of the further stage.
pub(super) type AfterSynced =
    Box<dyn FnMut(&[Input], Sequence) -> Result<Action, HookError> + Send>;

/// Shows the engine every so many commands.
pub(super) struct Watch {
    every: u64,
    show: Show,
}

type Show = Box<dyn FnMut(Sequence, &Engine) + Send>;

impl Watch {
    /// Shows the engine after all commands below `sequence`, if it is time.
    pub(super) fn offer(&mut self, sequence: Sequence, engine: &Engine) {
        if sequence.is_multiple_of(self.every) {
            (self.show)(sequence, engine);
        }
    }
}

impl Opened {
    /// Adds a stage to the input ring, downstream of *synced*. It gets each batch that a crash can
    /// no longer undo, and the sequence of its first command. An error halts the exchange.
    ///
    /// An exchange without a folder has no *synced*. There the stage runs in parallel with *matching*.
    #[must_use]
    pub fn after_synced(
        mut self,
        handler: impl FnMut(&[Input], Sequence) -> Result<Action, HookError> + Send + 'static,
    ) -> Self {
        self.hooks.after_synced = Some(Box::new(handler));
        self
    }

    /// Holds each report back until `confirmed` includes its command.
    #[must_use]
    pub fn confirmed_by(mut self, confirmed: Arc<Confirmed>) -> Self {
        self.hooks.confirmed = Some(confirmed);
        self
    }

    /// Calls `show` with the engine after each `every` commands (at least 1), with the sequence of
    /// the next command. The stage that carries out commands waits for it.
    #[must_use]
    pub fn watch(
        mut self,
        every: u64,
        show: impl FnMut(Sequence, &Engine) + Send + 'static,
    ) -> Self {
        self.hooks.watch = Some(Watch { every: every.max(1), show: Box::new(show) });
        self
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("confirmed", &self.confirmed).finish_non_exhaustive()
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("every", &self.every).finish_non_exhaustive()
    }
}
