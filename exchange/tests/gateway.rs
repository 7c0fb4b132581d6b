//! The gateway over TCP: orders, the line protocol, market data, and clients that misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use exchange::Exchange;
use exchange::client;
use exchange::flows::mix::Mix;
use exchange::gateway::Gateway;
use exchange::gateway::wire::{Answer, Hello, Order};
use exchange::market::{Follower, Levels, Update};
use exchange::plain::PlainExchange;
use exchange::service::{Service, Settings};
use exchange::types::{
    AccountId, Cancel, Command, Limits, NewOrder, OrderId, OrderKind, PackedCommand, Report,
    SelfTrade, Side, SymbolId, SymbolSpec,
};

/// How long a client waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

fn start() -> (Gateway, SocketAddr) {
    let opened = Service::open(Settings::default()).unwrap();
    let gateway = Gateway::start(opened, "127.0.0.1:0").unwrap();
    let address = gateway.address();
    (gateway, address)
}

fn commands(count: usize) -> Vec<Command> {
    Mix { accounts: 20, resting: 100, commands: count, ..Mix::default() }.flow().into_commands()
}

fn orders(commands: &[Command]) -> Vec<Order> {
    let order = |(tag, command)| Order { tag, command: PackedCommand::from(command) };
    (1..).zip(commands).map(order).collect()
}

/// Returns what `run` returns, unless it takes too long.
fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    thread::spawn(move || done.send(run()));
    result.recv_timeout(PATIENCE).expect("an answer must come in time")
}

fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

#[test]
fn a_client_gets_all_answers_even_if_it_sends_no_more() {
    let commands = commands(3_000);
    let (gateway, address) = start();
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    for part in orders(&commands).chunks(100) {
        sender.send(part).unwrap();
    }
    sender.finish().unwrap();
    let mut answers = Vec::new();
    while let Some(answer) = receiver.receive().unwrap() {
        answers.push(answer);
    }
    let mut plain = PlainExchange::default();
    let mut expected = Vec::new();
    for command in &commands {
        plain.apply(command, &mut |report| expected.push(report));
    }
    let reports: Vec<Report> =
        answers.iter().map(|answer| answer.report.unpack().unwrap()).collect();
    assert_eq!(reports, expected);
    let last: Vec<u64> =
        answers.iter().filter(|answer| answer.is_last == 1).map(|a| a.tag).collect();
    assert!(last.iter().copied().eq(1..=commands.len() as u64));
    assert_eq!(gateway.shutdown().unwrap().state(), plain.state());
}

#[test]
fn people_trade_by_lines() {
    let (gateway, address) = start();
    let ask = |lines: &str, answers: usize| -> Vec<String> {
        let mut socket = connect(address);
        socket.write_all(lines.as_bytes()).unwrap();
        let lines = BufReader::new(socket).lines().take(answers);
        lines.map(Result::unwrap).filter(|line| !line.starts_with("level")).collect()
    };
    let set_up = "symbol 1 1 1000 100\naccount 1\naccount 2\ndeposit 10000 1\ndeposit 10000 2\n\
                  limits 100 100 100 100000 1\nlimits 100 100 100 100000 2\n";
    assert_eq!(ask(set_up, 7).len(), 7);
    let told = ask("sell 5 at 100 1 1 1\nbuy 7 at 101 1 2 1\n", 6);
    assert_eq!(
        told,
        [
            "accepted sell 5 at 100 1 1 1",
            "accepted buy 7 at 101 1 2 1",
            "trade 5 at 100 of symbol 1: buy order 1 of account 2, with order 1 of account 1",
        ]
    );
    assert_eq!(ask("cancel 1 2\n", 1), ["error: the line ends before ORDER: line=1"]);
    assert_eq!(
        ask("cancel 1 1 1\n", 1),
        ["rejected order 1 of account 1: the account has no such open order in this book"]
    );
    assert!(ask("help\n", 3)[0].starts_with("buy QUANTITY at PRICE"));
    gateway.shutdown().unwrap();
}

#[test]
fn the_maker_learns_of_a_trade_that_another_session_causes() {
    let (gateway, address) = start();
    let mut maker = connect(address);
    let set_up = "symbol 1 1 1000 100\naccount 1\naccount 2\ndeposit 10000 1\ndeposit 10000 2\n\
                  limits 100 100 100 100000 1\nlimits 100 100 100 100000 2\nsell 5 at 100 1 1 1\n";
    maker.write_all(set_up.as_bytes()).unwrap();
    let mut lines = BufReader::new(maker).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("accepted sell")));
    let mut taker = connect(address);
    taker.write_all(b"buy 5 at 100 1 2 1\n").unwrap();
    assert!(lines.any(|line| line.starts_with("trade 5 at 100")));
    gateway.shutdown().unwrap();
}

#[test]
fn market_data_leads_to_the_levels_of_the_book() {
    let commands = commands(2_000);
    let (gateway, address) = start();
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    let (early, late) = commands.split_at(1_000);
    sender.send(&orders(early)).unwrap();
    while receiver.receive().unwrap().is_some_and(|answer| answer.tag < 1_000) {}
    let mut subscriber = client::subscribe(address, 0).unwrap();
    let (mut subscriber, mut follower) = in_time(move || {
        let mut follower = Follower::new(SymbolId(0));
        while !follower.is_complete() {
            follower.follow(&subscriber.receive().unwrap().unwrap()).unwrap();
        }
        (subscriber, follower)
    });
    assert!(follower.levels().bids().count() > 0, "the snapshot is empty");
    sender.send(&orders(late)).unwrap();
    sender.finish().unwrap();
    while receiver.receive().unwrap().is_some() {}
    let engine = gateway.shutdown().unwrap();

    let mut trades = 0;
    while let Some(answer) = subscriber.receive().unwrap() {
        if let Update::Trade(trade) = follower.follow(&answer).unwrap() {
            // The public learns of no account.
            let told = (trade.maker.account.0, trade.taker.account.0, trade.taker_limit);
            assert_eq!(told, (0, 0, 0));
            trades += 1;
        }
    }
    assert!(trades > 0);
    assert_eq!(*follower.levels(), Levels::of(&engine.state().books[0]));
}

#[test]
fn subscribers_at_any_time_get_the_same_book() {
    let (gateway, address) = start();
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    let orders = orders(&commands(4_000));
    let mut subscribers = Vec::new();
    for part in orders.chunks(100) {
        sender.send(part).unwrap();
        let last = part.last().unwrap().tag;
        while receiver.receive().unwrap().is_some_and(|answer| answer.tag < last) {}
        subscribers.push(client::subscribe(address, 0).unwrap());
    }
    // The last one has its snapshot.
    let first = subscribers.last_mut().unwrap().receive().unwrap().unwrap();
    drop(sender);
    // They read during the shutdown, because the system holds only a part of what they get.
    let mut followers: Vec<_> = subscribers.iter().map(|_| Follower::new(SymbolId(0))).collect();
    followers.last_mut().unwrap().follow(&first).unwrap();
    let following: Vec<_> = subscribers
        .into_iter()
        .zip(followers)
        .map(|(mut subscriber, mut follower)| {
            thread::spawn(move || {
                while let Some(answer) = subscriber.receive().unwrap() {
                    follower.follow(&answer).unwrap();
                }
                follower
            })
        })
        .collect();
    let engine = in_time(move || gateway.shutdown()).unwrap();
    let expected = Levels::of(&engine.state().books[0]);
    for (index, follower) in following.into_iter().enumerate() {
        assert!(*follower.join().unwrap().levels() == expected, "subscriber {index}");
    }
}

#[test]
fn a_subscriber_gets_a_symbol_that_is_added_later() {
    let (gateway, address) = start();
    let mut symbols = client::symbols(address).unwrap();
    let mut early = client::subscribe(address, 7).unwrap();
    let mut operator = connect(address);
    operator.write_all(b"symbol 7 10 20 5\nsymbol 9 1 2 5\n").unwrap();
    let late = move || client::subscribe(address, 7).unwrap();
    let found = in_time(move || {
        let mut next = || match symbols.receive().unwrap().unwrap().report.unpack().unwrap() {
            Report::SymbolAdded(terms) => terms.symbol.0,
            other => panic!("no symbol: {other:?}"),
        };
        let names = [next(), next()];
        (names, early.receive().unwrap().unwrap(), late().receive().unwrap().unwrap())
    });
    let (names, early, late) = found;
    assert_eq!(names, [7, 9]);
    for answer in [early, late] {
        let mut follower = Follower::new(SymbolId(7));
        follower.follow(&answer).unwrap();
        assert!(follower.is_complete());
        assert_eq!(follower.terms().unwrap().highest, 20);
    }
    gateway.shutdown().unwrap();
}

#[test]
fn bytes_without_a_meaning_end_the_session_only() {
    let (gateway, address) = start();
    let mut hello = Hello::orders();
    hello.version = 99;
    let mut order = [0xFF; 40];
    order[..8].copy_from_slice(&1_u64.to_le_bytes());
    for bytes in [
        bytemuck::bytes_of(&hello).to_vec(),
        [bytemuck::bytes_of(&Hello::orders()), &order[..]].concat(),
        vec![b'x'; 100_000],
    ] {
        let mut socket = connect(address);
        // The exchange may close the connection before all is sent.
        let _ = socket.write_all(&bytes);
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest); // ends
    }
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    sender.send(&orders(&commands(0))[..1]).unwrap();
    assert_eq!(receiver.receive().unwrap().unwrap().tag, 1);
    gateway.shutdown().unwrap();
}

#[test]
fn a_client_that_does_not_read_holds_up_no_other() {
    let commands = commands(60_000);
    let (gateway, address) = start();
    let (mut idle, _unread) = client::connect(address).unwrap();
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    for part in orders(&commands).chunks(1_000) {
        // The session ends once too many answers wait.
        if idle.send(part).is_err() {
            break;
        }
    }
    sender.send(&orders(&commands[..1])).unwrap();
    assert_eq!(receiver.receive().unwrap().unwrap().tag, 1);
    drop((idle, sender));
    gateway.shutdown().unwrap();
}

/// A command that every exchange rejects.
fn rejected() -> PackedCommand {
    let cancel = Cancel { account: AccountId(9), symbol: SymbolId(9), order: OrderId(1) };
    PackedCommand::from(&Command::Cancel(cancel))
}

#[test]
fn commands_before_bytes_without_a_meaning_are_answered() {
    let (gateway, address) = start();
    let orders: Vec<Order> = (1..=1000).map(|tag| Order { tag, command: rejected() }).collect();
    let hello = Hello::orders();
    let sent = [bytemuck::bytes_of(&hello), bytemuck::cast_slice(&orders), &[0xFF; 40]].concat();
    let mut socket = connect(address);
    socket.write_all(&sent).unwrap();
    let mut got = Vec::new();
    socket.read_to_end(&mut got).unwrap();
    let line = got.split_off(1000 * size_of::<Answer>());
    let told = "error: command 18446744073709551615: the kind has no meaning: found=255\n";
    assert_eq!(String::from_utf8(line).unwrap(), told);
    assert_eq!(gateway.shutdown().unwrap().state().commands, 1000);
}

#[test]
fn the_session_of_a_subscriber_ends_with_its_stream() {
    let (gateway, address) = start();
    // No change would show that the client has gone: the symbol does not exist.
    for hello in [Hello::market_data(7), Hello::symbols()] {
        let mut socket = connect(address);
        socket.write_all(bytemuck::bytes_of(&hello)).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        assert_eq!(socket.read(&mut [0]).unwrap(), 0);
    }
    gateway.shutdown().unwrap();
}

#[test]
fn a_client_that_keeps_sending_does_not_hold_up_the_shutdown() {
    let (gateway, address) = start();
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    let reading = thread::spawn(move || while let Ok(Some(_)) = receiver.receive() {});
    let sending = thread::spawn(move || {
        let orders = vec![Order { tag: 1, command: rejected() }; 4096];
        while sender.send(&orders).is_ok() {}
    });
    thread::sleep(Duration::from_millis(200)); // the queue of the connection fills up
    in_time(move || gateway.shutdown()).unwrap();
    // A client that waits for space to send learns of the end too.
    in_time(move || sending.join().and(reading.join())).unwrap();
}

#[test]
fn a_snapshot_may_have_more_levels_than_the_queue_of_a_client() {
    const LEVELS: u32 = 200_000;
    let (symbol, account) = (SymbolId(1), AccountId(1));
    let (kind, self_trade) = (OrderKind::Limit, SelfTrade::CancelNewest);
    let order = |price| {
        let order = OrderId(u64::from(price));
        let side = Side::Sell;
        Command::New(NewOrder {
            account,
            order,
            symbol,
            side,
            kind,
            self_trade,
            price,
            quantity: 1,
        })
    };
    let mut commands = vec![
        Command::AddSymbol(SymbolSpec { symbol, lowest: 1, highest: LEVELS, max_orders: LEVELS }),
        Command::AddAccount(account),
        Command::SetLimits(account, Limits::UNLIMITED),
    ];
    commands.extend((1..=LEVELS).map(order));

    let (gateway, address) = start();
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    let total = commands.len() as u64;
    let answered = thread::spawn(move || {
        while receiver.receive().unwrap().is_some_and(|answer| answer.tag < total) {}
        receiver
    });
    sender.send(&orders(&commands)).unwrap();
    let _open = answered.join().unwrap();
    let mut subscriber = client::subscribe(address, symbol.0).unwrap();
    thread::sleep(Duration::from_millis(300)); // the client reads late
    let mut follower = Follower::new(symbol);
    // The symbol and its levels. The stage of market data may be behind that of answers, and then
    // the last ones are changes.
    for _ in 0..=LEVELS {
        follower.follow(&subscriber.receive().unwrap().unwrap()).unwrap();
    }
    let engine = gateway.shutdown().unwrap();
    assert!(*follower.levels() == Levels::of(&engine.state().books[0]), "the levels differ");
}

const SET_UP: &str = "symbol 1 1 1000 100\naccount 1\naccount 2\ndeposit 100000 1\ndeposit 100000 2\n\
                      limits 100 100 100 100000 1\nlimits 100 100 100 100000 2\n";

/// Sends lines on a connection of their own. Returns it once all are answered, by a line each.
fn say(address: SocketAddr, lines: &str) -> TcpStream {
    let mut socket = connect(address);
    socket.write_all(lines.as_bytes()).unwrap();
    let told = BufReader::new(&socket).lines().take(lines.lines().count());
    assert_eq!(told.map(Result::unwrap).count(), lines.lines().count());
    socket
}

fn new_order(order: u64, price: u32) -> Order {
    let command = Command::New(NewOrder {
        account: AccountId(1),
        order: OrderId(order),
        symbol: SymbolId(1),
        side: Side::Sell,
        kind: OrderKind::Limit,
        self_trade: SelfTrade::CancelNewest,
        price,
        quantity: 5,
    });
    Order { tag: order, command: PackedCommand::from(&command) }
}

/// The prices of the asks that rest in the book.
fn asks(gateway: Gateway) -> Vec<u32> {
    let engine = in_time(move || gateway.shutdown()).unwrap();
    Levels::of(&engine.state().books[0]).asks().map(|level| level.price).collect()
}

#[test]
fn open_orders_are_cancelled_when_a_session_ends_that_asked_for_it() {
    let (gateway, address) = start();
    say(address, SET_UP);
    let mut market = client::subscribe(address, 1).unwrap();
    let (mut plain, mut plain_answers) = client::connect(address).unwrap();
    plain.send(&[new_order(1, 101)]).unwrap();
    plain_answers.receive().unwrap().unwrap();
    let (mut asking, mut answers) = client::connect_and_cancel(address).unwrap();
    let orders: Vec<_> = (2..=4).map(|order| new_order(order, 100 + order as u32)).collect();
    asking.send(&orders).unwrap();
    while answers.receive().unwrap().unwrap().tag < 4 {}
    // Orders 1 and 2 trade, the one at 104 is cancelled by another session.
    say(address, "buy 8 at 102 1 2 1\ncancel 1 1 4\n");
    drop((asking, answers));
    let mut follower = Follower::new(SymbolId(1));
    in_time(move || {
        // The last one that is gone is the one at 103.
        let has_gone = |follower: &Follower| {
            let prices: Vec<_> = follower.levels().asks().map(|level| level.price).collect();
            follower.is_complete() && !prices.contains(&103)
        };
        let mut was_there = false;
        while !(was_there && has_gone(&follower)) {
            follower.follow(&market.receive().unwrap().unwrap()).unwrap();
            was_there |= follower.levels().asks().any(|level| level.price == 103);
        }
    });
    // It has not asked for it.
    plain.send(&[new_order(9, 109)]).unwrap();
    plain_answers.receive().unwrap().unwrap();
    drop((plain, plain_answers));
    assert_eq!(asks(gateway), [109]);
}

#[test]
fn a_client_that_has_finished_gets_the_cancellations_of_its_orders() {
    let (gateway, address) = start();
    say(address, SET_UP);
    let (mut sender, mut receiver) = client::connect_and_cancel(address).unwrap();
    sender.send(&[new_order(1, 101), new_order(2, 102)]).unwrap();
    sender.finish().unwrap();
    let reports = in_time(move || {
        let answers = std::iter::from_fn(|| receiver.receive().unwrap());
        answers.map(|answer| (answer.tag, answer.report.unpack().unwrap())).collect::<Vec<_>>()
    });
    let cancelled = reports.iter().filter_map(|(tag, report)| match report {
        Report::Cancelled(order, _) => Some((*tag, order.id.order.0)),
        _ => None,
    });
    assert_eq!(cancelled.collect::<Vec<_>>(), [(0, 1), (0, 2)]);
    assert!(asks(gateway).is_empty());
}

#[test]
fn a_shutdown_cancels_the_orders_of_sessions_that_asked_for_it() {
    let (gateway, address) = start();
    say(address, SET_UP);
    let _open = say(address, "cancel-on-disconnect\nsell 5 at 101 1 1 1\n");
    let late = say(address, "sell 5 at 102 1 1 2\ncancel-on-disconnect\n");
    drop(late);
    assert_eq!(asks(gateway), [102]);
}
