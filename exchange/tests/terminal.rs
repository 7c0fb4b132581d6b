//! `exchange watch` in a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use exchange::client;
use exchange::gateway::Gateway;
use exchange::gateway::wire::Order;
use exchange::service::{Service, Settings};
use exchange::types::{Command, PackedCommand, SymbolId, SymbolSpec};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program in a terminal of 80 columns and 24 lines, as the parser has.
struct Watch {
    process: Child,
    terminal: File,
    output: Receiver<Vec<u8>>,
    shown: vt100::Parser,
}

impl Watch {
    fn start(arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_col: 80, ws_row: 24, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let end = || {
            let file = File::options().read(true).write(true).open(&path).unwrap();
            Stdio::from(OwnedFd::from(file))
        };
        let mut process = Process::new(env!("CARGO_BIN_EXE_exchange"));
        process.arg("watch").args(arguments).env("TERM", "xterm");
        let process = process.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let terminal = File::from(master);
        let output = read_all(terminal.try_clone().unwrap());
        Self { process, terminal, output, shown: vt100::Parser::default() }
    }

    fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen has `text`.
    fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contents().contains(text));
    }

    fn wait_until(&mut self, what: &str, is_true: impl Fn(&vt100::Screen) -> bool) {
        let begun = Instant::now();
        while !is_true(self.shown.screen()) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.shown.process(&bytes),
                Err(error) => panic!("{error}: no {what}:\n{}", self.shown.screen().contents()),
            }
        }
    }

    /// Waits for the end. The terminal is as it was before.
    fn end(mut self) {
        self.wait_until("usual screen", |screen| !screen.alternate_screen());
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "the program does not end");
            thread::yield_now();
        };
        assert!(status.success(), "{status}");
        assert!(self.has_lines());
    }

    /// Whether the terminal hands over whole lines and shows what is typed.
    fn has_lines(&self) -> bool {
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads from a thread, until no program has the terminal.
fn read_all(mut terminal: File) -> Receiver<Vec<u8>> {
    let (sender, output) = channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    output
}

/// An exchange with the symbols 1 and 4.
fn start() -> Gateway {
    let opened = Service::open(Settings::default()).unwrap();
    let gateway = Gateway::start(opened, "127.0.0.1:0").unwrap();
    let (mut sender, mut receiver) = client::connect(gateway.address()).unwrap();
    for symbol in [1, 4] {
        let symbol = SymbolId(symbol);
        let spec = SymbolSpec { symbol, lowest: 1, highest: 100, max_orders: 10 };
        let command = PackedCommand::from(&Command::AddSymbol(spec));
        sender.send(&[Order { tag: 1, command }]).unwrap();
    }
    sender.finish().unwrap();
    while receiver.receive().unwrap().is_some() {}
    gateway
}

#[test]
fn keys_select_pause_and_quit() {
    let gateway = start();
    let mut watch = Watch::start(&[&gateway.address().to_string(), "--symbol", "1"]);
    watch.wait_for("symbol 1 (1 of 2)   prices 1 to 100 ");
    assert!(!watch.has_lines());
    watch.press("p");
    watch.wait_for("paused");
    watch.press("p");
    watch.wait_for("live");
    watch.press("\x1b[C"); // right
    watch.wait_for("symbol 4 (2 of 2)   prices 1 to 100 ");
    watch.press("\x1b[C");
    watch.wait_for("symbol 1 (1 of 2)   prices 1 to 100 ");
    watch.press("q");
    watch.end();
    gateway.shutdown().unwrap();
}

#[test]
fn a_lost_connection_is_shown_until_there_is_a_new_one() {
    let gateway = start();
    let address = gateway.address();
    let mut watch = Watch::start(&[&address.to_string(), "--symbol", "1"]);
    watch.wait_for("live");
    gateway.shutdown().unwrap();
    watch.wait_for("connection lost: ");
    let opened = Service::open(Settings::default()).unwrap();
    let gateway = Gateway::start(opened, address).unwrap();
    let is_back = |screen: &vt100::Screen| !screen.contents().contains("connection lost: ");
    watch.wait_until("new connection", is_back);
    watch.press("\x03"); // Ctrl-C
    watch.end();
    gateway.shutdown().unwrap();
}
