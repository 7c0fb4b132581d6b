//! Consumers that the program drives itself: pollers, and guests that join and leave.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lapwing::consumer::{Outcome, StageReport, StopHandle};
use lapwing::error::{DynamicStageError, PollError};
use lapwing::graph::{DynamicStage, DynamicStages, StartAt};
use lapwing::{Poller, Sequence};

use super::actor::Actor;
use super::event::Event;
use super::faults::Fault;
use super::program::{Guest, Pace, Pause, Start};
use super::will::{Acts, Will};
use super::witness::{Call, Observer, Witness};

/// Longest wait of a poll that times out.
const TIMEOUT: Duration = Duration::from_micros(50);

/// The pace of a guest.
const PACE_OF_GUESTS: Pace = Pace { pause: Pause::Yield, every: 7 };

/// The result of a stage, without its handler.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) outcome: Outcome,
    pub(super) processed: u64,
    pub(super) handled: u64,
    pub(super) skipped: u64,
}

impl Ended {
    pub(super) fn new(finished: &StageReport) -> Self {
        Self {
            name: finished.name().to_owned(),
            outcome: finished.outcome().clone(),
            processed: finished.processed(),
            handled: finished.handled(),
            skipped: finished.skipped(),
        }
    }
}

/// Polls in several ways until the ring has ended, or until it has consumed `leaves_after` events.
pub(super) fn poll(
    mut poller: Poller<Event>,
    leaves_after: Option<u64>,
    pace: Pace,
    witness: &mut impl Witness,
) {
    let mut consumed = 0;
    for turn in 0_u64.. {
        if turn.is_multiple_of(pace.every) {
            pace.pause.take(thread::sleep);
        }
        if leaves_after.is_some_and(|most| consumed >= most) {
            return witness.call(Call::Left);
        }
        match poll_once(&mut poller, turn, witness) {
            Ok(more) => consumed += more,
            Err(PollError::Empty) => thread::yield_now(),
            Err(PollError::Closed) => return witness.call(Call::Closed),
            Err(PollError::Halted(cause)) => return witness.call(Call::Halted(cause)),
        }
    }
}

/// Polls once, in the way of this turn. Returns the number of events that it consumed.
fn poll_once(
    poller: &mut Poller<Event>,
    turn: u64,
    witness: &mut impl Witness,
) -> Result<u64, PollError> {
    let batch = match turn % 4 {
        0 => poller.poll(),
        1 => poller.wait().map_err(PollError::from),
        2 => poller.poll_max(3),
        _ => poller.wait_timeout(TIMEOUT),
    };
    let mut batch = batch?;
    let (first, events) = (batch.first_sequence(), batch.as_slice());
    let left = if turn.is_multiple_of(3) { events.len() / 3 } else { 0 };
    let consumed = events.len() - left;
    witness.polled(events, first, |sequence| batch.is_failed(sequence), consumed);
    batch.consume(consumed);
    Ok(consumed as u64)
}

/// What became of a guest.
#[derive(Debug)]
pub(super) struct Visit {
    /// Its number among the deeds.
    pub(super) number: usize,
    pub(super) guest: Guest,
    /// The next sequence of the first producer when the guest asked for a dynamic stage, and what
    /// it asked for.
    pub(super) next: Sequence,
    pub(super) asked: StartAt,
    /// Where it began, or why it did not.
    pub(super) start: Result<Sequence, DynamicStageError>,
    /// The result, unless it polled.
    pub(super) ended: Option<Ended>,
}

/// Takes a dynamic stage.
pub(super) fn take(
    dynamic_stages: &DynamicStages<Event>,
    number: usize,
    guest: Guest,
    stage: lapwing::Stage,
    next: Sequence,
    first: Sequence,
) -> (Visit, Option<DynamicStage<Event>>) {
    let asked = match guest.start {
        Start::Now => StartAt::Now,
        Start::Oldest => StartAt::Oldest,
        Start::Back(events) => StartAt::Sequence(next.saturating_sub(events).max(first)),
    };
    let dynamic_stage = dynamic_stages.join(stage, asked);
    let start = dynamic_stage.as_ref().map(DynamicStage::sequence).map_err(Clone::clone);
    (Visit { number, guest, next, asked, start, ended: None }, dynamic_stage.ok())
}

/// Runs a guest to its end. `stops` gets its stop handle.
pub(super) fn visit(
    mut visit: Visit,
    dynamic_stage: Option<DynamicStage<Event>>,
    observer: &impl Observer,
    stops: impl FnOnce(StopHandle),
) -> Visit {
    let Some(dynamic_stage) = dynamic_stage else { return visit };
    observer.injected(Fault::Joined);
    let mut witness = observer.guest(visit.number, dynamic_stage.sequence());
    let leaves_after = visit.guest.leaves_after;
    if visit.guest.polls {
        poll(dynamic_stage.poller(), leaves_after, PACE_OF_GUESTS, &mut witness);
        return visit;
    }
    let acts = Arc::new(Acts::new(0, &[]));
    let will = Will { acts, leaves_after, pace: PACE_OF_GUESTS };
    let consumer = dynamic_stage.read_handler(Actor { stage: 0, will, witness, tap: None });
    stops(consumer.stop_handle());
    visit.ended = Some(Ended::new(&consumer.run()));
    visit
}
