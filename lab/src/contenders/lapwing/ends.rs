//! A ring whose readers each get each event, as ends that the caller's threads use.

use std::io;

use lapwing::{Disruptor, Poller, SingleProducer};

use super::one_ring::setting::applied;
use super::{Setting, WaitName};

/// The writing end of a ring, and the end of each reader.
pub(in crate::contenders) type Ends<const N: usize> =
    (SingleProducer<[u64; N]>, Vec<Poller<[u64; N]>>);

/// Creates a ring of `slots` slots with so many readers, and returns its ends.
///
/// # Errors
///
/// The ring is refused.
pub(in crate::contenders) fn ends<const N: usize>(
    wait: WaitName,
    slots: usize,
    readers: usize,
) -> io::Result<Ends<N>> {
    let names = (0..readers).map(|reader| format!("reader-{reader}")).collect::<Vec<_>>();
    let builder = Disruptor::single_producer(slots, || [0; N]).parallel(|parallel| {
        names.iter().fold(parallel, |parallel, name| parallel.stage(name.clone()).poller())
    });
    let built = applied(Setting::from(wait), builder, 1).build();
    let (producer, mut consumers) = built.map_err(io::Error::other)?;
    let pollers = names.iter().map(|name| consumers.take_poller(name)).collect::<Result<_, _>>();
    Ok((producer, pollers.map_err(io::Error::other)?))
}
