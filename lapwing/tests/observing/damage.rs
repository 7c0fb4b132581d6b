//! Files that are cut, of another version, or full of anything: an error, or figures, but no panic.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use lapwing::Disruptor;
use lapwing::observe::{ObserveError, Observer};

use crate::common::{Lcg, repeats};
use crate::{files_of, unique_name};

/// A file of a test, removed at the end.
struct Copy(PathBuf);

impl Copy {
    fn of(bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("{}.bytes", unique_name()));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn open(&self) -> Result<Observer, ObserveError> {
        Observer::open(&self.0)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns the bytes of the file of a ring with all kinds of stages.
fn file_of_ring() -> Vec<u8> {
    let name = unique_name();
    let ring = Disruptor::multi_producer(16, || 0_u64).observable(&name).dynamic_stages(2);
    let ring = ring.stage("group").workers(2).read(|_| |_: &u64, _, _| {});
    let ring = ring.stage("journal").acknowledged().poller().stage("all").poller();
    let (mut producer, _consumers) = ring.build().unwrap();
    producer.publish_batch(7, |_| {}).unwrap();
    fs::read(files_of(&name)[0].path()).unwrap()
}

fn look(observer: &Observer) {
    let (first, second) = (observer.monitor().snapshot(), observer.monitor().snapshot());
    let _ = (second.to_string(), second.to_dot(), second.since(&first).to_string());
    let _ = (second.stall(Duration::ZERO), second.idle(Duration::ZERO), second.bottleneck());
    observer.process().unwrap();
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let bytes = file_of_ring();
    look(&Copy::of(&bytes).open().unwrap());
    let cuts = (0..64).chain((64..bytes.len()).step_by(97)).chain([bytes.len() - 1]);
    for end in cuts {
        let error = Copy::of(&bytes[..end]).open().unwrap_err();
        let is_right = match end {
            0 => matches!(error, ObserveError::NotReady),
            _ => matches!(error, ObserveError::NotARing | ObserveError::Damaged),
        };
        assert!(is_right, "{end}: {error:?}");
    }
}

/// Counts of workers added up to more than a number can be.
#[test]
fn words_that_are_all_as_large_as_possible_make_no_panic() {
    let bytes = file_of_ring();
    let description = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
    for byte in [u8::MAX, 0x7f, 1] {
        let mut changed = bytes.clone();
        changed[4096..description].fill(byte);
        look(&Copy::of(&changed).open().unwrap());
    }
}

/// A description of four billion bytes took as much memory.
#[test]
fn a_description_that_is_too_long_is_refused() {
    let mut bytes = file_of_ring();
    bytes[40..44].fill(u8::MAX);
    assert!(matches!(Copy::of(&bytes).open(), Err(ObserveError::Damaged)));
}

#[test]
fn a_file_of_another_version_says_which() {
    let mut bytes = file_of_ring();
    bytes[8] = 9;
    let error = Copy::of(&bytes).open().unwrap_err();
    assert!(matches!(error, ObserveError::Version { found: 9 }));
    let text = "the file has layout version 9, but this program reads version 1: use the version of \
                lapwing with which the ring was built";
    assert_eq!(error.to_string(), text);
    bytes[..8].fill(0);
    assert!(matches!(Copy::of(&bytes).open(), Err(ObserveError::NotReady)));
}

/// A sequence of 2⁶⁴ − 3 made the monitor add beyond the last number.
#[test]
fn words_of_any_value_make_no_panic() {
    let (bytes, mut random) = (file_of_ring(), Lcg(7));
    for _ in 0..repeats(3_000) {
        let mut changed = bytes.clone();
        for _ in 0..=random.below(6) {
            let at = match random.below(8) {
                0 => random.below(bytes.len() as u64),
                _ => 4096 + 8 * random.below((bytes.len() as u64 - 4096) / 8),
            };
            let at = at as usize;
            let value = match random.below(4) {
                0 => u64::MAX - random.below(20),
                1 => random.below(1 << 20),
                2 => 1 << random.below(64),
                _ => random.below(u64::MAX) << 31 | random.below(1 << 33),
            };
            let end = (at + 8).min(changed.len());
            changed[at..end].copy_from_slice(&value.to_ne_bytes()[..end - at]);
        }
        if let Ok(observer) = Copy::of(&changed).open() {
            look(&observer);
        }
    }
}
