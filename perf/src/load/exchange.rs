//! Numbers to another thread and back, whatever carries them.

use crate::machine::placement::Placement;
use crate::measure::crew::{Crew, Disconnected, RunError};
use crate::measure::run::Pass;

/// How many numbers, and where the two threads are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// Numbers that go there and back: `1..=exchanges`.
    pub(crate) exchanges: u32,
    /// Where the threads are.
    pub(crate) placement: Placement,
}

/// One thread sends each of the numbers and takes it back by `call`, the other sends it
/// back by `echo`. The answer is the sum of what came back.
///
/// # Errors
///
/// [`RunError`] if a thread could not start or did not come to its end.
pub(crate) fn run<'a>(
    Exchange { exchanges, placement }: Exchange,
    mut call: impl FnMut(u64) -> Result<u64, Disconnected> + Send + 'a,
    mut echo: impl FnMut(u64) -> Result<(), Disconnected> + Send + 'a,
) -> Result<Pass, RunError> {
    let exchanges = u64::from(exchanges);
    let mut crew = Crew::new(placement);
    crew.enlist("ping", move || {
        let mut sum = 0;
        for number in 1..=exchanges {
            sum += call(number)?;
        }
        Ok(vec![sum])
    });
    crew.enlist("pong", move || {
        (1..=exchanges).try_for_each(&mut echo)?;
        Ok(Vec::new())
    });
    crew.run().map(Pass::one_by_one)
}
