//! How a stage ends: it leaves or halts the ring, and returns its handler. Each piece of user code
//! has its panic caught, and the other steps still run. Not here: why a stage ends (`stage_loop`).

use std::any::Any;

use super::StageLoop;
use super::between::with_transfer;
use crate::activity::Doing;
use crate::catch::catch;
use crate::consumer::access::Access;
use crate::consumer::source::Source;
use crate::consumer::task::drop_all;
use crate::consumer::work::Work;
use crate::consumer::{Outcome, StageReport};
use crate::error::HaltCause;
use crate::on_this_thread::OnThisThread;

/// Leaves the graph, or the group, before the last call of the handler, which may take long. A
/// worker first hands over the state of its keys. Returns how the stage ends.
fn leave<E, A: Access, S: Source<E>, H: Work<E, A>>(
    source: &mut S,
    work: &mut H,
    here: OnThisThread,
    outcome: Outcome,
    hands_over: bool,
) -> Outcome {
    let mut failed = None;
    if hands_over {
        failed = with_transfer::<E, A, S, H>(source, work, |source, transfer| {
            source.hand_over(transfer, true)
        });
    }
    let mut outcome = outcome;
    if failed.is_none() {
        outcome = outcome.after_leaving(source.leave());
        // This thread no longer runs the stage, even if another consumer takes its dynamic stage.
        drop(here);
        if hands_over {
            failed = with_transfer::<E, A, S, H>(source, work, |source, transfer| {
                source.take_back(transfer)
            });
        }
    }
    if let Some(failed) = failed {
        source.activity().set(Doing::Failed);
        source.control().halt(HaltCause::StageFailed.core());
        return failed;
    }
    outcome
}

/// Drops a handler that a panic has ended. The report gets none.
fn drop_broken(work: impl Sized) -> Option<Box<dyn Any + Send>> {
    drop(work);
    None
}

impl<E, A, S, H, B> StageLoop<E, A, S, H, B>
where
    A: Access,
    S: Source<E>,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>>,
    H: Work<E, A>,
{
    /// Ends the stage: makes the last call of the handler, returns it, or drops it after a panic,
    /// and drops the source with its wait strategy.
    pub(super) fn end(self) -> StageReport {
        let Self { name, mut source, mut work, hand_back, recovery, lifeline, .. } = self;
        let mut outcome = self.outcome.unwrap_or(Outcome::Halted);
        let mut is_broken = self.is_broken || matches!(outcome, Outcome::Panicked { .. });
        let next = source.next();
        let (processed, given_up) = (source.processed(), source.given_up());
        match outcome {
            Outcome::Stopped | Outcome::Detached { .. } => {
                let hands_over = !is_broken;
                outcome =
                    leave::<E, A, S, H>(&mut source, &mut work, self.here, outcome, hands_over);
                is_broken |= matches!(outcome, Outcome::Panicked { .. });
            }
            // Before the handler is dropped, which may take long.
            Outcome::Failed { .. } | Outcome::Panicked { .. } => {
                source.activity().set(Doing::Failed);
                source.control().halt(HaltCause::StageFailed.core());
            }
            Outcome::Drained | Outcome::Halted => {}
        }
        if !is_broken {
            source.activity().set(Doing::Handling);
            let panic = catch(|| work.on_shutdown()).err();
            is_broken = panic.is_some();
            outcome = outcome.or_panic(panic, next);
        }
        // After a panic no call lets the handler close what it owns, so it is dropped here: another
        // thread may wait for that before the report is taken.
        let handler = match catch(|| if is_broken { drop_broken(work) } else { hand_back(work) }) {
            Ok(handler) => handler,
            Err(panic) => {
                outcome = outcome.or_panic(Some(panic), next);
                None
            }
        };
        // The source frees the dynamic stage of a guest, so this is the last record of what it
        // does.
        source.activity().set(match outcome {
            Outcome::Failed { .. } | Outcome::Panicked { .. } => Doing::Failed,
            Outcome::Drained => Doing::Drained,
            Outcome::Halted | Outcome::Stopped | Outcome::Detached { .. } => Doing::Halted,
        });
        outcome = outcome.or_panic(drop_all(source, recovery).err(), next);
        match outcome {
            Outcome::Failed { .. } | Outcome::Panicked { .. } => lifeline.fail(),
            _ => lifeline.release(),
        }
        let (skipped, handler) = (self.skipped, handler.into());
        StageReport { name, outcome, processed, given_up, skipped, handler }
    }
}
