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
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// How long a line waits for a reader that has stopped reading.
const PATIENCE: Duration = Duration::from_secs(5);
/// The stack of the thread that writes it. A process may have little memory left.
const STACK_BYTES: usize = 64 << 10;

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

/// Prints a line to standard error. There is no other place to tell an error. A reader that takes
/// nothing for some seconds does not get it.
pub(crate) fn complain(text: Arguments<'_>) {
    in_time(&text, |line| _ = io::stderr().lock().write_all(line.as_bytes()));
}

/// Prints a line of a server to standard output. A server must end also if its output is a full pipe
/// that nothing reads, so it waits for some seconds only.
pub(crate) fn announce(text: Arguments<'_>) {
    in_time(&text, |line| print(format_args!("{line}")));
}

/// Lets a thread write a line, and waits for it until [`PATIENCE`] is over.
fn in_time(text: &Arguments<'_>, write: fn(&str)) {
    let line = format!("{text}\n");
    let (sender, written) = channel::<()>();
    let of_thread = line.clone();
    let run = move || {
        write(&of_thread);
        drop(sender);
    };
    match thread::Builder::new().name("output".into()).stack_size(STACK_BYTES).spawn(run) {
        Ok(_) => _ = written.recv_timeout(PATIENCE),
        Err(_) => write(&line),
    }
}
