//! The message: a number and two times, 24 bytes.

/// An event of a paced run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message {
    /// Its number, from 0.
    pub(crate) number: u64,
    /// Its intended send, in nanoseconds of the run's [`Clock`](super::Clock).
    pub(crate) intended: u64,
    /// The time of receipt at the previous stage. At first, the intended send.
    pub(crate) previous: u64,
}

impl Message {
    /// Creates the message of this number, whose intended send is `intended`.
    #[inline]
    pub(crate) fn new(number: u64, intended: u64) -> Self {
        Self { number, intended, previous: intended }
    }
}
