//! What both programs print to standard output and read from standard input.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use exchange::Exchange;
use exchange::ends::{Termination, input_ends_program};
use exchange::engine::Engine;
use exchange::gateway::Gateway;
use exchange::service::Recovery;
use lapwing::Sequence;

/// How often a program checks whether a signal has come.
const PAUSE: Duration = Duration::from_millis(50);

/// Lines of the standard input. The channel ends at SIGTERM and SIGINT, and with an input that another program holds.
/// That of a service may end: it is `/dev/null` or closed.
///
/// # Errors
///
/// The system does not let the program handle signals.
pub(crate) fn lines() -> io::Result<Receiver<String>> {
    let termination = Termination::watch()?;
    let typed = read_lines();
    let (sender, lines) = channel();
    thread::spawn(move || {
        while !termination.is_asked() {
            match typed.recv_timeout(PAUSE) {
                Ok(line) => {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if input_ends_program() => return,
                Err(RecvTimeoutError::Disconnected) => thread::sleep(PAUSE),
            }
        }
    });
    Ok(lines)
}

/// Lines of the standard input, until it ends.
fn read_lines() -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(io::Result::ok) {
            if sender.send(line.trim().to_owned()).is_err() {
                break;
            }
        }
    });
    lines
}

pub(crate) fn print_recovery(found: &Recovery, next: Sequence) {
    for path in &found.damaged {
        eprintln!("exchange-replica: left out a damaged snapshot: {}", path.display());
    }
    let Recovery { snapshot, replayed, cut_bytes, .. } = found;
    println!(
        "recovered: next={next} snapshot={snapshot} replayed={replayed} cut_bytes={cut_bytes}"
    );
}

pub(crate) fn print_end(engine: &Engine) {
    let state = engine.state();
    println!("ended: commands={} hash={:016x}", state.commands, state.hash());
}

/// Waits until the channel of lines ends. Returns earlier if the exchange has failed or `is_over` is true.
pub(crate) fn serve(gateway: &Gateway, lines: &Receiver<String>, is_over: impl Fn() -> bool) {
    use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
    println!("listening: {}", gateway.address());
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => eprintln!("exchange-replica: unknown command: {line}"),
            // The caller finds the cause.
            Err(Timeout) if gateway.has_failed() || is_over() => return,
            Err(Timeout) => {}
            Err(Disconnected) => return,
        }
    }
}
