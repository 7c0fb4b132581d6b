//! What both programs print to standard output and read from standard input.

use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::gateway::Gateway;
use exchange::service::Recovery;
use lapwing::Sequence;

/// Lines of the standard input. The channel ends with it.
pub(crate) fn lines() -> Receiver<String> {
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

/// Waits until the standard input ends. Returns earlier if the exchange has failed or `is_over` is true.
pub(crate) fn serve(gateway: &Gateway, lines: &Receiver<String>, is_over: impl Fn() -> bool) {
    use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
    println!("listening: {}", gateway.address());
    loop {
        match lines.recv_timeout(std::time::Duration::from_millis(200)) {
            Ok(line) => eprintln!("exchange-replica: unknown command: {line}"),
            // The caller finds the cause.
            Err(Timeout) if gateway.has_failed() || is_over() => return,
            Err(Timeout) => {}
            Err(Disconnected) => return,
        }
    }
}
