//! The bounded channel of the standard library, `std::sync::mpsc::sync_channel`. It spins briefly and then parks.

use std::sync::mpsc::{self, SyncSender};

use super::arcs::{Arcs, Receiver, Sender};
use crate::graphs::Event;

/// A channel for each arrow.
#[derive(Clone, Copy)]
pub(super) struct Channels;

impl Arcs for Channels {
    type Sender = SyncSender<Event>;
    type Receiver = mpsc::Receiver<Event>;

    fn arc(self, slots: usize, producers: usize) -> (Vec<Self::Sender>, Self::Receiver) {
        let (sender, receiver) = mpsc::sync_channel(slots);
        (vec![sender; producers], receiver)
    }
}

impl Sender for SyncSender<Event> {
    fn send(&mut self, event: Event) {
        Self::send(self, event).expect("the receiver takes every event");
    }
}

impl Receiver for mpsc::Receiver<Event> {
    fn take(&mut self) -> Event {
        self.recv().expect("the sender sends every event")
    }
}
