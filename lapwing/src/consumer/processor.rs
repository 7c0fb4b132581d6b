//! The loop of a stage that a handler works for: wait, handle a batch, let go of it; until the end.

use std::any::Any;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::access::Access;
use super::handler::{BatchHandler, Progress};
use super::reader::Reader;
use super::{Finished, Outcome};
use crate::control::Control;
use crate::error::WaitTimeoutError;
use crate::sync::Arc;

/// Work that a thread does once, to its end.
pub(crate) trait Run: Send {
    fn run(self: Box<Self>, name: String) -> Finished;
}

/// A stage and what it does. `make` makes the handler on the thread that runs it; `hand_back` says
/// what is left of it for the report.
pub(crate) struct Processor<E, A, M, B> {
    reader: Reader<E>,
    make: M,
    hand_back: B,
    timeout: Option<Duration>,
    /// Halts the ring if this stage ends before its events do: by a panic, or by never having run.
    lifeline: HaltOnDrop,
    access: PhantomData<A>,
}

impl<E, A, M, B> Processor<E, A, M, B> {
    pub(crate) fn new(reader: Reader<E>, make: M, hand_back: B, timeout: Option<Duration>) -> Self {
        let lifeline = HaltOnDrop(Some(Arc::clone(&reader.ring.control)));
        Self { reader, make, hand_back, timeout, lifeline, access: PhantomData }
    }
}

impl<E, A, M, B, H> Run for Processor<E, A, M, B>
where
    E: Send,
    A: Access,
    M: FnOnce() -> H + Send,
    B: FnOnce(H) -> Option<Box<dyn Any + Send>> + Send,
    H: BatchHandler<E, A>,
{
    fn run(self: Box<Self>, name: String) -> Finished {
        let Self { mut reader, make, hand_back, timeout, lifeline, access: _ } = *self;
        let progress = Progress::default();
        // Each net is for code of the user's: making the handler, running it, dropping it or
        // handing it back.
        let run = || {
            let mut handler = make();
            let result = catch(|| handle_all(&mut reader, &mut handler, timeout, &progress));
            if result.is_err() {
                // Before the handler is dropped, which may take its time.
                reader.ring.control.halt();
            }
            (result, catch(|| hand_back(handler)))
        };
        let (result, handler) = match catch(run) {
            Ok((result, Ok(handler))) => (result, handler),
            Ok((result, Err(message))) => (result.and(Err(message)), None),
            Err(message) => (Err(message), None),
        };
        // Past the reader after a panic in the middle of a batch.
        let processed = reader.next().max(progress.get());
        // With it goes the wait strategy, which is the user's too.
        let dropped = catch(|| drop(reader));
        let outcome = result.and_then(|outcome| dropped.map(|()| outcome));
        let outcome = match outcome {
            Ok(outcome) => {
                lifeline.release();
                outcome
            }
            Err(message) => Outcome::Panicked { message, sequence: progress.get() },
        };
        Finished { name, outcome, processed, handler }
    }
}

/// Runs code of the user's.
///
/// # Errors
///
/// The text of its panic.
fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let message = message_of(&*panic);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            // Whose dropping panics may do so again.
            mem::forget(panic);
        }
        message
    })
}

/// Runs the handler from start to shutdown.
fn handle_all<E, A: Access, H: BatchHandler<E, A>>(
    reader: &mut Reader<E>,
    handler: &mut H,
    timeout: Option<Duration>,
    progress: &Progress,
) -> Outcome {
    handler.on_start();
    let outcome = loop {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        match reader.wait(u64::MAX >> 1, deadline) {
            Ok(range) => {
                if H::LOOKS_AT_DEPTH {
                    handler.on_batch_start(range.end - range.start, reader.available());
                }
                // SAFETY: I2: `wait` gave this stage `range`, up to the wrap at most, and the slice
                // is gone when `release` lets go of it. I6: a stage has access `A` only if its
                // graph allows it.
                let events = unsafe { A::slice(&reader.ring.buffer, range.clone()) };
                handler.on_batch(events, range.start, progress);
                A::watch(&reader.ring.buffer, range.clone());
                reader.release(range.end);
                progress.set(range.end);
            }
            Err(WaitTimeoutError::TimedOut) => handler.on_timeout(reader.next()),
            Err(WaitTimeoutError::Closed) => break Outcome::Drained,
            Err(WaitTimeoutError::Halted) => break Outcome::Halted,
        }
    };
    handler.on_shutdown();
    outcome
}

/// The text of a panic, as the standard library's own hook finds it.
fn message_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

/// Halts the ring when dropped, unless released.
struct HaltOnDrop(Option<Arc<Control>>);

impl HaltOnDrop {
    fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for HaltOnDrop {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.halt();
        }
    }
}
