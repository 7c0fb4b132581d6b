//! A tested queue at the two contended hand-offs, and `rtrb` at all others, which are the same for
//! every queue.

use std::marker::PhantomData;

use rtrb::{Consumer, Producer};

use super::{Destination, Direction, Mpsc, Technique, queues};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Pressure, Relay, Sending};
use crate::commands::dispatch::order::Order;
use crate::load::paced::Clock;
use crate::measure::crew::RunError;

/// The pipeline over `Q`.
pub(super) struct OverQueues<Q>(PhantomData<Q>);

impl<const PAD: usize, Q: Mpsc<PAD>> Technique<PAD> for OverQueues<Q> {
    type Sender = Q::Sender;
    type Relay = QueueRelay<PAD, Q::Receiver>;
    type Receiver<D: Destination> = Consumer<Order<PAD>>;

    fn direction<D: Destination>(
        senders: usize,
        receivers: usize,
        config: &Config,
    ) -> Result<Direction<PAD, Self, D>, RunError> {
        let (senders, queue) = Q::build(senders, config)?;
        let rings = (0..receivers).map(|_| queues::rtrb_ring(config.spsc_cap));
        let (outlets, receivers) = rings.unzip::<_, _, Vec<_>, Vec<_>>();
        Ok(Direction { senders, relay: QueueRelay::new(queue, outlets), receivers })
    }
}

/// From a queue to one of several rings.
pub(super) struct QueueRelay<const PAD: usize, I> {
    /// The inlet of orders.
    inlet: I,
    /// The rings of the receivers.
    outlets: Vec<Sending<PAD, Producer<Order<PAD>>>>,
}

impl<const PAD: usize, I> QueueRelay<PAD, I> {
    /// Creates the relay from `inlet` to `rings`.
    fn new(inlet: I, rings: Vec<Producer<Order<PAD>>>) -> Self {
        Self { inlet, outlets: rings.into_iter().map(Sending::new).collect() }
    }
}

impl<const PAD: usize, I: Inlet<PAD>> Relay<PAD> for QueueRelay<PAD, I> {
    #[inline]
    fn relay(
        &mut self,
        clock: &Clock,
        most: usize,
        mut handle: impl FnMut(&mut Order<PAD>) -> usize,
    ) -> usize {
        let retried = self.outlets.iter_mut().map(|outlet| outlet.retry(clock)).sum::<usize>();
        let outlets = &mut self.outlets;
        let passed = self.inlet.drain(most, |mut order| {
            let receiver = handle(&mut order);
            // An order without a receiver is damaged. Its strategy reports that it is missing.
            if let Some(outlet) = outlets.get_mut(receiver) {
                outlet.send(order);
            }
        });
        retried + passed
    }

    fn pressure(&self) -> Pressure {
        let each = self.outlets.iter().map(Sending::pressure);
        each.fold(Pressure::default(), Pressure::and)
    }
}
