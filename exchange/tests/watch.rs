//! `exchange watch`, beside an exchange in this process.

use std::net::{SocketAddr, TcpListener};
use std::process::{Command as Process, Output, Stdio};
use std::thread;

use exchange::Exchange;
use exchange::client;
use exchange::flows::mix::Mix;
use exchange::gateway::Gateway;
use exchange::gateway::wire::Order;
use exchange::market::Levels;
use exchange::plain::PlainExchange;
use exchange::service::{Service, Settings};
use exchange::types::{Command, PackedCommand, SymbolId};
use exchange::view::{Screen, View};

fn start() -> (Gateway, SocketAddr) {
    let opened = Service::open(Settings::default()).unwrap();
    let gateway = Gateway::start(opened, "127.0.0.1:0").unwrap();
    let address = gateway.address();
    (gateway, address)
}

fn commands(count: usize) -> Vec<Command> {
    Mix { accounts: 20, resting: 200, commands: count, ..Mix::default() }.flow().into_commands()
}

/// Sends commands, and waits for all answers.
fn send(address: SocketAddr, commands: &[Command]) {
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    let order = |(tag, command)| Order { tag, command: PackedCommand::from(command) };
    let orders: Vec<_> = (1..).zip(commands).map(order).collect();
    for part in orders.chunks(100) {
        sender.send(part).unwrap();
    }
    sender.finish().unwrap();
    while receiver.receive().unwrap().is_some() {}
}

fn watch(arguments: &[&str]) -> Output {
    let mut process = Process::new(env!("CARGO_BIN_EXE_exchange"));
    process.arg("watch").args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The lines of the book of a screen, without what stands beside it.
fn book(screen: &str) -> Vec<String> {
    let lines = screen.lines().skip(1).take(22);
    lines.map(|line| line.chars().take(50).collect()).collect()
}

#[test]
fn the_view_has_the_book_of_the_engine() {
    let (gateway, address) = start();
    let all = commands(3_000);
    let (early, late) = all.split_at(1_000);
    send(address, early);
    let mut market = client::subscribe(address, 0).unwrap();
    let mut view = View::new(address.to_string(), SymbolId(0));
    while !view.follower().is_complete() {
        view.follow(&market.receive().unwrap().unwrap()).unwrap();
    }
    send(address, late);
    let once = watch(&[&address.to_string(), "--once"]);
    let engine = gateway.shutdown().unwrap();
    while let Some(answer) = market.receive().unwrap() {
        view.follow(&answer).unwrap();
    }
    let expected = Levels::of(&engine.state().books[0]);
    assert_eq!(*view.follower().levels(), expected);
    assert_eq!(view.gaps(), 0);

    let printed = String::from_utf8(once.stdout).unwrap();
    let complaints = String::from_utf8(once.stderr).unwrap();
    assert!(once.status.success(), "{complaints}");
    assert_eq!(book(&printed), book(&Screen::new(&view, false).to_text()));
    assert!(printed.starts_with(&format!(" {address}   symbol 0 (1 of 1)")), "{printed}");
    assert!(!printed.contains("│ probes                   0 │"), "{printed}");
    // Probes are commands, and change nothing.
    let mut plain = PlainExchange::default();
    all.iter().for_each(|command| plain.apply(command, &mut |_| {}));
    let (state, expected) = (engine.state(), plain.state());
    assert!(state.commands >= expected.commands + 10);
    assert_eq!((state.accounts, state.books), (expected.accounts, expected.books));
}

#[test]
fn without_probes_it_sends_no_command() {
    let (gateway, address) = start();
    send(address, &commands(100));
    let before = commands(100).len() as u64;
    let once = watch(&[&address.to_string(), "--once", "--probes", "0"]);
    let printed = String::from_utf8(once.stdout).unwrap();
    assert!(printed.contains("│ probes                   0 │"), "{printed}");
    assert_eq!(gateway.shutdown().unwrap().state().commands, before);
}

#[test]
fn it_says_why_it_shows_nothing() {
    let (gateway, address) = start();
    let address = address.to_string();
    let refused = watch(&[&address]);
    let complaint = "exchange: input or output is no terminal: --once prints one screen as text\n";
    assert_eq!(String::from_utf8(refused.stderr).unwrap(), complaint);
    assert!(!refused.status.success());
    gateway.shutdown().unwrap();

    let lost = watch(&[&address, "--once"]);
    let complaint = String::from_utf8(lost.stderr).unwrap();
    assert!(complaint.starts_with("exchange: cannot connect to 127.0.0.1:"), "{complaint}");
    assert!(!lost.status.success());
    assert!(lost.stdout.is_empty());

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || listener.incoming().for_each(drop)); // closes each connection
    let lost = watch(&[&address, "--once"]);
    let complaint = String::from_utf8(lost.stderr).unwrap();
    assert!(complaint.starts_with("exchange: connection lost: "), "{complaint}");
    assert!(!complaint.contains("again"), "{complaint}");
}
