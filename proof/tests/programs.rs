//! Does each consumer of a program with threads see what the model says?
//!
//! `PROPTEST_CASES=100000` runs more programs than the quick form. A failure prints the smallest
//! program that fails, and its seed is kept in `proof/tests/programs.proptest-regressions`. A
//! program that hangs is halted, and then made smaller too; if a halt does not help, the process
//! prints it and aborts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lapwing_proof::cases;
use lapwing_proof::threads::{check, programs};
use proptest::prelude::*;

/// Programs of the quick form.
const PROGRAMS: u32 = 800;
/// Runs of a smaller program before it counts as right: threads take turns at random.
const REPEATS: u32 = 30;
/// Time without progress that makes a hang, and the same while a failure is made smaller.
const PATIENCE: Duration = Duration::from_secs(20);
const PATIENCE_WITH_SMALLER: Duration = Duration::from_secs(3);

fn config() -> ProptestConfig {
    ProptestConfig { max_shrink_iters: 10_000, max_shrink_time: 120_000, ..cases(PROGRAMS) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_consumer_sees_what_the_model_says(program in programs()) {
        static HAS_FAILED: AtomicBool = AtomicBool::new(false);
        let (repeats, patience) = match HAS_FAILED.load(Ordering::Relaxed) {
            false => (1, PATIENCE),
            true => (REPEATS, PATIENCE_WITH_SMALLER),
        };
        for _ in 0..repeats {
            if let Err(wrong) = check(&program, patience) {
                HAS_FAILED.store(true, Ordering::Relaxed);
                return Err(TestCaseError::fail(wrong));
            }
        }
    }
}
