//! The thread that reads what a client sends.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use bytemuck::Zeroable;
use lapwing::Sequence;

use super::answers::Change;
use super::market_data::{self, Subscription, Topic};
use super::outbox::{Encode, encode_binary};
use super::text;
use super::wire::{self, Hello, Order};
use super::{GatewayError, Shared};
use crate::service::{Entry, Input};
use crate::types::{PackedCommand, SymbolId};

/// Bytes that are read in one call.
const READ_BYTES: usize = 64 << 10;

/// What a client sends. It ends with the stream, or if the gateway has been stopping for too long.
struct Incoming {
    socket: Arc<TcpStream>,
    shared: Arc<Shared>,
}

impl Read for Incoming {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.shared.is_over() { Ok(0) } else { (&*self.socket).read(bytes) }
    }
}

/// A client.
pub(super) struct Session {
    id: u64,
    socket: Arc<TcpStream>,
    entry: Entry,
    shared: Arc<Shared>,
    /// Whether a stage sends to it.
    has_outbox: bool,
    /// The sequence after its last command.
    end: Sequence,
}

impl Session {
    pub(super) fn new(id: u64, socket: Arc<TcpStream>, entry: Entry, shared: Arc<Shared>) -> Self {
        Self { id, socket, entry, shared, has_outbox: false, end: 0 }
    }

    /// Serves the client until it goes, breaks the protocol, or the gateway ends.
    pub(super) fn run(mut self) {
        let result = self.serve();
        if let Err(error) = &result {
            eprintln!("gateway: session {} ended: {error}", self.id);
        }
        let _ = self.shared.changing.send(Change::End(self.id, self.end));
        if !self.has_outbox {
            let _ = self.socket.shutdown(Shutdown::Both);
        } else if result.is_err() {
            // The thread that writes closes the connection, after the last answer. If bytes were
            // unread then, the system would reset the connection, and the client could miss answers.
            let _ = io::copy(&mut self.incoming(), &mut io::sink());
        }
    }

    fn incoming(&self) -> Incoming {
        Incoming { socket: Arc::clone(&self.socket), shared: Arc::clone(&self.shared) }
    }

    fn serve(&mut self) -> Result<(), GatewayError> {
        let mut reader = BufReader::with_capacity(READ_BYTES, self.incoming());
        let first = reader.fill_buf()?.first().copied();
        match first {
            None => Ok(()),
            Some(byte) if byte == wire::MAGIC[0] => self.serve_binary(&mut reader),
            Some(_) => self.serve_text(&mut reader),
        }
    }

    fn serve_binary(&mut self, reader: &mut impl Read) -> Result<(), GatewayError> {
        let mut hello = Hello::zeroed();
        reader.read_exact(bytemuck::bytes_of_mut(&mut hello))?;
        match hello {
            _ if hello == Hello::orders() => self.serve_orders(reader),
            _ if hello == Hello::market_data(hello.symbol) => {
                self.serve_market_data(reader, Topic::Book(SymbolId(hello.symbol)))
            }
            _ if hello == Hello::symbols() => self.serve_market_data(reader, Topic::Symbols),
            _ => Err(GatewayError::Hello),
        }
    }

    fn serve_orders(&mut self, reader: &mut impl Read) -> Result<(), GatewayError> {
        self.begin(encode_binary)?;
        let mut order = Order::zeroed();
        loop {
            match reader.read_exact(bytemuck::bytes_of_mut(&mut order)) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            order.command.unpack()?;
            self.publish(order.tag, order.command)?;
        }
    }

    /// Serves a subscriber. It sends nothing; the end of its stream ends the session.
    fn serve_market_data(
        &mut self,
        reader: &mut impl Read,
        topic: Topic,
    ) -> Result<(), GatewayError> {
        let session = self.id;
        let outbox = self.shared.start_outbox(&self.socket, encode_binary)?;
        // The stage ends after the threads of the gateway.
        let subscription = Subscription { session, topic, outbox };
        let _ = self.shared.subscribing.send(market_data::Change::Begin(Box::new(subscription)));
        self.has_outbox = true;
        let ended = reader.read(&mut [0]);
        if !self.shared.is_stopping() {
            // In a shutdown, the stage sends the last changes first.
            let _ = self.shared.subscribing.send(market_data::Change::End(session));
        }
        ended?;
        Ok(())
    }

    fn serve_text(&mut self, reader: &mut impl BufRead) -> Result<(), GatewayError> {
        let mut line = String::new();
        let mut tag = 0;
        while text::read_line(reader, &mut line)? {
            match text::parse(&line) {
                Ok(text::Line::Nothing) => {}
                Ok(text::Line::Help) => self.say(text::HELP)?,
                Ok(text::Line::Command(command)) => {
                    self.begin(text::encode)?;
                    tag += 1;
                    self.publish(tag, PackedCommand::from(&command))?;
                }
                Err(error) => self.say(&format!("error: {error}\n"))?,
            }
        }
        Ok(())
    }

    /// Writes to the client from the thread that reads. A text client sends one line at a time.
    fn say(&mut self, words: &str) -> Result<(), GatewayError> {
        Ok((&*self.socket).write_all(words.as_bytes())?)
    }

    /// Lets the stage of answers find the session.
    fn begin(&mut self, encode: Encode) -> Result<(), GatewayError> {
        if self.has_outbox {
            return Ok(());
        }
        let outbox = self.shared.start_outbox(&self.socket, encode)?;
        // The stage ends after the threads of the gateway.
        let _ = self.shared.changing.send(Change::Begin(self.id, Box::new(outbox)));
        self.has_outbox = true;
        Ok(())
    }

    fn publish(&mut self, tag: u64, command: PackedCommand) -> Result<(), GatewayError> {
        let received_ns = self.shared.started.elapsed().as_nanos() as u64;
        let session = self.id;
        let input = Input { command, tag, received_ns, session };
        self.end = self.entry.publish(|slot| *slot = input)? + 1;
        Ok(())
    }
}
