//! A file that is read in large pieces.

use std::io;
use std::sync::Arc;

use crate::storage::{StorageFile, read_fully};

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Window {
    file: Arc<dyn StorageFile>,
    buffer: Vec<u8>,
    /// Offset of the buffer in the file.
    start: u64,
}

impl Window {
    pub(crate) fn new(file: Arc<dyn StorageFile>) -> Self {
        Self { file, buffer: Vec::new(), start: 0 }
    }

    /// Returns `length` bytes from `offset` on, or `None` if the file ends before.
    pub(crate) fn bytes(&mut self, offset: u64, length: usize) -> io::Result<Option<&[u8]>> {
        if !self.has(offset, length) {
            self.fill(offset, length.max(CHUNK))?;
        }
        let at = (offset - self.start) as usize;
        Ok(self.buffer.get(at..at + length))
    }

    /// Returns bytes that the last call has returned.
    pub(crate) fn read(&self, offset: u64, length: usize) -> &[u8] {
        let at = (offset - self.start) as usize;
        &self.buffer[at..at + length]
    }

    /// Returns at least `least` bytes from `offset` on and all that is in memory after them, or
    /// what is left of the file.
    pub(crate) fn bytes_from(&mut self, offset: u64, least: usize) -> io::Result<&[u8]> {
        if !self.has(offset, least) {
            self.fill(offset, least.max(CHUNK))?;
        }
        Ok(&self.buffer[(offset - self.start) as usize..])
    }

    fn has(&self, offset: u64, length: usize) -> bool {
        let end = self.start + self.buffer.len() as u64;
        offset >= self.start && offset + length as u64 <= end
    }

    fn fill(&mut self, offset: u64, length: usize) -> io::Result<()> {
        self.start = offset;
        // A short file needs no large buffer.
        let left = self.file.bytes()?.saturating_sub(offset);
        self.buffer.resize(length.min(usize::try_from(left).unwrap_or(length)), 0);
        let filled = read_fully(&*self.file, &mut self.buffer, offset);
        self.buffer.truncate(*filled.as_ref().unwrap_or(&0));
        filled.map(drop)
    }
}
