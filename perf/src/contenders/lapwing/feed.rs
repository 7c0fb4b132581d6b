//! What a producer of a topology publishes: one event at a time, or in batches.

use lapwing::{Producer, Sequencer};

use crate::load::event::Event;
use crate::load::workload::Publish;
use crate::measure::crew::Disconnected;
use crate::rings::crew;

/// The producer of the events numbered `0..events`; `origin` is its number, if it is one of several.
pub(super) fn feed<'a, const PAD: usize, S: Sequencer>(
    name: &'static str,
    producer: Producer<Event<PAD>, S>,
    origin: Option<u8>,
    events: u32,
    publish: Publish,
) -> crew::Feed<'a, Event<PAD>, S> {
    crew::Feed::new(name, producer, move |producer| match publish {
        Publish::One => publish_each(producer, origin, events),
        Publish::Batch(size) => publish_batches(producer, origin, events, size.get()),
    })
}

/// Publishes one event at a time.
fn publish_each<const PAD: usize, S: Sequencer>(
    producer: &mut Producer<Event<PAD>, S>,
    origin: Option<u8>,
    events: u32,
) -> Result<(), Disconnected> {
    for value in 0..events {
        let published = producer.publish(|event| write(event, value, origin));
        published.map_err(|_| Disconnected)?;
    }
    Ok(())
}

/// Publishes `size` events at a time, fewer at the end.
fn publish_batches<const PAD: usize, S: Sequencer>(
    producer: &mut Producer<Event<PAD>, S>,
    origin: Option<u8>,
    events: u32,
    size: usize,
) -> Result<(), Disconnected> {
    let mut next = 0;
    while next < events {
        let left = (events - next) as usize;
        let published = producer.publish_batch(size.min(left), |slots| {
            slots.iter_mut().for_each(|event| {
                write(event, next, origin);
                next += 1;
            });
        });
        published.map_err(|_| Disconnected)?;
    }
    Ok(())
}

/// Writes `event` in place.
#[inline]
fn write<const PAD: usize>(event: &mut Event<PAD>, value: u32, origin: Option<u8>) {
    match origin {
        None => event.write(value),
        Some(origin) => event.write_as(value, origin),
    }
}
