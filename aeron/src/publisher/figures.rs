//! What a publisher has done, for other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Figures of a [`Publisher`](crate::Publisher), readable while a stage owns it.
///
/// The publisher alone writes them. Each is exact once its thread has ended, and until then may be
/// a few events late.
///
/// ```
/// use lapwing_aeron::{Client, Publisher, Stream};
///
/// let client = Client::new("/dev/shm/aeron");
/// let publisher = Publisher::<u64>::plain(&client, Stream::ipc(7));
/// let figures = publisher.figures();
/// assert_eq!((figures.sent(), figures.dropped(), figures.is_connected()), (0, 0, false));
/// ```
#[derive(Debug, Clone, Default)]
pub struct PublisherFigures(Arc<Words>);

#[derive(Debug, Default)]
struct Words {
    sent: AtomicU64,
    messages: AtomicU64,
    dropped: AtomicU64,
    refused: AtomicU64,
    is_connected: AtomicBool,
}

// Relaxed: the figures order no other access.
impl PublisherFigures {
    /// Returns the number of events that Aeron has accepted.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    /// Returns the number of messages that Aeron has accepted.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.0.messages.load(Ordering::Relaxed)
    }

    /// Returns the number of events that [`WhenNotConnected::Drop`](crate::WhenNotConnected::Drop)
    /// has dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Returns how often Aeron has refused a message because of back-pressure. If this grows and
    /// [`sent`](Self::sent) does not, a subscriber, the network or the driver holds up the ring.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Returns whether a subscriber was connected at the last attempt to send.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.0.is_connected.load(Ordering::Relaxed)
    }

    pub(super) fn count_sent(&self, events: u64) {
        add(&self.0.sent, events);
        add(&self.0.messages, 1);
        self.0.is_connected.store(true, Ordering::Relaxed);
    }

    pub(super) fn count_dropped(&self, events: u64) {
        add(&self.0.dropped, events);
    }

    pub(super) fn count_refused(&self) {
        add(&self.0.refused, 1);
    }

    pub(super) fn note_disconnected(&self) {
        self.0.is_connected.store(false, Ordering::Relaxed);
    }
}

/// One thread writes, so two accesses do for an addition.
fn add(word: &AtomicU64, more: u64) {
    word.store(word.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}
