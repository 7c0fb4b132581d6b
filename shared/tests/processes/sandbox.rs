//! Processes that may not call `membarrier`, beside others that may: a filter of system calls
//! refuses it, as in a container.

use lapwing::wait::Blocking;
use lapwing_shared::error::WaitError;
use lapwing_shared::{Reader, Writer};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};

use crate::child::{Child, count_to_the_end, say, segment};
use crate::{Event, Folder, event_of};

/// Enough that each end parks many times.
const EVENTS: u64 = 5_000;

/// Parks at once, so that each event costs a wake-up.
const PARKS: Blocking = Blocking { yields: 0 };

/// Returns false if this kernel or its host does not allow a filter.
fn refuse_membarrier() -> bool {
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let rules = [(libc::SYS_membarrier, vec![])].into();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    apply_filter_all_threads(&filter).is_ok()
}

pub(crate) fn read() {
    let is_filtered = refuse_membarrier();
    let mut reader = segment().wait_strategy(PARKS).open().unwrap();
    say(if is_filtered { "ready" } else { "no filter" });
    let (count, end) = count_to_the_end(&mut reader);
    say(&format!("{count} {end:?}"));
}

pub(crate) fn write() {
    let is_filtered = refuse_membarrier();
    let mut writer = segment().wait_strategy(PARKS).create(4).unwrap();
    say(if is_filtered { "ready" } else { "no filter" });
    assert!(writer.wait_for_readers(1, crate::LONG));
    publish(&mut writer);
    writer.close();
}

fn publish(writer: &mut Writer<Event>) {
    for sequence in 0..EVENTS {
        writer.publish(|event| *event = event_of(sequence));
    }
}

fn check(reader: &mut Reader<Event>) {
    assert_eq!(count_to_the_end(reader), (EVENTS, WaitError::Closed));
}

/// Skips the test where there are no filters.
macro_rules! ready {
    ($child:expr) => {
        if $child.line() != "ready" {
            println!("skipped: a filter of system calls is not permitted");
            return;
        }
    };
}

#[test]
fn a_reader_without_membarrier_loses_nothing() {
    let folder = Folder::new();
    let mut writer = folder.segment().wait_strategy(PARKS).create(4).unwrap();
    let mut reader = Child::start("read in a sandbox", folder.path());
    ready!(reader);
    publish(&mut writer);
    writer.close();
    assert_eq!(reader.line(), format!("{EVENTS} Closed"));
}

#[test]
fn a_writer_without_membarrier_loses_nothing() {
    let folder = Folder::new();
    let mut writer = Child::start("write in a sandbox", folder.path());
    ready!(writer);
    check(&mut folder.segment().wait_strategy(PARKS).open().unwrap());
}

#[test]
fn two_ends_without_membarrier_lose_nothing() {
    let folder = Folder::new();
    let mut writer = Child::start("write in a sandbox", folder.path());
    ready!(writer);
    let mut reader = Child::ready("read in a sandbox", folder.path());
    assert_eq!(reader.line(), format!("{EVENTS} Closed"));
}
