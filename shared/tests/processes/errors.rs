//! Segments that a program cannot use, and what it is told.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lapwing_shared::Segment;
use lapwing_shared::error::{CreateError, Difference, OpenError};

use crate::child::Child;
use crate::{Folder, publish_in_time};

/// Opens a segment after its file was changed.
fn opened_after(change: impl FnOnce(&File)) -> OpenError {
    let folder = Folder::new();
    folder.segment().create(64).unwrap().hand_over();
    let path = folder.path().join("ticks.segment/memory");
    change(&File::options().read(true).write(true).open(path).unwrap());
    let error = folder.segment().open().unwrap_err();
    // A writer takes its place.
    let writer = folder.segment().create(64).unwrap();
    assert_eq!((writer.has_taken_over(), writer.sequence()), (false, 0));
    error
}

#[test]
fn what_differs_is_in_the_error() {
    let differs = |change: fn(&File)| match opened_after(change) {
        OpenError::Differs(difference) => difference,
        other => panic!("{other}"),
    };
    assert_eq!(differs(|file| file.write_all_at(b"x", 0).unwrap()), Difference::NoSegment);
    assert_eq!(
        differs(|file| file.write_all_at(&[9, 0, 0, 0], 8).unwrap()),
        Difference::Version { expected: 2, found: u32::from_ne_bytes([9, 0, 0, 0]) }
    );
    assert_eq!(differs(|file| file.write_all_at(&[9], 12).unwrap()), Difference::ByteOrder);
    assert_eq!(differs(|file| file.write_all_at(&[1; 16], 16).unwrap()), Difference::Boot);
    assert_eq!(differs(|file| file.write_all_at(&[3], 32).unwrap()), Difference::NoSegment);
    assert!(matches!(
        differs(|file| file.set_len(8192).unwrap()),
        Difference::Bytes { found: 8192, .. }
    ));
    assert!(matches!(
        differs(|file| file.set_len(10).unwrap()),
        Difference::Bytes { found: 10, .. }
    ));
}

#[test]
fn events_with_another_layout_are_refused() {
    let folder = Folder::new();
    let _writer = folder.segment().create(64).unwrap();
    let open = || Segment::<[i64; 2]>::named("ticks").folder(folder.path()).open();
    assert_eq!(
        open().unwrap_err().to_string(),
        "the segment cannot be used: its events have another layout: program=[2 i8], segment=[2 u8]"
    );
}

#[test]
fn what_is_wrong_with_the_request_is_in_the_error() {
    let folder = Folder::new();
    let segment = || folder.segment();
    let named = |name: &str| Segment::<u64>::named(name).folder(folder.path());
    for name in ["", "../ticks", "a/b", ".ticks"] {
        assert_eq!(named(name).create(8).unwrap_err(), CreateError::Name { name: name.into() });
        assert_eq!(named(name).open().unwrap_err(), OpenError::Name { name: name.into() });
    }
    for requested in [0, 3, 1 << 31, usize::MAX] {
        assert_eq!(segment().create(requested).unwrap_err(), CreateError::Capacity { requested });
    }
    for requested in [0, 1025] {
        let error = segment().seats(requested).create(8).unwrap_err();
        assert_eq!(error, CreateError::Seats { requested });
    }
    assert!(matches!(segment().open(), Err(OpenError::NotFound { .. })));
    let missing = Segment::<u64>::named("ticks").folder(folder.path().join("missing"));
    assert!(matches!(missing.open(), Err(OpenError::NotFound { .. })));
    assert_eq!(folder.entries().len(), 0);
}

#[test]
fn a_folder_of_others_is_refused() {
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let path = folder.path().to_owned();
    assert_eq!(folder.segment().create(8).unwrap_err(), CreateError::Folder { path: path.clone() });
    assert_eq!(folder.segment().open().unwrap_err(), OpenError::Folder { path });
}

/// A store to memory that is not there would end the process by SIGBUS.
#[test]
fn too_little_memory_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    let file = |error| matches!(error, CreateError::File { kind: io::ErrorKind::StorageFull, .. });
    let huge = Segment::<[[u64; 512]; 4]>::named("huge").folder(folder.path());
    let error = huge.create(1 << 28).unwrap_err(); // 4 TiB
    assert!(file(error.clone()) || matches!(error, CreateError::File { .. }), "{error:?}");
    assert_eq!(folder.entries().len(), 0);
}

/// Its slots would begin in the middle of an event.
#[test]
fn an_event_with_a_large_alignment_is_refused() {
    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Plain {
        words: [u64; 2048],
    }
    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C, align(16384))]
    struct Aligned {
        words: [u64; 2048],
    }
    lapwing_shared::event!(Plain { words });
    lapwing_shared::event!(Aligned { words });

    let folder = Folder::new();
    let _writer = Segment::<Plain>::named("ticks").folder(folder.path()).create(2).unwrap();
    let aligned = || Segment::<Aligned>::named("ticks").folder(folder.path());
    assert_eq!(aligned().open().unwrap_err(), OpenError::Event);
    assert_eq!(aligned().create(2).unwrap_err(), CreateError::Event);
}

/// Lowers the limit of descriptors below those that the ends have, and drops the ends.
pub(crate) fn few_descriptors() {
    let mut writer = crate::child::segment().create(4).unwrap();
    let mut reader = crate::child::segment().open().unwrap();
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, none).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30)); // the watches look
    writer.publish(|event| *event = [7, 7]);
    assert_eq!(reader.wait().unwrap().as_slice(), [[7, 7]]);
    drop((reader, writer));
    crate::child::say("dropped");
}

/// The drop never returned, because the thread that watches could not poll.
#[test]
fn a_limit_of_descriptors_does_not_hang_the_ends() {
    let folder = Folder::new();
    assert_eq!(Child::start("few descriptors", folder.path()).line(), "dropped");
}

/// A program that cleans up has removed what it could, or another file has the name.
#[test]
fn a_damaged_segment_is_replaced() {
    let folder = Folder::new();
    let path = folder.path().join("ticks.segment");
    let damages: [fn(&Path) -> io::Result<()>; 4] = [
        |path| fs::remove_file(path.join("writer")),
        |path| fs::remove_file(path.join("memory")),
        |path| fs::remove_dir_all(path).and_then(|()| fs::write(path, "")),
        |path| fs::write(path.with_file_name(".ticks.new"), ""),
    ];
    for damage in damages {
        folder.segment().create(64).unwrap().hand_over();
        damage(&path).unwrap();
        let writer = folder.segment().create(64).unwrap();
        let _reader = folder.segment().open().unwrap();
        drop(writer);
    }
}

/// Creates a segment, and leaves itself three descriptors. Waits until one of four readers is dead.
pub(crate) fn watch_with_few_descriptors() {
    let writer = crate::child::segment().create(4).unwrap();
    let open = fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    let few = rustix::process::Rlimit { current: Some(open + 2), maximum: Some(open + 2) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
    crate::child::say("ready");
    assert!(writer.wait_for_readers(4, crate::LONG));
    crate::child::say("four");
    while writer.readers().len() == 4 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    crate::child::say("three");
}

/// A reader whose pipe the writer could not open was never found dead.
#[test]
fn a_reader_dies_that_is_not_watched() {
    let folder = Folder::new();
    let mut writer = Child::ready("watch with few descriptors", folder.path());
    let mut readers: Vec<_> = (0..4).map(|_| Child::ready("hold", folder.path())).collect();
    assert_eq!(writer.line(), "four");
    readers.pop().unwrap().kill();
    assert_eq!(writer.line(), "three");
}

/// The writer knew that nobody held the pipe, and looked for it by its name.
#[test]
fn a_reader_dies_whose_pipe_was_removed() {
    let folder = Folder::new();
    let mut writer = folder.segment().create(4).unwrap();
    let reader = Child::ready("hold", folder.path());
    while writer.try_publish(|_| {}).is_ok() {}
    fs::remove_file(folder.path().join("ticks.segment/seat-0")).unwrap();
    reader.kill();
    publish_in_time(&mut writer);
}
