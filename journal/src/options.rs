//! The settings of a journal, and what they may be. Not here: how a journal is opened with them
//! (`journal`, `core`).

use lapwing::Sequence;

use crate::encoding::Encoding;
use crate::error::OpenError;
use crate::format::segment::Shape;
use crate::format::{frame, segment};

/// The most bytes of events in one frame. Recovery reads a frame into memory.
const MAX_BODY_BYTES: u64 = 16 << 20;

/// A segment is written ahead with zeros: 64 MiB take a disk about 0.1 s, and last a second at a
/// million events of 64 bytes a second.
const SEGMENT_BYTES: u64 = 64 << 20;
const MAX_SEGMENT_BYTES: u64 = 4 << 30;

/// Settings of a journal.
///
/// ```
/// use lapwing_journal::Options;
///
/// let folder = tempfile::tempdir()?;
/// let journal = Options::new().segment_bytes(1 << 20).schema(3).open::<u64>(folder.path())?;
/// drop(journal);
/// assert!(Options::new().schema(4).open::<u64>(folder.path()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "settings do nothing until a journal is opened with them"]
pub struct Options {
    pub(crate) segment_bytes: u64,
    pub(crate) schema: u64,
    pub(crate) prepares_ahead: bool,
    pub(crate) synced_to: Sequence,
}

impl Default for Options {
    fn default() -> Self {
        Self { segment_bytes: SEGMENT_BYTES, schema: 0, prepares_ahead: true, synced_to: 0 }
    }
}

impl Options {
    /// Returns the defaults: segments of 64 MiB that are prepared ahead, schema 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the length of new segments, at most 4 GiB. Segments that exist keep theirs.
    ///
    /// A frame fits into one segment and holds at most 16 MiB of events. A larger batch becomes
    /// several frames.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// Sets the schema version of the events. Opening a journal with another version fails.
    ///
    /// Change it when the fields or the encoding of the events change.
    pub fn schema(mut self, schema: u64) -> Self {
        self.schema = schema;
        self
    }

    /// Sets whether a thread prepares the next segment. It is on by default.
    ///
    /// Without the thread, the writer makes the next segment when it needs it, which takes about
    /// 0.1 s for 64 MiB. A short journal then takes one segment of space instead of two.
    pub fn prepare_ahead(mut self, ahead: bool) -> Self {
        self.prepares_ahead = ahead;
        self
    }

    /// Says that the events below `sequence` were synced, as a program knows that has a snapshot of
    /// them. A journal that ends before that is damaged, and opening it fails. By default 0.
    ///
    /// Without it, an unreadable end of a journal that was not closed looks like a write that was
    /// never synced, so it is cut.
    ///
    /// ```
    /// use lapwing_journal::Options;
    ///
    /// let folder = tempfile::tempdir()?;
    /// assert!(Options::new().synced_to(7).open::<u64>(folder.path()).is_err(), "it has no events");
    /// assert!(Options::new().open::<u64>(folder.path()).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn synced_to(mut self, sequence: Sequence) -> Self {
        self.synced_to = sequence;
        self
    }

    /// The shape of events `E`.
    pub(crate) fn shape<E, T: Encoding<E>>(&self) -> Shape {
        // `check` has bounded it.
        Shape { event_bytes: T::EVENT_BYTES as u32, schema: self.schema }
    }

    /// The most bytes of events that fit into a frame.
    pub(crate) fn body_limit(&self) -> u64 {
        let beside = segment::LENGTH as u64 + 2 * frame::frame_bytes(0);
        // A frame is padded.
        let room = self.segment_bytes.saturating_sub(beside) / 8 * 8;
        room.min(MAX_BODY_BYTES)
    }

    /// Fails if events `E` do not fit.
    pub(crate) fn check<E, T: Encoding<E>>(&self) -> Result<(), OpenError> {
        let bytes = T::EVENT_BYTES;
        if bytes as u64 > MAX_BODY_BYTES {
            return Err(OpenError::EventBytes { bytes });
        }
        let at_least = segment::LENGTH as u64 + 2 * frame::frame_bytes(0) + bytes.max(8) as u64 + 8;
        let requested = self.segment_bytes;
        if !(at_least..=MAX_SEGMENT_BYTES).contains(&requested) {
            return Err(OpenError::SegmentBytes { requested, at_least });
        }
        Ok(())
    }
}
