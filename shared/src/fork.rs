//! What a forked child does not inherit. The child of a process that takes part has copies of its
//! descriptors, so a dead parent would look alive as long as the child runs. So a child is refused: it
//! closes its copies before `fork` returns, and cannot access the memory of a segment.
//!
//! A child that is made by `posix_spawn`, `vfork` or [`std::process::Command`] calls `exec`, which
//! closes the descriptors. A child that is made by a bare `clone` system call runs no handler, so
//! its parent looks alive until both have ended.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// How often this process is the child of a `fork`, counted from the first process that took part.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// What a child does not inherit. `fork` waits for this lock, so a child has no other copies.
static KEPT: Mutex<Lists> = Mutex::new(Lists { descriptors: Vec::new(), ranges: Vec::new() });

/// The descriptors that a child closes, and the memory that it cannot use.
#[derive(Debug)]
struct Lists {
    descriptors: Vec<RawFd>,
    /// First address and number of bytes. The child maps memory without access in place of its copy.
    /// Without any memory there, its next allocation could lie where its copy of an end expects the
    /// segment.
    ranges: Vec<(usize, usize)>,
}

thread_local! {
    /// The lock, while this thread forks.
    static FORKING: RefCell<Option<MutexGuard<'static, Lists>>> = const { RefCell::new(None) };
}

/// A process, to see whether the current one is its child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn current() -> Self {
        refuse_children();
        Self(FORKS.load(Ordering::Relaxed)) // P8, Relaxed: the handler ran before `fork` returned
    }

    /// Whether this is the current process.
    pub(crate) fn is_current(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.0 // P8, Relaxed: as above
    }
}

/// A file that a forked child closes at once.
#[derive(Debug)]
pub(crate) struct Kept {
    file: ManuallyDrop<File>,
    process: Process,
}

impl Kept {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Those of `open`.
    pub(crate) fn open(open: impl FnOnce() -> io::Result<File>) -> io::Result<Self> {
        let process = Process::current();
        with_lists(|lists| {
            let file = open()?;
            lists.descriptors.push(file.as_raw_fd());
            Ok(Self { file: ManuallyDrop::new(file), process })
        })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // A child has closed its copy, and may have another file with this number.
        if self.process.is_current() {
            let fd = self.file.as_raw_fd();
            with_lists(|lists| {
                lists.descriptors.retain(|&other| other != fd);
                // SAFETY: M7: it is dropped once, under the lock.
                unsafe { ManuallyDrop::drop(&mut self.file) };
            });
        }
    }
}

/// Memory that a forked child does not have.
#[derive(Debug)]
pub(crate) struct Unshared {
    range: (usize, usize),
    process: Process,
}

impl Unshared {
    /// Runs `map`, which maps `bytes` and returns their address. A child that is forked later has
    /// memory without access there.
    ///
    /// # Errors
    ///
    /// Those of `map`.
    pub(crate) fn map<T>(
        bytes: usize,
        map: impl FnOnce() -> io::Result<NonNull<T>>,
    ) -> io::Result<(NonNull<T>, Self)> {
        let process = Process::current();
        with_lists(|lists| {
            let first = map()?;
            let range = (first.addr().get(), bytes);
            lists.ranges.push(range);
            Ok((first, Self { range, process }))
        })
    }

    /// Runs `unmap`, unless this is a child.
    pub(crate) fn unmap(&self, unmap: impl FnOnce()) {
        if self.process.is_current() {
            with_lists(|lists| {
                lists.ranges.retain(|&other| other != self.range);
                unmap();
            });
        }
    }
}

fn lock() -> MutexGuard<'static, Lists> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `change` under the lock. A handler that runs before `fork` may drop an end, on the thread
/// that has the lock for the fork.
fn with_lists<R>(change: impl FnOnce(&mut Lists) -> R) -> R {
    let forking = FORKING.try_with(|forking| forking.borrow_mut().take()).ok().flatten();
    let is_forking = forking.is_some();
    let mut lists = forking.unwrap_or_else(lock);
    let result = change(&mut lists);
    if is_forking {
        let _ = FORKING.try_with(|forking| *forking.borrow_mut() = Some(lists));
    }
    result
}

/// Installs the handlers, once.
fn refuse_children() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: M7: the handlers only lock, close and unlock. Without memory for them, which is
        // the only error, a forked child keeps its parent's seat until it ends.
        unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
    });
}

extern "C" fn before() {
    // A thread that forks while it ends has no such variable any more. It forks without the lock.
    let _ = FORKING.try_with(|forking| *forking.borrow_mut() = Some(lock()));
}

extern "C" fn after_in_parent() {
    let _ = FORKING.try_with(|forking| forking.borrow_mut().take());
}

extern "C" fn after_in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed); // P8, Relaxed: the child has no other thread
    let lists = FORKING.try_with(|forking| forking.borrow_mut().take());
    let Ok(Some(mut lists)) = lists else { return };
    for &fd in &lists.descriptors {
        // SAFETY: M7: the child's own copy, which nothing in the child uses.
        unsafe { libc::close(fd) };
    }
    for &(first, bytes) in &lists.ranges {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let first = ptr::without_provenance_mut(first);
        // SAFETY: M7: the child's copy of the mapping is there, and nothing in the child may use
        // it. An error leaves it, so that the child shares the memory.
        unsafe { libc::mmap(first, bytes, libc::PROT_NONE, flags, -1, 0) };
    }
    lists.descriptors.clear();
    lists.ranges.clear();
}
