//! Programs with a channel: values that senders send and receivers check in line.

mod ends; // both sides, behind one interface
mod feed; // a sender

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::channel::{Builder, Sender};
use lapwing::producer::{Multi, Sequencer, Single};

use self::ends::{Another, Receives};
use self::feed::Feed;
use super::board::{Board, Entry};
use super::checker::{Checked, Checker};
use super::event::{LANES, Payload};
use super::faults::Fault;
use super::program::Call;
use super::rules::must;
use super::waits::Strategy;

/// How often the end is checked.
const NAP: Duration = Duration::from_millis(2);

/// A channel, and what its ends do.
#[derive(Clone)]
pub(super) struct Channel {
    pub(super) kind: Kind,
    pub(super) capacity: usize,
    pub(super) receiver_wait: Strategy,
    pub(super) sender_wait: Strategy,
    /// The calls of each sender, which it repeats. In a channel for one sender, only the first has
    /// calls.
    pub(super) senders: Vec<Vec<Call>>,
    /// The receivers; only the first one, unless it is a broadcast.
    pub(super) receivers: [Receiving; 2],
    /// Whether it ends with the receivers, which leave while senders send.
    pub(super) ends_with_receivers: bool,
}

/// What a receiver does.
#[derive(Debug, Clone)]
pub(super) struct Receiving {
    /// Before which calls it does nothing for a time.
    pub(super) stalls: Vec<(u64, Duration)>,
    /// Number of calls after which it leaves, if any.
    pub(super) leaves_after: Option<u64>,
}

/// Which function makes the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Spsc,
    Mpsc,
    Broadcast,
    MultiBroadcast,
}

impl Kind {
    pub(super) const ALL: [Self; 4] =
        [Self::Spsc, Self::Mpsc, Self::Broadcast, Self::MultiBroadcast];

    /// Its name in a report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Spsc => "spsc",
            Self::Mpsc => "mpsc",
            Self::Broadcast => "broadcast",
            Self::MultiBroadcast => "multi-broadcast",
        }
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?} of {} slots", self.kind, self.capacity)?;
        let (receivers, senders) = (self.receiver_wait.name(), self.sender_wait.name());
        writeln!(f, "  receivers wait {receivers}, senders {senders}")?;
        self.receivers.iter().try_for_each(|receiver| writeln!(f, "  {receiver:?}"))?;
        self.senders.iter().try_for_each(|calls| writeln!(f, "  sender: {calls:?}"))?;
        write!(f, "  ends with its receivers: {}", self.ends_with_receivers)
    }
}

/// What the ends of one channel share.
struct Run {
    channel: Channel,
    board: Arc<Board>,
    entry: Entry,
    seed: u64,
    /// Whether senders have to end, and whether receivers have to leave.
    is_over: AtomicBool,
    is_to_be_left: AtomicBool,
    accepted: [AtomicU64; LANES],
}

/// What a receiver has seen. One that left early has seen fewer values.
struct Received {
    seen: [u64; LANES],
    has_left: bool,
}

/// Runs `channel` for `time`.
///
/// # Errors
///
/// Says what is wrong.
pub(super) fn run(
    channel: &Channel,
    board: &Arc<Board>,
    entry: Entry,
    seed: u64,
    time: Duration,
) -> Checked {
    let (channel, board) = (channel.clone(), Arc::clone(board));
    let (is_over, is_to_be_left, accepted) = Default::default();
    let run = Run { channel, board, entry, seed, is_over, is_to_be_left, accepted };
    Arc::new(run).live(time)
}

impl Run {
    fn live(self: &Arc<Self>, time: Duration) -> Checked {
        let Channel { kind, capacity, receiver_wait, sender_wait, receivers, .. } = &self.channel;
        let channel = Builder::new(*capacity);
        let channel = channel.receiver_wait_strategy(receiver_wait.clone());
        let channel = channel.sender_wait_strategy(sender_wait.clone());
        let valid = "the capacity and the number of receivers are allowed";
        match kind {
            Kind::Spsc => {
                let (sender, receiver) = channel.spsc().expect(valid);
                self.run::<Single, _>(sender, vec![receiver], time)
            }
            Kind::Mpsc => {
                let (sender, receiver) = channel.mpsc().expect(valid);
                self.run::<Multi, _>(sender, vec![receiver], time)
            }
            Kind::Broadcast => {
                let (sender, receivers) = channel.broadcast(receivers.len()).expect(valid);
                self.run::<Single, _>(sender, receivers, time)
            }
            Kind::MultiBroadcast => {
                let (sender, receivers) = channel.multi_broadcast(receivers.len()).expect(valid);
                self.run::<Multi, _>(sender, receivers, time)
            }
        }
    }

    fn run<S, R>(
        self: &Arc<Self>,
        sender: Sender<Payload, S>,
        receivers: Vec<R>,
        time: Duration,
    ) -> Checked
    where
        S: Sequencer,
        Sender<Payload, S>: Another,
        R: Receives,
    {
        let count = self.channel.senders.len();
        let others = (1..count).filter_map(|_| sender.another()).collect::<Vec<_>>();
        let senders = [sender].into_iter().chain(others).enumerate();
        let feeds: Vec<_> = senders.map(|(lane, sender)| Feed::new(self, sender, lane)).collect();
        let received = thread::scope(|scope| {
            let receivers: Vec<_> = receivers
                .into_iter()
                .zip(&self.channel.receivers)
                .map(|(receiver, plan)| scope.spawn(move || self.receive(receiver, plan)))
                .collect();
            feeds.into_iter().for_each(|feed| _ = scope.spawn(move || feed.run()));
            let end = Instant::now() + time;
            while Instant::now() < end && !receivers.iter().all(|thread| thread.is_finished()) {
                thread::sleep(NAP.min(end.saturating_duration_since(Instant::now())));
            }
            self.is_to_be_left.store(self.channel.ends_with_receivers, Ordering::Relaxed);
            while self.channel.ends_with_receivers
                && !receivers.iter().all(|thread| thread.is_finished())
            {
                thread::sleep(NAP);
            }
            self.is_over.store(true, Ordering::Relaxed);
            let joined = receivers.into_iter().map(|thread| thread.join());
            joined.collect::<Vec<_>>()
        });
        let accepted = self.accepted.each_ref().map(|events| events.load(Ordering::Relaxed));
        for received in received {
            let received = received.map_err(|_| "a receiver panicked".to_owned())??;
            check(&accepted, &received)?;
        }
        Ok(())
    }

    fn receive(&self, mut receiver: impl Receives, plan: &Receiving) -> Result<Received, String> {
        let count = self.entry.handler();
        let is_single = matches!(self.channel.kind, Kind::Spsc | Kind::Broadcast);
        let mut checker = Checker::of_channel(self.seed, is_single);
        let mut found = Ok(());
        let mut turn = 0;
        let has_left = loop {
            for (_, time) in plan.stalls.iter().filter(|(at, _)| *at == turn) {
                self.board.injected(Fault::Stall);
                self.board.stall(*time);
            }
            if plan.leaves_after == Some(turn) || self.is_to_be_left.load(Ordering::Relaxed) {
                break true;
            }
            turn += 1;
            let mut seen = 0;
            let is_more = receiver.receive(turn, |value| {
                seen += 1;
                let checked = checker.payload(*value);
                if found.is_ok() {
                    found = checked;
                }
            });
            count.add(seen);
            found.clone()?;
            if !is_more {
                break false;
            }
        };
        if has_left {
            self.board.injected(Fault::ReceiverDropped);
        }
        Ok(Received { seen: checker.numbers().map(Option::unwrap_or_default), has_left })
    }
}

fn check(accepted: &[u64; LANES], received: &Received) -> Checked {
    for (lane, (&accepted, &seen)) in accepted.iter().zip(&received.seen).enumerate() {
        must(seen == accepted || seen < accepted && received.has_left, || {
            format!("accepted {accepted} values of sender {lane}, but seen {seen}")
        })?;
    }
    Ok(())
}
