//! A tested queue at the two contended hand-offs, and `rtrb` at all others, which are the same for
//! every queue.

use std::marker::PhantomData;

use rtrb::{Consumer, Producer};

use super::{Ends, Mpsc, Technique, spsc};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Pressure, Relay, Sending};
use crate::commands::dispatch::order::Order;
use crate::load::paced::Clock;
use crate::measure::crew::RunError;

/// The pipeline over `Q`.
pub(super) struct OverQueues<Q>(PhantomData<Q>);

impl<const PAD: usize, Q: Mpsc<PAD>> Technique<PAD> for OverQueues<Q> {
    type Submit = Q::Sender;
    type Returned = Consumer<Order<PAD>>;
    type Dispatch = QueueRelay<PAD, Q::Receiver>;
    type Return = QueueRelay<PAD, Q::Receiver>;
    type Inbox = Consumer<Order<PAD>>;
    type Complete = Q::Sender;

    fn build(config: &Config) -> Result<Ends<PAD, Self>, RunError> {
        let (submits, submitted) = Q::build(config.n_strategies, config)?;
        let (completes, completed) = Q::build(config.m_venues, config)?;
        let rings = |count: usize| (0..count).map(|_| spsc::ring(config.spsc_cap));
        let (to_gateways, inboxes) = rings(config.m_venues).unzip::<_, _, Vec<_>, Vec<_>>();
        let (to_strategies, returned) = rings(config.n_strategies).unzip::<_, _, Vec<_>, Vec<_>>();
        Ok(Ends {
            strategies: submits.into_iter().zip(returned).collect(),
            dispatch: QueueRelay::new(submitted, to_gateways),
            returning: QueueRelay::new(completed, to_strategies),
            gateways: inboxes.into_iter().zip(completes).collect(),
        })
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

impl<const PAD: usize, I: Inlet<Order<PAD>>> Relay<Order<PAD>> for QueueRelay<PAD, I> {
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
