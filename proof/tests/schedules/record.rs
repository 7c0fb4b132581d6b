//! Records of what was accepted and of what a consumer saw.

use std::sync::{Arc, Mutex};

use lapwing::error::RingError;
use lapwing::{Consumers, Poller, Sequence};
use shuttle::thread::{self, JoinHandle};

use crate::event::Event;

/// The sequence and the value of some events, in the order of the sequences.
pub(crate) type Events = Vec<(Sequence, u64)>;

/// What one consumer saw. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Events>>);

impl Log {
    pub(crate) fn note(&self, sequence: Sequence, value: u64) {
        self.0.lock().unwrap().push((sequence, value));
    }

    /// A handler that notes each event.
    pub(crate) fn reader(&self) -> impl FnMut(&Event, Sequence, bool) + Send + 'static {
        let log = self.clone();
        move |event, sequence, _| log.note(sequence, event.read())
    }

    pub(crate) fn seen(&self) -> Events {
        self.0.lock().unwrap().clone()
    }
}

/// The events of all `parts`.
pub(crate) fn merged(parts: impl IntoIterator<Item = Events>) -> Events {
    let mut all: Events = parts.into_iter().flatten().collect();
    all.sort_unstable();
    assert!(
        all.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "a sequence was granted twice: {all:?}"
    );
    all
}

/// The values that a stage has changed.
pub(crate) fn changed(events: &Events, change: impl Fn(u64) -> u64) -> Events {
    events.iter().map(|&(sequence, value)| (sequence, change(value))).collect()
}

/// Starts a thread that reads with the poller of this name until the ring ends.
pub(crate) fn start_reader(
    consumers: &mut Consumers<'static, Event>,
    name: &str,
) -> JoinHandle<(Events, RingError)> {
    let mut poller = consumers.take_poller(name).unwrap();
    thread::spawn(move || read_all(&mut poller))
}

/// Reads until the ring ends. Returns the events and how it ended.
pub(crate) fn read_all(poller: &mut Poller<Event>) -> (Events, RingError) {
    let mut seen = Events::new();
    loop {
        match poller.wait() {
            Ok(mut batch) => {
                seen.extend(batch.iter().map(|(sequence, event)| (sequence, event.read())))
            }
            Err(end) => return (seen, end),
        }
    }
}
