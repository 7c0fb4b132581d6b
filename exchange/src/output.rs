//! What the program prints. A reader that has left, as with `exchange load | head -1`, is no reason to
//! end: `println!` of the standard library panics then, and would end a server too.

/// Prints a line to standard output.
macro_rules! println {
    ($($text:tt)*) => { $crate::output::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints text to standard output.
macro_rules! print {
    ($($text:tt)*) => { $crate::output::print(format_args!($($text)*)) };
}

/// Prints a line to standard error.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::output::complain(format_args!($($text)*)) };
}

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints to standard output, unless its reader has left.
pub(crate) fn print(text: Arguments<'_>) {
    let mut output = io::stdout().lock();
    match output.write_fmt(text).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            complain(format_args!("exchange: cannot print: {error}"));
        }
        _ => {}
    }
}

/// Prints a line to standard error. There is no other place to tell an error.
pub(crate) fn complain(text: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
