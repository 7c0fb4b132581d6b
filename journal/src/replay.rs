//! Recorded events are published again. Not here: how they are read (`reading`), and that the
//! writer does not record them twice (`writer`).

use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use lapwing::producer::Sequencer;
use lapwing::{Producer, Sequence};

use crate::core::Core;
use crate::encoding::Encoding;
use crate::error::ReplayError;
use crate::reading::reader::{Frame, Reader, decode};

/// How fast a replay publishes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Pace {
    /// As fast as the ring takes the events.
    #[default]
    Full,
    /// With the pauses between the batches as they were recorded, divided by this number: 2.0 is
    /// twice as fast.
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
        let mut clock = Clock { pace: self.pace, begun: None };
        while let Some(frame) = self.reader.next_frame()? {
            clock.wait(frame.recorded_at());
            let gap = next..frame.sequences().start;
            give_up(&gap, producer)?;
            publish(&self.core, &frame, gap, producer)?;
            next = frame.sequences().end;
        }
        Ok(start..end)
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

/// Waits for the recorded pauses.
struct Clock {
    pace: Pace,
    /// When the first frame was published, and when it was recorded.
    begun: Option<(Instant, SystemTime)>,
}

impl Clock {
    /// Waits until a frame is due that was recorded at this time.
    fn wait(&mut self, recorded: SystemTime) {
        let Pace::Recorded(factor) = self.pace else { return };
        let (begun, first) = *self.begun.get_or_insert((Instant::now(), recorded));
        // A clock that was set back makes no pause.
        let after = recorded.duration_since(first).unwrap_or_default();
        let after = Duration::try_from_secs_f64(after.as_secs_f64() / factor);
        if let Ok(pause) = after.map(|after| after.saturating_sub(begun.elapsed())) {
            thread::sleep(pause);
        }
    }
}
