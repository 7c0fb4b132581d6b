//! A sender: sends by every call that the library has, and counts what it was told is accepted.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lapwing::channel::{SendTimeoutError, Sender, TrySendError};
use lapwing::producer::Sequencer;

use super::ends::Another;
use super::{Channel, Value};
use crate::commands::soak::board::Count;
use crate::commands::soak::event::seal;
use crate::commands::soak::faults::{Kind as Fault, Losing};
use crate::commands::soak::orders::{Order, Orders};
use crate::commands::soak::pace::Pace;
use crate::commands::soak::plan::{Call, Phase};

/// The timeout of a call that has one.
const PATIENCE: Duration = Duration::from_micros(50);

/// A sender under way.
pub(super) struct Feed<S: Sequencer> {
    channel: Arc<Channel>,
    sender: Sender<Value, S>,
    orders: Arc<Orders>,
    pace: Pace,
    lane: usize,
    /// The number of its next value.
    next: u64,
    sent: Arc<Count>,
    values: Vec<Value>,
}

impl<S: Sequencer> Feed<S>
where
    Sender<Value, S>: Another,
{
    /// A sender that numbers its values on its own.
    pub(super) fn new(
        channel: &Arc<Channel>,
        sender: Sender<Value, S>,
        lane: usize,
        orders: Arc<Orders>,
    ) -> Self {
        Self {
            pace: Pace::new(&channel.plan.phases),
            sent: channel.entry.publisher(),
            channel: Arc::clone(channel),
            sender,
            orders,
            lane,
            next: 0,
            values: Vec::new(),
        }
    }

    /// Sends until the end of the channel.
    pub(super) fn run(mut self) {
        while !self.channel.is_over.load(Ordering::Relaxed) {
            if !self.send() {
                break;
            }
        }
        self.channel.accepted[self.lane].store(self.next, Ordering::Relaxed);
    }

    /// Sends some values. Returns whether a receiver is left.
    fn send(&mut self) -> bool {
        if let Some(Order::Lose(Losing::Die)) = self.orders.take()
            && let Some(other) = self.sender.another()
        {
            self.channel.board.injected(Fault::ProducerDied);
            self.sender = other;
        }
        let Some(phase) = self.pace.next(&self.channel.board) else { return true };
        let before = self.next;
        let is_connected = self.call(&phase);
        self.sent.add(self.next - before);
        is_connected
    }

    fn call(&mut self, phase: &Phase) -> bool {
        let value = self.value(self.next);
        let count = match phase.call {
            Call::One | Call::Claim => match self.sender.send(value) {
                Ok(()) => 1,
                Err(_) => return false,
            },
            Call::Offer => match self.sender.try_send(value) {
                Ok(()) => 1,
                Err(TrySendError::Full(_)) => 0,
                Err(_) => return false,
            },
            Call::TimeoutBatch => match self.sender.send_timeout(value, PATIENCE) {
                Ok(()) => 1,
                Err(SendTimeoutError::Timeout(_)) => 0,
                Err(_) => return false,
            },
            _ => return self.send_batch(phase.batch),
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

    fn value(&self, number: u64) -> Value {
        let lane = self.lane as u32;
        Value { number, seal: seal(self.channel.seed, lane, number), lane }
    }
}
