//! How to make the CPU predict that a poll succeeds. Behind the feature `predicted-branch`. Not here: how
//! often to poll (`looks`).
//!
//! A consumer that polls finds nothing nearly always, and the branch predictor learns that. It therefore
//! mispredicts the one poll that succeeds: the CPU begins with the handler only once the cache line has
//! arrived, though it had time while it waited for the line.
//!
//! Here the branch is a return. A CPU predicts that a return goes to the instruction after its call, whatever
//! the last one did. That instruction is on the path of success. After each poll, the CPU speculatively runs
//! the user's code, up to the stores of the answer, which it holds back until the line arrives. If the poll
//! found nothing, the return goes elsewhere and the speculated work is discarded. That costs 9 ns on an EPYC
//! (Zen 4), in a thread that has nothing else to do.
//!
//! ```text
//!         poll
//!         call ───────────────┐
//!   found: <── predicted ──┐  │        the return address: `found`, or `missed` if nothing was
//!                          │  v
//!  missed: <────────────── return
//! ```
//!
//! To the program this is a branch. Speculation changes only the caches of the CPU.
//!
//! Worth (`perf/results/experiments.md`, "A look that the CPU presumes to find something"): a lone event 1.12
//! to 1.3 on an EPYC (Zen 4) where CPUs share a cache, 0.95 to 1.05 where they do not. For that reason it is
//! a feature, off by default.
//!
//! Used only where it was measured: Linux on x86-64. Elsewhere, and where a shadow stack checks return
//! addresses, it is an ordinary branch.

use std::marker::PhantomData;

/// Whether one thread may use the prediction. Not `Send`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prediction {
    is_possible: bool,
    thread: PhantomData<*const ()>,
}

impl Prediction {
    /// No prediction: an ordinary branch.
    pub(crate) const NONE: Self = Self { is_possible: false, thread: PhantomData };

    /// For the calling thread, at present.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { is_possible: cpu::lets_returns_go_elsewhere(), ..Self::NONE }
    }

    /// `is_found`, which the CPU predicts to be true. Has no effect if `is_found` comes from a branch.
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
    pub(super) fn lets_returns_go_elsewhere() -> bool {
        let shadow_stack: u64;
        // SAFETY: I16: reads the pointer of the shadow stack. Without one, and on CPUs that have none, it
        // does nothing (Intel SDM 2B, RDSSPQ).
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

    /// Number of `nop` instructions after a poll. The CPU knows about twelve cycles after a poll whether it
    /// failed. A CPU that reaches the stores of the answer earlier appears to request their lines, and so
    /// takes them from the thread that polls for that answer, at each failed poll. With the `nop`s it reaches
    /// the stores only while the line of the poll is in flight, which is the time to request them. See
    /// `perf/results/experiments.md`.
    const FILL: usize = 40;

    /// `is_found`, by a return.
    ///
    /// # Safety
    ///
    /// The calling thread has no shadow stack, so a return may go to another address (I16).
    #[inline]
    pub(super) unsafe fn predicted(is_found: bool) -> bool {
        // SAFETY: I16: writes only the call's own return address, which is popped by the end of the block on
        // both paths.
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

/// An ordinary branch: on other platforms, in models and Miri, and in the portable and plain builds.
#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(any(loom, miri, lapwing_portable, lapwing_plain))
)))]
mod cpu {
    /// Always false.
    #[inline]
    pub(super) const fn lets_returns_go_elsewhere() -> bool {
        false
    }

    /// `is_found`.
    ///
    /// # Safety
    ///
    /// As in the other module (I16).
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

    /// Values that the compiler keeps on the stack survive, and a panic unwinds.
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
