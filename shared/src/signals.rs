//! The signals of a thread.

use std::mem::MaybeUninit;
use std::ptr;

/// Runs `run` with all signals of this thread blocked. A thread that it starts inherits that. So the
/// handlers of the program run on its own threads, and a thread that writes to a pipe whose holder has
/// ended gets no SIGPIPE.
pub(crate) fn blocked<R>(run: impl FnOnce() -> R) -> R {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: M7: it fills the set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: M7: one set is filled, and the other is filled by the call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let result = run();
    // SAFETY: M7: the set is filled, and the other one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}
