//! A sender: sends by every call that the library has, and counts what it was told is accepted.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lapwing::channel::{SendTimeoutError, Sender, TrySendError};
use lapwing::producer::{Sequencer, WhenFull};

use super::Run;
use super::ends::Another;
use crate::threads::board::Count;
use crate::threads::event::Payload;
use crate::threads::faults::Fault;
use crate::threads::producers::TIMEOUT;
use crate::threads::program::{Call, Fate, How, Patience};

/// A sender under way.
pub(super) struct Feed<S: Sequencer> {
    run: Arc<Run>,
    sender: Sender<Payload, S>,
    lane: usize,
    /// The number of its next value.
    next: u64,
    sent: Arc<Count>,
    values: Vec<Payload>,
}

impl<S: Sequencer> Feed<S>
where
    Sender<Payload, S>: Another,
{
    /// A sender that numbers its values on its own.
    pub(super) fn new(run: &Arc<Run>, sender: Sender<Payload, S>, lane: usize) -> Self {
        let (run, sent) = (Arc::clone(run), run.entry.publisher());
        Self { run, sender, lane, next: 0, sent, values: Vec::new() }
    }

    /// Makes its calls again and again, until the end of the channel.
    pub(super) fn run(mut self) {
        let run = Arc::clone(&self.run);
        for call in run.channel.senders[self.lane].iter().cycle() {
            if run.is_over.load(Ordering::Relaxed) || !self.send(call) {
                break;
            }
        }
        self.run.accepted[self.lane].store(self.next, Ordering::Relaxed);
    }

    /// Sends some values. Returns whether a receiver is left.
    fn send(&mut self, call: &Call) -> bool {
        call.before.take(|time| self.run.board.stall(time));
        if call.fate == Fate::Dies
            && let Some(other) = self.sender.another()
        {
            self.run.board.injected(Fault::ProducerDied);
            self.sender = other;
        }
        let before = self.next;
        let is_connected = self.call(call);
        self.sent.add(self.next - before);
        is_connected
    }

    fn call(&mut self, call: &Call) -> bool {
        let value = self.value(self.next);
        let count = match call.how {
            How::Publish(Patience::Waits) | How::Claim(Patience::Waits) => {
                match self.sender.send(value) {
                    Ok(()) => 1,
                    Err(_) => return false,
                }
            }
            How::Publish(Patience::Tries)
            | How::Claim(Patience::Tries)
            | How::PublishOr(WhenFull::Refuse | WhenFull::DropNew) => {
                match self.sender.try_send(value) {
                    Ok(()) => 1,
                    Err(TrySendError::Full(_)) => 0,
                    Err(_) => return false,
                }
            }
            How::Publish(_) | How::Claim(_) | How::PublishOr(_) => {
                match self.sender.send_timeout(value, TIMEOUT) {
                    Ok(()) => 1,
                    Err(SendTimeoutError::Timeout(_)) => 0,
                    Err(_) => return false,
                }
            }
            _ => return self.send_batch(call.count),
        };
        self.next += count;
        true
    }

    fn send_batch(&mut self, count: usize) -> bool {
        let numbers = self.next..self.next + count as u64;
        self.values.clear();
        for number in numbers {
            let value = self.value(number);
            self.values.push(value);
        }
        let is_connected = self.sender.send_batch(&mut self.values).is_ok();
        self.next += (count - self.values.len()) as u64; // what was not sent is left
        is_connected
    }

    fn value(&self, number: u64) -> Payload {
        Payload::new(self.run.seed, self.lane as u32, number)
    }
}
