//! One producer: makes its calls, and records what became of each event.

use std::ops::Range;
use std::thread;
use std::time::Duration;

use lapwing::error::BatchError;
use lapwing::producer::{ClaimBatch, Sequencer, Slots, WhenFull};
use lapwing::{Producer, Sequence};

use super::event::{Event, Found, NO_EVENT};
use super::program::{Call, How, Patience};

/// Longest wait of a call that times out.
pub(super) const TIMEOUT: Duration = Duration::from_micros(50);
/// The policy of a call that times out.
const TIMES_OUT: WhenFull = WhenFull::Timeout(TIMEOUT);
/// Why such a call returns something.
const NOT_DROPPED: &str = "only `DropNew` drops events";

/// What became of the calls of a producer.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// The events of calls that returned `Ok`.
    pub(super) accepted: Vec<Accepted>,
    /// The sequences of claims that it gave up.
    pub(super) given_up: Vec<Sequence>,
    /// The calls that returned an error, with their indices.
    pub(super) refused: Vec<(usize, Call, BatchError)>,
    /// Number of events of calls that returned `Ok(None)`.
    pub(super) dropped: u64,
    /// The number that the producer reports.
    pub(super) reported_dropped: u64,
}

/// An accepted event, and what its slot had before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accepted {
    pub(super) sequence: Sequence,
    pub(super) id: u64,
    pub(super) found: Found,
    /// The index of the call.
    pub(super) call: usize,
}

/// What became of a call.
enum Done {
    Published(Range<Sequence>),
    GaveUp(Range<Sequence>),
    Dropped,
}

/// Makes all calls, until the ring has ended. `before` is called with the index of each call, and
/// with what has become of the earlier ones.
pub(super) fn run<S: Sequencer>(
    mut producer: Producer<Event, S>,
    number: usize,
    calls: &[Call],
    mut before: impl FnMut(usize, &Feed, &Producer<Event, S>),
) -> Feed {
    let mut feed = Feed::default();
    for (index, &call) in calls.iter().enumerate() {
        before(index, &feed, &producer);
        call.before.take();
        let call = Call { count: call.count.clamp(1, producer.capacity()), ..call };
        let first_id = 1 + ((number as u64) << 48 | (index as u64) << 16);
        let mut found = Vec::new();
        match make(&mut producer, call, first_id, &mut found) {
            Ok(Done::Published(sequences)) => {
                assert_eq!(
                    sequences.clone().count(),
                    found.len(),
                    "one sequence for each filled slot"
                );
                let may_be_fewer = matches!(call.how, How::ClaimUpTo(_));
                assert!(
                    found.len() as u64 == events_of(call)
                        || may_be_fewer && found.len() <= call.count
                );
                let events = sequences.zip(first_id..).zip(found);
                feed.accepted.extend(events.map(|((sequence, id), found)| Accepted {
                    sequence,
                    id,
                    found,
                    call: index,
                }));
            }
            Ok(Done::GaveUp(sequences)) => feed.given_up.extend(sequences),
            Ok(Done::Dropped) => feed.dropped += events_of(call),
            Err(error) => feed.refused.push((index, call, error)),
        }
    }
    before(calls.len(), &feed, &producer);
    feed.reported_dropped = producer.dropped();
    feed
}

/// Number of events that a call publishes or drops.
fn events_of(call: Call) -> u64 {
    if matches!(call.how, How::Publish(_) | How::Claim(_) | How::PublishOr(_)) {
        1
    } else {
        call.count as u64
    }
}

fn make<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    call: Call,
    id: u64,
    found: &mut Vec<Found>,
) -> Result<Done, BatchError> {
    match call.how {
        How::Publish(patience) => publish(producer, patience, |event| found.push(event.fill(id))),
        How::PublishBatch(patience) => {
            publish_batch(producer, patience, call.count, |slots| fill(slots, id, found))
        }
        How::Claim(patience) => claim(producer, patience, call.gives_up, |event, id_or_none| {
            let before = event.fill(if id_or_none { id } else { NO_EVENT });
            found.push(before);
        }),
        How::ClaimBatch(patience) => {
            let count = call.count;
            let claim = match patience {
                Patience::Waits => producer.claim_batch(count)?,
                Patience::Tries => producer.try_claim_batch(count)?,
                Patience::TimesOut => {
                    producer.claim_batch_or(count, TIMES_OUT)?.expect(NOT_DROPPED)
                }
            };
            settle(claim, call.gives_up, id, found)
        }
        How::ClaimUpTo(patience) => {
            let most = call.count;
            let claim = match patience {
                Patience::Waits => producer.claim_up_to(most)?,
                Patience::Tries => {
                    producer.claim_up_to_or(most, WhenFull::Refuse)?.expect(NOT_DROPPED)
                }
                Patience::TimesOut => producer.claim_up_to_or(most, TIMES_OUT)?.expect(NOT_DROPPED),
            };
            settle(claim, call.gives_up, id, found)
        }
        How::PublishOr(when_full) => {
            let published = producer.publish_or(when_full, |event| found.push(event.fill(id)))?;
            Ok(published.map_or(Done::Dropped, |sequence| Done::Published(one(sequence))))
        }
        How::PublishBatchOr(when_full) => {
            let published =
                producer.publish_batch_or(call.count, when_full, |slots| fill(slots, id, found));
            Ok(published?.map_or(Done::Dropped, Done::Published))
        }
    }
}

fn publish<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    patience: Patience,
    fill: impl FnOnce(&mut Event),
) -> Result<Done, BatchError> {
    let sequence = match patience {
        Patience::Waits => producer.publish(fill)?,
        Patience::Tries => producer.try_publish(fill)?,
        Patience::TimesOut => producer.publish_or(TIMES_OUT, fill)?.expect(NOT_DROPPED),
    };
    Ok(Done::Published(one(sequence)))
}

fn publish_batch<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    patience: Patience,
    count: usize,
    fill: impl FnOnce(&mut Slots<'_, Event>),
) -> Result<Done, BatchError> {
    let published = match patience {
        Patience::Waits => producer.publish_batch(count, fill)?,
        Patience::Tries => producer.try_publish_batch(count, fill)?,
        Patience::TimesOut => {
            producer.publish_batch_or(count, TIMES_OUT, fill)?.expect(NOT_DROPPED)
        }
    };
    Ok(Done::Published(published))
}

/// Claims a slot. `fill` makes it an event or, with `false`, none.
fn claim<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    patience: Patience,
    gives_up: bool,
    fill: impl FnOnce(&mut Event, bool),
) -> Result<Done, BatchError> {
    let mut claim = match patience {
        Patience::Waits => producer.claim()?,
        Patience::Tries => producer.try_claim()?,
        Patience::TimesOut => producer.claim_or(TIMES_OUT)?.expect(NOT_DROPPED),
    };
    fill(&mut claim, !gives_up);
    thread::yield_now(); // other threads meet a held claim
    if gives_up {
        return Ok(Done::GaveUp(one(claim.sequence())));
    }
    Ok(Done::Published(one(claim.publish()?)))
}

/// Publishes a claimed range, or gives it up.
fn settle<S: Sequencer>(
    mut claim: ClaimBatch<'_, Event, S>,
    gives_up: bool,
    id: u64,
    found: &mut Vec<Found>,
) -> Result<Done, BatchError> {
    if gives_up {
        claim.slots().iter_mut().for_each(|event| _ = event.fill(NO_EVENT));
        return Ok(Done::GaveUp(claim.sequences()));
    }
    fill(&mut claim.slots(), id, found);
    Ok(Done::Published(claim.publish()?))
}

fn fill(slots: &mut Slots<'_, Event>, first_id: u64, found: &mut Vec<Found>) {
    found.extend(slots.iter_mut().zip(first_id..).map(|(event, id)| event.fill(id)));
}

fn one(sequence: Sequence) -> Range<Sequence> {
    sequence..sequence + 1
}

/// What a call does on a full ring, and whether it may say so: with `Full`, or with `TimedOut`.
pub(super) fn may_refuse(how: How) -> (bool, bool) {
    match how {
        How::Publish(patience)
        | How::PublishBatch(patience)
        | How::Claim(patience)
        | How::ClaimBatch(patience)
        | How::ClaimUpTo(patience) => (patience == Patience::Tries, patience == Patience::TimesOut),
        How::PublishOr(when_full) | How::PublishBatchOr(when_full) => {
            (when_full == WhenFull::Refuse, matches!(when_full, WhenFull::Timeout(_)))
        }
    }
}
