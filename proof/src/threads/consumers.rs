//! Consumers that the program drives itself: pollers, and guests that join and leave.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use lapwing::consumer::{Finished, Outcome, StopHandle};
use lapwing::error::{PollError, SeatError};
use lapwing::graph::{Seat, Seats, StartAt};
use lapwing::{Poller, Sequence};

use super::actor::{Actor, Acts};
use super::event::{Event, Log, Note, Seen};
use super::program::{Guest, Pace, Pause, Stages, Start};

/// Longest wait of a poll that times out.
const TIMEOUT: Duration = Duration::from_micros(50);

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
    pub(super) fn new(finished: &Finished) -> Self {
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
pub(super) fn poll(mut poller: Poller<Event>, mark: Stages, leaves_after: Option<u64>, log: &Log) {
    let mut consumed = 0;
    for turn in 0.. {
        if leaves_after.is_some_and(|most| consumed >= most) {
            log.push(Note::Left);
            return;
        }
        match poll_once(&mut poller, mark, turn, log) {
            Ok(more) => consumed += more,
            Err(PollError::Empty) => thread::yield_now(),
            Err(PollError::Closed) => return log.push(Note::Closed),
            Err(PollError::Halted(cause)) => return log.push(Note::Halted(cause)),
        }
    }
}

/// Polls once, in the way of this turn. Returns the number of events that it consumed.
fn poll_once(
    poller: &mut Poller<Event>,
    mark: Stages,
    turn: usize,
    log: &Log,
) -> Result<u64, PollError> {
    let batch = match turn % 4 {
        0 => poller.poll(),
        1 => poller.wait().map_err(PollError::from),
        2 => poller.poll_max(3),
        _ => poller.wait_timeout(TIMEOUT),
    };
    let mut batch = batch?;
    let sequences = batch.first_sequence()..;
    let events = sequences.zip(batch.as_slice());
    let is_failed = |sequence| batch.is_failed(sequence);
    let seen: Vec<_> = events
        .map(|(sequence, event)| Seen {
            is_failed: is_failed(sequence),
            ..event.see(sequence, mark)
        })
        .collect();
    let left = if turn.is_multiple_of(3) { seen.len() / 3 } else { 0 };
    let consumed = seen.len() - left;
    log.push(Note::Polled(seen, consumed as u64));
    batch.consume(consumed);
    Ok(consumed as u64)
}

/// What became of a guest.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) guest: Guest,
    /// The next sequence of the first producer when the guest asked for a seat, and what it asked
    /// for.
    pub(super) next: Sequence,
    pub(super) asked: StartAt,
    /// Where it began, or why it did not.
    pub(super) start: Result<Sequence, SeatError>,
    pub(super) log: Log,
    /// The result, unless it polled.
    pub(super) ended: Option<Ended>,
}

/// Takes a seat.
pub(super) fn take(
    seats: &Seats<Event>,
    guest: Guest,
    stage: lapwing::Stage,
    next: Sequence,
    first: Sequence,
) -> (Visit, Option<Seat<Event>>) {
    let asked = match guest.start {
        Start::Now => StartAt::Now,
        Start::Oldest => StartAt::Oldest,
        Start::Back(events) => StartAt::Sequence(next.saturating_sub(events).max(first)),
    };
    let seat = seats.take(stage, asked);
    let start = seat.as_ref().map(Seat::sequence).map_err(Clone::clone);
    (Visit { guest, next, asked, start, log: Log::default(), ended: None }, seat.ok())
}

/// Runs a guest to its end. `stops` gets its stop handle.
pub(super) fn visit(
    mut visit: Visit,
    seat: Option<Seat<Event>>,
    stops: impl FnOnce(StopHandle),
) -> Visit {
    let Some(seat) = seat else { return visit };
    let (log, leaves_after) = (visit.log.clone(), visit.guest.leaves_after);
    if visit.guest.polls {
        poll(seat.poller(), 0, leaves_after, &log);
        return visit;
    }
    let acts = Arc::new(Acts::new(0, &[]));
    let pace = Pace { pause: Pause::Yield, every: 7 };
    let clock = Arc::new(AtomicU64::new(0));
    let consumer = seat.read_handler(Actor { mark: 0, acts, leaves_after, pace, log, clock });
    stops(consumer.stop_handle());
    visit.ended = Some(Ended::new(&consumer.run()));
    visit
}
