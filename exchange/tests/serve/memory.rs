//! What the sessions of clients cost.

use std::fs;

use exchange::client;
use exchange::gateway::wire::Order;
use exchange::types::{
    AccountId, Command, Limits, NewOrder, OrderId, OrderKind, PackedCommand, SelfTrade, Side,
    SymbolId, SymbolSpec,
};

use super::server::{Server, ask, in_the_end, rejected};

/// Returns a value of `/proc/PID/status`, in bytes.
fn memory(server: &Server, name: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let value = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    value.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

#[test]
fn a_session_that_waits_takes_tens_of_kilobytes() {
    const SESSIONS: usize = 100;
    let server = Server::start(&[]);
    server.ask().unwrap();
    let before = memory(&server, "VmRSS");
    let clients = [(); SESSIONS].map(|()| {
        let (mut sender, mut receiver) = client::connect(&*server.address).unwrap();
        ask(&mut sender, &mut receiver).unwrap();
        (sender, receiver)
    });
    let each = (memory(&server, "VmRSS") - before) / SESSIONS;
    assert!(each < 100 << 10, "{each} bytes for each session");
    drop(clients);
}

/// Commands that open a book with one order at each price.
fn book(levels: u32) -> Vec<Order> {
    let (symbol, account) = (SymbolId(1), AccountId(1));
    let mut commands = vec![
        Command::AddSymbol(SymbolSpec { symbol, lowest: 1, highest: levels, max_orders: levels }),
        Command::AddAccount(account),
        Command::SetLimits(account, Limits::UNLIMITED),
    ];
    commands.extend((1..=levels).map(|price| {
        Command::New(NewOrder {
            account,
            order: OrderId(u64::from(price)),
            symbol,
            side: Side::Sell,
            kind: OrderKind::Limit,
            self_trade: SelfTrade::CancelNewest,
            price,
            quantity: 1,
        })
    }));
    let order = |(tag, command)| Order { tag, command: PackedCommand::from(command) };
    (1..).zip(&commands).map(order).collect()
}

/// Sends commands and waits for their answers.
fn carry_out(server: &Server, orders: &[Order]) {
    let (mut sender, mut receiver) = client::connect(&*server.address).unwrap();
    for part in orders.chunks(1_000) {
        sender.send(part).unwrap();
        let last = part.last().unwrap().tag;
        while receiver.receive().unwrap().unwrap().tag < last {}
    }
}

#[test]
fn subscribers_share_the_records_of_a_snapshot() {
    const LEVELS: usize = 50_000;
    const SUBSCRIBERS: usize = 20;
    let server = Server::start(&[]);
    carry_out(&server, &book(LEVELS as u32));
    let before = memory(&server, "VmHWM");
    // They do not read, so that each snapshot waits.
    let subscribers = [(); SUBSCRIBERS].map(|()| client::subscribe(&*server.address, 1).unwrap());
    let mut symbols = client::symbols(&*server.address).unwrap();
    symbols.receive().unwrap().unwrap(); // the stage has served all before it
    in_the_end("the snapshots are under way", || (memory(&server, "VmHWM") > before).then_some(()));
    let snapshot = LEVELS * 80;
    let all = memory(&server, "VmHWM") - before;
    // They share it, and the records that they get would alone take this.
    assert!(all < snapshot, "{all} bytes for {SUBSCRIBERS} subscribers");
    drop(subscribers);
}

/// Commands of any client made the next subscriber's snapshot a new one.
#[test]
fn subscribers_that_do_not_read_held_a_snapshot_each() {
    const LEVELS: usize = 20_000;
    const SUBSCRIBERS: usize = 8;
    let server = Server::start(&[]);
    carry_out(&server, &book(LEVELS as u32));
    let probes: Vec<_> = (1..=10_001).map(|tag| Order { tag, ..rejected() }).collect();
    let before = memory(&server, "VmHWM");
    let mut subscribers = Vec::new();
    for _ in 0..SUBSCRIBERS {
        carry_out(&server, &probes);
        subscribers.push(client::subscribe(&*server.address, 1).unwrap());
        let mut symbols = client::symbols(&*server.address).unwrap();
        symbols.receive().unwrap().unwrap(); // the stage has served all before it
    }
    let all = memory(&server, "VmHWM") - before;
    assert!(all < 3 * LEVELS * 80, "{all} bytes for {SUBSCRIBERS} subscribers");

    // The last one gets a snapshot of its own once the others are gone.
    let mut last = subscribers.pop().unwrap();
    drop(subscribers);
    let mut count = 1;
    while last.receive().unwrap().unwrap().is_last == 0 {
        count += 1;
    }
    assert_eq!(count, LEVELS + 1);
}
