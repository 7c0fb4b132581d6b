//! A queue for each hop.

use super::{Clock, Message, Pace, Paced, Sender, Stage, Stages};
use crate::load::queue::Queue;
use crate::measure::crew::{Answers, Crew, Disconnected, RunError};

/// Runs `pace` over a `queue` for each hop.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(crate) fn over_queues<Q: Queue>(queue: Q, pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let (mut to_first, mut first_inbox) = queue.one_to_one::<Message>(pace.ring);
    let (mut to_second, mut second_inbox) = queue.one_to_one::<Message>(pace.ring);
    let (mut to_third, mut third_inbox) = queue.one_to_one::<Message>(pace.ring);
    let sender = Sender::new(pace, &clock);
    let mut stages = Stages::new(&clock);
    let (first, second, third) = stages.each();
    let events = pace.events;

    let mut crew = Crew::new(pace.placement);
    crew.enlist("sender", move || {
        sender.run(|message| Q::send(&mut to_first, message)).map(|()| Answers::new())
    });
    crew.enlist("stage-1", move || relay::<Q>(first, events, &mut first_inbox, &mut to_second));
    crew.enlist("stage-2", move || relay::<Q>(second, events, &mut second_inbox, &mut to_third));
    crew.enlist("stage-3", move || {
        for _ in 0..events {
            third.receive(Q::receive(&mut third_inbox)?);
        }
        Ok(Answers::new())
    });
    let finish = crew.run()?;
    Ok(stages.into_paced(finish))
}

/// Receives `events`, and sends each on.
fn relay<Q: Queue>(
    stage: &mut Stage,
    events: u32,
    inbox: &mut Q::Receiver<Message>,
    next: &mut Q::Sender<Message>,
) -> Result<Answers, Disconnected> {
    for _ in 0..events {
        let mut message = Q::receive(inbox)?;
        stage.receive(&mut message);
        Q::send(next, message)?;
    }
    Ok(Answers::new())
}
