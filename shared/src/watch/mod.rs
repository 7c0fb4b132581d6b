//! A thread of each end that learns when processes at the other side appear and end. It sleeps in `poll`,
//! without a timeout. Not here: what shows that a process lives (`evidence`).
//!
//! The writer's thread clears the seat of a dead reader and wakes the writer. A reader's thread notes that
//! the writer is gone and wakes the reader.

mod readers;
mod writer;

use std::io;
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};
use rustix::io::{Errno, read, retry_on_intr, write};

use crate::fork::Process;

pub(crate) use readers::{Attended, ReadersWatch};
pub(crate) use writer::WriterWatch;

/// What a thread does.
trait Duty: Send + 'static {
    /// Looks at the processes of the other side.
    fn look(&mut self);

    /// Returns what to wait for, beside a call of [`Watch::alert`].
    fn poll_for(&self) -> Vec<PollFd<'_>>;

    /// Learns which of them have something to say, in the same order.
    fn learn(&mut self, is_ready: &[bool]);
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
        let thread = thread.spawn(move || {
            block_signals();
            shared.run(&mut duty);
        })?;
        Ok(Self { alarm, thread: Some(thread), process: Process::current() })
    }

    /// Makes the thread look at once.
    pub(crate) fn alert(&self) {
        self.alarm.sound();
    }
}

/// Bytes of the stack of such a thread: it calls little.
const STACK: usize = 64 << 10;

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return mem::forget(self.thread.take()); // there is nothing to detach
        }
        self.alarm.is_over.store(true, Ordering::Release); // P8, Release: pairs with the Acquire in `run`
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
            if let Err(error) = retry_on_intr(|| rustix::event::poll(&mut polled, None)) {
                // Without memory. Later there may be some.
                debug_assert_eq!(error, Errno::NOMEM, "the descriptors are open");
                thread::sleep(std::time::Duration::from_millis(10));
                continue;
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

/// Blocks the signals of the program, which its own threads handle, and SIGPIPE, which a pipe sends to
/// a thread that writes when its holder has ended.
fn block_signals() {
    let mut all = mem::MaybeUninit::uninit();
    // SAFETY: M7: it fills the set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: M7: the set is filled, and the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), std::ptr::null_mut()) };
}
