//! Makes the CPU predict that a poll succeeds, with the feature `predicted-branch`. Not here: how
//! often to poll (`poll_loop`).
//!
//! A polling consumer nearly always finds nothing, and the branch predictor learns that. It
//! therefore mispredicts the one poll that succeeds. The CPU starts to execute the handler only
//! after the cache line has arrived, although it was idle while it waited for the line.
//!
//! This module encodes the branch as a return. A CPU predicts that a return continues at the
//! instruction after its call, whatever the last return did. That instruction is on the success
//! path. After each poll, the CPU speculatively executes user code up to the stores of the
//! response, which it holds back until the cache line arrives. If the poll finds nothing, the
//! return goes to another address and the CPU discards the speculated work. That costs 9 ns on an
//! EPYC (Zen 4), in a thread that has nothing else to do.
//!
//! ```text
//!         poll
//!         call ───────────────┐
//!   found: <── predicted ──┐  │        the return address: `found`, or `missed` for a failed poll
//!                          │  v
//!  missed: <────────────── return
//! ```
//!
//! For the program this is an ordinary branch. Speculation changes only the caches of the CPU.
//!
//! Measured gain (E19 in `perf/results/experiments.md`):
//! on an EPYC (Zen 4), a single event is 1.12 to 1.3 times as fast on cores that share a cache. On
//! cores without a shared cache, it is 0.95 to 1.05 times as fast. The feature is therefore off by
//! default.
//!
//! The module uses the return only where it was measured: on Linux on x86-64. Elsewhere, and on a
//! thread whose return addresses are checked by a shadow stack, it uses an ordinary branch.

use std::marker::PhantomData;

/// The permission of one thread to use the prediction. Not `Send`, since each thread may have a
/// shadow stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prediction {
    is_possible: bool,
    thread: PhantomData<*const ()>,
}

impl Prediction {
    /// No prediction: an ordinary branch.
    pub(crate) const NONE: Self = Self { is_possible: false, thread: PhantomData };

    /// The permission of the calling thread. Asks the CPU for the thread's shadow stack.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { is_possible: cpu::has_no_shadow_stack(), ..Self::NONE }
    }

    /// Returns `is_found` through a branch that the CPU predicts to be true. Has no effect if the
    /// compiler computes `is_found` with a branch.
    #[inline]
    pub(crate) fn holds(self, is_found: bool) -> bool {
        if !self.is_possible {
            return is_found;
        }
        // SAFETY: I16: the thread has no shadow stack.
        unsafe { cpu::predicted(is_found) }
    }
}

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(any(loom, miri, lapwing_portable, lapwing_plain))
))]
mod cpu {
    use std::arch::asm;

    /// Whether the calling thread has no shadow stack.
    #[inline]
    pub(super) fn has_no_shadow_stack() -> bool {
        let shadow_stack: u64;
        // SAFETY: I16: only reads the shadow stack pointer. Without a shadow stack, and on CPUs
        // that do not support one, the instruction does nothing (Intel SDM 2B, RDSSPQ).
        unsafe {
            asm!(
                "xor {shadow_stack:e}, {shadow_stack:e}",
                "rdsspq {shadow_stack}",
                shadow_stack = out(reg) shadow_stack,
                options(nomem, nostack),
            );
        }
        shadow_stack == 0
    }

    /// Number of `nop` instructions after a poll. The CPU knows about twelve cycles after a poll
    /// whether the poll failed. If speculation reaches the stores of the response before that, the
    /// CPU appears to request ownership of their cache lines at each failed poll. That takes the
    /// lines away from the thread that polls for the response. With these `nop`s, speculation
    /// reaches the stores only while the polled cache line is in flight, which is the right time to
    /// request them. See E62 in `perf/results/experiments.md`.
    const FILL: usize = 40;

    /// Returns `is_found`, through a return instruction.
    ///
    /// # Safety
    ///
    /// The calling thread has no shadow stack, so a return may go to another address (I16).
    #[inline]
    pub(super) unsafe fn predicted(is_found: bool) -> bool {
        // SAFETY: I16: writes only the return address that the `call` has pushed. Both paths pop it
        // before the end of the block.
        unsafe {
            asm!(
                "lea {to}, [rip + 3f]",
                "lea {elsewhere}, [rip + 5f]",
                "test {is_found}, {is_found}",
                "cmovz {to}, {elsewhere}",
                "call 2f",
                "3: jmp 4f",
                "2: mov qword ptr [rsp], {to}",
                "ret",
                // Only a direct jump may reach a label of Rust code.
                "5: jmp {missed}",
                "4:",
                ".rept {fill}",
                "nop",
                ".endr",
                to = out(reg) _,
                elsewhere = out(reg) _,
                is_found = in(reg_byte) u8::from(is_found),
                missed = label { return false },
                fill = const FILL,
            );
        }
        true
    }
}

/// An ordinary branch, for other platforms, for models and Miri, and for the portable and plain
/// builds.
#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(any(loom, miri, lapwing_portable, lapwing_plain))
)))]
mod cpu {
    /// Always false.
    #[inline]
    pub(super) const fn has_no_shadow_stack() -> bool {
        false
    }

    /// Returns `is_found`.
    ///
    /// # Safety
    ///
    /// The calling thread has no shadow stack (I16), as in the assembly version.
    #[inline]
    pub(super) const unsafe fn predicted(is_found: bool) -> bool {
        is_found
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::hint::black_box;
    use std::panic;

    use super::*;

    #[test]
    fn what_is_predicted_is_what_was_found() {
        for prediction in [Prediction::new(), Prediction::NONE] {
            for n in 0..1000_u64 {
                let is_found = black_box(n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1;
                assert_eq!(prediction.holds(is_found), is_found, "{n}");
            }
        }
    }

    /// Values that the compiler keeps on the stack are intact after a prediction, and a panic
    /// unwinds.
    #[test]
    fn the_stack_is_as_it_was() {
        fn sum(prediction: Prediction, words: [u64; 9], last: usize) -> u64 {
            let mut sum = 0;
            let mut left = black_box(words).into_iter().enumerate();
            loop {
                let (place, word) = left.next().expect("one is the last");
                sum += word;
                if prediction.holds(place == black_box(last)) {
                    return sum;
                }
            }
        }
        let words = [1, 2, 4, 8, 16, 32, 64, 128, 256];
        let prediction = Prediction::new();
        assert_eq!(sum(prediction, words, 8), 511);
        assert_eq!(sum(prediction, words, 0), 1);
        assert!(panic::catch_unwind(|| sum(prediction, words, 9)).is_err());
        assert_eq!(sum(prediction, words, 3), 15);
    }
}
