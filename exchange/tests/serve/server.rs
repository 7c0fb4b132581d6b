//! `exchange serve` in a process of its own, and what a test does to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use exchange::client::{AnswerReceiver, OrderSender};
use exchange::flows::mix::Mix;
use exchange::gateway::wire::{Answer, Hello, Order};
use exchange::types::{AccountId, Cancel, Command, OrderId, PackedCommand, SymbolId};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is killed if it does not end.
pub(crate) struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::spawn(program().args(arguments).stdin(Stdio::piped()))
    }

    /// Starts it with a limit of file descriptors.
    pub(crate) fn start_limited(descriptors: u32, arguments: &[&str]) -> Self {
        let mut shell = Process::new("sh");
        shell.args(["-c", &format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"")]);
        let program = program();
        shell.arg(program.get_program()).args(program.get_args());
        Self::spawn(shell.args(arguments).stdin(Stdio::piped()))
    }

    pub(crate) fn spawn(process: &mut Process) -> Self {
        let process = process.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = process.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut server = Self { process, output, address: String::new() };
        server.address = server.value("listening: ");
        server
    }

    /// Returns what follows `name` in the next line that begins with it.
    pub(crate) fn value(&mut self, name: &str) -> String {
        let mut lines = self.output.by_ref().lines().map(Result::unwrap);
        let found = lines.find_map(|line| line.strip_prefix(name).map(str::to_owned));
        found.expect("there is such a line")
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    pub(crate) fn close_input(&mut self) {
        drop(self.process.stdin.take());
    }

    /// Lets nothing read what it complains of.
    pub(crate) fn close_complaints(&mut self) {
        drop(self.process.stderr.take());
    }

    /// Waits for the end. Returns whether it was a success, and what the program has complained of.
    pub(crate) fn end(mut self) -> (bool, String) {
        let begun = Instant::now();
        while self.is_running() {
            assert!(begun.elapsed() < PATIENCE, "the program does not end");
            thread::sleep(Duration::from_millis(10));
        }
        let mut complaints = String::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            stderr.read_to_string(&mut complaints).unwrap();
        }
        (self.process.wait().unwrap().success(), complaints)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    /// Sends a command on a new connection. Returns an error if the session is not served.
    pub(crate) fn ask(&self) -> io::Result<()> {
        let mut socket = self.connect();
        socket.set_read_timeout(Some(PATIENCE / 10))?;
        socket.write_all(bytemuck::bytes_of(&Hello::orders()))?;
        socket.write_all(bytemuck::bytes_of(&rejected()))?;
        socket.read_exact(&mut [0; size_of::<Answer>()])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program with the arguments of all tests.
pub(crate) fn program() -> Process {
    let mut process = Process::new(env!("CARGO_BIN_EXE_exchange"));
    process.args(["serve", "--address", "127.0.0.1:0"]);
    process
}

/// Sends a command that is rejected. Returns its answer.
pub(crate) fn ask(sender: &mut OrderSender, receiver: &mut AnswerReceiver) -> io::Result<Answer> {
    sender.send(&[rejected()])?;
    receiver.receive()?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// A command that is rejected.
pub(crate) fn rejected() -> Order {
    let cancel = Cancel { account: AccountId(9), symbol: SymbolId(9), order: OrderId(1) };
    Order { tag: 1, command: PackedCommand::from(&Command::Cancel(cancel)) }
}

pub(crate) fn orders(count: usize) -> Vec<Order> {
    let commands = Mix { accounts: 20, resting: 100, commands: count, ..Mix::default() }.flow();
    let order = |(tag, command)| Order { tag, command: PackedCommand::from(command) };
    (1..).zip(&commands.into_commands()).map(order).collect()
}

/// Tries again until it works.
pub(crate) fn in_the_end<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
