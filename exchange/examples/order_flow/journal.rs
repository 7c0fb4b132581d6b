//! Writes valid lines to a file: the number of the line, a comma and the line.
//!
//! Records collect in a buffer. The caller flushes it at the end of each batch, so all available
//! events are written with one call. A slow file then makes batches longer, not slower.

use std::io::{self, BufWriter, Write};

/// A journal that keeps its first error for the end. A full disk stops the journal, not the flow.
#[derive(Debug)]
pub(crate) struct Journal<W: Write> {
    output: BufWriter<W>,
    records: u64,
    /// The first error. Nothing is written after it.
    failure: Option<io::Error>,
}

impl<W: Write> Journal<W> {
    /// An empty journal on `output`.
    pub(crate) fn new(output: W) -> Self {
        Self { output: BufWriter::new(output), records: 0, failure: None }
    }

    /// Adds a record to the buffer.
    pub(crate) fn record(&mut self, number: u64, line: &[u8]) {
        let written = self.attempt(|output| {
            write!(output, "{number},")?;
            output.write_all(line)?;
            output.write_all(b"\n")
        });
        self.records += u64::from(written);
    }

    /// Passes the buffer to the operating system, which may still delay the write to the disk.
    pub(crate) fn flush(&mut self) {
        self.attempt(BufWriter::flush);
    }

    /// Returns the number of records.
    #[must_use]
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Flushes the buffer and closes the journal.
    ///
    /// # Errors
    ///
    /// The first error since the journal was created. The output ends before the record that
    /// failed.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush();
        self.failure.map_or(Ok(()), Err)
    }

    /// Calls `write` unless the journal has failed. Returns whether it still has not failed.
    fn attempt(&mut self, write: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>) -> bool {
        if self.failure.is_none() {
            self.failure = write(&mut self.output).err();
        }
        self.failure.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts `room` bytes and then fails, like a full disk.
    struct Disk {
        room: usize,
        attempts_when_full: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                self.attempts_when_full += 1;
                return Err(io::Error::new(io::ErrorKind::StorageFull, "disk full"));
            }
            let taken = bytes.len().min(self.room);
            self.room -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_record_is_number_and_line_and_reaches_the_output_with_the_flush() {
        let mut bytes = Vec::new();
        let mut journal = Journal::new(&mut bytes);
        journal.record(7, b"a,b");
        journal.record(9, b"c");
        assert!(
            journal.output.get_ref().is_empty(),
            "nothing is written before the end of the batch"
        );
        journal.flush();
        assert_eq!(journal.output.get_ref().as_slice(), b"7,a,b\n9,c\n");
        assert_eq!(journal.records(), 2);
        journal.finish().unwrap();
    }

    #[test]
    fn the_first_failure_is_reported_at_the_end_and_nothing_is_written_after_it() {
        let mut disk = Disk { room: 3, attempts_when_full: 0 };
        let mut journal = Journal::new(&mut disk);
        journal.record(1, b"abcdef");
        journal.flush();
        for number in 2..1_000 {
            journal.record(number, b"abcdef");
            journal.flush();
        }
        assert_eq!(journal.output.get_ref().attempts_when_full, 1);
        assert_eq!(journal.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
