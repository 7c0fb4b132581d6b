//! The thread that reads what a client sends.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use bytemuck::Zeroable;
use lapwing::Sequence;

use super::answers::Change;
use super::connection::Connection;
use super::market_data::{self, Subscription, Topic};
use super::outbox::{Encode, Outbox, Words, encode_binary};
use super::secrets::{Actor, Login};
use super::text::{self, Line, LineError};
use super::wire::{self, Answer, Credentials, Hello, Order};
use super::{GatewayError, Shared};
use crate::service::{Entry, Input};
use crate::types::{Command, PackedCommand, PackedReport, Reason, Report, SymbolId};

/// Bytes that are read in one call.
const READ_BYTES: usize = 16 << 10;
/// How often a session that waits for its last answer checks whether that can still come.
const PAUSE: Duration = Duration::from_millis(50);

/// The answer to a heartbeat.
const HEARTBEAT: [u8; size_of::<Answer>()] = [0; size_of::<Answer>()];

/// What a client sends. It ends with the stream, or if the gateway reads no more.
struct Incoming {
    connection: Arc<Connection>,
    /// How long the client may be silent.
    longest: Option<Duration>,
}

impl Read for Incoming {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.connection.read(bytes, self.longest)
    }
}

/// A client.
pub(super) struct Session {
    connection: Arc<Connection>,
    entry: Entry,
    shared: Arc<Shared>,
    is_binary: bool,
    /// What the client gets. A client that is silent has none.
    outbox: Option<Outbox>,
    /// Whether the stage of answers sends to it.
    is_known: bool,
    /// For what it acts. `None` before the login.
    actor: Option<Actor>,
    /// Whether its orders are cancelled at its end.
    cancels: bool,
    /// The number of its commands.
    commands: u64,
    /// The sequence after its last command.
    end: Sequence,
}

impl Session {
    pub(super) fn new(connection: Arc<Connection>, entry: Entry, shared: Arc<Shared>) -> Self {
        let actor = shared.secrets.is_none().then_some(Actor::Operator);
        Self {
            connection,
            entry,
            shared,
            actor,
            is_binary: false,
            outbox: None,
            is_known: false,
            cancels: false,
            commands: 0,
            end: 0,
        }
    }

    /// Serves the client until it goes, breaks the protocol, or the gateway ends.
    pub(super) fn run(mut self) {
        match self.serve() {
            Ok(()) if self.connection.is_read() => {}
            // A stage has found the queue full.
            Ok(()) => self.tell(&GatewayError::NotRead),
            Err(error) => self.tell(&self.cause(error)),
        }
        if self.cancels && self.is_known {
            self.cancel_orders();
        }
        if self.is_known {
            let _ = self.shared.changing.send(Change::End(self.connection.id, self.end));
        }
    }

    /// Says a cause that the system names only as a time limit.
    fn cause(&self, error: GatewayError) -> GatewayError {
        match (error, self.shared.settings.idle_limit) {
            (GatewayError::Io(error), Some(limit)) if error.kind() == ErrorKind::TimedOut => {
                GatewayError::Silence(limit)
            }
            (error, _) => error,
        }
    }

    /// Says to the client why its session ends, behind the answers to its commands.
    fn tell(&mut self, error: &GatewayError) {
        let id = self.connection.id;
        self.shared.notes.add(format_args!("session {id} ended: {error}"));
        if matches!(error, GatewayError::Io(_) | GatewayError::NotRead) {
            return; // it is gone, or has been told
        }
        let mut line = format!("error: {error}").into_bytes();
        if self.is_binary {
            // A client tells the line from a record by its length.
            line.truncate(size_of::<Answer>() - 2);
        }
        line.push(b'\n');
        let _ = self.say(line.into());
    }

    fn serve(&mut self) -> Result<(), GatewayError> {
        let (connection, longest) = (Arc::clone(&self.connection), self.shared.settings.idle_limit);
        let incoming = Incoming { connection, longest };
        let mut reader = BufReader::with_capacity(READ_BYTES, incoming);
        match reader.fill_buf()?.first() {
            None => Ok(()),
            Some(&byte) if byte == wire::MAGIC[0] => self.serve_binary(&mut reader),
            Some(_) => self.serve_text(&mut reader),
        }
    }

    fn serve_binary(&mut self, reader: &mut BufReader<Incoming>) -> Result<(), GatewayError> {
        self.is_binary = true;
        let mut hello = Hello::zeroed();
        read_record(reader, bytemuck::bytes_of_mut(&mut hello))?;
        let has = |option| hello.options & option != 0;
        let of_orders = Hello { options: hello.options, ..Hello::orders() };
        match hello {
            _ if hello == of_orders
                && hello.options <= wire::CANCEL_ON_DISCONNECT | wire::LOG_IN =>
            {
                self.cancels = has(wire::CANCEL_ON_DISCONNECT);
                if has(wire::LOG_IN) {
                    self.read_login(reader)?;
                }
                self.serve_orders(reader)
            }
            _ if hello == Hello::market_data(hello.symbol) => {
                self.serve_market_data(reader, Topic::Book(SymbolId(hello.symbol)))
            }
            _ if hello == Hello::symbols() => self.serve_market_data(reader, Topic::Symbols),
            _ => Err(GatewayError::Hello),
        }
    }

    fn read_login(&mut self, reader: &mut impl BufRead) -> Result<(), GatewayError> {
        let mut credentials = Credentials::zeroed();
        if !read_record(reader, bytemuck::bytes_of_mut(&mut credentials))? {
            return Err(GatewayError::Cut);
        }
        self.log_in(&Login::from(&credentials))
    }

    /// Lets the session act for an account, or for the operator. A wrong secret ends it.
    fn log_in(&mut self, login: &Login) -> Result<(), GatewayError> {
        let secrets = self.shared.secrets.as_ref().ok_or(GatewayError::NoSecrets)?;
        if !secrets.admit(login)? {
            return Err(GatewayError::WrongSecret(login.actor));
        }
        self.actor = Some(login.actor);
        Ok(())
    }

    fn serve_orders(&mut self, reader: &mut impl BufRead) -> Result<(), GatewayError> {
        if self.actor.is_none() {
            return Err(GatewayError::NoLogin);
        }
        self.begin()?;
        let mut order = Order::zeroed();
        while read_record(reader, bytemuck::bytes_of_mut(&mut order))? {
            let Order { tag, command } = order;
            if order == Order::HEARTBEAT {
                // At once, since answers may wait for a disk.
                self.say_behind(0, HEARTBEAT.as_slice().into())?;
                continue;
            }
            if tag == 0 {
                return Err(GatewayError::NoTag);
            }
            let command = command.unpack().map_err(|error| GatewayError::Command { tag, error })?;
            self.accept(tag, &command)?;
        }
        Ok(())
    }

    /// Serves a subscriber. It sends nothing; the end of its stream ends the session.
    fn serve_market_data(
        &mut self,
        reader: &BufReader<Incoming>,
        topic: Topic,
    ) -> Result<(), GatewayError> {
        let session = self.connection.id;
        let subscription = Subscription { session, topic, outbox: self.outbox()?.clone() };
        // The stage ends after the threads of the gateway.
        let _ = self.shared.subscribing.send(market_data::Change::Begin(Box::new(subscription)));
        let has_sent = !reader.buffer().is_empty();
        let ended = if has_sent { Ok(0) } else { self.connection.read(&mut [0], None) };
        if !self.shared.sessions.is_stopping() {
            // In a shutdown, the stage sends the last changes first.
            let _ = self.shared.subscribing.send(market_data::Change::End(session));
        }
        ended?;
        Ok(())
    }

    fn serve_text(&mut self, reader: &mut impl BufRead) -> Result<(), GatewayError> {
        let mut bytes = Vec::new();
        let mut number = 0;
        while let Some(line) = text::read_line(reader, &mut bytes)? {
            number += 1;
            match line {
                Ok(Line::Nothing) => {}
                Ok(Line::Help) => self.say(text::HELP.as_bytes().into())?,
                Ok(Line::CancelOnDisconnect) if !self.is_known => {
                    self.cancels = true;
                    self.say(text::CANCELS.as_bytes().into())?;
                }
                Ok(Line::CancelOnDisconnect) => self.say_error(number, &LineError::Late)?,
                Ok(Line::Login(_)) if self.is_known => self.say_error(number, &LineError::Late)?,
                Ok(Line::Login(login)) => {
                    self.log_in(&login)?;
                    self.say(format!("logged in: {}\n", login.actor).into_bytes().into())?;
                }
                Ok(Line::Command(_)) if self.actor.is_none() => {
                    self.say_error(number, &LineError::NoLogin)?;
                }
                Ok(Line::Command(command)) => {
                    self.begin()?;
                    self.accept(self.commands + 1, &command)?;
                }
                Err(error) if error.ends_session() => {
                    return Err(GatewayError::Line { number, error });
                }
                Err(error) => self.say_error(number, &error)?,
            }
        }
        Ok(())
    }

    /// Takes a command of the client. Each one comes by here, whatever the protocol.
    fn accept(&mut self, tag: u64, command: &Command) -> Result<(), GatewayError> {
        if !self.actor.is_some_and(|actor| actor.may_send(command)) {
            return self.refuse(tag, command);
        }
        self.publish(tag, command)?;
        self.commands += 1;
        Ok(())
    }

    /// Answers a command that the session must not send. It never becomes a command of the exchange.
    fn refuse(&mut self, tag: u64, command: &Command) -> Result<(), GatewayError> {
        let report = PackedReport::from(&Report::rejected(command, Reason::NotPermitted));
        let mut bytes = Vec::new();
        self.encode()(&Answer { tag, sequence: 0, is_last: 1, report }, &mut bytes);
        self.say(bytes.into())
    }

    /// Puts a command into the ring. The stage of answers sends its reports to this session.
    fn publish(&mut self, tag: u64, command: &Command) -> Result<(), GatewayError> {
        let received_ns = self.shared.started.elapsed().as_nanos() as u64;
        let (command, session) = (PackedCommand::from(command), self.connection.id);
        let input = Input { command, tag, received_ns, session };
        self.end = self.entry.publish(|slot| *slot = input)? + 1;
        Ok(())
    }

    /// Cancels the open orders of the session, once its commands are answered. The reports go to the
    /// client if it still reads, as notices.
    fn cancel_orders(&mut self) {
        let (reply, orders) = channel();
        let _ = self.shared.changing.send(Change::Withdraw(self.connection.id, self.end, reply));
        let orders = loop {
            match orders.recv_timeout(PAUSE) {
                Ok(orders) => break orders,
                Err(RecvTimeoutError::Timeout) if !self.shared.has_failed() => {}
                // No answer comes any more.
                Err(_) => return,
            }
        };
        for cancel in orders {
            if self.publish(0, &Command::Cancel(cancel)).is_err() {
                return;
            }
        }
    }

    fn encode(&self) -> Encode {
        if self.is_binary { encode_binary } else { text::encode }
    }

    /// Returns what the client gets. Starts the thread that writes at the first call.
    fn outbox(&mut self) -> Result<&Outbox, GatewayError> {
        if self.outbox.is_none() {
            let encode = self.encode();
            let most = self.shared.settings.queue;
            self.outbox = Some(Outbox::start(&self.connection, encode, most)?);
        }
        Ok(self.outbox.as_ref().expect("it has just been set"))
    }

    /// Lets the stage of answers find the session.
    fn begin(&mut self) -> Result<(), GatewayError> {
        if !self.is_known {
            let (id, cancels) = (self.connection.id, self.cancels);
            let outbox = self.outbox()?.clone();
            // The stage ends after the threads of the gateway.
            let _ = self.shared.changing.send(Change::Begin { session: id, outbox, cancels });
            self.is_known = true;
        }
        Ok(())
    }

    /// Says something behind the answers to all commands of the client.
    fn say(&mut self, words: Words) -> Result<(), GatewayError> {
        let commands = self.commands;
        self.say_behind(commands, words)
    }

    fn say_behind(&mut self, commands: u64, words: Words) -> Result<(), GatewayError> {
        if self.outbox()?.say(commands, words) { Ok(()) } else { Err(GatewayError::NotRead) }
    }

    /// Says what is wrong with a line.
    fn say_error(&mut self, number: u64, error: &LineError) -> Result<(), GatewayError> {
        self.say(format!("error: {error}: line={number}\n").into_bytes().into())
    }
}

/// Reads a record. Returns false at the end of the stream.
fn read_record(reader: &mut impl BufRead, record: &mut [u8]) -> Result<bool, GatewayError> {
    if reader.fill_buf()?.is_empty() {
        return Ok(false);
    }
    match reader.read_exact(record) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(GatewayError::Cut),
        Err(error) => Err(error.into()),
    }
}
