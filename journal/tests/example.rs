//! The example of the journal runs to its end. `cargo test -p lapwing-journal` builds it; a single test program does not.

use std::env;
use std::process::Command;

#[test]
#[cfg_attr(miri, ignore = "runs another program")]
fn durable_ledger_runs_to_its_end() {
    let test = env::current_exe().expect("the system knows this program");
    let profile = test.ancestors().nth(2).expect("it is in the folder `deps`");
    let status = Command::new(profile.join("examples/durable_ledger")).status();
    assert!(status.expect("the example is built").success());
}
