//! Producers and handlers of a ring, from the start to the end of the last handler.

use disruptor::Producer;

use super::cpus::Cpus;
use super::finish_line::FinishLine;
use super::outlet::Outlet;
use super::wait::Wait;
use crate::load::workload::Publish;
use crate::measure::crew::{Crew, Finish, RunError};

/// Makes every producer publish its share. The first one then waits for the handlers. The run ends
/// with the last handler, not when that producer wakes up.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(super) fn all<E, P: Producer<E> + Send>(
    feeds: Vec<(&'static str, P, u32, impl Fn(&mut E, u32) + Send)>,
    cpus: &Cpus,
    line: FinishLine,
    wait: Wait,
    publish: Publish,
) -> Result<Finish, RunError> {
    let mut last_end = None;
    let mut end = Some((line, &mut last_end));
    let mut crew = Crew::new(cpus.producers);
    for (name, producer, events, write) in feeds {
        let mut outlet = Outlet::new(producer, wait);
        let mut end = end.take();
        crew.enlist(name, move || {
            outlet.run(|tap| {
                tap.publish_all(events, publish, &write)?;
                if let Some((line, last_end)) = &mut end {
                    **last_end = Some(line.wait()?);
                }
                Ok(())
            })
        });
    }
    let finish = crew.run()?;
    Ok(match last_end {
        Some(end) => end.of(finish),
        None => finish,
    })
}
