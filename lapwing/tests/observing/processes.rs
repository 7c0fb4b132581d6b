//! A process that has an observable ring is stopped, goes on, is killed, or has a folder that it may not
//! use. The process is this test program again, with a role.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, fs, io, thread};

use lapwing::error::BuildError;
use lapwing::monitor::StageState;
use lapwing::observe::{Observer, ProcessState};
use lapwing::{Consumers, Disruptor, SingleProducer};

use crate::common::{PATIENCE, wait_until, watched};
use crate::{files_of, observer_of, unique_name};

/// The variable that gives a child its role.
const ROLE: &str = "LAPWING_TEST_ROLE";
/// The variable that gives it the name of its ring.
const NAME: &str = "LAPWING_TEST_NAME";

fn build(name: &str) -> Result<(SingleProducer<u64>, Consumers<'static, u64>), BuildError> {
    let hang = |_: &u64, sequence, _| {
        if sequence == 0 {
            println!("hangs");
            thread::sleep(10 * PATIENCE);
        }
    };
    let ring = Disruptor::single_producer(8, || 0_u64).observable(name);
    ring.stage("decode").read(|_, _, _| {}).stage("journal").read(hang).build()
}

/// What a child does. In the test itself it does nothing.
#[test]
fn role_of_a_child() {
    let (Ok(role), Ok(name)) = (env::var(ROLE), env::var(NAME)) else { return };
    match role.as_str() {
        "hang" => {
            let (mut producer, consumers) = build(&name).unwrap();
            let _running = consumers.start().unwrap();
            producer.publish_batch(5, |_| {}).unwrap();
            thread::sleep(10 * PATIENCE);
        }
        "build" => match build(&name) {
            Ok(_) => println!("said: built"),
            Err(BuildError::ObservableFile { kind, .. }) => println!("said: {kind:?}"),
            Err(error) => println!("said: {error}"),
        },
        "move" => {
            let ends = build(&name).unwrap();
            env::set_current_dir("/").unwrap();
            drop(ends);
        }
        other => panic!("no such role: {other}"),
    }
}

fn command(role: &str, name: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "processes::role_of_a_child", "--nocapture"]);
    command.env(ROLE, role).env(NAME, name).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A child that is killed at the end, and what it leaves removed.
struct Hanging(Child, String);

impl Hanging {
    /// Starts a process whose stage "journal" hangs at sequence 0.
    fn start(name: &str) -> Self {
        let mut child = command("hang", name).spawn().unwrap();
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let hangs = lines.map_while(Result::ok).any(|line| line.ends_with("hangs"));
        assert!(hangs);
        Self(child, name.to_owned())
    }

    fn send(&self, signal: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let left = files_of(&self.1).into_iter().filter(|file| file.pid() == self.0.id());
        left.for_each(|file| _ = fs::remove_file(file.path()));
    }
}

/// Checks that the ring shows the stage that hangs.
fn assert_shows_culprit(observer: &Observer) {
    let snapshot = observer.monitor().snapshot();
    let states: Vec<_> =
        snapshot.stages.iter().map(|stage| (stage.name.as_str(), stage.sequence)).collect();
    assert_eq!((states, snapshot.published), (vec![("decode", 5), ("journal", 0)], 5));
    assert_eq!(snapshot.stages[1].state, StageState::InHandler);
    let _ = observer.monitor().snapshot();
    let stall = observer.monitor().stall().unwrap().to_string();
    assert!(stall.contains("stage \"journal\" is in its handler, at sequence 0"), "{stall}");
}

#[test]
fn a_process_that_is_stopped_or_killed_still_shows_its_culprit() {
    watched(|| {
        let name = unique_name();
        let mut child = Hanging::start(&name);
        let observer = observer_of(&name);
        wait_until(|| observer.monitor().snapshot().stages[0].sequence == 5);
        assert_eq!(
            (observer.process().unwrap(), observer.pid()),
            (ProcessState::Running, child.0.id())
        );
        assert_shows_culprit(&observer);

        child.send("-STOP");
        wait_until(|| observer.process().unwrap() == ProcessState::Stopped);
        assert_shows_culprit(&observer_of(&name));
        child.send("-CONT");
        wait_until(|| observer.process().unwrap() == ProcessState::Running);

        child.kill();
        assert_eq!(observer.process().unwrap(), ProcessState::Ended);
        assert_shows_culprit(&observer);
        assert_shows_culprit(&observer_of(&name)); // opened after the death

        let next = build(&name).unwrap();
        let files = files_of(&name);
        assert_eq!(files.iter().map(|file| file.pid()).collect::<Vec<_>>(), [std::process::id()]);
        assert_eq!(observer.process().unwrap(), ProcessState::Ended);
        drop(next);
        assert_eq!(files_of(&name), []);
    });
}

#[test]
fn a_process_that_is_stopped_keeps_its_file() {
    watched(|| {
        let name = unique_name();
        let child = Hanging::start(&name);
        child.send("-STOP");
        let observer = observer_of(&name);
        wait_until(|| observer.process().unwrap() == ProcessState::Stopped);
        let next = build(&name).unwrap();
        assert_eq!(files_of(&name).len(), 2);
        drop(next);
        assert_eq!(observer.process().unwrap(), ProcessState::Stopped);
    });
}

#[test]
fn a_folder_of_others_is_refused() {
    let parent = env::temp_dir().join(unique_name());
    fs::create_dir(&parent).unwrap();
    let build_in = |folder: &Path| {
        let output = command("build", &unique_name()).env("LAPWING_DIR", folder).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.split_once("said: "));
        line.map(|(_, said)| said.to_owned()).expect("the child says something")
    };
    let open_to_others = parent.join("open");
    fs::create_dir(&open_to_others).unwrap();
    set_mode(&open_to_others, 0o777).unwrap();
    assert_eq!(build_in(&open_to_others), "PermissionDenied");
    let file = parent.join("file");
    fs::write(&file, "").unwrap();
    assert_ne!(build_in(&file), "built");
    std::os::unix::fs::symlink(&parent, parent.join("link")).unwrap();
    assert_eq!(build_in(&parent.join("link")), "PermissionDenied");
    assert_eq!(build_in(&parent.join("link").join("")), "PermissionDenied");

    assert_eq!(build_in(&parent.join("new").join("er")), "built");
    assert_eq!(fs::read_dir(parent.join("new").join("er")).unwrap().count(), 0);
    fs::remove_dir_all(&parent).unwrap();
}

/// The program looked for the file in its new working directory.
#[test]
fn a_program_that_changes_its_working_directory_left_its_file() {
    let parent = env::temp_dir().join(unique_name());
    fs::create_dir(&parent).unwrap();
    let mut child = command("move", &unique_name());
    let status = child.current_dir(&parent).env("LAPWING_DIR", "rings").status().unwrap();
    assert!(status.success());
    assert_eq!(fs::read_dir(parent.join("rings")).unwrap().count(), 0);
    fs::remove_dir_all(&parent).unwrap();
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}
