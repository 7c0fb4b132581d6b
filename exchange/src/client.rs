//! A client of the binary protocol: one end sends commands, the other receives answers.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};

use bytemuck::Zeroable;

use crate::gateway::wire::{Answer, Hello, Order};

/// Bytes that are read in one call.
const READ_BYTES: usize = 256 << 10;

/// The end that sends commands.
#[derive(Debug)]
pub struct OrderSender {
    socket: TcpStream,
}

/// The end that receives answers.
#[derive(Debug)]
pub struct AnswerReceiver {
    socket: BufReader<TcpStream>,
}

/// Connects to an exchange to send commands.
///
/// # Errors
///
/// The error of the connection.
pub fn connect(address: impl ToSocketAddrs) -> io::Result<(OrderSender, AnswerReceiver)> {
    open(address, &Hello::orders())
}

/// Connects to an exchange to get the levels and trades of `symbol`.
/// [`Follower`](crate::market::Follower) makes a book of them.
///
/// # Errors
///
/// The error of the connection.
pub fn subscribe(address: impl ToSocketAddrs, symbol: u32) -> io::Result<AnswerReceiver> {
    Ok(open(address, &Hello::market_data(symbol))?.1)
}

/// Connects to an exchange to learn which symbols there are: a report that a symbol is added for each
/// of them, and for each later one.
///
/// # Errors
///
/// The error of the connection.
pub fn symbols(address: impl ToSocketAddrs) -> io::Result<AnswerReceiver> {
    Ok(open(address, &Hello::symbols())?.1)
}

fn open(address: impl ToSocketAddrs, hello: &Hello) -> io::Result<(OrderSender, AnswerReceiver)> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    let receiver = BufReader::with_capacity(READ_BYTES, socket.try_clone()?);
    socket.write_all(bytemuck::bytes_of(hello))?;
    Ok((OrderSender { socket }, AnswerReceiver { socket: receiver }))
}

impl OrderSender {
    /// Sends commands in one call.
    ///
    /// # Errors
    ///
    /// The error of the socket. It is not known which commands have arrived.
    ///
    /// # Blocking
    ///
    /// Waits while the exchange reads slower than this client sends.
    pub fn send(&mut self, orders: &[Order]) -> io::Result<()> {
        self.socket.write_all(bytemuck::cast_slice(orders))
    }

    /// Says that no more commands follow. Answers still arrive.
    ///
    /// # Errors
    ///
    /// The error of the socket.
    pub fn finish(self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }
}

/// Ends a connection when it is dropped. A thread that waits for an answer then gets `None`.
#[derive(Debug)]
pub struct Closer {
    socket: TcpStream,
}

impl Drop for Closer {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

impl AnswerReceiver {
    /// Returns a value whose drop ends the connection.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn closer(&self) -> io::Result<Closer> {
        Ok(Closer { socket: self.socket.get_ref().try_clone()? })
    }

    /// Returns the next answer; `None` if the exchange has closed the connection, or is gone.
    ///
    /// # Errors
    ///
    /// The error of the socket.
    ///
    /// # Blocking
    ///
    /// Waits for an answer.
    pub fn receive(&mut self) -> io::Result<Option<Answer>> {
        let mut answer = Answer::zeroed();
        match self.socket.read_exact(bytemuck::bytes_of_mut(&mut answer)) {
            Ok(()) => Ok(Some(answer)),
            Err(error) if is_end(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether the other end is gone. An answer may be cut in the middle.
fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset)
}
