//! The segment that is written: where its next frame goes, and whether it fits.

use std::io::{self, IoSlice};
use std::sync::Arc;

use crate::format::frame::{self, FrameHeader};
use crate::format::segment::{self, SegmentHeader};
use crate::storage::StorageFile;

/// The segment that is written.
#[derive(Debug)]
pub(crate) struct Tail {
    file: Arc<dyn StorageFile>,
    header: SegmentHeader,
    /// Where the next frame goes.
    offset: u64,
    /// Whether the frames of the journal prove that all of them are synced.
    is_proven: bool,
    /// Whether a write at `offset` has failed, perhaps after all of its bytes.
    has_failed: bool,
}

impl Tail {
    /// A segment with frames up to `offset`.
    pub(crate) fn new(
        file: Arc<dyn StorageFile>,
        header: SegmentHeader,
        offset: u64,
        is_proven: bool,
    ) -> Self {
        Self { file, header, offset, is_proven, has_failed: false }
    }

    /// A segment without frames. `is_proven` is about those before it.
    pub(crate) fn empty(
        file: Arc<dyn StorageFile>,
        header: SegmentHeader,
        is_proven: bool,
    ) -> Self {
        Self::new(file, header, segment::LENGTH as u64, is_proven)
    }

    pub(crate) fn file(&self) -> &Arc<dyn StorageFile> {
        &self.file
    }

    pub(crate) fn header(&self) -> &SegmentHeader {
        &self.header
    }

    /// Returns whether the frames prove that all of them are synced.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_proven
    }

    /// Returns whether a frame with `body` bytes of events fits. There is always room left for the
    /// mark of a clean close.
    pub(crate) fn has_room(&self, body: u64) -> bool {
        let frames = frame::frame_bytes(body) + frame::frame_bytes(0);
        self.offset + frames <= self.header.bytes
    }

    /// Returns whether the mark of a clean close fits.
    pub(crate) fn has_room_for_mark(&self) -> bool {
        self.offset + frame::frame_bytes(0) <= self.header.bytes
    }

    /// Writes a frame. After an error, the next frame goes to the same place.
    pub(crate) fn write(&mut self, header: &FrameHeader, body: &[u8]) -> io::Result<()> {
        let head = header.encode(self.header.seed());
        let padding = frame::padding(body.len());
        let parts = &mut [IoSlice::new(&head), IoSlice::new(body), IoSlice::new(padding)];
        self.has_failed = true;
        self.file.write_at(parts, self.offset)?;
        self.has_failed = false;
        self.is_proven = header.synced == header.end();
        self.offset += header.frame_bytes();
        Ok(())
    }

    /// Returns whether a failed write may have left bytes after the end.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Overwrites the header that a failed write may have left. Not with zeros: until they are
    /// synced, recovery must see that there was something.
    pub(crate) fn erase_failed_write(&mut self) -> io::Result<()> {
        const NO_HEADER: [u8; frame::LENGTH] = [frame::NO_FRAME; frame::LENGTH];
        if self.has_room_for_mark() {
            self.file.write_at(&mut [IoSlice::new(&NO_HEADER)], self.offset)?;
        }
        Ok(())
    }
}
