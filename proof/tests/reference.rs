//! Does the ring do what the sequential model does, for every script?
//!
//! `PROPTEST_CASES=100000` runs more scripts than the quick form. A failure prints the shortest
//! script that fails, and its seed is kept in `proof/tests/reference.proptest-regressions`, which
//! belongs into the repository.

use lapwing_proof::cases;
use lapwing_proof::one_thread::{driver, script};
use proptest::prelude::*;

/// Scripts of the quick form.
const SCRIPTS: u32 = 2_000;

fn config() -> ProptestConfig {
    ProptestConfig { max_shrink_iters: 100_000, ..cases(SCRIPTS) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_ring_does_what_the_model_does(script in script::scripts(80)) {
        driver::run(&script);
    }
}
