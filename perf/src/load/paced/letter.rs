//! What is sent: a number and two times, 24 bytes.

/// An event of a paced run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Letter {
    /// Its number, from 0.
    pub(crate) number: u64,
    /// When it was to be sent, in nanoseconds of the run's [`Clock`](super::Clock).
    pub(crate) intended: u64,
    /// When the stage before this one received it; at first, when it was to be sent.
    pub(crate) previous: u64,
}

impl Letter {
    /// The letter of this number, which is to be sent at `intended`.
    #[inline]
    pub(crate) fn new(number: u64, intended: u64) -> Self {
        Self { number, intended, previous: intended }
    }
}
