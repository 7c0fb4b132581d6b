//! One producer: makes its calls, and counts what became of them.

use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::thread;
use std::time::Duration;

use lapwing::error::BatchError;
use lapwing::producer::{ClaimBatch, Sequencer, Slots, WhenFull};
use lapwing::{Producer, Sequence};

use super::event::Event;
use super::faults::Fault;
use super::program::{Call, Fate, How, Patience, message};
use super::witness::{Observer, Pen};

/// Longest wait of a call that times out.
pub(super) const TIMEOUT: Duration = Duration::from_micros(50);
/// The policy of a call that times out.
const TIMES_OUT: WhenFull = WhenFull::Timeout(TIMEOUT);
/// Why such a call returns something.
const NOT_DROPPED: &str = "only `DropNew` drops events";
/// Events of the claim with which a producer dies at its end.
const LAST_CLAIM: usize = 3;

/// Makes another producer of the same ring, if there can be one.
pub(super) type Another<S> = fn(&Producer<Event, S>) -> Option<Producer<Event, S>>;

/// What became of the calls of a producer.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// Number of events of calls that returned `Ok`.
    pub(super) events: u64,
    /// The index of the last of these calls, and the sequence after its events.
    pub(super) last: Option<usize>,
    pub(super) next: Option<Sequence>,
    /// The calls that returned another error than that they need not wait, with their indices.
    pub(super) refused: Vec<(usize, Call, BatchError)>,
    /// The index of the call before which it closed the ring itself.
    pub(super) closed_at: Option<usize>,
    /// Number of events of calls that returned `Ok(None)`.
    pub(super) dropped: u64,
    /// The number that the producer reports.
    pub(super) reported_dropped: u64,
}

/// What became of a call.
enum Done {
    Published(Range<Sequence>),
    GaveUp(Range<Sequence>),
    Dropped,
}

/// What a producer does before a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Calls,
    /// It has closed the ring, and calls.
    Closes,
    Ends,
    /// It is dropped by a panic while it has a claim.
    Dies,
}

/// Makes calls until `before` ends them, which is told the index of each call and what has become of
/// the earlier ones. Begins again after the last one. A call that was refused for good is the last
/// one if the calls `are_repeated`.
pub(super) fn run<S: Sequencer, O: Observer>(
    producer: Producer<Event, S>,
    another: Another<S>,
    calls: &[Call],
    pen: O::Pen,
    observer: &O,
    mut before: impl FnMut(usize, &Feed, &Producer<Event, S>) -> Before,
) -> Feed {
    let mut writer = Writer { producer, another, pen, observer, dropped: 0 };
    let mut feed = Feed::default();
    let are_repeated = observer.is_over().is_some();
    for index in 0.. {
        match before(index, &feed, &writer.producer) {
            Before::Calls => {}
            Before::Closes => feed.closed_at = Some(index),
            Before::Ends => break,
            Before::Dies => {
                feed.reported_dropped = writer.dropped();
                die(writer.producer, &mut writer.pen, observer);
                return feed;
            }
        }
        let call = calls[index % calls.len()];
        let call = Call { count: call.count.clamp(1, writer.producer.capacity()), ..call };
        let is_refused = !writer.call(index, call, &mut feed);
        if is_refused && are_repeated {
            break;
        }
    }
    feed.reported_dropped = writer.dropped();
    feed
}

/// A producer and its pen.
struct Writer<'a, S: Sequencer, O: Observer> {
    producer: Producer<Event, S>,
    another: Another<S>,
    pen: O::Pen,
    observer: &'a O,
    /// The number of dropped events that the producers before this one report.
    dropped: u64,
}

impl<S: Sequencer, O: Observer> Writer<'_, S, O> {
    fn dropped(&self) -> u64 {
        self.dropped + self.producer.dropped()
    }

    /// Makes one call. Returns false if the ring has ended.
    fn call(&mut self, index: usize, call: Call, feed: &mut Feed) -> bool {
        call.before.take(|time| self.pen.sleep(time));
        self.pen.begin();
        match self.make(call) {
            Ok(Done::Published(sequences)) => {
                let events = sequences.end - sequences.start;
                let may_be_fewer = matches!(call.how, How::ClaimUpTo(_));
                assert!(
                    events == events_of(call) || may_be_fewer && events <= call.count as u64,
                    "as many events as were asked for"
                );
                feed.events += events;
                (feed.last, feed.next) = (Some(index), Some(sequences.end));
                self.pen.accept(sequences, index);
            }
            Ok(Done::GaveUp(sequences)) => self.pen.give_up(sequences),
            Ok(Done::Dropped) => feed.dropped += events_of(call),
            Err(error) if may_refuse(call.how, error) => {}
            Err(error) => {
                feed.refused.push((index, call, error));
                return false;
            }
        }
        true
    }

    fn make(&mut self, call: Call) -> Result<Done, BatchError> {
        let Self { producer, pen, .. } = self;
        match call.how {
            How::Publish(patience) => publish(producer, patience, |event| pen.fill(event)),
            How::PublishBatch(patience) if matches!(call.fate, Fate::Panics | Fate::Dies) => {
                self.observer.injected(Fault::FillPanic);
                panic_in_batch(producer, patience, call.count)
            }
            How::PublishBatch(patience) => {
                publish_batch(producer, patience, call.count, |slots| fill(slots, pen))
            }
            How::Claim(patience) => self.claim(patience, call.fate),
            How::ClaimBatch(patience) => {
                let count = call.count;
                let claim = match patience {
                    Patience::Waits => producer.claim_batch(count)?,
                    Patience::Tries => producer.try_claim_batch(count)?,
                    Patience::TimesOut => {
                        producer.claim_batch_or(count, TIMES_OUT)?.expect(NOT_DROPPED)
                    }
                };
                let settled = settle(claim, call.fate, pen, self.observer);
                self.live_on(call.fate);
                settled
            }
            How::ClaimUpTo(patience) => {
                let most = call.count;
                let claim = match patience {
                    Patience::Waits => producer.claim_up_to(most)?,
                    Patience::Tries => {
                        producer.claim_up_to_or(most, WhenFull::Refuse)?.expect(NOT_DROPPED)
                    }
                    Patience::TimesOut => {
                        producer.claim_up_to_or(most, TIMES_OUT)?.expect(NOT_DROPPED)
                    }
                };
                settle(claim, call.fate, pen, self.observer)
            }
            How::PublishOr(when_full) => {
                let published = producer.publish_or(when_full, |event| pen.fill(event))?;
                Ok(published.map_or(Done::Dropped, |sequence| Done::Published(one(sequence))))
            }
            How::PublishBatchOr(when_full) => {
                let published =
                    producer.publish_batch_or(call.count, when_full, |slots| fill(slots, pen));
                Ok(published?.map_or(Done::Dropped, Done::Published))
            }
        }
    }

    /// Claims a slot, and publishes it or gives it up.
    fn claim(&mut self, patience: Patience, fate: Fate) -> Result<Done, BatchError> {
        let Self { producer, pen, .. } = self;
        let mut claim = match patience {
            Patience::Waits => producer.claim()?,
            Patience::Tries => producer.try_claim()?,
            Patience::TimesOut => producer.claim_or(TIMES_OUT)?.expect(NOT_DROPPED),
        };
        if fate == Fate::Publishes {
            pen.fill(&mut claim);
            thread::yield_now(); // other threads meet a held claim
            return Ok(Done::Published(one(claim.publish()?)));
        }
        claim.empty();
        thread::yield_now();
        let sequence = claim.sequence();
        lose(claim, fate, self.observer);
        Ok(Done::GaveUp(one(sequence)))
    }

    /// Goes on with another producer, if this one has died and there can be another one. The drop of
    /// the only producer would close the ring.
    fn live_on(&mut self, fate: Fate) {
        if fate == Fate::Dies
            && let Some(other) = (self.another)(&self.producer)
        {
            self.dropped = self.dropped();
            die(std::mem::replace(&mut self.producer, other), &mut self.pen, self.observer);
        }
    }
}

/// Drops `producer` by a panic while it has a claim.
fn die<S: Sequencer, O: Observer>(
    mut producer: Producer<Event, S>,
    pen: &mut O::Pen,
    observer: &O,
) {
    observer.injected(Fault::ProducerDied);
    let dies = move || {
        let count = LAST_CLAIM.min(producer.capacity());
        if let Ok(mut claim) = producer.claim_batch(count) {
            claim.slots().iter_mut().for_each(Event::empty);
            pen.give_up(claim.sequences());
            panic::resume_unwind(Box::new(message(claim.sequences().start)));
        }
    };
    _ = panic::catch_unwind(AssertUnwindSafe(dies));
}

/// Number of events that a call publishes or drops.
fn events_of(call: Call) -> u64 {
    if matches!(call.how, How::Publish(_) | How::Claim(_) | How::PublishOr(_)) {
        1
    } else {
        call.count as u64
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

/// Publishes a batch whose closure panics.
fn panic_in_batch<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    patience: Patience,
    count: usize,
) -> Result<Done, BatchError> {
    let mut sequences = None;
    let call = || {
        publish_batch(producer, patience, count, |slots| {
            let first = slots.first_sequence();
            slots.iter_mut().for_each(Event::empty);
            sequences = Some(first..first + count as u64);
            panic::resume_unwind(Box::new(message(first)))
        })
    };
    match panic::catch_unwind(AssertUnwindSafe(call)) {
        Ok(refused) => refused, // the closure was not called
        Err(_) => Ok(Done::GaveUp(sequences.expect("the closure was called"))),
    }
}

/// Publishes a claimed range, or gives it up.
fn settle<S: Sequencer, O: Observer>(
    mut claim: ClaimBatch<'_, Event, S>,
    fate: Fate,
    pen: &mut O::Pen,
    observer: &O,
) -> Result<Done, BatchError> {
    if fate == Fate::Publishes {
        fill(&mut claim.slots(), pen);
        return Ok(Done::Published(claim.publish()?));
    }
    claim.slots().iter_mut().for_each(Event::empty);
    let sequences = claim.sequences();
    lose(claim, fate, observer);
    Ok(Done::GaveUp(sequences))
}

/// Drops a claim, by a panic or not.
fn lose<C>(claim: C, fate: Fate, observer: &impl Observer) {
    if fate == Fate::GivesUp {
        observer.injected(Fault::ClaimDropped);
        return drop(claim);
    }
    observer.injected(Fault::FillPanic);
    let panics = move || {
        let _claim = claim;
        panic::resume_unwind(Box::new(message(0)))
    };
    _ = panic::catch_unwind::<_, ()>(AssertUnwindSafe(panics));
}

#[inline]
fn fill(slots: &mut Slots<'_, Event>, pen: &mut impl Pen) {
    let (start, end) = slots.as_mut_slices();
    start.iter_mut().chain(end).for_each(|slot| pen.fill(slot));
}

fn one(sequence: Sequence) -> Range<Sequence> {
    sequence..sequence + 1
}

/// Whether a call of this kind may return `error` on a full ring.
fn may_refuse(how: How, error: BatchError) -> bool {
    let (tries, times_out) = match how {
        How::Publish(patience)
        | How::PublishBatch(patience)
        | How::Claim(patience)
        | How::ClaimBatch(patience)
        | How::ClaimUpTo(patience) => (patience == Patience::Tries, patience == Patience::TimesOut),
        How::PublishOr(when_full) | How::PublishBatchOr(when_full) => {
            (when_full == WhenFull::Refuse, matches!(when_full, WhenFull::Timeout(_)))
        }
    };
    match error {
        BatchError::Full => tries,
        BatchError::TimedOut => times_out,
        _ => false,
    }
}
