//! The connection of a session: how bytes come and go, and how long a client may take.
//!
//! The socket does not block. A thread that has to wait does so in `poll`, which also ends with the
//! gateway. A shutdown of the reading half would end a wait too. But after it, Linux tells the client
//! no more how much it may send, and a client that waits for that could wait for minutes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;

use super::sessions::Sessions;

/// A client that does not answer the system for a minute is gone: 30 s of silence, then three
/// probes.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);
/// What the system holds for a client in each direction. By default it would be megabytes.
const BUFFER_BYTES: usize = 256 << 10;
/// A client that does not take the bytes of one write within this time is gone.
pub(super) const LONGEST_WRITE: Duration = Duration::from_secs(10);
/// How long a connection that the gateway ends stays open for what the client still sends. If bytes
/// were unread at the end, the system would reset the connection, and the client could miss answers.
const LONGEST_LINGER: Duration = Duration::from_secs(1);

/// The connection of a session. Its threads share it, and the last one that ends closes it. The
/// session then makes place for another one at once.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: u64,
    socket: TcpStream,
    sessions: Arc<Sessions>,
    is_read: AtomicBool,
}

/// Sets what the system does with the socket of a session.
pub(super) fn prepare(socket: &TcpStream) -> io::Result<()> {
    let (idle, interval, probes) = KEEPALIVE;
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)?;
    sockopt::set_socket_send_buffer_size(socket, BUFFER_BYTES)?;
    sockopt::set_socket_recv_buffer_size(socket, BUFFER_BYTES)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, idle)?;
    sockopt::set_tcp_keepintvl(socket, interval)?;
    sockopt::set_tcp_keepcnt(socket, probes)?;
    Ok(())
}

/// Says why a client is not served. Never waits for it.
pub(super) fn refuse(mut socket: &TcpStream, why: &str) {
    let _ = socket.write_all(format!("error: {why}\n").as_bytes());
    // If bytes were unread, the system could reset the connection before the client reads the line.
    let _ = socket.read(&mut [0; 1024]);
    let _ = socket.shutdown(Shutdown::Both);
}

impl Connection {
    /// Makes a connection of a socket that is [prepared](prepare).
    pub(super) fn new(id: u64, socket: TcpStream, sessions: Arc<Sessions>) -> Self {
        Self { id, socket, sessions, is_read: AtomicBool::new(true) }
    }

    /// Reads what the client sends, and waits for it. Returns 0 at the end of the stream, and if the
    /// gateway ends and all that has arrived is read. Fails with
    /// [`TimedOut`](ErrorKind::TimedOut) if nothing arrives for `longest`.
    pub(super) fn read(&self, bytes: &mut [u8], longest: Option<Duration>) -> io::Result<usize> {
        let begun = Instant::now();
        loop {
            if !self.is_read() || self.sessions.is_over() {
                return Ok(0);
            }
            match (&self.socket).read(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.sessions.is_stopping() {
                        return Ok(0);
                    }
                    self.wait(PollFlags::IN, longest.map(|longest| (begun, longest)))?;
                }
                read => return read,
            }
        }
    }

    /// Writes all bytes. Fails if the client takes them too slowly.
    pub(super) fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        let begun = Instant::now();
        while !bytes.is_empty() {
            match (&self.socket).write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::OUT, Some((begun, LONGEST_WRITE)))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the socket is ready. A wait for the client to send also ends with the gateway.
    /// Fails if the limit, a time from its beginning, is over.
    fn wait(&self, event: PollFlags, limit: Option<(Instant, Duration)>) -> io::Result<()> {
        let left = limit.map(|(begun, longest)| longest.saturating_sub(begun.elapsed()));
        if left == Some(Duration::ZERO) {
            return Err(ErrorKind::TimedOut.into());
        }
        // A time that is too long for the system is none.
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let end = PollFd::new(self.sessions.end(), PollFlags::IN);
        let mut both = [PollFd::new(&self.socket, event), end];
        let count = if event == PollFlags::IN { 2 } else { 1 };
        match poll(&mut both[..count], left.as_ref()) {
            Err(error) if error != rustix::io::Errno::INTR => Err(error.into()),
            _ => Ok(()), // the caller tries again
        }
    }

    /// Reads no more, also of what arrives later. The answers are still written.
    pub(super) fn stop_reading(&self) {
        // Relaxed: it carries nothing. A thread that waits ends with the connection.
        self.is_read.store(false, Ordering::Relaxed);
    }

    /// Whether the thread that reads may go on.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Ends the connection, once all is written. Waits for a short time until the client has ended it
    /// too, and reads what it still sends.
    pub(super) fn finish(&self) {
        let begun = Instant::now();
        let _ = self.socket.shutdown(Shutdown::Write);
        let mut rest = [0; 4096];
        loop {
            match (&self.socket).read(&mut rest) {
                Ok(1..) if begun.elapsed() < LONGEST_LINGER => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let limit = Some((begun, LONGEST_LINGER));
                    // A client that sends nothing at the end of the gateway need not be awaited.
                    if self.sessions.is_stopping() || self.wait(PollFlags::IN, limit).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        self.close();
    }

    /// Says why the client is not served. Never waits for it.
    pub(super) fn refuse(&self, why: &str) {
        refuse(&self.socket, why);
    }

    /// Ends the connection at once. This also ends the threads that wait for it.
    pub(super) fn close(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.sessions.leave(self.id);
    }
}
