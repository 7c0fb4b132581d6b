//! The command as a user runs it: what it refuses, and the process of the busy threads.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time that a process may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

fn quick() -> Command {
    Command::new(env!("CARGO_BIN_EXE_lapwing-quick"))
}

#[test]
fn arguments_are_refused_with_the_command_of_the_laboratory() {
    let output = quick().arg("throughput").output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("cargo run --release -p lapwing-lab -- throughput"), "{complaint}");
}

#[test]
fn busy_threads_end_when_their_input_closes() {
    let mut command = quick();
    command.args(["--busy-threads", "1"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut started = [0];
    child.stdout.take().expect("it is a pipe").read_exact(&mut started).expect("it says so");
    assert!(child.try_wait().expect("it is ours").is_none(), "it ends while its input is open");

    drop(child.stdin.take());
    let since = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        assert!(since.elapsed() < PATIENCE, "it does not end");
        thread::sleep(Duration::from_millis(1));
    }
}
