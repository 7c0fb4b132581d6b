//! The thread of the leader that hears its follower: it notes what is confirmed, and sends again from
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
    inbox: Inbox<FromFollower>,
    outbox: Outbox<FromLeader>,
    journal: PathBuf,
    confirmed: Arc<Confirmed>,
    progress: Arc<Progress>,
}

impl Resending {
    pub(crate) fn new(
        meeting: &Meeting,
        journal: PathBuf,
        confirmed: Arc<Confirmed>,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let client = meeting.client();
        let inbox = Inbox::new("follower", &client, meeting.back()?)?;
        let outbox = Outbox::new(&client, meeting.resent()?);
        Ok(Self { inbox, outbox, journal, confirmed, progress })
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
            let confirms = messages.iter().filter(|message| message.kind == CONFIRM);
            if let Some(end) = confirms.map(|message| message.sequence).max() {
                self.confirmed.note(end);
            }
            // A follower repeats what it asks for.
            let asked = messages.iter().rev().find(|message| message.kind == ASK);
            if let Some(from) = asked.map(|message| message.sequence) {
                self.answer(from, stop);
            }
        }
        Ok(())
    }

    /// Sends the commands from `from` on up to what is shipped, and says what was done.
    fn answer(&mut self, from: Sequence, stop: &AtomicBool) {
        let (offered, shipped) = (self.progress.offered(), self.progress.shipped());
        let answer = if from > offered {
            FromLeader::answer(AHEAD, offered)
        } else if from >= shipped {
            FromLeader::answer(END, from)
        } else {
            match self.send_again(from, shipped, stop) {
                Ok(()) => FromLeader::answer(END, shipped),
                Err(error) => {
                    eprintln!("exchange-replica: the follower cannot catch up: {error}");
                    FromLeader::answer(NOT_KEPT, from)
                }
            }
        };
        self.outbox.send(&[answer], || stop.load(Ordering::Acquire));
    }

    fn send_again(&mut self, from: Sequence, end: Sequence, stop: &AtomicBool) -> Result<()> {
        let mut chunk = Vec::with_capacity(CHUNK);
        let outbox = &mut self.outbox;
        let mut send = |chunk: &mut Vec<FromLeader>| {
            outbox.send(chunk, || stop.load(Ordering::Acquire));
            chunk.clear();
        };
        let reader = read_range::<Input>(&self.journal, from..end)?;
        reader.for_each(Input::zeroed(), |sequence, input| {
            chunk.push(FromLeader::command(sequence, *input));
            if chunk.len() == CHUNK {
                send(&mut chunk);
            }
        })?;
        send(&mut chunk);
        Ok(())
    }
}
