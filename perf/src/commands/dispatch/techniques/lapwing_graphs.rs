//! Lapwing's graphs: two rings carry all hand-offs, and the orchestrator changes orders in place.
//! The cost is that each gateway and each strategy polls the orders of all others.
//!
//! ```text
//! strategies --> [ring A] <-- orchestrator <-- gateway 0, 1, ..      arrow: "waits for"
//! gateways   --> [ring B] <-- orchestrator <-- strategy 0, 1, ..
//! ```
//!
//! A gateway copies its orders and releases the slots at once. An order waits at a venue and not in
//! a ring.

use std::marker::PhantomData;

use lapwing::consumer::Exclusive;
use lapwing::wait::BusySpin;
use lapwing::{Disruptor, MultiProducer, Poller};

use super::lapwing_ring::{not_built, not_taken};
use super::{Ends, Technique};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Pressure, Relay};
use crate::commands::dispatch::order::Order;
use crate::load::paced::Clock;
use crate::measure::crew::RunError;

/// The stage that changes orders.
const ORCHESTRATOR: &str = "orchestrator";

/// Two rings.
pub(super) struct LapwingGraphs;

impl<const PAD: usize> Technique<PAD> for LapwingGraphs {
    type Submit = MultiProducer<Order<PAD>>;
    type Returned = Filter<PAD, ToStrategy>;
    type Dispatch = InPlace<PAD>;
    type Return = InPlace<PAD>;
    type Inbox = Filter<PAD, ToVenue>;
    type Complete = MultiProducer<Order<PAD>>;

    fn build(config: &Config) -> Result<Ends<PAD, Self>, RunError> {
        let (strategies, venues) = (config.n_strategies, config.m_venues);
        let there = Graph::build(strategies, venues, config)?;
        let back = Graph::build(venues, strategies, config)?;
        Ok(Ends {
            strategies: there.producers.into_iter().zip(back.readers).collect(),
            dispatch: there.orchestrator,
            returning: back.orchestrator,
            gateways: there.readers.into_iter().zip(back.producers).collect(),
        })
    }
}

/// A ring and its ends.
struct Graph<const PAD: usize, R> {
    producers: Vec<MultiProducer<Order<PAD>>>,
    orchestrator: InPlace<PAD>,
    /// Parallel readers downstream of the orchestrator. Reader 0 keeps the orders of receiver 0.
    readers: Vec<Filter<PAD, R>>,
}

impl<const PAD: usize, R> Graph<PAD, R> {
    fn build(producers: usize, readers: usize, config: &Config) -> Result<Self, RunError> {
        let name = |reader: usize| format!("reader {reader}");
        // No thread waits in the ring, so a strategy that never parks saves the check for parked
        // threads.
        let ring = Disruptor::multi_producer(config.shared_cap, Order::default)
            .wait(BusySpin)
            .producer_wait(BusySpin)
            .stage(ORCHESTRATOR)
            .poller_mut()
            .side_by_side(|side| {
                (0..readers).fold(side, |side, reader| side.stage(name(reader)).poller())
            });
        let (producer, mut consumers) = ring.build().map_err(not_built)?;
        let orchestrator = consumers.take_poller_mut(ORCHESTRATOR).map_err(not_taken)?;
        let readers = (0..readers).map(|reader| {
            let poller = consumers.take_poller(&name(reader)).map_err(not_taken)?;
            Ok(Filter { poller, own: reader as u16, receiver: PhantomData })
        });
        Ok(Self {
            readers: readers.collect::<Result<_, RunError>>()?,
            orchestrator: InPlace(orchestrator),
            producers: vec![producer; producers],
        })
    }
}

/// The orchestrator in a ring.
pub(super) struct InPlace<const PAD: usize>(Poller<Order<PAD>, Exclusive>);

impl<const PAD: usize> Relay<Order<PAD>> for InPlace<PAD> {
    /// Releases each order at once, as a queue would. Readers of the ring do not wait for the end
    /// of the batch.
    #[inline]
    fn relay(
        &mut self,
        _: &Clock,
        most: usize,
        mut handle: impl FnMut(&mut Order<PAD>) -> usize,
    ) -> usize {
        let Ok(mut batch) = self.0.poll_max(most) else { return 0 };
        let passed = batch.len();
        while let Some(order) = batch.as_mut_slice().first_mut() {
            handle(order); // its reader finds the receiver in the order
            batch.consume(1);
            batch.release();
        }
        passed
    }

    /// Returns no pressure. The free slots are in the ring, and the senders into the ring count the
    /// failed offers.
    fn pressure(&self) -> Pressure {
        Pressure::default()
    }
}

/// A reader that keeps only its own orders.
pub(super) struct Filter<const PAD: usize, R> {
    poller: Poller<Order<PAD>>,
    /// The receiver whose orders it keeps.
    own: u16,
    /// The receiver.
    receiver: PhantomData<R>,
}

/// The receiver of an order.
pub(super) trait Receiver: Send {
    /// Returns the receiver of `order`.
    fn of<const PAD: usize>(order: &Order<PAD>) -> u16;
}

/// Orders on their way to a venue.
pub(super) struct ToVenue;

impl Receiver for ToVenue {
    #[inline]
    fn of<const PAD: usize>(order: &Order<PAD>) -> u16 {
        order.venue
    }
}

/// Orders on their way back.
pub(super) struct ToStrategy;

impl Receiver for ToStrategy {
    #[inline]
    fn of<const PAD: usize>(order: &Order<PAD>) -> u16 {
        order.strategy
    }
}

impl<const PAD: usize, R: Receiver> Inlet<Order<PAD>> for Filter<PAD, R> {
    #[inline]
    fn drain(&mut self, most: usize, mut each: impl FnMut(Order<PAD>)) -> usize {
        let Ok(mut batch) = self.poller.poll_max(most) else { return 0 };
        let seen = batch.len();
        let own = batch.iter().filter(|(_, order)| R::of(*order) == self.own);
        own.for_each(|(_, order)| each(*order));
        seen
    }
}
