//! Recorded events are published again. Not here: how they are read (`reader`), and that the
//! writer does not record them twice (`writing`).

use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use lapwing::producer::Sequencer;
use lapwing::{Producer, Sequence};

use crate::body::decode;
use crate::core::Core;
use crate::encoding::Encoding;
use crate::error::ReplayError;
use crate::reader::{Frame, Reader};

/// Longest sleep before a replay checks again whether the ring has ended.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// How fast a replay publishes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Pace {
    /// As fast as the ring takes the events.
    #[default]
    Full,
    /// With the pauses between the batches as they were recorded, divided by this number: 2.0 is
    /// twice as fast.
    ///
    /// The times are those of the system's clock. If it was set back between two batches, there is
    /// no pause between them. If it was set forward, the pause is longer by that much. A close or
    /// halt of the ring ends each pause.
    Recorded(f64),
}

/// Publishes recorded events into a ring. [`Journal::replay`](crate::Journal::replay) returns it.
///
/// ```
/// use lapwing::Disruptor;
/// use lapwing_journal::Journal;
///
/// let folder = tempfile::tempdir()?;
/// let journal = Journal::<u64>::open(folder.path())?;
/// journal.writer().write(&[7, 8], 0)?; // before a crash
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .first_sequence(0) // where the replay begins
///     .stage("journal").read_batch_handler(journal.writer())
///     .stage("sum").read(|_, _, _| {})
///     .build()?;
/// let running = consumers.start()?;
/// assert_eq!(journal.replay(0)?.publish_into(&mut producer)?, 0..2);
/// producer.publish(|event| *event = 9)?; // a new one
/// running.shutdown()?;
/// assert_eq!(journal.next_sequence(), 3); // nothing was recorded twice
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a replay publishes nothing until `publish_into`"]
pub struct Replay<E, T> {
    core: Arc<Core>,
    reader: Reader<E, T>,
    pace: Pace,
}

impl<E, T: Encoding<E>> Replay<E, T> {
    pub(crate) fn new(core: Arc<Core>, reader: Reader<E, T>) -> Self {
        Self { core, reader, pace: Pace::Full }
    }

    /// Sets how fast events are published.
    pub fn pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }

    /// Publishes the events with the sequences that they had, and returns these. The ring must
    /// begin with the first one, and no other producer may publish before the call returns.
    ///
    /// In a ring with several producers, gaps are reproduced: their claims are given up.
    ///
    /// # Errors
    ///
    /// [`ReplayError`]. The events before it are published.
    ///
    /// # Blocking
    ///
    /// Waits for free slots, and for the recorded pauses if asked to.
    pub fn publish_into<S: Sequencer>(
        mut self,
        producer: &mut Producer<E, S>,
    ) -> Result<Range<Sequence>, ReplayError> {
        let Range { start, end } = self.reader.left();
        let mut next = start;
        let mut clock = Clock::new(self.pace);
        let begun = Instant::now();
        while let Some(frame) = self.reader.next_frame()? {
            let due = clock.due(frame.recorded_at());
            pause(|| due.saturating_sub(begun.elapsed()), producer);
            let gap = next..frame.sequences().start;
            give_up(&gap, producer)?;
            publish(&self.core, &frame, gap, producer)?;
            next = frame.sequences().end;
        }
        Ok(start..end)
    }
}

/// Waits for as long as time is `left`, or until the ring ends: the next claim then says why.
fn pause<E, S: Sequencer>(left: impl Fn() -> Duration, producer: &Producer<E, S>) {
    while !left().is_zero() && producer.is_open() {
        thread::sleep(left().min(LONGEST_SLEEP));
    }
}

/// Claims the sequences of a gap and gives them up.
fn give_up<E, S: Sequencer>(
    gap: &Range<Sequence>,
    producer: &mut Producer<E, S>,
) -> Result<(), ReplayError> {
    for sequence in gap.clone() {
        let claim = producer.claim().map_err(lapwing::error::BatchError::from)?;
        check(sequence, claim.sequence(), gap)?;
    }
    Ok(())
}

/// Publishes the events of a frame, in as many batches as the ring asks for.
fn publish<E, T: Encoding<E>, S: Sequencer>(
    core: &Core,
    frame: &Frame<'_, E, T>,
    gap: Range<Sequence>,
    producer: &mut Producer<E, S>,
) -> Result<(), ReplayError> {
    let Range { start: mut next, end } = frame.sequences();
    let mut events = frame.events();
    while next < end {
        let wanted = usize::try_from(end - next).unwrap_or(usize::MAX);
        let mut claim = producer.claim_up_to(wanted.min(producer.capacity()))?;
        check(next, claim.sequences().start, &gap)?;
        for (slot, (sequence, bytes)) in claim.slots().iter_mut().zip(&mut events) {
            decode::<E, T>(sequence, bytes, slot)?;
        }
        next = claim.sequences().end;
        core.set_replayed(next);
        claim.publish().map_err(lapwing::error::BatchError::from)?;
    }
    Ok(())
}

/// Fails if the ring is elsewhere. A ring with one producer claims a sequence again that was given
/// up.
fn check(recorded: Sequence, claimed: Sequence, gap: &Range<Sequence>) -> Result<(), ReplayError> {
    if claimed == recorded {
        Ok(())
    } else if gap.contains(&claimed) {
        Err(ReplayError::Gap { sequence: claimed })
    } else {
        Err(ReplayError::OtherSequence { recorded, claimed })
    }
}

/// When frames are due. It adds the pauses between them, so a step of the clock changes one.
struct Clock {
    pace: Pace,
    /// When the last frame was recorded.
    last: Option<SystemTime>,
    /// When the last frame was due, after the begin of the replay.
    due: Duration,
}

impl Clock {
    fn new(pace: Pace) -> Self {
        Self { pace, last: None, due: Duration::ZERO }
    }

    /// Returns how long after the begin of the replay the next frame is due, which was recorded at
    /// this time.
    fn due(&mut self, recorded: SystemTime) -> Duration {
        if let (Pace::Recorded(factor), Some(last)) = (self.pace, self.last) {
            let pause = recorded.duration_since(last).unwrap_or_default().as_secs_f64() / factor;
            let too_long = if pause > 0.0 { Duration::MAX } else { Duration::ZERO };
            let pause = Duration::try_from_secs_f64(pause).unwrap_or(too_long);
            self.due = self.due.saturating_add(pause);
        }
        self.last = Some(recorded);
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When frames are due that were recorded at these milliseconds.
    fn due(pace: Pace, recorded: &[u64]) -> Vec<u128> {
        let mut clock = Clock::new(pace);
        let due = |&ms| clock.due(SystemTime::UNIX_EPOCH + Duration::from_millis(ms)).as_millis();
        recorded.iter().map(due).collect()
    }

    /// After a clock was set back by an hour, all that was recorded in the next hour came at once.
    #[test]
    fn a_clock_that_was_set_back_costs_one_pause() {
        let recorded =
            [7_200_000, 7_200_100, 3_600_200, 3_600_300, 3_600_400, 3_600_200, 3_600_300];
        assert_eq!(due(Pace::Recorded(1.0), &recorded), [0, 100, 100, 200, 300, 300, 400]);
        assert_eq!(due(Pace::Recorded(2.0), &recorded), [0, 50, 50, 100, 150, 150, 200]);
        assert_eq!(due(Pace::Full, &recorded), [0; 7]);
    }

    #[test]
    fn a_clock_that_was_set_forward_is_one_pause() {
        let recorded = [0, 100, 3_600_200, 3_600_300];
        assert_eq!(due(Pace::Recorded(1.0), &recorded), [0, 100, 3_600_200, 3_600_300]);
    }

    /// A pause that was too long for a `Duration` was none.
    #[test]
    fn a_pause_without_end_is_no_end_of_the_pauses() {
        for factor in [0.0, 1e-300] {
            assert_eq!(
                due(Pace::Recorded(factor), &[0, 1, 2])[1..],
                [Duration::MAX.as_millis(); 2]
            );
        }
        for factor in [f64::INFINITY, f64::NAN, -1.0] {
            assert_eq!(due(Pace::Recorded(factor), &[0, 1, 2]), [0; 3]);
        }
    }
}
