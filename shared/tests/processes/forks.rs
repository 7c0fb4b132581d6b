//! Children that are forked without `exec`.

use crate::child::Child;
use crate::{Folder, LONG, publish_in_time};
use rustix::process::{Pid, WaitOptions, waitpid};

/// Takes a seat and forks. The child drops its copy of the reader, and outlives this process.
pub(crate) fn fork_and_hold() {
    let folder = std::env::var_os("LAPWING_DIR").unwrap();
    let reader =
        lapwing_shared::Segment::<crate::Event>::named("ticks").folder(folder).open().unwrap();
    // SAFETY: the child calls nothing that another thread may have locked.
    match unsafe { libc::fork() } {
        0 => {
            drop(reader);
            std::thread::sleep(std::time::Duration::from_secs(5));
            // SAFETY: ends the child, which has no other thread.
            unsafe { libc::_exit(0) };
        }
        child => {
            println!("> ready\n> {child}");
            std::thread::sleep(LONG);
        }
    }
}

/// Forks. The child uses its copy of the writer, after it has allocated memory that could lie in
/// the place of the segment.
pub(crate) fn fork_and_use() {
    let mut writer = crate::child::segment().create(1 << 16).unwrap();
    // SAFETY: the child calls nothing that another thread may have locked.
    match unsafe { libc::fork() } {
        0 => {
            let memory = vec![1_u8; 4 << 20];
            writer.publish(|event| *event = [7, 7]);
            println!("> {}", memory.iter().all(|&byte| byte == 1));
        }
        child => {
            let child = Pid::from_raw(child).unwrap();
            let (_, status) = waitpid(Some(child), WaitOptions::empty()).unwrap().unwrap();
            println!("> {:?}", status.terminating_signal());
        }
    }
}

/// It wrote to whatever had been allocated there.
#[test]
fn a_forked_child_cannot_use_an_end() {
    let folder = Folder::new();
    let mut parent = Child::start("fork and use", folder.path());
    assert_eq!(parent.line(), format!("Some({})", libc::SIGSEGV));
}

#[test]
fn a_forked_child_does_not_keep_the_seat_of_its_dead_parent() {
    let folder = Folder::new();
    let mut writer = folder.segment().create(4).unwrap();
    let mut parent = Child::ready("fork and hold", folder.path());
    let child: i32 = parent.line().parse().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50)); // the child drops its reader
    assert_eq!(writer.readers().len(), 1);
    while writer.try_publish(|_| {}).is_ok() {}
    parent.kill();
    publish_in_time(&mut writer);
    let child = Pid::from_raw(child).unwrap();
    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
}
