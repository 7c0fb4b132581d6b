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
    crew::Feed::new(name, producer, move |producer| match origin {
        None => publish_all(producer, events, publish, Event::write),
        Some(origin) => publish_all(producer, events, publish, |event: &mut Event<PAD>, value| {
            event.write_as(value, origin);
        }),
    })
}

/// Publishes the events numbered `0..events`, each written in place by `write`.
fn publish_all<E, S: Sequencer>(
    producer: &mut Producer<E, S>,
    events: u32,
    publish: Publish,
    write: impl Fn(&mut E, u32),
) -> Result<(), Disconnected> {
    match publish {
        Publish::One => publish_each(producer, events, write),
        Publish::Batch(size) => publish_batches(producer, events, size.get(), write),
    }
}

/// Publishes one event at a time.
fn publish_each<E, S: Sequencer>(
    producer: &mut Producer<E, S>,
    events: u32,
    write: impl Fn(&mut E, u32),
) -> Result<(), Disconnected> {
    for value in 0..events {
        let published = producer.publish(|event| write(event, value));
        published.map_err(|_| Disconnected)?;
    }
    Ok(())
}

/// Publishes `size` events at a time, fewer at the end.
fn publish_batches<E, S: Sequencer>(
    producer: &mut Producer<E, S>,
    events: u32,
    size: usize,
    write: impl Fn(&mut E, u32),
) -> Result<(), Disconnected> {
    let mut next = 0;
    while next < events {
        let count = size.min((events - next) as usize);
        let published = producer.publish_batch(count, |slots| {
            slots.iter_mut().zip(next..).for_each(|(event, value)| write(event, value));
        });
        published.map_err(|_| Disconnected)?;
        next += count as u32;
    }
    Ok(())
}
