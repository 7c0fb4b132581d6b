//! The publications of a producer of a topology: one event at a time, or batches.

use super::crew;
use super::library::Producer;
use super::library::producer::Sequencer;
use crate::load::workload::Publish;
use crate::measure::crew::Disconnected;

/// Creates the producer of the events numbered `0..events`, each written in place by `write`.
pub(in crate::contenders) fn feed<'a, E, S: Sequencer>(
    name: &'static str,
    producer: Producer<E, S>,
    events: u32,
    publish: Publish,
    write: impl Fn(&mut E, u32) + Copy + Send + 'a,
) -> crew::Feed<'a, E, S> {
    crew::Feed::new(name, producer, move |producer| match publish {
        Publish::One => publish_each(producer, events, write),
        Publish::Batch(size) => publish_batches(producer, events, size.get(), write),
    })
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
            let numbered = slots.iter_mut().enumerate();
            numbered.for_each(|(index, event)| write(event, next + index as u32));
        });
        published.map_err(|_| Disconnected)?;
        next += count as u32;
    }
    Ok(())
}
