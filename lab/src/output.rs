//! Output to the terminal. If the reader of the output has exited, such as `head`, the command
//! continues and writes its files. `println!` and `eprintln!` would panic, so the laboratory does
//! not use them.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints `text` to standard output.
///
/// # Errors
///
/// An I/O error, except that the reader has exited.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints `text` to standard error. It ignores errors, because there is no other place to report
/// them.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
