//! Lapwing in place of a queue: a ring with several producers, and one poller that receives
//! available orders in batches.

use lapwing::error::{BuildError, TakeError};
use lapwing::wait::BusySpin;
use lapwing::{Disruptor, MultiProducer, Poller};

use super::{Mpsc, Queue};
use crate::commands::dispatch::config::Config;
use crate::commands::dispatch::hand_off::{Inlet, Outlet};
use crate::commands::dispatch::order::Order;
use crate::measure::crew::RunError;

/// The stage that receives.
const RECEIVER: &str = "receiver";

/// A ring with several producers and one stage.
pub(super) struct LapwingRing;

impl<const PAD: usize> Mpsc<PAD> for LapwingRing {
    type Sender = MultiProducer<Order<PAD>>;
    type Receiver = Poller<Order<PAD>>;

    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError> {
        // No thread waits in the ring, so a strategy that never parks saves the check for parked
        // threads.
        let ring = Disruptor::multi_producer(config.shared_cap, Order::default)
            .wait(BusySpin)
            .producer_wait(BusySpin)
            .stage(RECEIVER)
            .poller();
        let (producer, mut consumers) = ring.build().map_err(not_built)?;
        let receiver = consumers.take_poller(RECEIVER).map_err(not_taken)?;
        Ok((vec![producer; senders], receiver))
    }
}

impl<T: Copy + Send + Sync> Outlet<T> for MultiProducer<T> {
    #[inline]
    fn offer(&mut self, message: T) -> Result<(), T> {
        match self.try_publish(|slot| *slot = message) {
            Ok(_) => Ok(()),
            Err(_) => Err(message),
        }
    }
}

impl<T: Copy + Send + Sync> Inlet<T> for Poller<T> {
    #[inline]
    fn drain(&mut self, most: usize, mut each: impl FnMut(T)) -> usize {
        let Ok(mut batch) = self.poll_max(most) else { return 0 };
        let taken = batch.len();
        batch.iter().for_each(|(_, message)| each(*message));
        taken
    }
}

/// Returns the error of a ring that was refused.
pub(super) fn not_built(error: BuildError) -> RunError {
    RunError::Build(error.to_string())
}

/// Returns the error of a stage that does not exist.
pub(super) fn not_taken(error: TakeError) -> RunError {
    RunError::Build(error.to_string())
}
