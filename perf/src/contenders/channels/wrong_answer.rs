//! A channel that loses the second value, to test that the error is found.

use std::sync::mpsc;

use super::Library;
use crate::load::traffic::{ReceiveEnd, SendEnd};
use crate::load::value::Value;
use crate::measure::crew::Disconnected;

/// The channel.
#[derive(Clone, Copy)]
pub(super) struct WrongAnswer;

impl Library for WrongAnswer {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        let (sender, receiver) = mpsc::sync_channel::<T>(capacity);
        (vec![sender; senders], Lossy(receiver))
    }
}

struct Lossy<T>(mpsc::Receiver<T>);

impl<T: Value> ReceiveEnd<T> for Lossy<T> {
    fn receive(&mut self) -> Result<T, Disconnected> {
        let value = self.0.recv().map_err(|_| Disconnected)?;
        if value.number() == 2 { self.receive() } else { Ok(value) }
    }
}
