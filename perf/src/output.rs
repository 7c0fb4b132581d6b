//! What is printed. A reader that has left, such as `head`, is no error: the command comes to its end and writes its files.
//!
//! Not here: `println!` and `eprintln!`, which panic if the reader has left.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints `text` to standard output.
///
/// # Errors
///
/// What the system reports, except that the reader has left.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints `text` to standard error, which is the last place for a complaint: one about itself has none.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
