//! The ends of a channel as a probe sees them: one asynchronous call at a time, and which values it moved.

use std::future::Future;
use std::hint;
use std::mem;
use std::sync::Arc;
use std::thread;

use tokio::sync::Mutex;

use crate::executors::{Executor, patience};
use crate::giving_up::{Random, call};
use crate::probe::{Probe, Tally};

/// Most senders of a channel.
pub(crate) const SENDERS: u64 = 4;

/// Longest pause of an end that lets others wait for it, in spins.
const LONGEST_PAUSE: u64 = 512;

/// The sending end of a channel.
pub(crate) trait Sends: Send + 'static {
    /// The call that is probed.
    const CALL: &'static str;

    /// Sends the next value, or several, and returns how many.
    fn send(&mut self, next: Next) -> impl Future<Output = u64> + Send;

    /// Whether a call that was given up has sent a part of its values.
    fn is_within_a_batch(&self) -> bool {
        false
    }
}

/// The receiving end of a channel.
pub(crate) trait Receives: Send + 'static {
    /// The call that is probed.
    const CALL: &'static str;

    /// Receives a value or several. Returns false if there are no more.
    fn receive(&mut self, inbox: &mut Inbox) -> impl Future<Output = bool> + Send;
}

/// Which values a sender sends next.
#[derive(Clone, Copy)]
pub(crate) struct Next {
    /// The number of the sender.
    pub(crate) sender: u64,
    /// How many values it has sent.
    pub(crate) index: u64,
}

impl Next {
    /// Returns the next value, or one of those after it.
    pub(crate) fn value(self, offset: u64) -> u64 {
        (self.index + offset) * SENDERS + self.sender
    }
}

/// What a receiver has received.
#[derive(Default)]
pub(crate) struct Inbox {
    /// The next index of each sender.
    pub(crate) next: [u64; SENDERS as usize],
    pub(crate) values: u64,
    pub(crate) lost: u64,
    /// Values that came again, or too late.
    pub(crate) doubled: u64,
}

impl Inbox {
    pub(crate) fn take(&mut self, value: u64) {
        let (index, next) = (value / SENDERS, &mut self.next[(value % SENDERS) as usize]);
        self.values += 1;
        if index < *next {
            self.doubled += 1;
        } else {
            self.lost += index - *next;
            *next = index + 1;
        }
    }
}

/// What a call of an end has done.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    Moved,
    /// No further value is sent or received.
    Over,
}

/// An end with its counts. Dropping the future of a call before it is ready does nothing.
pub(crate) trait End: Send + 'static {
    fn call(&mut self) -> impl Future<Output = Outcome> + Send;
}

/// Sends values until each call has had enough futures dropped.
pub(crate) struct Sending<S> {
    pub(crate) sender: S,
    pub(crate) next: Next,
    pub(crate) probe: Arc<Probe>,
    pub(crate) tally: Arc<Tally>,
}

impl<S: Sends> End for Sending<S> {
    async fn call(&mut self) -> Outcome {
        if self.probe.is_done() && !self.sender.is_within_a_batch() {
            self.probe.note_sent(self.next);
            self.tally.count_values(self.next.index);
            return Outcome::Over;
        }
        self.next.index += self.sender.send(self.next).await;
        Outcome::Moved
    }
}

/// Receives values until no sender is left.
pub(crate) struct Receiving<R> {
    pub(crate) receiver: R,
    pub(crate) inbox: Inbox,
    pub(crate) probe: Arc<Probe>,
    pub(crate) tally: Arc<Tally>,
}

impl<R: Receives> End for Receiving<R> {
    async fn call(&mut self) -> Outcome {
        let before = self.inbox.values;
        if self.receiver.receive(&mut self.inbox).await {
            self.probe.count_moved(self.inbox.values - before);
            return Outcome::Moved;
        }
        self.tally.count_values(self.inbox.values);
        self.probe.note_received(mem::take(&mut self.inbox));
        Outcome::Over
    }
}

/// Calls an end until it is over, and drops most of the futures that wait.
pub(crate) async fn drive<E: End>(
    end: E,
    probe: Arc<Probe>,
    tally: Arc<Tally>,
    executor: Executor,
    mut random: Random,
) {
    let end = Arc::new(Mutex::new(end));
    loop {
        let start = probe.start_wait();
        let outcome = call(&end, &tally, executor, &mut random).await;
        probe.end_wait(&tally, start);
        if outcome == Outcome::Over {
            return;
        }
        if probe.is_ahead(&tally) {
            // Others shall wait for this end.
            spin(&mut random);
            patience(&mut random).await;
        }
    }
}

/// Sends as a thread, while the tasks are not done. `is_ahead` says whether others shall wait for it.
pub(crate) fn send_as_thread(
    probe: &Probe,
    sender: u64,
    is_ahead: impl Fn() -> bool,
    mut send: impl FnMut(u64),
) {
    let (mut next, mut random) = (Next { sender, index: 0 }, Random(sender));
    while !probe.is_done() {
        send(next.value(0));
        next.index += 1;
        if is_ahead() {
            spin(&mut random);
            thread::yield_now();
        }
    }
    probe.note_sent(next);
}

fn spin(random: &mut Random) {
    (0..random.below(LONGEST_PAUSE)).for_each(|_| hint::spin_loop());
}
