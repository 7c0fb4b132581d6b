//! Whether lone events are copied, which only some events can be.

use super::Builder;
use crate::sequencer::Single;

impl<'env, E: Copy + Send + 'env> Builder<'env, E, Single> {
    /// Has the producer copy each lone event, one whose consumers have finished all before it, to beside the word that shows
    /// it. A stage that waits then gets it, as it is, in one cache line instead of two: it is looked at in the copy, and the
    /// ring's own lines stay with the producer.
    ///
    /// For events of 48 bytes at most, in a ring none of whose stages may change them; else, and on CPUs other than x86-64,
    /// it does nothing. A stream is not copied, and takes as long as without. Of stages, the first ones gain.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::BusySpin};
    ///
    /// #[derive(Clone, Copy, Default)]
    /// struct Quote {
    ///     bid: u64,
    ///     ask: u64,
    /// }
    ///
    /// let (mut quotes, mut consumers) = Disruptor::single_producer(1024, Quote::default)
    ///     .copy_lone_events()
    ///     .wait(BusySpin)
    ///     .then_poller("strategy")
    ///     .build()?;
    /// let mut strategy = consumers.take_poller("strategy")?;
    /// quotes.publish(|quote| (quote.bid, quote.ask) = (99, 101))?;
    /// let mut batch = strategy.wait()?;
    /// assert_eq!(batch.iter().map(|(_, quote)| quote.ask - quote.bid).sum::<u64>(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// An event that is more than its bytes is not copied:
    ///
    /// ```compile_fail,E0277
    /// let _ = lapwing::Disruptor::single_producer(8, String::new).copy_lone_events();
    /// ```
    ///
    /// ```
    /// let _ = lapwing::Disruptor::single_producer(8, || [0_u8; 16]).copy_lone_events();
    /// ```
    pub fn copy_lone_events(mut self) -> Self {
        self.parts.copy_lone_events();
        self
    }
}
