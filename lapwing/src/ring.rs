//! One ring: its events and its shared words. What every endpoint holds.
//!
//! The words have an owner count of their own, so that those who only look at them need not know the
//! type of the events, nor keep the events alive.

use std::fmt;

use crate::control::Control;
use crate::ring_buffer::RingBuffer;
use crate::sync::Arc;

/// The events of a ring and its shared words; a clone is the same ring.
pub(crate) struct Ring<E> {
    pub(crate) control: Arc<Control>,
    pub(crate) buffer: Arc<RingBuffer<E>>,
}

impl<E> Ring<E> {
    /// A ring of these parts.
    pub(crate) fn new(control: Control, buffer: RingBuffer<E>) -> Self {
        Self { control: Arc::new(control), buffer: Arc::new(buffer) }
    }
}

impl<E> Clone for Ring<E> {
    fn clone(&self) -> Self {
        Self { control: Arc::clone(&self.control), buffer: Arc::clone(&self.buffer) }
    }
}

impl<E> fmt::Debug for Ring<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("control", &self.control).finish_non_exhaustive()
    }
}
