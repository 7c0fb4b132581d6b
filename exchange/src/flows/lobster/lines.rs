//! Reads numbered lines from a stream into one buffer, whose size is bounded.

use std::io::{self, BufRead, Read};

use super::message::MAX_LINE_BYTES;

/// The bytes kept of a line: the longest valid line and a line end of two bytes. A longer line is
/// cut to this length, which is still too long for a message.
const KEPT_BYTES: u64 = MAX_LINE_BYTES as u64 + 2;

/// The lines of an input, counted from 1. Line ends are `\n` or `\r\n`; the last line may lack one.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    /// Number of lines read so far, which is the number of the last line.
    count: u64,
}

impl<R: BufRead> Lines<R> {
    /// Begins at line 1 of `input`.
    pub fn new(input: R) -> Self {
        Self { input, count: 0 }
    }

    /// Reads the next line into `text`, without its line end, and replaces the old content.
    ///
    /// Returns the line's number, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// An error of the input, with the number of the line. The content of `text` is then
    /// unspecified.
    pub fn read_into(&mut self, text: &mut Vec<u8>) -> io::Result<Option<u64>> {
        let number = self.count + 1;
        let is_line = self.read_line(text).map_err(|error| {
            io::Error::new(error.kind(), format!("line {number} cannot be read: {error}"))
        })?;
        if !is_line {
            return Ok(None);
        }
        self.count = number;
        Ok(Some(number))
    }

    /// Reads a line without its end. Returns false at the end of the input.
    fn read_line(&mut self, text: &mut Vec<u8>) -> io::Result<bool> {
        text.clear();
        let kept = self.input.by_ref().take(KEPT_BYTES).read_until(b'\n', text)?;
        if kept == 0 {
            return Ok(false);
        }
        if text.last() != Some(&b'\n') {
            // Skips the rest of a line that is too long. At the end of the input there is none.
            self.input.skip_until(b'\n')?;
        }
        for line_end in [b'\n', b'\r'] {
            text.pop_if(|last| *last == line_end);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all lines of `input`, read through a buffer of one byte.
    fn lines_of(input: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(io::BufReader::with_capacity(1, input));
        let mut text = Vec::new();
        let mut all = Vec::new();
        while let Some(number) = lines.read_into(&mut text).unwrap() {
            all.push(text.clone());
            assert_eq!(number, all.len() as u64, "lines are numbered from 1");
        }
        all
    }

    #[test]
    fn line_ends_are_removed_whatever_they_are() {
        assert_eq!(lines_of(b"a\nb\r\n\nc"), [&b"a"[..], b"b", b"", b"c"]);
        assert_eq!(lines_of(b"a\n"), [b"a"], "a line end at the end starts no further line");
        assert!(lines_of(b"").is_empty());
    }

    #[test]
    fn a_line_of_the_greatest_length_is_whole_and_a_longer_one_is_cut() {
        for end in [&b"\n"[..], b"\r\n"] {
            for length in
                [MAX_LINE_BYTES, MAX_LINE_BYTES + 1, MAX_LINE_BYTES + 2, 3 * MAX_LINE_BYTES]
            {
                let input = [&vec![b'x'; length], end, b"next"].concat();
                let lines = lines_of(&input);
                assert_eq!(lines.len(), 2, "length={length}");
                assert_eq!(
                    lines[0].len() > MAX_LINE_BYTES,
                    length > MAX_LINE_BYTES,
                    "length={length}"
                );
                assert!(lines[0].len() <= MAX_LINE_BYTES + 2, "a cut line must stay small");
                assert_eq!(lines[1], b"next", "the rest of a long line is no line of its own");
            }
        }
    }

    #[test]
    fn an_endless_line_takes_no_endless_memory() {
        let input = io::BufReader::new(io::repeat(0).take(10 * 1024 * 1024));
        let mut text = Vec::new();
        assert_eq!(Lines::new(input).read_into(&mut text).unwrap(), Some(1));
        assert!(text.capacity() <= 4 * MAX_LINE_BYTES, "capacity={}", text.capacity());
    }
}
