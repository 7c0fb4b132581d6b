//! The exchange as a program, and its example `order_flow`, as a user runs them. `cargo test -p exchange` builds the
//! example; a single test program does not.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Runs `command`, which succeeds, and returns what it prints.
fn printed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the program is built");
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}\n{error}");
    out.into_owned()
}

fn order_flow() -> Command {
    let test = env::current_exe().expect("the system knows this program");
    let profile = test.ancestors().nth(2).expect("it is in the folder `deps`");
    Command::new(profile.join("examples/order_flow"))
}

/// It serves commands over TCP, is killed under load, recovers, goes on, and must have the reports, the market data and the
/// state of a plain exchange. This cannot show a missing sync, because a process that is killed loses nothing that it has
/// written: `power_cut` shows that.
#[test]
fn a_killed_exchange_recovers_and_has_what_a_plain_one_has() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_exchange"));
    printed(command.args(["check", "--seconds", "4", "--rate", "2000"]));
}

#[test]
fn order_flow_runs_on_generated_orders() {
    assert!(printed(&mut order_flow()).ends_with("\nidentical\n"));
}

/// Recorded orders are not part of the project. `LAPWING_DATA` names the folder of the files.
#[test]
fn order_flow_runs_on_recorded_orders() {
    let Some(folder) = env::var_os("LAPWING_DATA").map(PathBuf::from) else { return };
    for file in fs::read_dir(folder).expect("the folder can be read") {
        let path = file.expect("it can be read").path();
        if path.to_string_lossy().contains("_message_") {
            printed(order_flow().arg(path));
        }
    }
}
