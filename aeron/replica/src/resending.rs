//! The thread of the leader that receives from its follower: it notes what is confirmed, and sends again from
//! the journal what the follower lacks.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bytemuck::Zeroable;
use exchange::service::{Confirmed, Input};
use lapwing::Sequence;
use lapwing_journal::read_range;

use crate::Result;
use crate::inbox::Inbox;
use crate::messages::{AHEAD, ASK, CONFIRM, END, FromFollower, FromLeader, NOT_KEPT};
use crate::outbox::Outbox;
use crate::shipping::Progress;
use crate::streams::Meeting;

/// How long to wait if nothing has arrived.
const IDLE_PAUSE: Duration = Duration::from_micros(50);
/// How long to wait for a driver.
const DRIVER_PAUSE: Duration = Duration::from_millis(50);
/// Commands that are sent in one call.
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
        let inbox = Inbox::new("follower", &client, meeting.back()?)?;
        let outbox = Outbox::new(&client, meeting.resent()?);
        Ok(Self { id, inbox, outbox, journal, confirmed, progress, follower: None })
    }

    /// Serves a follower until `stop` is true.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> Result<()> {
        let mut messages = Vec::new();
        while !stop.load(Ordering::Acquire) {
            messages.clear();
            let found = self.inbox.poll(&mut messages)?;
            if found.is_driver_gone {
                thread::sleep(DRIVER_PAUSE);
            } else if messages.is_empty() {
                thread::sleep(IDLE_PAUSE);
            }
            // A follower repeats what it asks for.
            if let Some(asked) = messages.iter().rev().find(|message| message.kind == ASK) {
                self.answer(asked, stop);
            }
            self.note(&messages);
        }
        Ok(())
    }

    /// Notes what the follower has confirmed. It cannot have what was not sent.
    fn note(&self, messages: &[FromFollower]) {
        let offered = self.progress.offered();
        let counts = |message: &&FromFollower| {
            message.kind == CONFIRM
                && Some(message.follower) == self.follower
                && message.sequence <= offered
        };
        if let Some(end) = messages.iter().filter(counts).map(|message| message.sequence).max() {
            self.confirmed.note(end);
        }
    }

    /// Sends the commands that the follower lacks, up to what is shipped, and says what was done.
    fn answer(&mut self, asked: &FromFollower, stop: &AtomicBool) {
        let FromFollower { sequence: from, follower, .. } = *asked;
        let (offered, shipped) = (self.progress.offered(), self.progress.shipped());
        if from <= offered {
            self.follower = Some(follower);
        }
        let id = self.id;
        let answer = |kind, sequence| FromLeader::answer(id, kind, sequence, follower);
        let answer = if from > offered {
            answer(AHEAD, offered)
        } else if from >= shipped {
            answer(END, from)
        } else {
            match self.send_again(from, shipped, stop) {
                Ok(()) => answer(END, shipped),
                Err(error) => {
                    eprintln!("exchange-replica: the follower cannot catch up: {error}");
                    answer(NOT_KEPT, from)
                }
            }
        };
        self.outbox.send(&[answer], || stop.load(Ordering::Acquire));
    }

    fn send_again(&mut self, from: Sequence, end: Sequence, stop: &AtomicBool) -> Result<()> {
        let mut chunk = Vec::with_capacity(CHUNK);
        let (id, outbox) = (self.id, &mut self.outbox);
        let mut send = |chunk: &mut Vec<FromLeader>| {
            outbox.send(chunk, || stop.load(Ordering::Acquire));
            chunk.clear();
        };
        let reader = read_range::<Input>(&self.journal, from..end)?;
        reader.for_each(Input::zeroed(), |sequence, input| {
            chunk.push(FromLeader::command(id, sequence, *input));
            if chunk.len() == CHUNK {
                send(&mut chunk);
            }
        })?;
        send(&mut chunk);
        Ok(())
    }
}
