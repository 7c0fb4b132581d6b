//! The stage that syncs: one sync for all that was written while the last one ran. Not here: the
//! sync itself (`syncing`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use lapwing::consumer::{BatchHandler, Done, Failure, Shared};
use lapwing::{Action, Sequence};

use crate::core::Core;
use crate::error::SyncError;

/// Longest pause before the stage checks again whether that of the writer has ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// When a [`Syncer`] syncs. A journal that never waits for a sync has no syncer.
///
/// The stage releases only what is synced, under each policy.
///
/// ```
/// use std::time::Duration;
/// use lapwing::Action;
/// use lapwing_journal::{Journal, SyncPolicy};
///
/// let folder = tempfile::tempdir()?;
/// let journal = Journal::<u64>::open(folder.path())?;
/// let (mut writer, every) = (journal.writer(), Duration::from_secs(60));
/// let mut syncer = journal.syncer(SyncPolicy::Every(every));
/// writer.write(&[7], 0)?;
/// assert_eq!(syncer.sync(1)?, Action::Continue); // the first one, at once
/// writer.write(&[8], 1)?;
/// let Action::Rewind(pause) = syncer.sync(2)? else { panic!("it is too early") };
/// assert!(pause <= every && journal.synced() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SyncPolicy {
    /// At once. A sync covers all that was written during the last one, so a slow disk makes larger
    /// groups.
    #[default]
    EachBatch,
    /// At most once per this time. It costs fewer syncs, and downstream stages wait for up to this
    /// time and one sync.
    ///
    /// A shutdown does not wait for this time: once the stage of the writer has ended, what is left
    /// is synced within 10 ms.
    Every(Duration),
}

/// Syncs what the [`Writer`](crate::Writer) has written. When the stage releases events, they
/// survive a power failure.
///
/// It is the handler of a stage: see [`read_batch_handler`](lapwing::Stage::read_batch_handler).
#[derive(Debug)]
pub struct Syncer {
    core: Arc<Core>,
    policy: SyncPolicy,
    /// When the last sync began.
    last: Option<Instant>,
}

impl Syncer {
    pub(crate) fn new(core: Arc<Core>, policy: SyncPolicy) -> Self {
        core.syncing().set_has_stage();
        Self { core, policy, last: None }
    }

    /// Syncs what is written if events below `end` are not synced yet. Returns
    /// [`Action::Rewind`] if the policy asks to wait first, with a pause of at most 10 ms.
    ///
    /// # Errors
    ///
    /// [`SyncError`] if this sync has failed, or one before it.
    ///
    /// # Blocking
    ///
    /// Waits for the disk.
    pub fn sync(&mut self, end: Sequence) -> Result<Action, SyncError> {
        self.core.syncing().check()?;
        if self.core.syncing().durable() >= end {
            return Ok(Action::Continue);
        }
        if let Some(pause) = self.pause() {
            return Ok(Action::Rewind(pause));
        }
        self.last = Some(Instant::now());
        self.core.syncing().sync()?;
        Ok(Action::Continue)
    }

    /// How long the policy asks to wait.
    fn pause(&self) -> Option<Duration> {
        let (SyncPolicy::Every(time), Some(last)) = (self.policy, self.last) else { return None };
        let left = time.saturating_sub(last.elapsed());
        // After the writer, a later sync would cover no more events.
        let is_over = left.is_zero() || self.core.syncing().has_writer_ended();
        (!is_over).then(|| left.min(LONGEST_PAUSE))
    }
}

impl<E> BatchHandler<E, Shared, Result<Action, SyncError>> for Syncer {
    fn on_batch(
        &mut self,
        events: &[E],
        first: Sequence,
        _: Done<'_>,
    ) -> Result<Action, SyncError> {
        self.sync(first + events.len() as u64)
    }

    /// The stage releases only what is synced, also of the events that an upstream stage has skipped.
    fn on_failed_batch(
        &mut self,
        events: &[E],
        first: Sequence,
        _: Done<'_>,
        _: &Failure<'_>,
    ) -> Result<Action, SyncError> {
        self.sync(first + events.len() as u64)
    }
}
