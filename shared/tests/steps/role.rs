//! What the traced process does. It stops before and after the part in which it is killed.

use std::io::Write;
use std::path::PathBuf;

use crate::{CAPACITY, segment};

pub(crate) const ROLE: &str = "LAPWING_TEST_ROLE";
pub(crate) const FOLDER: &str = "LAPWING_TEST_FOLDER";

#[test]
#[ignore = "a role of other tests"]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    match &*role {
        "join" => {
            begin();
            let reader = segment(&folder).open();
            end();
            drop(reader);
        }
        "leave" => {
            let reader = segment(&folder).open().unwrap();
            begin();
            drop(reader);
            end();
        }
        "release" => {
            let mut reader = segment(&folder).open().unwrap();
            begin();
            while reader.poll().is_err() {}
            reader.poll().unwrap().consume(1);
            end();
        }
        "publish" => {
            let mut writer = segment(&folder).create(CAPACITY).unwrap();
            for sequence in 0..2 {
                writer.publish(|event| *event = sequence);
            }
            begin();
            writer.publish(|event| *event = 2);
            end();
        }
        "create" | "take over" => {
            begin();
            let writer = segment(&folder).create(CAPACITY);
            end();
            drop(writer);
        }
        "close" => {
            let writer = segment(&folder).create(CAPACITY).unwrap();
            begin();
            writer.close();
            end();
        }
        role => crate::several::play(role, &folder),
    }
}

/// Lets the parent trace this thread, and stops.
pub(crate) fn begin() {
    // SAFETY: the parent expects it.
    let traced = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
    assert_eq!(traced, 0);
    // SAFETY: only reads the number of this thread.
    println!("> {}", unsafe { libc::gettid() });
    std::io::stdout().flush().unwrap();
    end();
}

/// Stops.
pub(crate) fn end() {
    // SAFETY: the parent waits for that, and lets this thread go on.
    unsafe { libc::raise(libc::SIGSTOP) };
}
