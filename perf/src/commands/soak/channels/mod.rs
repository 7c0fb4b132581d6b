//! The life of a channel: values that senders send and receivers check.

mod ends; // both sides, behind one interface
mod feed; // a sender

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lapwing::channel::{Builder, Sender};
use lapwing::error::BuildError;
use lapwing::producer::{Multi, Sequencer, Single};

use self::ends::{Another, Receives};
use self::feed::Feed;
use super::board::{Board, Entry};
use super::checker::Checker;
use super::event::LANES;
use super::faults::{Deed, Kind as Fault};
use super::orders::{Order, Orders};
use super::plan::{Ending, Plan, Topology};
use super::violation::{Checked, Violation};
use super::waits::with_strategy;
use crate::contenders::WaitName;

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

impl Channel {
    /// Runs one channel.
    fn live(self: &Arc<Self>) -> Checked {
        let capacity = self.plan.capacity;
        let refused = |error: BuildError| Violation::Refused(error.to_string());
        with_strategy!(self.plan.wait, |strategy| {
            let channel = Builder::new(capacity);
            let channel = channel.receiver_wait(strategy).sender_wait(strategy);
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
            .map(|(lane, sender)| {
                let feed = Feed::new(self, sender, lane, add(&mut orders[1]));
                thread::spawn(move || feed.run())
            })
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
}

/// Adds the orders of a thread.
fn add(orders: &mut Vec<Arc<Orders>>) -> Arc<Orders> {
    let own = Arc::new(Orders::default());
    orders.push(Arc::clone(&own));
    own
}
