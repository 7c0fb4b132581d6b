//! A channel that loses the second value, to test that the error is found.

use crate::contenders::queues::StdMpsc;
use crate::load::queue::{Payload, Queue};
use crate::measure::crew::Disconnected;

/// The channel.
#[derive(Clone, Copy, Default)]
pub(crate) struct WrongAnswer;

/// A receiving end, and the number of values that it has received.
pub(crate) struct Lossy<T: Payload>(<StdMpsc as Queue>::Receiver<T>, u64);

impl Queue for WrongAnswer {
    const NAME: &'static str = "wrong-answer";
    const WAIT: &'static str = StdMpsc::WAIT;
    type Sender<T: Payload> = <StdMpsc as Queue>::Sender<T>;
    type Receiver<T: Payload> = Lossy<T>;

    fn bounded<T: Payload>(self, slots: usize, senders: usize) -> (Vec<Self::Sender<T>>, Lossy<T>) {
        let (senders, receiver) = StdMpsc.bounded(slots, senders);
        (senders, Lossy(receiver, 0))
    }

    fn send<T: Payload>(sender: &mut Self::Sender<T>, message: T) -> Result<(), Disconnected> {
        StdMpsc::send(sender, message)
    }

    fn receive<T: Payload>(Lossy(receiver, received): &mut Lossy<T>) -> Result<T, Disconnected> {
        *received += 1;
        let value = StdMpsc::receive(receiver)?;
        if *received == 2 { StdMpsc::receive(receiver) } else { Ok(value) }
    }
}
