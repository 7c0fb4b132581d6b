//! A thread of each end that learns when other processes appear and end. It sleeps in `poll`, without a
//! timeout. Not here: what shows that a process lives (`evidence`).
//!
//! A writer's thread clears the seat of a dead reader and wakes the writer. A reader's thread notes
//! that the writer is gone and wakes the reader. Beside several writers, each thread also skips what a
//! dead writer had claimed.

mod pipes;

mod peers;
mod writer;

use std::io;
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};
use rustix::io::{read, retry_on_intr, write};

use crate::fork::Process;
use crate::signals;

pub(crate) use peers::{End, PeersWatch};
pub(crate) use writer::WriterWatch;

/// What a thread does.
trait Duty: Send + 'static {
    /// Looks at the other processes.
    fn look(&mut self);

    /// Returns what to wait for, beside the end of this watch.
    fn poll_for(&self) -> Vec<PollFd<'_>>;

    /// Takes which of the descriptors of `poll_for` are ready, in the same order.
    fn learn(&mut self, is_ready: &[bool]);

    /// Whether to look again soon, because the system had no descriptor for the last look.
    fn is_unfinished(&self) -> bool;
}

/// A thread that watches. It ends on drop.
#[derive(Debug)]
pub(crate) struct Watch {
    alarm: Arc<Alarm>,
    thread: Option<JoinHandle<()>>,
    /// A forked child has no such thread.
    process: Process,
}

/// How other threads reach the thread that watches.
#[derive(Debug)]
struct Alarm {
    event: OwnedFd,
    is_over: AtomicBool,
}

impl Watch {
    fn start(mut duty: impl Duty) -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let alarm = Arc::new(Alarm { event, is_over: AtomicBool::new(false) });
        let shared = Arc::clone(&alarm);
        let thread = thread::Builder::new().name("lapwing-watch".into()).stack_size(STACK);
        // It inherits which signals are blocked.
        let thread = signals::blocked(|| thread.spawn(move || shared.run(&mut duty)))?;
        Ok(Self { alarm, thread: Some(thread), process: Process::current() })
    }
}

/// Bytes of the stack of such a thread: it calls little.
const STACK: usize = 64 << 10;

/// When to look again if a look is unfinished: 10 ms.
const SOON: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return mem::forget(self.thread.take()); // there is nothing to detach
        }
        // P8, Release: pairs with the Acquire in `run`.
        self.alarm.is_over.store(true, Ordering::Release);
        self.alarm.sound();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // it does not panic
        }
    }
}

impl Alarm {
    fn sound(&self) {
        // Fails only if it has sounded 2^64 times without an answer.
        let _ = write(&self.event, &1_u64.to_ne_bytes());
    }

    fn run(&self, duty: &mut impl Duty) {
        loop {
            duty.look();
            let mut polled = duty.poll_for();
            polled.push(PollFd::new(&self.event, PollFlags::IN));
            let limit = duty.is_unfinished().then_some(&SOON);
            if retry_on_intr(|| rustix::event::poll(&mut polled, limit)).is_err() {
                // Without memory, or with more descriptors than a limit that was lowered meanwhile.
                thread::sleep(Duration::from_millis(10));
                polled.iter_mut().for_each(poll_alone);
            }
            let is_ready: Vec<_> = polled.iter().map(|fd| !fd.revents().is_empty()).collect();
            drop(polled);
            // P8, Acquire: pairs with the Release in `drop`.
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            let _ = read(self.event.as_fd(), &mut [0; 8]);
            duty.learn(&is_ready[..is_ready.len() - 1]);
        }
    }
}

/// Polls one descriptor. It is not ready if the system does not say.
fn poll_alone(fd: &mut PollFd<'_>) {
    fd.clear_revents();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = rustix::event::poll(slice::from_mut(fd), Some(&now));
}
