//! The program `exchange serve` in a system that gives it little memory.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::time::Duration;

/// How long a test waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The largest book of all: 2^24 prices, 2^24 orders.
const LARGEST: &str = "1 16777216 16777216";

/// What `ulimit` takes for no limit.
const UNLIMITED: &str = "unlimited";

/// A server that is killed if it does not end.
struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server whose address space has at most so many kilobytes.
    fn start(folder: &Path, limit_kb: &str, arguments: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_exchange");
        let serve = format!("{program} serve --address 127.0.0.1:0 --folder {}", folder.display());
        let mut process = Process::new("bash")
            .args(["-c", &format!("ulimit -v {limit_kb}; exec {serve} {arguments}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    /// Sends lines. Returns as many answers.
    fn ask(&mut self, lines: &[String]) -> Vec<String> {
        let address = self.value("listening: ").expect("the server listens");
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(lines.concat().as_bytes()).unwrap();
        BufReader::new(socket).lines().take(lines.len()).map_while(Result::ok).collect()
    }

    /// Returns what follows `name` in the next line that begins with it.
    fn value(&mut self, name: &str) -> Option<String> {
        let mut lines = self.output.by_ref().lines().map_while(Result::ok);
        lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
    }

    /// Lets it end. Returns whether that was a success, and what it has complained of.
    fn end(mut self) -> (bool, String) {
        drop(self.process.stdin.take());
        let mut complaints = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        (self.process.wait().unwrap().success(), complaints)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn symbols_that_do_not_fit_into_memory_ended_the_exchange_now_and_at_each_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), "3000000", "");
    let lines: Vec<_> = (0..8).map(|symbol| format!("symbol {symbol} {LARGEST}\n")).collect();
    let answers = server.ask(&lines);
    assert_eq!(answers.len(), lines.len(), "{answers:?}, then {:?}", server.end());
    assert!(answers.iter().all(|line| line.contains("memory")), "{answers:?}");
    assert_eq!(server.end(), (true, String::new()));

    let mut server = Server::start(folder.path(), "3000000", "");
    assert_eq!(server.ask(&["symbol 9 1 10 10\n".to_owned()]), ["added symbol 9"]);
    assert_eq!(server.end(), (true, String::new()));
}

#[test]
fn a_recovery_that_finds_no_memory_names_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), UNLIMITED, "--memory 2048");
    let large = "symbol 7 1 4194304 8388608";
    assert_eq!(server.ask(&["account 1\n".to_owned(), format!("{large}\n")]).len(), 2);
    assert_eq!(server.end(), (true, String::new()));

    let server = Server::start(folder.path(), "400000", "");
    let expected = format!(
        "exchange: the exchange cannot recover: command 2 of the journal: `{large}`: the system has \
         no memory for the book: symbol=7; nothing is lost: give the process more memory, and start \
         it again\n"
    );
    assert_eq!(server.end(), (false, expected));

    let mut server = Server::start(folder.path(), UNLIMITED, "");
    assert_eq!(server.ask(&["account 2\n".to_owned()]), ["added account 2"]);
    assert_eq!(server.end(), (true, String::new()));
}

#[test]
fn a_limit_that_the_system_does_not_give_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "1000000", "--memory 2000");
    let (is_success, complaints) = server.end();
    assert!(!is_success);
    assert!(complaints.contains("may use 2000 MiB more"), "{complaints}");

    let mut server = Server::start(folder.path(), "1000000", "--memory 1");
    let answers = server.ask(&["symbol 0 1 10 6000\n".to_owned(), "account 1\n".to_owned()]);
    assert!(answers[0].ends_with("the memory that the operator allows is used up"), "{answers:?}");
    assert_eq!(answers[1], "added account 1");
    assert_eq!(server.end(), (true, String::new()));
}
