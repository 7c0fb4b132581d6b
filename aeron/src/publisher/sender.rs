//! Which events of a batch are still to be sent, and what a refusal means. Not here: how the
//! publication is opened (`link`), and the words of an error (`mod`).

use std::time::{Duration, Instant};

use lapwing::{Action, Sequence};

use super::figures::PublisherFigures;
use super::outlet::{Outlet, Refused};
use super::pack::Pack;
use super::when_not_connected::WhenNotConnected;
use crate::back_off::{BackOff, Idle, LONGEST_PAUSE};
use crate::frame::Frame;

/// Sends batches of a ring to an outlet.
pub(crate) struct Sender<E> {
    pack: Box<dyn Pack<E>>,
    /// What the heads of all messages have in common.
    head: Frame,
    /// The end of what was sent, dropped or given up. `None` before the first batch.
    after: Option<Sequence>,
    /// The batch that is not finished.
    batch: Option<Batch>,
    when_not_connected: WhenNotConnected,
    back_off: BackOff,
    /// Since when no subscriber is connected, as far as this was noticed.
    disconnected: Option<Instant>,
    figures: PublisherFigures,
}

/// A batch of the ring. Everything before `next` is sent.
#[derive(Debug, Clone, Copy)]
struct Batch {
    first: Sequence,
    next: Sequence,
    end: Sequence,
}

/// Why a batch is not finished, and does not become so by waiting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// No subscriber for this long.
    NotConnected(Duration),
    /// Another refusal.
    Refused(Refused),
}

impl<E> Sender<E> {
    pub(super) fn new(pack: Box<dyn Pack<E>>, publisher: u64) -> Self {
        Self {
            head: Frame::new(0, pack.event_bytes(), publisher),
            pack,
            after: None,
            batch: None,
            when_not_connected: WhenNotConnected::default(),
            back_off: BackOff::new(LONGEST_PAUSE),
            disconnected: None,
            figures: PublisherFigures::default(),
        }
    }

    pub(super) fn publisher(&self) -> u64 {
        self.head.publisher
    }

    pub(super) fn set_schema(&mut self, schema: u32) {
        self.head.schema = schema;
    }

    pub(super) fn set_when_not_connected(&mut self, policy: WhenNotConnected) {
        self.when_not_connected = policy;
    }

    pub(super) fn set_longest_pause(&mut self, pause: Duration) {
        self.back_off = BackOff::new(pause);
    }

    pub(super) fn figures(&self) -> &PublisherFigures {
        &self.figures
    }

    /// Begins a batch, or continues the unfinished one. Its sent part may have been released.
    ///
    /// A batch that begins elsewhere means that a failure policy has given up the unfinished one.
    pub(super) fn begin(&mut self, first: Sequence, events: usize) {
        let end = first + events as u64;
        let next = match self.batch {
            Some(batch) if [batch.first, batch.next].contains(&first) => batch.next.min(end),
            Some(given_up) => {
                self.after = Some(given_up.end);
                first
            }
            None => first,
        };
        self.after.get_or_insert(first);
        self.batch = Some(Batch { first, next, end });
    }

    /// How many events of the batch from `first` on need no further call. All of them if the batch is
    /// finished.
    pub(super) fn finished(&self, first: Sequence) -> usize {
        self.batch.map_or(usize::MAX, |batch| (batch.next - first) as usize)
    }

    /// Sends what is left of the batch. Returns [`Action::Retry`] if Aeron does not take all of it.
    pub(super) fn send(
        &mut self,
        outlet: &mut dyn Outlet,
        events: &[E],
    ) -> Result<Action, Failure> {
        while let Some(batch) = self.batch {
            if batch.next == batch.end {
                self.batch = None;
                break;
            }
            let after = self.after.unwrap_or(batch.next);
            let frame = Frame { after, first: batch.next, ..self.head };
            let rest = &events[(batch.next - batch.first) as usize..];
            match self.pack.send(outlet, frame, rest) {
                Ok(count) => self.sent(count as u64),
                Err(refused) => {
                    if let Some(action) = self.refused(refused)? {
                        return Ok(action);
                    }
                }
            }
        }
        Ok(Action::Continue)
    }

    /// The pause until the driver answers a request.
    pub(super) fn pause(&mut self) -> Action {
        loop {
            if let Idle::Pause(pause) = self.back_off.idle() {
                return Action::Retry(pause);
            }
        }
    }

    fn sent(&mut self, events: u64) {
        let Some(batch) = &mut self.batch else { return };
        batch.next += events;
        self.after = Some(batch.next);
        self.disconnected = None;
        self.back_off.reset();
        self.figures.count_sent(events);
    }

    /// Returns `None` if the next attempt follows at once.
    fn refused(&mut self, refused: Refused) -> Result<Option<Action>, Failure> {
        match refused {
            Refused::AdminAction => {}
            Refused::BackPressured => self.figures.count_refused(),
            Refused::NotConnected => {
                if let Some(action) = self.not_connected()? {
                    return Ok(Some(action));
                }
            }
            other => return Err(Failure::Refused(other)),
        }
        match self.back_off.idle() {
            Idle::Again => Ok(None),
            Idle::Pause(pause) => Ok(Some(Action::Retry(pause))),
        }
    }

    /// Returns `None` to wait for a subscriber.
    fn not_connected(&mut self) -> Result<Option<Action>, Failure> {
        self.figures.note_disconnected();
        let limit = match self.when_not_connected {
            WhenNotConnected::Wait => return Ok(None),
            WhenNotConnected::Drop => return Ok(Some(self.drop_batch())),
            WhenNotConnected::Fail => Duration::ZERO,
            WhenNotConnected::WaitFor(limit) => limit,
        };
        let waited = self.disconnected.get_or_insert_with(Instant::now).elapsed();
        if waited < limit {
            return Ok(None);
        }
        self.disconnected = None;
        Err(Failure::NotConnected(waited))
    }

    fn drop_batch(&mut self) -> Action {
        if let Some(batch) = self.batch.take() {
            self.after = Some(batch.end);
            self.figures.count_dropped(batch.end - batch.next);
        }
        Action::Continue
    }
}
