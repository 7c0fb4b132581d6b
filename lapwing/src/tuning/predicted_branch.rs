//! The CPU's prediction of a poll: that it finds something. The feature `predicted-branch`.
//!
//! A consumer that polls finds nothing nearly always, and that is what a CPU learns of a branch. So the one poll that does find
//! something is mispredicted: the CPU begins with the handler only when the line has come, though it had time for that while it
//! waited for the line.
//!
//! Here the branch is a return. A CPU predicts of a return that it goes behind its call, whatever came of the last one. That
//! place is where something was found, so after each poll the CPU goes there without a wait, through the user's code and up to
//! the stores of the answer, which it holds back until the line is there. If nothing was found, the return goes elsewhere, and
//! all that is thrown away: 9 ns on an EPYC (Zen 4), of a thread that has nothing else to do.
//!
//! ```text
//!         poll
//!         call ───────────────┐
//!   found: <── predicted ──┐  │        the return address: `found`, or `missed` if nothing was
//!                          │  v
//!  missed: <────────────── return
//! ```
//!
//! To the program this is a branch. What the CPU does ahead changes nothing but its caches.
//!
//! Worth (`perf/results/experiments.md`, "A look that the CPU presumes to find something"): a lone event 1.12 to 1.3 on an EPYC (Zen 4) where
//! CPUs share a cache, 0.95 to 1.05 where they do not. Hence a feature, and off by default.
//!
//! Only where it was measured, which is Linux on x86-64. Elsewhere, and where the system compares return addresses with a second
//! copy of them (a shadow stack), it is an ordinary branch.

use std::marker::PhantomData;

/// The right to have the CPU predict, if it is there: that of one thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prediction {
    is_possible: bool,
    thread: PhantomData<*const ()>,
}

impl Prediction {
    /// None: a plain branch.
    pub(crate) const NONE: Self = Self { is_possible: false, thread: PhantomData };

    /// For the calling thread, now.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { is_possible: cpu::lets_returns_go_elsewhere(), ..Self::NONE }
    }

    /// `is_found`, which the CPU predicts to be true. Of use only where that is no branch already.
    #[inline(always)]
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
    #[inline(always)]
    pub(super) fn lets_returns_go_elsewhere() -> bool {
        let shadow_stack: u64;
        // SAFETY: I16: reads where the shadow stack ends. Without one, and on CPUs that know of none, it does nothing (Intel SDM
        // 2B, RDSSPQ).
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

    /// Instructions that do nothing, behind a look. That it was in vain is known some twelve cycles after it. A CPU that has come
    /// to the stores of the answer by then seems to have asked for their lines, and so takes them from whoever looks for that
    /// answer, at each look in vain. With these it comes there only while the line of the look is on its way, which is when to
    /// ask. See `perf/results/experiments.md`.
    const FILL: usize = 40;

    /// `is_found`, by a return.
    ///
    /// # Safety
    ///
    /// The calling thread lets returns go elsewhere (I16).
    #[inline(always)]
    pub(super) unsafe fn predicted(is_found: bool) -> bool {
        // SAFETY: I16: the call's own return address is the only thing that is written, and gone when the block ends, either way.
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
                // A label that the compiler knows may be reached by a direct jump alone.
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

/// Nothing is known of returns here, or it is not asked for, or the program is checked and not timed.
#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(any(loom, miri, lapwing_portable, lapwing_plain))
)))]
mod cpu {
    /// No.
    #[inline(always)]
    pub(super) const fn lets_returns_go_elsewhere() -> bool {
        false
    }

    /// `is_found`.
    ///
    /// # Safety
    ///
    /// As where it does something (I16).
    #[inline(always)]
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

    /// What the compiler keeps on the stack is there afterwards, and a panic finds its way.
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
