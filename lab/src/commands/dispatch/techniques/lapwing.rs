//! Lapwing, in two ways: in place of a queue, and as graphs that carry all hand-offs.
//!
//! ```text
//! strategies --> [ring A] <-- orchestrator <-- gateway 0, 1, ..      arrow: "waits for"
//! gateways   --> [ring B] <-- orchestrator <-- strategy 0, 1, ..
//! ```
//!
//! In the graphs, the orchestrator changes orders in place. The cost is that each gateway and each strategy polls the
//! orders of all others. A gateway copies its orders and releases the slots at once, so that an order waits at a venue
//! and not in a ring.

use std::marker::PhantomData;

use lapwing::consumer::Exclusive;
use lapwing::producer::Multi;
use lapwing::wait::BusySpin;
use lapwing::{Builder, Disruptor, MultiProducer, Poller};

use super::{Destination, Direction, Mpsc, Queue, Technique};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Outlet, Pressure, Relay};
use crate::commands::dispatch::order::Order;
use crate::load::paced::Clock;
use crate::measure::crew::RunError;

/// The stage that receives from a ring in place of a queue.
const RECEIVER: &str = "receiver";
/// The stage that changes orders in a graph.
const ORCHESTRATOR: &str = "orchestrator";

/// Returns the builder of a ring without stages. No thread waits in it, so a strategy that never parks saves the check
/// for parked threads.
fn ring<const PAD: usize>(config: &Config) -> Builder<'static, Order<PAD>, Multi> {
    let ring = Disruptor::multi_producer(config.shared_cap, Order::default);
    ring.wait_strategy(BusySpin).producer_wait_strategy(BusySpin)
}

/// A ring with several producers and one poller, which receives available orders in batches.
pub(super) struct LapwingRing;

impl<const PAD: usize> Mpsc<PAD> for LapwingRing {
    type Sender = MultiProducer<Order<PAD>>;
    type Receiver = Poller<Order<PAD>>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let built = ring(config).stage(RECEIVER).poller().build();
        let (producer, mut consumers) = built.map_err(RunError::refused)?;
        let receiver = consumers.take_poller(RECEIVER).map_err(RunError::refused)?;
        Ok((vec![producer; senders], receiver))
    }
}

impl<const PAD: usize> Outlet<PAD> for MultiProducer<Order<PAD>> {
    #[inline]
    fn offer(&mut self, order: Order<PAD>) -> Result<(), Order<PAD>> {
        match self.try_publish(|slot| *slot = order) {
            Ok(_) => Ok(()),
            Err(_) => Err(order),
        }
    }
}

impl<const PAD: usize> Inlet<PAD> for Poller<Order<PAD>> {
    #[inline]
    fn drain(&mut self, most: usize, mut each: impl FnMut(Order<PAD>)) -> usize {
        let Ok(mut batch) = self.poll_max(most) else { return 0 };
        let taken = batch.len();
        batch.iter().for_each(|(_, order)| each(*order));
        taken
    }
}

/// A ring for each direction.
pub(super) struct LapwingGraphs;

impl<const PAD: usize> Technique<PAD> for LapwingGraphs {
    type Sender = MultiProducer<Order<PAD>>;
    type Relay = InPlace<PAD>;
    type Receiver<D: Destination> = Filter<PAD, D>;

    fn direction<D: Destination>(
        senders: usize,
        receivers: usize,
        config: &Config,
    ) -> Result<Direction<PAD, Self, D>, RunError> {
        let name = |reader: usize| format!("reader {reader}");
        let graph = ring(config).stage(ORCHESTRATOR).poller_mut().parallel(|parallel| {
            (0..receivers).fold(parallel, |parallel, reader| parallel.stage(name(reader)).poller())
        });
        let (producer, mut consumers) = graph.build().map_err(RunError::refused)?;
        let relay = consumers.take_poller_mut(ORCHESTRATOR).map_err(RunError::refused)?;
        let receivers = (0..receivers).map(|reader| {
            let poller = consumers.take_poller(&name(reader)).map_err(RunError::refused)?;
            Ok(Filter { poller, own: reader as u16, destination: PhantomData })
        });
        Ok(Direction {
            receivers: receivers.collect::<Result<_, RunError>>()?,
            relay: InPlace(relay),
            senders: vec![producer; senders],
        })
    }
}

/// The orchestrator in a ring.
pub(super) struct InPlace<const PAD: usize>(Poller<Order<PAD>, Exclusive>);

impl<const PAD: usize> Relay<PAD> for InPlace<PAD> {
    /// Releases each order at once, as a queue would. Readers of the ring do not wait for the end of the batch.
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

    /// Returns no pressure. The free slots are in the ring, and the senders into the ring count the failed offers.
    fn pressure(&self) -> Pressure {
        Pressure::default()
    }
}

/// A reader, parallel to the others downstream of the orchestrator, that keeps only its own orders.
pub(super) struct Filter<const PAD: usize, D> {
    poller: Poller<Order<PAD>>,
    /// The receiver whose orders it keeps.
    own: u16,
    destination: PhantomData<D>,
}

impl<const PAD: usize, D: Destination> Inlet<PAD> for Filter<PAD, D> {
    #[inline]
    fn drain(&mut self, most: usize, mut each: impl FnMut(Order<PAD>)) -> usize {
        let Ok(mut batch) = self.poller.poll_max(most) else { return 0 };
        let seen = batch.len();
        let own = batch.iter().filter(|(_, order)| D::of(*order) == self.own);
        own.for_each(|(_, order)| each(*order));
        seen
    }
}
