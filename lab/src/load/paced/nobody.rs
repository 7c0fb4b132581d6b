//! A baseline without a hand-off: the sender is also all stages. It shows the cost of the clock,
//! and how late this machine runs a thread that is due. No contender can be better.

use super::{Clock, Pace, Paced, Sender, Stages};
use crate::measure::crew::{Answers, Crew, RunError};

/// Runs `pace` on one thread.
///
/// # Errors
///
/// [`RunError`] if the thread could not start.
pub(crate) fn run(pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let sender = Sender::new(pace, &clock);
    let mut stages = Stages::new(&clock);

    let mut crew = Crew::new(pace.placement);
    let (first, second, third) = stages.each();
    crew.enlist("sender", move || {
        sender.run(|mut message| {
            first.receive(&mut message);
            second.receive(&mut message);
            third.receive(message);
            Ok(())
        })?;
        Ok(Answers::new())
    });
    let finish = crew.run()?;
    Ok(stages.into_paced(finish))
}
