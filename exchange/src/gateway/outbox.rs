//! What goes out of a session: a bounded queue, and the thread that writes it to the socket.
//!
//! A stage of the output ring never waits for a client. If the queue of a client is full, the session
//! ends.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::thread::{self, JoinHandle};

use lapwing::channel::{self, Receiver, SingleSender};

use super::GatewayError;
use super::wire::Answer;

/// Answers that may wait for a client.
const LONGEST_QUEUE: usize = 1 << 16;
/// Answers that are written in one call.
const LARGEST_WRITE: usize = 512;

/// Turns answers into bytes.
pub(super) type Encode = fn(&Answer, &mut Vec<u8>);

/// The end of a session's queue that a stage holds.
#[derive(Debug)]
pub(super) struct Outbox {
    answers: SingleSender<Answer>,
}

impl Outbox {
    /// Starts the thread that writes to `socket`. It ends when the outbox is dropped, or if the
    /// client is gone.
    pub(super) fn start(
        socket: TcpStream,
        encode: Encode,
    ) -> Result<(Self, JoinHandle<()>), GatewayError> {
        let (answers, queue) = channel::spsc(LONGEST_QUEUE)?;
        let write = move || write_all(queue, socket, encode);
        let thread = thread::Builder::new().name("writer".into()).spawn(write)?;
        Ok((Self { answers }, thread))
    }

    /// Queues an answer. Returns false if the client does not read its answers, or is gone.
    #[must_use]
    pub(super) fn send(&mut self, answer: Answer) -> bool {
        self.answers.try_send(answer).is_ok()
    }
}

fn write_all(mut queue: Receiver<Answer>, mut socket: TcpStream, encode: Encode) {
    let mut bytes = Vec::new();
    while let Ok(first) = queue.recv() {
        bytes.clear();
        encode(&first, &mut bytes);
        for answer in queue.try_iter().take(LARGEST_WRITE - 1) {
            encode(&answer, &mut bytes);
        }
        if socket.write_all(&bytes).is_err() {
            break;
        }
    }
    // Ends the thread that reads.
    let _ = socket.shutdown(Shutdown::Both);
}

/// Encodes an answer of the binary protocol.
pub(super) fn encode_binary(answer: &Answer, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(bytemuck::bytes_of(answer));
}
