//! One ring: its events and its shared words. What every endpoint holds.

use std::fmt;

use crate::control::Control;
use crate::ring_buffer::RingBuffer;

/// Shared by all endpoints of a ring.
pub(crate) struct Ring<E> {
    pub(crate) control: Control,
    pub(crate) buffer: RingBuffer<E>,
}

impl<E> fmt::Debug for Ring<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("control", &self.control).finish_non_exhaustive()
    }
}
