//! A client of the binary protocol: one end sends commands, the other receives answers.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};

use bytemuck::Zeroable;

use crate::gateway::Login;
use crate::gateway::wire::{Answer, Credentials, Hello, Order};

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

/// Connects to an exchange to send the commands of an account, or of the operator. An exchange with
/// secrets needs a login. A wrong one ends the session: then [`receive`](AnswerReceiver::receive)
/// returns the reason.
///
/// # Errors
///
/// The error of the connection.
pub fn connect_as(
    address: impl ToSocketAddrs,
    login: Option<&Login>,
) -> io::Result<(OrderSender, AnswerReceiver)> {
    let Some(login) = login else { return connect(address) };
    let (mut sender, receiver) = open(address, &Hello::orders().log_in())?;
    sender.socket.write_all(bytemuck::bytes_of(&Credentials::from(login)))?;
    Ok((sender, receiver))
}

/// Connects to an exchange to send commands. It cancels the open orders of the session when the
/// connection ends, or when the client says that it has [finished](OrderSender::finish).
///
/// # Errors
///
/// The error of the connection.
pub fn connect_and_cancel(
    address: impl ToSocketAddrs,
) -> io::Result<(OrderSender, AnswerReceiver)> {
    open(address, &Hello::orders().cancel_on_disconnect())
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

    /// Shows that this client is alive. The exchange disconnects one that sends nothing for too long.
    /// [`Answer::HEARTBEAT`] comes back.
    ///
    /// # Errors
    ///
    /// The error of the socket.
    ///
    /// # Blocking
    ///
    /// Waits as [`send`](Self::send) does.
    pub fn send_heartbeat(&mut self) -> io::Result<()> {
        self.send(&[Order::HEARTBEAT])
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
    /// The error of the socket. If the exchange has refused the session, or ended it for a reason,
    /// the error has the kind [`ConnectionAborted`](ErrorKind::ConnectionAborted) and that reason.
    ///
    /// # Blocking
    ///
    /// Waits for an answer.
    pub fn receive(&mut self) -> io::Result<Option<Answer>> {
        let mut answer = Answer::zeroed();
        let record = bytemuck::bytes_of_mut(&mut answer);
        let mut filled = 0;
        while filled < record.len() {
            match self.socket.read(&mut record[filled..]) {
                Ok(0) => return reason(&record[..filled]).map_or(Ok(None), Err),
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return reason(&record[..filled]).map_or(Ok(None), Err);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(answer))
    }
}

/// Returns why the exchange has ended the session. A crash may cut an answer instead.
fn reason(last_bytes: &[u8]) -> Option<io::Error> {
    let line = str::from_utf8(last_bytes).ok()?.strip_suffix('\n')?;
    let reason = line.strip_prefix("error: ")?.to_owned();
    Some(io::Error::new(ErrorKind::ConnectionAborted, reason))
}
