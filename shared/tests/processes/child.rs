//! Other processes: what they do, and how a test talks to them.

use std::io::{BufRead, BufReader, Lines, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{self, ChildStdout, Command, Stdio};
use std::time::Duration;

use lapwing_shared::error::WaitError;
use lapwing_shared::{Reader, Segment, Writer};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::{Event, LONG, event_of};

const ROLE: &str = "LAPWING_TEST_ROLE";

/// A process with a role. Killed on drop.
pub(crate) struct Child {
    process: process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts a process, and waits until it is ready.
    pub(crate) fn ready(role: &str, folder: &Path) -> Self {
        let mut child = Self::start(role, folder);
        assert_eq!(child.line(), "ready");
        child
    }

    pub(crate) fn start(role: &str, folder: &Path) -> Self {
        Self::start_by(Command::new(std::env::current_exe().unwrap()), role, folder)
    }

    /// Starts a process by a command that ends with this program.
    pub(crate) fn start_by(mut command: Command, role: &str, folder: &Path) -> Self {
        command.args(["--exact", "child::role", "--include-ignored", "--nocapture", "--quiet"]);
        command.env(ROLE, role).env("LAPWING_DIR", folder).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// Returns the next line that the role has printed.
    pub(crate) fn line(&mut self) -> String {
        loop {
            let line = self.lines.next().expect("the process has ended").unwrap();
            if let Some(line) = line.split_once("> ").map(|(_, line)| line.to_owned()) {
                return line;
            }
        }
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Stops the process, and waits until all of its threads have stopped.
    pub(crate) fn stop(&self) {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped());
    }

    /// Lets it go on.
    pub(crate) fn go_on(&self) {
        kill_process(Pid::from_child(&self.process), Signal::CONT).unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn say(line: &str) {
    println!("> {line}");
    std::io::stdout().flush().unwrap();
}

pub(crate) fn segment() -> Segment<Event> {
    Segment::named("ticks")
}

/// What a child does.
#[test]
#[ignore = "a role of other tests"]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match &*role {
        "read" => read(),
        "hold" => hold(),
        "come and go" => come_and_go(),
        "write" => write(),
        "write and hold" => write_and_hold(),
        "write beside others" => crate::several::write(),
        "write a thousand beside others" => crate::several::write_a_thousand(),
        "claim and hold" => crate::several::write_and_hold(),
        "idle without descriptors" => crate::several::idle_without_descriptors(),
        "drop without descriptors" => crate::several::drop_without_descriptors(),
        "read in a sandbox" => crate::sandbox::read(),
        "write in a sandbox" => crate::sandbox::write(),
        "write in little memory" => crate::namespaces::write(),
        "fork and use" => crate::forks::fork_and_use(),
        "watch with few descriptors" => crate::errors::watch_with_few_descriptors(),
        "few descriptors" => crate::errors::few_descriptors(),
        "fork and hold" => crate::forks::fork_and_hold(),
        other => panic!("no role {other}"),
    }
}

/// Reads to the end, and says how many events it got.
fn read() {
    let mut reader = segment().open().unwrap();
    say("ready");
    let first = reader.sequence();
    let (count, end) = count_to_the_end(&mut reader);
    assert_eq!(reader.sequence(), first + count);
    say(&format!("{count} {end:?}"));
}

/// Reads until no event comes. Checks each.
pub(crate) fn count_to_the_end(reader: &mut Reader<Event>) -> (u64, WaitError) {
    let (mut next, mut count) = (reader.sequence(), 0);
    let end = reader.run(|event, sequence, _| {
        assert_eq!((sequence, *event), (next, event_of(next)));
        (next, count) = (next + 1, count + 1);
        ControlFlow::<()>::Continue(())
    });
    (count, end.unwrap_err())
}

/// Takes a seat, and reads nothing.
fn hold() {
    let reader = segment().open().unwrap();
    say("ready");
    std::thread::sleep(LONG);
    drop(reader);
}

/// Joins, reads and leaves again and again, until it is killed.
fn come_and_go() {
    loop {
        let Ok(mut reader) = segment().open() else { continue };
        for _ in 0..8 {
            let timeout = Duration::from_millis(1);
            let Ok(mut batch) = reader.wait_timeout(timeout) else { break };
            for (sequence, event) in batch.iter().take(100) {
                assert_eq!(*event, event_of(sequence));
            }
        }
    }
}

/// Creates the segment or takes it over, and publishes until it is killed.
fn write() {
    let mut writer = create();
    say(&format!("{}", writer.sequence()));
    publish_for_ever(&mut writer);
}

fn publish_for_ever(writer: &mut Writer<Event>) {
    let mut events = Vec::new();
    loop {
        let next = writer.sequence();
        if next.is_multiple_of(3) {
            events.clear();
            events.extend((next..next + 20).map(event_of));
            writer.publish_all(&events);
        } else {
            writer.publish(|event| *event = event_of(next));
        }
    }
}

/// Waits until the last writer is seen to be dead.
fn create() -> Writer<Event> {
    loop {
        match segment().create(64) {
            Ok(writer) => return writer,
            Err(lapwing_shared::error::CreateError::HasWriter { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Publishes three events, and one that it does not complete.
fn write_and_hold() {
    let mut writer = create();
    for sequence in 0..3 {
        writer.publish(|event| *event = event_of(sequence));
    }
    say("ready");
    writer.publish(|event| {
        *event = [7, 7];
        std::thread::sleep(LONG);
    });
}
