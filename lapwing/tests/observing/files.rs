//! The file of a ring: its folder, its rights, its names, and what lies where in it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use lapwing::error::BuildError;
use lapwing::observe::{self, ProcessState};
use lapwing::{Disruptor, SingleProducer};

use crate::{files_of, observer_of, unique_name};

type Ends = (SingleProducer<u64>, lapwing::Consumers<'static, u64>);

fn ring(name: &str) -> Result<Ends, BuildError> {
    Disruptor::single_producer(8, || 0_u64).observable(name).stage("all").poller().build()
}

#[test]
fn only_the_user_can_read_a_ring() {
    let name = unique_name();
    let ends = ring(&name).unwrap();
    let files = files_of(&name);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(files[0].path()), 0o600);
    assert_eq!(mode(&observe::folder()) & 0o022, 0);
    drop(ends);
    assert!(!files[0].path().exists());
}

#[test]
fn a_name_that_is_no_file_name_is_refused() {
    for name in ["", "a/b", "../x", ".x", "a b", "ä", &"x".repeat(65)] {
        let error = ring(name).unwrap_err();
        assert_eq!(error, BuildError::ObservableName { name: name.to_owned() });
    }
}

#[test]
fn rings_of_one_name_are_apart() {
    let name = unique_name();
    let (mut first, second) = (ring(&name).unwrap(), ring(&name).unwrap());
    first.0.publish(|_| {}).unwrap();
    let published =
        |file: &observe::RingFile| file.observe().unwrap().monitor().snapshot().published;
    let files = files_of(&name);
    assert_eq!(files.iter().map(published).collect::<Vec<_>>(), [1, 0]);
    drop(first);
    let files = files_of(&name);
    assert_eq!(files.iter().map(published).collect::<Vec<_>>(), [0]);
    drop(second);
    assert_eq!(files_of(&name), []);
}

/// A factory that panicked left the file of the ring that it did not make.
#[test]
fn a_ring_that_is_not_made_leaves_no_file() {
    crate::common::quiet_panics();
    let name = unique_name();
    let make = || -> u64 { panic!("{}", crate::common::ON_PURPOSE) };
    let build = || {
        let ring = Disruptor::single_producer(8, make).observable(&name).stage("all").poller();
        ring.build().map(drop)
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(build)).is_err());
    let ring = Disruptor::single_producer(7, || 0_u64).observable(&name).stage("all").poller();
    assert_eq!(ring.build().unwrap_err(), BuildError::Capacity { requested: 7 });
    assert_eq!(files_of(&name), []);
}

#[test]
fn a_monitor_keeps_the_file_as_long_as_it_shows_the_ring() {
    let name = unique_name();
    let (producer, consumers) = ring(&name).unwrap();
    let (monitor, outside) = (producer.monitor(), observer_of(&name));
    drop((producer, consumers));
    assert_eq!(outside.process().unwrap(), ProcessState::Running);
    drop(monitor);
    assert_eq!(outside.process().unwrap(), ProcessState::Dropped);
}

/// The bytes of a file, and what is still to be read of its description.
struct Layout<'a> {
    file: &'a File,
    rest: &'a [u8],
}

impl Layout<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.rest.split_first_chunk().unwrap();
        self.rest = rest;
        *taken
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    fn text(&mut self) -> String {
        let length = self.number();
        (0..length).map(|_| char::from(self.bytes::<1>()[0])).collect()
    }

    fn list<T>(&mut self, mut entry: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.number()).map(|_| entry(self)).collect()
    }

    /// Reads an offset of the description, and the words there.
    fn words<const N: usize>(&mut self) -> [u64; N] {
        let at = u64::from_le_bytes(self.bytes());
        std::array::from_fn(|index| word(self.file, at + 8 * index as u64))
    }
}

fn word(file: &File, at: u64) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at).unwrap();
    u64::from_ne_bytes(bytes)
}

/// What the tables of `observe` say, read without it.
#[test]
fn the_words_lie_where_the_documents_say() {
    let name = unique_name();
    let ring = Disruptor::multi_producer(64, || 0_u64).observable(&name).dynamic_stages(1);
    let ring = ring.stage("a").poller().stage("b").acknowledged().poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut a = consumers.take_poller("a").unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    a.poll_max(3).unwrap().consume_all();
    a.poll_max(1).unwrap().consume_all();

    let path = files_of(&name)[0].path().to_owned();
    let (file, bytes) = (File::open(&path).unwrap(), fs::read(&path).unwrap());
    assert_eq!(&bytes[..8], b"LAPWRING");
    assert_eq!(word(&file, 8), u64::from(std::process::id()) << 32 | 1);
    let (description, length) = (word(&file, 32) as usize, word(&file, 40) as usize);
    assert_eq!(bytes.len(), description + length);

    let mut layout = Layout { file: &file, rest: &bytes[description..] };
    assert_eq!((layout.text(), layout.bytes()), (name, 64_u64.to_le_bytes()));
    assert_eq!(layout.bytes(), [1]);
    let stages = layout.list(|stage| {
        let (name, threads, workers) = (stage.text(), stage.list(Layout::text), stage.number());
        (name, threads, workers, stage.bytes(), stage.list(Layout::number))
    });
    let stage = |name: &str, acknowledged, upstream: &[u32]| {
        (name.to_owned(), Vec::new(), 0, [acknowledged], upstream.to_vec())
    };
    assert_eq!(stages, [stage("a", 0, &[]), stage("b", 1, &[0])]);
    assert_eq!((layout.number(), layout.bytes(), layout.number()), (1, [0], 0));
    assert_eq!((layout.words(), layout.words()), ([5], [0, u64::MAX, 1]), "cursor and life");
    assert_eq!(layout.words(), [2 << 32 | 2], "the stamps of two slots in the first lap");
    assert_eq!((layout.words(), layout.words()), ([0], [0]), "waiting and dropped");
    let sequences = layout.list(|layout| layout.words::<1>()[0]);
    assert_eq!(sequences, [4, 0, 0, u64::MAX]);
    let batches = layout.list(|layout| layout.words::<3>()[0] >> 4);
    assert_eq!((batches, layout.list(Layout::words::<16>)), (vec![2, 0, 0, 0], vec![[0; 16]]));
    assert!(layout.rest.is_empty());
}

#[test]
fn a_ring_takes_as_much_memory_as_the_documents_say() {
    let bytes = |workers: usize, dynamic_stages| {
        let name = unique_name();
        let ring = Disruptor::single_producer(8, || 0_u64).observable(&name);
        let ring = ring.dynamic_stages(dynamic_stages).stage("group").workers(workers);
        let _ends = ring.read(|_| |_: &u64, _, _| {}).build().unwrap();
        word(&File::open(files_of(&name)[0].path()).unwrap(), 32)
    };
    let least = bytes(1, 0);
    assert_eq!((bytes(2, 0) - least, bytes(1, 1) - least), (512, 640));
    assert!((5 * 1024..=7 * 1024).contains(&(least - 2 * 512)), "{least}");
}

#[test]
fn a_file_that_is_no_ring_is_an_error_of_its_own() {
    let missing = observe::Observer::open("/nonexistent/file").unwrap_err();
    let observe::ObserveError::Io(missing) = missing else { panic!("{missing:?}") };
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    let folder = observe::Observer::open("/").unwrap_err();
    assert!(matches!(folder, observe::ObserveError::NotARing), "{folder:?}");
}

/// The observer waited for a process at the other end of the pipe.
#[test]
fn a_pipe_with_the_name_of_a_ring_is_refused() {
    crate::common::watched(|| {
        let path = std::env::temp_dir().join(format!("{}.1.0", unique_name()));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = observe::Observer::open(&path).unwrap_err();
        fs::remove_file(&path).unwrap();
        assert!(matches!(error, observe::ObserveError::NotARing), "{error:?}");
    });
}

/// Two threads with one observer moved the same position in the file, and a ring that was dropped
/// between two looks at the file counted as one of a process that died.
#[test]
fn a_ring_that_is_dropped_is_closed_for_each_thread_and_never_ended() {
    for _ in 0..crate::common::repeats(200) {
        let name = unique_name();
        let ends = ring(&name).unwrap();
        let observer = observer_of(&name);
        let sees = || loop {
            match observer.process().unwrap() {
                ProcessState::Running => {}
                other => return other,
            }
        };
        std::thread::scope(|scope| {
            let seen = [scope.spawn(sees), scope.spawn(sees)];
            drop(ends);
            let seen = seen.map(|thread| thread.join().unwrap());
            assert_eq!(seen, [ProcessState::Dropped; 2]);
        });
    }
}
