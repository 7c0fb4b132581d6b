//! Rings in a process that may not call `membarrier`: a sandbox refuses the call from the start, or from some moment on.
//! A filter in the kernel refuses it, as in a container; nothing of the library is replaced.
//!
//! On Linux the fence of a publication is a `membarrier` that parking and closing threads call. A ring that relies on a
//! refused call loses wake-ups and accepted events.
//!
//! `LAPWING_SANDBOX` is the number of events per ring; `ci/litmus.sh` uses many thousand.
#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]

mod process;
mod stress;

use std::thread;
use std::time::Duration;

use process::{in_fork, in_own_process, refuse_membarrier};
use rustix::io::Errno;
use stress::{IdleStages, Rings};

/// How long a close waits if the system refuses the `membarrier` that it granted when the ring was built.
const WAIT: Duration = Duration::from_millis(20);

/// Checks that rings which are built where `membarrier` is refused lose nothing, and do not wait for a fence.
fn new_rings_have_full_fences() {
    let shortest_close = Rings::new().run();
    assert!(shortest_close < WAIT, "each close took at least {shortest_close:?}");
}

/// The answer of an old kernel, and of sandboxes that pretend to be one.
#[test]
fn an_unknown_membarrier_loses_nothing() {
    in_own_process("an_unknown_membarrier_loses_nothing", || {
        refuse_membarrier(Errno::NOSYS);
        new_rings_have_full_fences();
    });
}

#[test]
fn a_forbidden_membarrier_loses_nothing() {
    in_own_process("a_forbidden_membarrier_loses_nothing", || {
        refuse_membarrier(Errno::PERM);
        new_rings_have_full_fences();
    });
}

/// The rings have used `membarrier` before the program shuts itself in. A refused call takes so long that a fence is
/// hardly ever missed after it. The test therefore also checks what takes the place of the fence.
#[test]
fn a_membarrier_that_is_refused_later_loses_nothing() {
    in_own_process("a_membarrier_that_is_refused_later_loses_nothing", || {
        let (idle, mut rings) = (IdleStages::new(), Rings::new());
        rings.wake_ups();
        rings.wake_ups_with(|| refuse_membarrier(Errno::PERM));
        idle.check_by_themselves();
        let shortest_close = rings.run();
        assert!(shortest_close >= WAIT, "a close took {shortest_close:?}");
        new_rings_have_full_fences();
    });
}

#[test]
fn threads_that_register_at_the_same_time_lose_nothing() {
    in_own_process("threads_that_register_at_the_same_time_lose_nothing", || {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| Rings::new().wake_ups());
            }
        });
    });
}

/// A child inherits the registration. If it did not, it would register again.
#[test]
fn a_child_of_a_fork_loses_nothing() {
    in_own_process("a_child_of_a_fork_loses_nothing", || {
        let mut rings = Rings::new();
        rings.wake_ups();
        in_fork(|| {
            rings.wake_ups();
            Rings::new().run();
        });
    });
}
