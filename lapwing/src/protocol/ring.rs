//! One ring: its events, its shared words and its description. Every producer, consumer and other
//! endpoint holds a clone of it.
//!
//! The shared words have their own `Arc`, so monitors need neither the event type nor the events.

use std::fmt;
use std::ops::Range;

use crate::Sequence;
use crate::description::Description;
use crate::protocol::control::Control;
use crate::protocol::ring_buffer::{Notices, RingBuffer};
use crate::sync::Arc;

/// The events of a ring and its shared words. A clone is the same ring.
pub(crate) struct Ring<E> {
    pub(crate) control: Arc<Control>,
    pub(crate) buffer: RingBuffer<E>,
    /// The notices of its events, if they have them.
    pub(crate) notices: Option<Notices>,
    pub(crate) description: Description,
}

impl<E> Ring<E> {
    /// Creates a ring from its parts.
    pub(crate) fn new(
        control: Control,
        buffer: RingBuffer<E>,
        notices: Option<Notices>,
        description: Description,
    ) -> Self {
        Self { control: Arc::new(control), buffer, notices, description }
    }
}

impl<E> Ring<E> {
    /// Tells loom that the cache lines of `events` are acquired at this point: a store to every
    /// word that their slots hold.
    #[cfg(loom)]
    pub(crate) fn watch_acquire(&self, events: Range<Sequence>) {
        self.buffer.watch_write(events.clone());
        if let Some(stamps) = &self.control.stamps {
            stamps.watch_acquire(events.clone());
        }
        if let Some(notices) = self.notices {
            notices.watch_acquire(events);
        }
    }

    /// Does nothing outside a model.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn watch_acquire(&self, _: Range<Sequence>) {}
}

impl<E> Clone for Ring<E> {
    fn clone(&self) -> Self {
        Self {
            control: Arc::clone(&self.control),
            buffer: self.buffer.clone(),
            notices: self.notices,
            description: self.description.clone(),
        }
    }
}

impl<E> fmt::Debug for Ring<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("control", &self.control).finish_non_exhaustive()
    }
}
