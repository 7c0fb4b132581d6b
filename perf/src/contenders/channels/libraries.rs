//! The constructors of rival channels. Another one needs a type here and its two ends in `ends`.

use std::num::NonZeroUsize;

use super::{Library, ends};
use crate::load::traffic::{ReceiveEnd, SendEnd};
use crate::load::value::Value;

/// `std::sync::mpsc::sync_channel`, which spins briefly and then parks.
#[derive(Clone, Copy)]
pub(super) struct StdMpsc;

/// `crossbeam_channel::bounded`, which spins briefly and then parks.
#[derive(Clone, Copy)]
pub(super) struct CrossbeamChannel;

/// `kanal::bounded`, which spins briefly and then parks.
#[derive(Clone, Copy)]
pub(super) struct Kanal;

/// `flume::bounded`, a lock around a queue.
#[derive(Clone, Copy)]
pub(super) struct Flume;

/// The crate `crossfire`, which has a channel for one sender. As its documentation asks, it counts
/// the CPUs first.
#[derive(Clone, Copy)]
pub(super) struct Crossfire;

/// The crate `gil`, which has a channel for one sender. Both of its channels spin and yield. The
/// channel that parks loses wake-ups, so it is not measured.
#[derive(Clone, Copy)]
pub(super) struct Gil;

/// `thingbuf::mpsc::blocking`, which parks.
#[derive(Clone, Copy)]
pub(super) struct Thingbuf;

impl Library for StdMpsc {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        several(std::sync::mpsc::sync_channel::<T>(capacity), senders)
    }
}

impl Library for CrossbeamChannel {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        several(crossbeam_channel::bounded::<T>(capacity), senders)
    }
}

impl Library for Kanal {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        several(kanal::bounded::<T>(capacity), senders)
    }
}

impl Library for Flume {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        several(flume::bounded::<T>(capacity), senders)
    }
}

impl Library for Crossfire {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        crossfire::detect_backoff_cfg();
        let (sender, receiver) = crossfire::mpsc::bounded_blocking::<T>(capacity);
        let senders = vec![sender; senders].into_iter().map(ends::Crossfire);
        (senders.collect(), ends::Crossfire(receiver))
    }

    fn spsc<T: Value>(
        self,
        capacity: usize,
    ) -> (impl SendEnd<T> + use<T>, impl ReceiveEnd<T> + use<T>) {
        crossfire::detect_backoff_cfg();
        let (sender, receiver) = crossfire::spsc::bounded_blocking::<T>(capacity);
        (ends::Crossfire(sender), ends::Crossfire(receiver))
    }
}

impl Library for Gil {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        several(gil::mpsc::channel::<T>(slots(capacity)), senders)
    }

    fn spsc<T: Value>(
        self,
        capacity: usize,
    ) -> (impl SendEnd<T> + use<T>, impl ReceiveEnd<T> + use<T>) {
        gil::spsc::channel::<T>(slots(capacity))
    }
}

impl Library for Thingbuf {
    fn mpsc<T: Value>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<impl SendEnd<T> + use<T>>, impl ReceiveEnd<T> + use<T>) {
        several(thingbuf::mpsc::blocking::channel::<T>(capacity), senders)
    }
}

/// Creates this many senders and no other clone, so that a receiver that outlives them learns that
/// they are gone.
fn several<S: Clone, R>((sender, receiver): (S, R), senders: usize) -> (Vec<S>, R) {
    (vec![sender; senders], receiver)
}

fn slots(capacity: usize) -> NonZeroUsize {
    NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN)
}
