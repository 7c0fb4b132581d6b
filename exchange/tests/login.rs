//! Sessions log in: each command of each account, sent by each session.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use exchange::Exchange;
use exchange::client::{self, AnswerReceiver, OrderSender};
use exchange::gateway::wire::{Answer, Hello, Order};
use exchange::gateway::{Actor, Gateway, GatewayError, Login, Secret, Settings};
use exchange::plain::PlainExchange;
use exchange::service::{self, Service};
use exchange::types::{
    AccountId, Cancel, Command, Deposit, Limits, NewOrder, OrderId, OrderKind, PackedCommand,
    Reason, Replace, Report, Request, Resting, SelfTrade, Side, SymbolId, SymbolSpec,
};

/// How long a client waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

const ACCOUNTS: [AccountId; 3] = [AccountId(1), AccountId(2), AccountId(3)];
const SYMBOL: SymbolId = SymbolId(1);

/// Which sessions may send a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    OwnerAndOperator,
    Operator,
    Nobody,
}

/// The table: a new request does not compile without a line.
fn allowed(request: Request) -> Allowed {
    match request {
        Request::New | Request::Cancel | Request::Replace => Allowed::OwnerAndOperator,
        Request::AddSymbol | Request::AddAccount | Request::Deposit | Request::SetLimits => {
            Allowed::Operator
        }
        Request::SetMemory => Allowed::Nobody,
    }
}

/// Whether a session may send a command of this kind for an account.
fn may(actor: Actor, request: Request, account: AccountId) -> bool {
    match (allowed(request), actor) {
        (Allowed::OwnerAndOperator, Actor::Account(own)) => own == account,
        (Allowed::OwnerAndOperator | Allowed::Operator, Actor::Operator) => true,
        (Allowed::Operator, Actor::Account(_)) | (Allowed::Nobody, _) => false,
    }
}

/// Returns a book, and accounts with an order each.
fn set_up() -> Vec<Command> {
    let (symbol, lowest, highest, max_orders) = (SYMBOL, 1, 10, 1_000);
    let mut commands = vec![Command::AddSymbol(SymbolSpec { symbol, lowest, highest, max_orders })];
    for account in ACCOUNTS {
        commands.extend([
            Command::AddAccount(account),
            Command::Deposit(Deposit { account, amount: 1_000_000 }),
            Command::SetLimits(account, LIMITS),
            example(Request::New, account, 1),
        ]);
    }
    commands
}

/// Returns all requests. Each command is one: see `Report::rejected`.
fn requests() -> Vec<Request> {
    (0..=u8::MAX).filter_map(|byte| bytemuck::checked::try_cast(byte).ok()).collect()
}

/// Returns a command of this kind for an account. `number` is above all earlier ones.
fn example(request: Request, account: AccountId, number: u32) -> Command {
    let (symbol, self_trade) = (SYMBOL, SelfTrade::CancelNewest);
    let order = OrderId(u64::from(number));
    // The first order of each account rests.
    let resting = OrderId(1);
    match request {
        Request::New => {
            let (kind, side, price, quantity) = (OrderKind::Limit, Side::Buy, 5, 1);
            Command::New(NewOrder {
                account,
                order,
                symbol,
                side,
                kind,
                self_trade,
                price,
                quantity,
            })
        }
        Request::Cancel => Command::Cancel(Cancel { account, order: resting, symbol }),
        Request::Replace => {
            let (order, kind, price, quantity) = (resting, Resting::Limit, 6, 10 + number);
            let replace = Replace { account, order, symbol, kind, self_trade, price, quantity };
            Command::Replace(replace)
        }
        Request::AddSymbol => {
            let (symbol, lowest, highest, max_orders) = (SymbolId(number), 1, 10, 10);
            Command::AddSymbol(SymbolSpec { symbol, lowest, highest, max_orders })
        }
        Request::AddAccount => Command::AddAccount(AccountId(account.0 + 10 * number)),
        Request::Deposit => Command::Deposit(Deposit { account, amount: -1 }),
        Request::SetLimits => Command::SetLimits(account, Limits { max_order: number, ..LIMITS }),
        Request::SetMemory => Command::SetMemory(0),
    }
}

const LIMITS: Limits = Limits { max_order: u32::MAX, ..Limits::UNLIMITED };

/// The secrets of a gateway, as its clients have them.
struct Keys(HashMap<Actor, Secret>);

impl Keys {
    /// Makes a secret for the operator and for each account, and the file of the exchange.
    fn make(file: &Path) -> Self {
        let actors = ACCOUNTS.map(Actor::Account).into_iter().chain([Actor::Operator]);
        let keys: HashMap<_, _> =
            actors.map(|actor| (actor, Secret::generate().unwrap())).collect();
        let line = |(actor, secret): (&Actor, &Secret)| format!("{actor} {}\n", secret.hash_hex());
        std::fs::write(file, keys.iter().map(line).collect::<String>()).unwrap();
        Self(keys)
    }

    fn login(&self, actor: Actor) -> Login {
        Login { actor, secret: self.0[&actor] }
    }
}

fn start(file: &Path) -> (Gateway, SocketAddr) {
    let mut settings = Settings::default();
    settings.secrets = Some(file.to_owned());
    let opened = Service::open(service::Settings::default()).unwrap();
    let gateway = Gateway::start_with(opened, "127.0.0.1:0", settings).unwrap();
    let address = gateway.address();
    (gateway, address)
}

/// A session that waits for each answer.
struct Session {
    sender: OrderSender,
    receiver: AnswerReceiver,
    tag: u64,
}

impl Session {
    fn open(address: SocketAddr, login: &Login) -> Self {
        let (sender, receiver) = client::connect_as(address, Some(login)).unwrap();
        Self { sender, receiver, tag: 0 }
    }

    /// Sends a command. Returns its first answer, and whether it was permitted.
    fn ask(&mut self, command: &Command) -> (Answer, bool) {
        self.tag += 1;
        let (tag, command) = (self.tag, PackedCommand::from(command));
        self.sender.send(&[Order { tag, command }]).unwrap();
        let mut first = None;
        loop {
            let answer = self.receiver.receive().unwrap().expect("the session goes on");
            if answer.tag != self.tag {
                continue; // a notice
            }
            let first = *first.get_or_insert(answer);
            if answer.is_last == 1 {
                let refused = Reason::NotPermitted;
                let report = first.report.unpack().unwrap();
                let is_refused =
                    matches!(report, Report::Rejected { reason, .. } if reason == refused);
                return (first, !is_refused);
            }
        }
    }
}

#[test]
fn each_session_could_send_each_command_of_each_account() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    let keys = Keys::make(&file);
    let (gateway, address) = start(&file);
    let mut plain = PlainExchange::default();
    let mut operator = Session::open(address, &keys.login(Actor::Operator));
    for command in &set_up() {
        assert!(operator.ask(command).1);
        plain.apply(command, &mut |_| {});
    }

    let mut number = 100;
    let (mut permitted, mut refused) = (0, 0);
    let actors = ACCOUNTS.map(Actor::Account).into_iter().chain([Actor::Operator]);
    for actor in actors {
        let mut session = Session::open(address, &keys.login(actor));
        for request in requests() {
            for account in ACCOUNTS {
                number += 1;
                let command = example(request, account, number);
                let (answer, is_permitted) = session.ask(&command);
                assert_eq!(is_permitted, may(actor, request, account), "{actor:?}: {command}");
                if is_permitted {
                    permitted += 1;
                    plain.apply(&command, &mut |_| {});
                } else {
                    refused += 1;
                    assert_eq!(answer.sequence, 0, "a refused command has no sequence");
                }
            }
        }
    }
    let (kinds, accounts) = (requests().len(), ACCOUNTS.len());
    assert_eq!(permitted + refused, kinds * accounts * (accounts + 1));
    assert_eq!((permitted, kinds), (3 * 3 + 7 * 3, 8));
    // What was refused has changed nothing.
    assert_eq!(gateway.shutdown().unwrap().state(), plain.state());
}

#[test]
fn answers_to_refused_commands_come_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    let keys = Keys::make(&file);
    let (gateway, address) = start(&file);
    let own =
        Login { actor: Actor::Account(AccountId(1)), ..keys.login(Actor::Account(AccountId(1))) };
    let (mut sender, mut receiver) = client::connect_as(address, Some(&own)).unwrap();
    let cancel = |account| Cancel { account, order: OrderId(1), symbol: SYMBOL };
    let orders: Vec<_> = (1..=1_000)
        .map(|tag| {
            let command = Command::Cancel(cancel(AccountId(1 + (tag % 3 == 0) as u32)));
            Order { tag, command: PackedCommand::from(&command) }
        })
        .collect();
    sender.send(&orders).unwrap();
    sender.finish().unwrap();
    for tag in 1..=1_000 {
        let answer = receiver.receive().unwrap().unwrap();
        let Report::Rejected { reason, .. } = answer.report.unpack().unwrap() else {
            panic!("{answer:?}");
        };
        assert_eq!((answer.tag, reason == Reason::NotPermitted), (tag, tag % 3 == 0));
    }
    assert_eq!(receiver.receive().unwrap(), None);
    assert_eq!(gateway.shutdown().unwrap().state().commands, 667);
}

#[test]
fn a_session_without_a_right_login_sends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    let keys = Keys::make(&file);
    let (gateway, address) = start(&file);
    let command = PackedCommand::from(&example(Request::AddAccount, AccountId(1), 1));
    let one = keys.login(Actor::Account(AccountId(1)));
    for (login, reason) in [
        (None, "this exchange has secrets: log in first"),
        (Some(Login { actor: Actor::Operator, ..one }), "the secret is wrong: actor=operator"),
        (
            Some(Login { actor: Actor::Account(AccountId(2)), ..one }),
            "the secret is wrong: actor=2",
        ),
        (
            Some(Login { actor: Actor::Account(AccountId(9)), ..one }),
            "the secret is wrong: actor=9",
        ),
    ] {
        let (mut sender, mut receiver) = client::connect_as(address, login.as_ref()).unwrap();
        let _ = sender.send(&[Order { tag: 1, command }]);
        assert_eq!(receiver.receive().unwrap_err().to_string(), reason);
    }
    // Market data names no account.
    client::symbols(address).unwrap();
    assert_eq!(gateway.shutdown().unwrap().state().commands, 0);
}

#[test]
fn people_log_in_by_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    let keys = Keys::make(&file);
    let (gateway, address) = start(&file);
    let ask = |lines: String, answers: usize| -> Vec<String> {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(lines.as_bytes()).unwrap();
        BufReader::new(socket).lines().take(answers).map_while(Result::ok).collect()
    };
    let login = |actor: Actor| format!("login {actor} {}\n", keys.0[&actor].to_hex());
    assert_eq!(
        ask("account 1\n".to_owned() + &login(Actor::Operator) + "account 1\n", 3),
        [
            "error: this exchange has secrets: login comes first: line=1",
            "logged in: operator",
            "added account 1"
        ]
    );
    assert_eq!(
        ask(login(Actor::Account(AccountId(1))) + "cancel 1 1 1\ncancel 1 2 1\naccount 5\n", 4),
        [
            "logged in: 1",
            "rejected order 1 of account 1: the symbol does not exist",
            "rejected order 1 of account 2: the session must not send this command: log in for the \
             account, or as the operator",
            "rejected account 5: the session must not send this command: log in for the \
             account, or as the operator",
        ]
    );
    let late = login(Actor::Operator) + "account 2\n" + &login(Actor::Operator);
    let told = ask(late, 3);
    assert_eq!(told[2], "error: this line must come before the first command: line=3");
    let wrong = login(Actor::Operator).replace("operator", "2") + "account 3\n";
    assert_eq!(ask(wrong, 9), ["error: the secret is wrong: actor=2"]);
    let short = "login 2 abc\n".to_owned();
    let told = ask(short, 1);
    assert_eq!(told, ["error: 64 hexadecimal digits expected: length=3: line=1"]);
    assert_eq!(gateway.shutdown().unwrap().state().commands, 3);
}

#[test]
fn without_secrets_the_exchange_served_every_machine() {
    let open = |address: &str| {
        let opened = Service::open(service::Settings::default()).unwrap();
        Gateway::start(opened, address)
    };
    for address in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"] {
        let error = open(address).unwrap_err();
        assert!(matches!(error, GatewayError::NotLoopback(_)), "{error}");
        assert!(error.to_string().contains("--secrets"), "{error}");
    }
    let gateway = open("127.0.0.1:0").unwrap();
    // There a login would promise what nothing checks.
    let login = Login { actor: Actor::Operator, secret: Secret::generate().unwrap() };
    let (_sender, mut receiver) = client::connect_as(gateway.address(), Some(&login)).unwrap();
    let reason = receiver.receive().unwrap_err().to_string();
    assert_eq!(reason, "this exchange has no secrets: connect without a login");
    gateway.shutdown().unwrap();

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    Keys::make(&file);
    let mut settings = Settings::default();
    settings.secrets = Some(file);
    let opened = Service::open(service::Settings::default()).unwrap();
    Gateway::start_with(opened, "0.0.0.0:0", settings).unwrap().shutdown().unwrap();
}

#[test]
fn an_option_without_a_meaning_ends_the_session() {
    let gateway = {
        let opened = Service::open(service::Settings::default()).unwrap();
        Gateway::start(opened, "127.0.0.1:0").unwrap()
    };
    for hello in [
        Hello { options: 4, ..Hello::orders() },
        Hello { options: 2, ..Hello::symbols() },
        Hello { symbol: 1, ..Hello::orders().log_in() },
    ] {
        let mut socket = TcpStream::connect(gateway.address()).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(bytemuck::bytes_of(&hello)).unwrap();
        let mut line = String::new();
        BufReader::new(socket).read_line(&mut line).unwrap();
        assert_eq!(line, "error: the hello has an unknown version or kind\n");
    }
    gateway.shutdown().unwrap();
}

/// Runs the program, which must end well. Returns what it prints.
fn exchange(arguments: &[&str]) -> String {
    let mut process = std::process::Command::new(env!("CARGO_BIN_EXE_exchange"));
    let output = process.args(arguments).output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complaints}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_programs_log_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, operator, ann) = (path("secrets"), path("operator"), path("ann"));
    std::fs::write(&operator, exchange(&["secret", "operator", &file])).unwrap();
    let (gateway, address) = start(Path::new(&file));
    let address = address.to_string();
    // The exchange reads the file again.
    std::fs::write(&ann, exchange(&["secret", "1", &file])).unwrap();
    let load = ["load", "--rate", "1000", "--seconds", "0.5", "--address", &address];
    let told = exchange(&[&load[..], &["--login", &operator]].concat());
    assert!(told.contains(" 0 rejected"), "{told}");
    for login in [&operator, &ann] {
        let screen = exchange(&["watch", &address, "--once", "--probes", "200", "--login", login]);
        assert!(screen.contains("probes"), "{screen}");
    }
    gateway.shutdown().unwrap();
}
