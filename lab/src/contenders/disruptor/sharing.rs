//! Each event to one of several handlers. The crate has no groups, so each handler sees every event
//! and handles its own ones by their number, as its users do.

use disruptor::build_multi_producer;

use super::cpus::Cpus;
use super::drive;
use super::finish_line::FinishLine;
use super::wait::Wait;
use crate::load::sharing::{self, Checksum, EveryNth, Sharing};
use crate::load::workload::Publish;
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// Shares the events of `sharing` once.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(super) fn run(wait: Wait, sharing: &Sharing) -> Result<Pass, RunError> {
    let Sharing { crowd, events, ring, placement } = *sharing;
    let mut line = FinishLine::after(events);
    let consumers =
        (0..crowd.consumers).map(|own| line.handler_state(EveryNth::new(own, crowd.consumers)));
    let (handlers, seen): (Vec<_>, Vec<_>) = consumers.unzip();

    let mut cpus = Cpus::of(placement, crowd.producers as usize, crowd.threads());
    let mut builder = build_multi_producer(ring, u64::default, wait).with_multi_consumer();
    for handler in handlers {
        builder = cpus
            .next(builder, "consumer")
            .handle_events_with(handler.handler(|own: &mut EveryNth, event: &u64| own.see(*event)));
    }
    let producer = builder.build();
    let feeds = (0..crowd.producers).map(|origin| {
        let write = move |event: &mut u64, number| *event = sharing::event(origin, number);
        ("producer", producer.clone(), sharing.share(origin), write)
    });
    let feeds = feeds.collect();
    drop(producer); // only the feeds keep the ring open
    let finish = drive::all(feeds, &cpus, line, wait, Publish::One)?;

    let seen = seen.iter().map(|seen| seen.take()).collect::<Result<Vec<_>, _>>()?;
    let answers = seen.iter().flat_map(|seen| seen.state.answers()).collect::<Vec<_>>();
    let batches = seen.iter().map(|seen| seen.batches).collect::<Vec<_>>();
    Ok(Pass::in_batches(finish, Checksum::total(&answers), events, &batches))
}
