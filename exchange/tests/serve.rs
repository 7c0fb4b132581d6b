//! The program `exchange serve`, in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use exchange::client;
use exchange::flows::mix::Mix;
use exchange::gateway::wire::Order;
use exchange::types::PackedCommand;

/// How long a test waits for the end of a process.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is killed if it does not end.
struct Server(Child);

impl Server {
    fn start(arguments: &[&str]) -> (Self, BufReader<ChildStdout>) {
        let mut process = Process::new(env!("CARGO_BIN_EXE_exchange"))
            .args(["serve", "--address", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        (Self(process), output)
    }

    /// Waits for the end. Returns whether it was a success, and what the program has complained of.
    fn end(mut self) -> (bool, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "the program does not end");
            thread::sleep(Duration::from_millis(10));
        };
        let mut complaints = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        (status.success(), complaints)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns what follows `name` in the first line that begins with it.
fn value(output: &mut BufReader<ChildStdout>, name: &str) -> String {
    let mut lines = output.by_ref().lines().map(Result::unwrap);
    lines.find_map(|line| line.strip_prefix(name).map(str::to_owned)).expect("there is such a line")
}

fn orders(count: usize) -> Vec<Order> {
    let commands = Mix { accounts: 20, resting: 100, commands: count, ..Mix::default() }.flow();
    let order = |(tag, command)| Order { tag, command: PackedCommand::from(command) };
    (1..).zip(&commands.into_commands()).map(order).collect()
}

#[test]
fn it_ends_by_itself_if_the_disk_fails_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let (server, mut output) = Server::start(&["--folder", path, "--snapshot-every", "100"]);
    let address = value(&mut output, "listening: ");
    fs::remove_dir_all(folder.path().join("snapshots")).unwrap();

    let (mut sender, mut receiver) = client::connect(&*address).unwrap();
    sender.send(&orders(500)).unwrap();
    while receiver.receive().unwrap().is_some() {} // the connection ends
    let (is_success, complaints) = server.end();
    assert!(!is_success);
    assert!(complaints.starts_with("exchange: cannot make a snapshot: "), "{complaints}");
}

#[test]
fn it_ends_with_its_input() {
    let (mut server, mut output) = Server::start(&[]);
    let address = value(&mut output, "listening: ");
    let (mut sender, mut receiver) = client::connect(&*address).unwrap();
    let orders = orders(500);
    sender.send(&orders).unwrap();
    let last = orders.len() as u64;
    while receiver.receive().unwrap().unwrap().tag < last {}
    drop(server.0.stdin.take());
    assert!(value(&mut output, "ended: ").starts_with(&format!("commands={last} hash=")));
    assert_eq!(server.end(), (true, String::new()));
}
