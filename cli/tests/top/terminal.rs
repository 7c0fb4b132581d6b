//! The screen: rings that come and go, keys, and the end.

use rustix::process::Signal;

use crate::pseudo_terminal::Top;
use crate::ring::Folder;

const DOWN: &str = "\x1b[B";

#[test]
fn the_screen_follows_a_process_until_after_its_death() {
    let folder = Folder::new();
    let mut ring = folder.ring(&["hang"]);
    let mut top = Top::start(&folder, &["orders"]);
    ring.wait_for("in trouble");
    top.wait_for(&["running", "full: stage \"journal\" is in its handler", "2 producers wait"]);
    ring.stop();
    top.wait_for(&[
        "stopped",
        "is stopped, by SIGSTOP, a terminal or a debugger; stage \"journal\" was in",
    ]);
    ring.kill();
    let ended =
        "has ended without dropping the ring: the figures are its last ones; stage \"journal\"";
    top.wait_for(&[ended]);
    // The keys still work.
    top.press(DOWN);
    top.resize(30, 40);
    top.wait_for(&["The terminal has 40 columns and 30 lines. At least 52 and 10 are needed."]);
    top.resize(12, 60);
    top.wait_for(&["in its handler", "q quit"]);
    top.quit("q");
}

#[test]
fn a_ring_is_chosen_from_the_list() {
    let folder = Folder::new();
    let _asks = folder.ring(&["none", "--name", "asks"]);
    let _bids = folder.ring(&["slow", "--name", "bids", "--capacity", "64"]);
    let mut top = Top::start(&folder, &[]);
    top.wait_for(&["2 rings", "asks", "bids", "limited by journal"]);
    top.press("j\r");
    top.wait_for(&["stage \"journal\" limits the ring", "Esc list"]);
    top.press("\x1b");
    top.wait_for(&["2 rings"]);
    top.press("k");
    top.press("\r");
    top.wait_for(&["asks process", "decode"]);
    let _third = folder.ring(&["none", "--name", "mids"]);
    top.press("\x1b");
    top.wait_for(&["3 rings", "mids"]);
    top.quit("\x1b");
}

#[test]
fn a_ring_that_is_dropped_is_followed_to_the_next_of_its_name() {
    let folder = Folder::new();
    let first = folder.ring(&["none"]);
    let from = first.pid();
    let mut top = Top::start(&folder, &["orders"]);
    top.wait_for(&[&format!("process {from} running")]);
    first.close();
    top.wait_for(&[&format!("process {from} has dropped the ring: the figures are its last ones")]);
    let mut second = folder.ring(&["none"]);
    let to = second.pid();
    let moved = format!("process {from} dropped its ring, and this is the one of process {to}");
    top.wait_for(&[&moved, &format!("process {to} running")]);

    // After a crash, the last figures stay until the user has seen them.
    second.kill();
    top.wait_for(&[&format!("process {to} has ended")]);
    let third = folder.ring(&["none"]);
    let newer = format!("process {} has a newer ring of this name: n shows it", third.pid());
    top.wait_for(&[&newer, &format!("process {to} has ended")]);
    top.press("n");
    top.wait_for(&[&format!("process {} running", third.pid())]);
    top.quit("\x03"); // Ctrl-C
}

#[test]
fn a_signal_restores_the_terminal() {
    let folder = Folder::new();
    let _ring = folder.ring(&["none"]);
    for signal in [Signal::TERM, Signal::INT] {
        let mut top = Top::start(&folder, &[]);
        top.wait_for(&["running", "decode"]);
        top.signal(signal);
        top.end();
    }
}
