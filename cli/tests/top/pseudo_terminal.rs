//! The program in a pseudo-terminal, and what a terminal would show.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::ring::{Folder, PATIENCE};

/// Lines and columns at the beginning.
const SIZE: [NonZeroU16; 2] = [NonZeroU16::new(30).unwrap(), NonZeroU16::new(120).unwrap()];

/// Runs the program, says how it ended, and waits for the end of the test.
const SCRIPT: &str = r#""$@"; echo "status $?"; read -r _"#;

/// The time after which a key is pressed again.
const AGAIN: Duration = Duration::from_secs(2);

/// The program in a terminal.
pub(crate) struct Top {
    process: Child,
    terminal: File,
    output: Receiver<Vec<u8>>,
    shown: vt100::Parser,
}

impl Top {
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, winsize(SIZE)).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let end = || {
            let file = File::options().read(true).write(true).open(&path).unwrap();
            Stdio::from(OwnedFd::from(file))
        };
        // `setsid` makes it the controlling terminal: the size of that is asked for, and changes of it
        // are signalled. The shell leads the session. If the program did, the system would discard
        // its last output when it ends.
        let mut process = Command::new("setsid");
        process.args(["-c", "sh", "-c", SCRIPT, "sh", env!("CARGO_BIN_EXE_lapwing"), "top"]);
        process.args(["--interval", "50ms"]);
        process.args(arguments).env("TERM", "xterm").env("LAPWING_DIR", folder.path());
        let process = process.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let terminal = File::from(master);
        let output = read_all(terminal.try_clone().unwrap());
        Self { process, terminal, output, shown: vt100::Parser::new(SIZE[0], SIZE[1], 0) }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&mut self, lines: u16, columns: u16) {
        let size = [lines, columns].map(|number| NonZeroU16::new(number).unwrap());
        tcsetwinsize(&self.terminal, winsize(size)).unwrap();
        self.shown.screen_mut().set_size(size[0], size[1]);
    }

    /// Sends a signal to the program, which is the only child of the shell.
    pub(crate) fn signal(&self, signal: Signal) {
        let shell = self.process.id();
        let children = format!("/proc/{shell}/task/{shell}/children");
        let program = fs::read_to_string(children).unwrap().trim().parse().unwrap();
        kill_process(Pid::from_raw(program).unwrap(), signal).unwrap();
    }

    /// Waits until the screen has each of `parts`.
    pub(crate) fn wait_for(&mut self, parts: &[&str]) {
        let has_all = |screen: &vt100::Screen| {
            // Lines that are broken at words.
            let words = screen.contents().split_whitespace().collect::<Vec<_>>().join(" ");
            parts.iter().all(|part| words.contains(part))
        };
        self.wait_until(&format!("{parts:?}"), has_all);
    }

    fn wait_until(&mut self, what: &str, is_true: impl Fn(&vt100::Screen) -> bool) {
        let is_there = self.is_true_within(PATIENCE, is_true);
        assert!(is_there, "no {what}:\n{}", self.shown.screen().contents());
    }

    fn is_true_within(&mut self, time: Duration, is_true: impl Fn(&vt100::Screen) -> bool) -> bool {
        let begun = Instant::now();
        while !is_true(self.shown.screen()) {
            let left = time.saturating_sub(begun.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.shown.process(&bytes),
                Err(_) => return false,
            }
        }
        true
    }

    /// Presses a key that ends the program. Crossterm may overlook a key at the moment of a new size,
    /// until the next key.
    pub(crate) fn quit(mut self, key: &str) {
        let begun = Instant::now();
        let mut has_ended = false;
        while !has_ended && begun.elapsed() < PATIENCE {
            self.press(key);
            has_ended = self.is_true_within(AGAIN, |screen| !screen.alternate_screen());
        }
        self.end();
    }

    /// Waits for the end. The terminal is as it was before.
    pub(crate) fn end(mut self) {
        self.wait_until("usual screen with a success", |screen| {
            let is_usual = !screen.alternate_screen() && !screen.hide_cursor();
            is_usual && screen.contents().contains("status 0")
        });
        // The terminal hands over whole lines and shows what is typed.
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO));
    }
}

impl Drop for Top {
    /// Ends the shell. The end of a session hangs up the program.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn winsize([lines, columns]: [NonZeroU16; 2]) -> Winsize {
    Winsize { ws_col: columns.get(), ws_row: lines.get(), ws_xpixel: 0, ws_ypixel: 0 }
}

/// Reads from a thread, until no program has the terminal.
fn read_all(mut terminal: File) -> Receiver<Vec<u8>> {
    let (sender, output) = channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    output
}
