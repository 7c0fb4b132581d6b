//! The life of a channel: values that senders send and receivers check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lapwing::channel::{
    BroadcastReceiver, Builder, MultiSender, Receiver, Sender, SingleSender, TryRecvError,
};
use lapwing::error::BuildError;
use lapwing::producer::{Multi, Sequencer, Single};

use super::board::{Board, Count, Entry};
use super::checker::Checker;
use super::event::{LANES, seal};
use super::faults::{Deed, Kind as Fault, Losing};
use super::orders::{Order, Orders};
use super::pace::Pace;
use super::plan::{Call, Ending, Phase, Plan, Topology};
use super::violation::{Checked, Violation};
use super::waits::with_strategy;
use crate::contenders::WaitName;

/// The timeout of a call that has one.
const PATIENCE: Duration = Duration::from_micros(50);
/// Receivers of a broadcast.
const RECEIVERS: usize = 2;
/// How often a receiver that leaves at the end is told so.
const NAP: Duration = Duration::from_millis(2);

/// A value of a channel.
#[derive(Clone, Copy, Debug)]
struct Value {
    number: u64,
    seal: u64,
    lane: u32,
}

/// What the ends of one channel share.
struct Channel {
    plan: Arc<Plan>,
    board: Arc<Board>,
    entry: Entry,
    life: u32,
    seed: u64,
    is_over: AtomicBool,
    accepted: [AtomicU64; LANES],
}

/// A receiver that left early has seen fewer values.
struct Received {
    seen: [u64; LANES],
    has_left: bool,
}

/// Makes the channel of `plan` as often as it says, one after the other.
pub(super) fn run(plan: &Arc<Plan>, board: &Arc<Board>) {
    for life in 0..plan.lives {
        if board.violation().is_some() {
            return;
        }
        let channel = Arc::new(Channel {
            plan: Arc::clone(plan),
            board: Arc::clone(board),
            entry: board.enter(plan.topology.name(), plan.to_string()),
            life,
            seed: plan.payload_seed(life),
            is_over: AtomicBool::new(false),
            accepted: Default::default(),
        });
        if let Err(violation) = channel.live() {
            board.refuse(violation, &format!("a channel, life {life}; {plan}"));
        }
    }
}

/// A receiving end.
trait Receives: Send + 'static {
    /// Receives some values by one of several calls. Returns whether there may be more.
    fn receive(&mut self, turn: u64, see: impl FnMut(&Value)) -> bool;
}

impl Receives for Receiver<Value> {
    fn receive(&mut self, turn: u64, mut see: impl FnMut(&Value)) -> bool {
        match turn % 8 {
            0 => self.recv().map(|value| see(&value)).is_ok(),
            1 => match self.try_recv() {
                Ok(value) => {
                    see(&value);
                    true
                }
                Err(TryRecvError::Empty) => true,
                Err(TryRecvError::Disconnected) => false,
            },
            _ => self.recv_batch().map(|values| values.for_each(|value| see(&value))).is_ok(),
        }
    }
}

impl Receives for BroadcastReceiver<Value> {
    fn receive(&mut self, turn: u64, mut see: impl FnMut(&Value)) -> bool {
        match turn % 8 {
            0 => self.recv_with(see).is_ok(),
            1 => match self.try_recv() {
                Ok(value) => {
                    see(&value);
                    true
                }
                Err(TryRecvError::Empty) => true,
                Err(TryRecvError::Disconnected) => false,
            },
            _ => self.recv_batch().map(|mut values| values.iter().for_each(see)).is_ok(),
        }
    }
}

/// A sending end that may have more of its kind.
trait Another: Sized + Send + 'static {
    fn another(&self) -> Option<Self>;
}

impl Another for SingleSender<Value> {
    fn another(&self) -> Option<Self> {
        None
    }
}

impl Another for MultiSender<Value> {
    fn another(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl Channel {
    /// Runs one channel.
    fn live(self: &Arc<Self>) -> Checked {
        let capacity = self.plan.capacity;
        let refused = |error: BuildError| Violation::Refused(error.to_string());
        with_strategy!(self.plan.wait, |strategy| {
            let channel = Builder::new(capacity);
            let channel = channel.receiver_wait(strategy.clone()).sender_wait(strategy);
            match self.plan.topology {
                Topology::Spsc => {
                    let (sender, receiver) = channel.spsc().map_err(refused)?;
                    self.run::<Single, _>(sender, vec![receiver])
                }
                Topology::Broadcast => {
                    let (sender, receivers) = channel.broadcast(RECEIVERS).map_err(refused)?;
                    self.run::<Single, _>(sender, receivers)
                }
                Topology::MultiBroadcast => {
                    let made = channel.multi_broadcast(RECEIVERS).map_err(refused)?;
                    self.run::<Multi, _>(made.0, made.1)
                }
                _ => {
                    let (sender, receiver) = channel.mpsc().map_err(refused)?;
                    self.run::<Multi, _>(sender, vec![receiver])
                }
            }
        })
    }

    fn run<S, R>(self: &Arc<Self>, sender: Sender<Value, S>, receivers: Vec<R>) -> Checked
    where
        S: Sequencer,
        Sender<Value, S>: Another,
        R: Receives,
    {
        let mut orders = [Vec::new(), Vec::new()];
        let receivers: Vec<_> = receivers
            .into_iter()
            .map(|receiver| self.spawn_receiver(receiver, add(&mut orders[0])))
            .collect();
        let others = (1..self.plan.producers).filter_map(|_| sender.another()).collect::<Vec<_>>();
        let senders = others.into_iter().chain([sender]).enumerate();
        let senders: Vec<_> = senders
            .map(|(lane, sender)| self.spawn_sender(sender, lane, add(&mut orders[1])))
            .collect();

        self.disturb(&orders, &receivers);
        self.end(&orders[0], &receivers);
        for sender in senders {
            sender.join().map_err(|_| Violation::Refused("a sender panicked".to_owned()))?;
        }
        let accepted = self.accepted.each_ref().map(|events| events.load(Ordering::Relaxed));
        for receiver in receivers {
            let received = receiver.join();
            let received =
                received.map_err(|_| Violation::Refused("a receiver panicked".to_owned()))??;
            self.check(&accepted, &received)?;
        }
        Ok(())
    }

    fn check(&self, accepted: &[u64; LANES], received: &Received) -> Checked {
        for (lane, (&accepted, &seen)) in accepted.iter().zip(&received.seen).enumerate() {
            if seen > accepted || (seen < accepted && !received.has_left) {
                return Err(Violation::Unequal { lane, accepted, seen });
            }
        }
        Ok(())
    }

    /// Carries out the faults that a channel can have.
    fn disturb<T>(&self, orders: &[Vec<Arc<Orders>>; 2], receivers: &[JoinHandle<T>]) {
        let start = Instant::now();
        let give = |end: usize, target: usize, order| {
            orders[end][target % orders[end].len()].give(order);
        };
        for fault in self.plan.faults(self.life) {
            if !self.sleep(start + fault.at, receivers) {
                return;
            }
            match fault.deed {
                Deed::Stall(time) => give(0, fault.target, Order::Stall(time)),
                Deed::Lose(losing) => give(1, fault.target, Order::Lose(losing)),
                // The last one ends the channel.
                Deed::StopStage if receivers.len() > 1 => give(0, 0, Order::Leave),
                _ => {}
            }
        }
        self.sleep(start + self.plan.time, receivers);
    }

    /// Sleeps until `end`. Returns false if all receivers have ended by then.
    fn sleep<T>(&self, end: Instant, receivers: &[JoinHandle<T>]) -> bool {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            if receivers.iter().all(JoinHandle::is_finished) {
                return false;
            }
            thread::sleep(left.min(NAP));
        }
    }

    /// Ends the channel: all senders are dropped, or all receivers are while senders send.
    fn end<T>(&self, orders: &[Arc<Orders>], receivers: &[JoinHandle<T>]) {
        if matches!(self.plan.ending, Ending::Close | Ending::Halt) {
            while !receivers.iter().all(JoinHandle::is_finished) {
                orders.iter().for_each(|orders| orders.give(Order::Leave));
                self.is_over.store(true, Ordering::Relaxed); // a receiver may wait for a value
                thread::sleep(NAP);
            }
        }
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn spawn_receiver<R: Receives>(
        self: &Arc<Self>,
        mut receiver: R,
        orders: Arc<Orders>,
    ) -> JoinHandle<Checked<Received>> {
        let (channel, count) = (Arc::clone(self), self.entry.handler());
        thread::spawn(move || {
            let is_single = matches!(channel.plan.topology, Topology::Spsc | Topology::Broadcast);
            let mut checker = Checker::new(channel.seed, is_single);
            let mut found = Ok(());
            let mut turn = 0;
            let has_left = loop {
                match orders.take() {
                    Some(Order::Stall(time)) => {
                        channel.board.injected(Fault::Stall);
                        channel.board.stall(time);
                    }
                    Some(Order::Leave) => break true,
                    _ => {}
                }
                turn += 1;
                let mut seen = 0;
                let is_more = receiver.receive(turn, |value| {
                    seen += 1;
                    let checked = checker.payload(value.lane, value.number, value.seal);
                    found = found.clone().and(checked);
                });
                count.add(seen);
                found.clone()?;
                if !is_more {
                    break false;
                }
            };
            if has_left {
                channel.board.injected(Fault::ReceiverDropped);
            }
            Ok(Received { seen: checker.seen().map(Option::unwrap_or_default), has_left })
        })
    }

    fn spawn_sender<S>(
        self: &Arc<Self>,
        sender: Sender<Value, S>,
        lane: usize,
        orders: Arc<Orders>,
    ) -> JoinHandle<()>
    where
        S: Sequencer,
        Sender<Value, S>: Another,
    {
        let (channel, sent) = (Arc::clone(self), self.entry.publisher());
        let pace = Pace::new(&self.plan.phases);
        let values = Vec::new();
        let mut feed = Feed { channel, sender, orders, pace, lane, next: 0, sent, values };
        thread::spawn(move || {
            while !feed.channel.is_over.load(Ordering::Relaxed) && feed.send() {}
            feed.channel.accepted[feed.lane].store(feed.next, Ordering::Relaxed);
        })
    }
}

/// Adds the orders of a thread.
fn add(orders: &mut Vec<Arc<Orders>>) -> Arc<Orders> {
    let own = Arc::new(Orders::default());
    orders.push(Arc::clone(&own));
    own
}

/// A sender under way.
struct Feed<S: Sequencer> {
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
                Err(error) if matches!(error, lapwing::channel::TrySendError::Full(_)) => 0,
                Err(_) => return false,
            },
            Call::TimeoutBatch => match self.sender.send_timeout(value, PATIENCE) {
                Ok(()) => 1,
                Err(lapwing::channel::SendTimeoutError::Timeout(_)) => 0,
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
