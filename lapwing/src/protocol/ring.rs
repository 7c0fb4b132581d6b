//! One ring: its events, its shared words and its description. Every producer, consumer and other
//! endpoint holds a clone of it.
//!
//! The shared words have their own `Arc`, so monitors need neither the event type nor the events.

use std::fmt;

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
