//! Processes in a namespace of their own, as in a container. Skipped where this user may not make one.

use std::ffi::OsStr;
use std::io;
use std::process::Command;

use lapwing_shared::Segment;
use lapwing_shared::error::{CreateError, Full};

use crate::child::{Child, say};
use crate::{Folder, publish_in_time};

/// Returns a command that runs this program after `setup` in a namespace of its own, or `None`.
fn in_namespace(options: &[&str], setup: &str, folder: &OsStr) -> Option<Command> {
    let script = format!("{setup} && exec \"$0\" \"$@\"");
    let command = |program: &OsStr| {
        let mut command = Command::new("unshare");
        command.args(options).args(["sh", "-c", &script]).arg(program);
        command.env("FOLDER", folder);
        command
    };
    let is_permitted = command(OsStr::new("true")).status().is_ok_and(|status| status.success());
    if !is_permitted {
        println!("skipped: a namespace is not permitted");
    }
    is_permitted.then(|| command(std::env::current_exe().unwrap().as_os_str()))
}

/// Makes a segment that fits into 64 MiB, one that does not, and one after that.
pub(crate) fn write() {
    let folder = std::env::var_os("LAPWING_DIR").unwrap();
    let segment = |name: &str| Segment::<[u64; 512]>::named(name).folder(&folder);
    let mut large = segment("large").create(8 << 10).unwrap(); // 32 MiB
    let error = segment("too-large").create(16 << 10).unwrap_err();
    let CreateError::File { kind, .. } = error else { panic!("{error}") };
    assert_eq!(kind, io::ErrorKind::StorageFull);
    // Nothing of it is left, so that another one fits.
    let mut small = segment("small").create(1 << 10).unwrap();
    for _ in 0..10_000 {
        large.publish(|event| event.fill(7));
        small.publish(|event| event.fill(7));
    }
    drop((large, small));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    say("done");
}

#[test]
fn little_memory_is_an_error_and_no_sigbus() {
    let folder = Folder::new();
    let mount = "mount -t tmpfs -o size=64m,mode=700 none \"$FOLDER\"";
    let Some(command) = in_namespace(&["--mount"], mount, folder.path().as_os_str()) else {
        return;
    };
    let mut child = Child::start_by(command, "write in little memory", folder.path());
    assert_eq!(child.line(), "done");
}

/// Its number there is another one than here, and not that of a process here.
#[test]
fn a_reader_in_another_pid_namespace_that_dies_does_not_hold_up_the_writer() {
    let folder = Folder::new();
    let options = ["--pid", "--fork", "--kill-child"];
    let Some(command) = in_namespace(&options, "true", folder.path().as_os_str()) else { return };
    let mut writer = folder.segment().create(4).unwrap();
    let mut reader = Child::start_by(command, "hold", folder.path());
    assert_eq!(reader.line(), "ready");
    assert_ne!(writer.readers()[0].pid, reader.pid());
    while writer.try_publish(|_| {}).is_ok() {}
    assert_eq!(writer.publish_timeout(std::time::Duration::from_millis(50), |_| {}), Err(Full));
    reader.kill();
    publish_in_time(&mut writer);
}

/// The number of the dead reader is that of a living process, as if it was given again.
#[test]
fn a_pid_that_is_used_again_is_no_life() {
    use std::os::unix::fs::FileExt;

    let folder = Folder::new();
    let mut writer = folder.segment().create(4).unwrap();
    let reader = Child::ready("hold", folder.path());
    let path = folder.path().join("ticks.segment/memory");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&std::process::id().to_ne_bytes(), 4864 + 136).unwrap();
    assert_eq!(writer.readers()[0].pid, std::process::id());
    while writer.try_publish(|_| {}).is_ok() {}
    reader.kill();
    publish_in_time(&mut writer);
}
