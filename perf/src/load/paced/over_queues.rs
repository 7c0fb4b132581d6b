//! A queue for each hop.

use super::{Clock, Letter, Pace, Paced, Sender, Stage, Stages};
use crate::load::queue::{Queue, Receiver, Sender as SendingEnd};
use crate::measure::crew::{Answers, Crew, Disconnected, RunError};

/// Runs `pace` over queues of kind `Q`.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(crate) fn over_queues<Q: Queue>(pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let (to_first, first_inbox) = Q::bounded::<Letter>(pace.ring);
    let (to_second, second_inbox) = Q::bounded::<Letter>(pace.ring);
    let (to_third, third_inbox) = Q::bounded::<Letter>(pace.ring);
    let sender = Sender::new(pace, &clock);
    let mut stages = Stages::new(&clock);
    let (first, second, third) = stages.each();
    let events = pace.events;

    let mut crew = Crew::new(pace.placement);
    crew.enlist("sender", move || {
        sender.run(|letter| to_first.send(letter)).map(|()| Answers::new())
    });
    crew.enlist("stage-1", move || relay(first, events, &first_inbox, &to_second));
    crew.enlist("stage-2", move || relay(second, events, &second_inbox, &to_third));
    crew.enlist("stage-3", move || {
        for _ in 0..events {
            third.receive(third_inbox.receive()?);
        }
        Ok(Answers::new())
    });
    let finish = crew.run()?;
    Ok(stages.into_paced(finish))
}

/// Receives `events`, and sends each on.
fn relay(
    stage: &mut Stage,
    events: u32,
    inbox: &impl Receiver<Letter>,
    next: &impl SendingEnd<Letter>,
) -> Result<Answers, Disconnected> {
    for _ in 0..events {
        let mut letter = inbox.receive()?;
        stage.receive(&mut letter);
        next.send(letter)?;
    }
    Ok(Answers::new())
}
