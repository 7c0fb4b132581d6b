//! The thread of the leader that receives from its follower: it notes what is confirmed, and sends again from
//! the journal what the follower lacks.
//!
//! It polls the stream of the follower between the messages of an answer, too. An answer may take long, and clients
//! wait for confirmations meanwhile.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bytemuck::pod_read_unaligned;
use exchange::service::{Confirmed, Input};
use lapwing::Sequence;
use lapwing_journal::error::ReadError;
use lapwing_journal::{Plain, Reader, read_range};

use crate::Result;
use crate::inbox::Inbox;
use crate::messages::{AHEAD, ASK, CONFIRM, END, FromFollower, FromLeader, NOT_KEPT};
use crate::outbox::Outbox;
use crate::progress::Progress;
use crate::streams::Meeting;

/// How long to wait if nothing has arrived.
const IDLE_PAUSE: Duration = Duration::from_micros(50);
/// How long to wait for a driver.
const DRIVER_PAUSE: Duration = Duration::from_millis(50);
/// Commands that are sent in one call, at least.
const CHUNK: usize = 512;

/// What the thread has.
pub(crate) struct Resending {
    /// The number of the leader.
    id: u64,
    inbox: Inbox<FromFollower>,
    outbox: Outbox<FromLeader>,
    journal: PathBuf,
    confirmed: Arc<Confirmed>,
    progress: Arc<Progress>,
    /// The follower that has asked last. What others confirm does not count.
    follower: Option<u64>,
    /// The latest question, if it is not answered.
    question: Option<FromFollower>,
    messages: Vec<FromFollower>,
    /// The last message of another form, as it was reported.
    rejected: Option<String>,
}

/// How an answer ends.
#[derive(Debug)]
enum Sent {
    All,
    /// Another follower asks, or the leader ends.
    Abandoned,
    /// The journal does not have the commands, or cannot be read.
    NotRead(ReadError),
}

impl Resending {
    pub(crate) fn new(
        id: u64,
        meeting: &Meeting,
        journal: PathBuf,
        confirmed: Arc<Confirmed>,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let client = meeting.client();
        Ok(Self {
            id,
            inbox: Inbox::new("follower", &client, meeting.back()?)?,
            outbox: Outbox::new(&client, meeting.resent()?),
            journal,
            confirmed,
            progress,
            follower: None,
            question: None,
            messages: Vec::new(),
            rejected: None,
        })
    }

    /// Serves a follower until `stop` is true.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> Result<()> {
        while !stop.load(Ordering::Acquire) {
            let pause = self.hear()?;
            if let Some(asked) = self.question.take() {
                self.answer(&asked, stop)?;
            } else if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
        Ok(())
    }

    /// Polls once: notes what is confirmed, and keeps the latest question. Returns the pause before the next
    /// time.
    fn hear(&mut self) -> Result<Duration> {
        self.messages.clear();
        let found = self.inbox.poll(&mut self.messages)?;
        // Somebody else may send to this stream: the follower is served as before.
        if let Some(why) = found.rejected.filter(|why| self.rejected.as_ref() != Some(why)) {
            eprintln!("exchange-replica: a message is skipped: {why}");
            self.rejected = Some(why);
        }
        // A follower repeats what it asks for.
        if let Some(asked) = self.messages.iter().rfind(|message| message.kind == ASK) {
            self.question = Some(*asked);
            if asked.sequence <= self.progress.offered() {
                self.follower = Some(asked.follower);
            }
        }
        self.note();
        Ok(match (found.is_driver_gone, self.messages.is_empty()) {
            (true, _) => DRIVER_PAUSE,
            (false, true) => IDLE_PAUSE,
            (false, false) => Duration::ZERO,
        })
    }

    /// Notes what the follower has confirmed. It cannot have what was not sent.
    fn note(&self) {
        let offered = self.progress.offered();
        let counts = |message: &&FromFollower| {
            message.kind == CONFIRM
                && Some(message.follower) == self.follower
                && message.sequence <= offered
        };
        if let Some(end) = self.messages.iter().filter(counts).map(|message| message.sequence).max()
        {
            self.confirmed.note(end);
        }
    }

    /// Sends the commands that the follower lacks, up to what is shipped, and says what was done.
    fn answer(&mut self, asked: &FromFollower, stop: &AtomicBool) -> Result<()> {
        let from = asked.sequence;
        let (offered, shipped) = (self.progress.offered(), self.progress.shipped());
        let id = self.id;
        let answer = |kind, sequence| FromLeader::answer(id, kind, sequence, asked);
        let answer = if from > offered {
            answer(AHEAD, offered)
        } else if from >= shipped {
            answer(END, from)
        } else {
            match self.send_again(from..shipped, asked, stop)? {
                Sent::All => answer(END, shipped),
                Sent::Abandoned => return Ok(()),
                Sent::NotRead(error) => {
                    eprintln!("exchange-replica: the follower cannot catch up: {error}");
                    answer(NOT_KEPT, from)
                }
            }
        };
        self.send(&[answer], asked, stop)?;
        Ok(())
    }

    /// Sends commands of the journal.
    fn send_again(
        &mut self,
        commands: Range<Sequence>,
        asked: &FromFollower,
        stop: &AtomicBool,
    ) -> Result<Sent> {
        let mut reader = match read_range::<Input>(&self.journal, commands) {
            Ok(reader) => reader,
            Err(error) => return Ok(Sent::NotRead(error)),
        };
        let mut chunk = Vec::with_capacity(CHUNK);
        loop {
            match read_chunk(&mut reader, self.id, &mut chunk) {
                Ok(()) if chunk.is_empty() => return Ok(Sent::All),
                Ok(()) => {}
                Err(error) => return Ok(Sent::NotRead(error)),
            }
            if let Sent::Abandoned = self.send(&chunk, asked, stop)? {
                return Ok(Sent::Abandoned);
            }
        }
    }

    /// Sends messages to the follower that has asked, and hears it meanwhile.
    fn send(
        &mut self,
        messages: &[FromLeader],
        asked: &FromFollower,
        stop: &AtomicBool,
    ) -> Result<Sent> {
        while let Some(pause) = self.outbox.try_send(messages) {
            self.hear()?;
            let is_of_another = |question: &FromFollower| question.follower != asked.follower;
            if stop.load(Ordering::Acquire) || self.question.as_ref().is_some_and(is_of_another) {
                self.outbox.give_up(messages);
                return Ok(Sent::Abandoned);
            }
            thread::sleep(pause);
        }
        self.hear()?;
        Ok(Sent::All)
    }
}

/// Reads the next commands: those of one or more whole batches, or none at the end.
fn read_chunk(
    reader: &mut Reader<Input, Plain>,
    leader: u64,
    chunk: &mut Vec<FromLeader>,
) -> std::result::Result<(), ReadError> {
    chunk.clear();
    while chunk.len() < CHUNK
        && let Some(batch) = reader.next_frame()?
    {
        let inputs = batch.events().map(|(at, bytes)| (at, pod_read_unaligned(bytes)));
        chunk.extend(inputs.map(|(at, input)| FromLeader::command(leader, at, input)));
    }
    Ok(())
}
