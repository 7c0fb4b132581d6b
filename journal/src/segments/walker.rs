//! The frames of one segment, in order.

use std::io;
use std::sync::Arc;

use lapwing::Sequence;

use super::window::Window;
use crate::format::frame::{self, FrameHeader};
use crate::format::segment::{self, SegmentHeader};
use crate::storage::StorageFile;

/// Steps from frame to frame of one segment.
#[derive(Debug)]
pub(crate) struct Walker {
    window: Window,
    header: SegmentHeader,
    /// Where the next frame begins.
    offset: u64,
    /// The end of the frame before it.
    expected: Sequence,
    /// Where later segments begin, in order. The journal continues in one that begins where the last
    /// frame ends. A frame after that is left over from a write that failed.
    later: Vec<Sequence>,
    /// Where the events of the last frame are.
    last_body: (u64, usize),
}

/// A readable frame.
#[derive(Debug)]
pub(crate) struct FrameAt<'a> {
    pub(crate) header: FrameHeader,
    pub(crate) offset: u64,
    /// The bytes of its events.
    pub(crate) body: &'a [u8],
}

impl Walker {
    /// Walks the segment up to where one of the `later` segments begins.
    pub(crate) fn new(
        file: Arc<dyn StorageFile>,
        header: SegmentHeader,
        later: Vec<Sequence>,
    ) -> Self {
        let (offset, expected) = (segment::LENGTH as u64, header.first);
        let window = Window::new(file);
        Self { window, header, offset, expected, later, last_body: (0, 0) }
    }

    /// The random number of the journal.
    pub(crate) fn journal(&self) -> u128 {
        self.header.journal
    }

    /// Where the readable frames end, as far as they are read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The sequence after the frames that are read.
    pub(crate) fn expected(&self) -> Sequence {
        self.expected
    }

    /// Returns the next frame. `None` means that no frame which continues the last one is readable
    /// there. It may be the end of the segment.
    pub(crate) fn next(&mut self) -> io::Result<Option<FrameAt<'_>>> {
        if self.later.binary_search(&self.expected).is_ok() {
            return Ok(None);
        }
        let offset = self.offset;
        let Some(header) = self.next_header()? else { return Ok(None) };
        let (begin, length) = (offset + frame::LENGTH as u64, header.length as usize);
        let Some(body) = self.window.bytes(begin, length)? else { return Ok(None) };
        if self.header.seed().sum(body) != header.body_sum {
            return Ok(None);
        }
        self.offset += header.frame_bytes();
        self.expected = header.end();
        self.last_body = (begin, length);
        Ok(Some(FrameAt { header, offset, body }))
    }

    /// Returns the bytes of the events of the last frame.
    pub(crate) fn last_body(&self) -> &[u8] {
        let (offset, length) = self.last_body;
        self.window.read(offset, length)
    }

    fn next_header(&mut self) -> io::Result<Option<FrameHeader>> {
        let bytes = self.window.bytes(self.offset, frame::LENGTH)?;
        let header = bytes.and_then(|bytes| FrameHeader::decode(bytes, self.header.seed()));
        Ok(header.filter(|header| self.continues(header)))
    }

    /// Returns whether the frame is the one after those that are read, and fits into the segment.
    fn continues(&self, frame: &FrameHeader) -> bool {
        let event_bytes = u64::from(self.header.shape.event_bytes);
        let length = u64::from(frame.length);
        let has_its_length = event_bytes == 0 || length == event_bytes * u64::from(frame.count);
        let is_mark_or_has_events =
            frame.count > 0 || (length == 0 && frame.first == frame.previous);
        frame.previous == self.expected
            && frame.first >= frame.previous
            && has_its_length
            && is_mark_or_has_events
            && self.offset + frame.frame_bytes() <= self.header.bytes
    }
}
