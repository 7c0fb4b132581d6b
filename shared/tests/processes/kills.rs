//! Processes that are killed at any instruction. `LAPWING_KILLS` is the number of kills of each role.

use std::time::{Duration, Instant};

use lapwing_shared::error::PollError;

use crate::child::Child;
use crate::{Folder, LONG, event_of, publish_in_time};

pub(crate) fn kills() -> u32 {
    std::env::var("LAPWING_KILLS").map_or(200, |kills| kills.parse().unwrap())
}

/// A moment in the life of a child, from before its first step to long after.
pub(crate) fn moment(state: &mut u64) -> Duration {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    Duration::from_micros((*state >> 33) % 8_000)
}

/// Readers come and go, and are killed meanwhile. The writer goes on, and a reader that stays gets
/// each event.
#[test]
fn killed_readers_harm_nobody() {
    let folder = Folder::new();
    let mut writer = folder.segment().seats(4).create(64).unwrap();
    let mut steady = folder.segment().open().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut state = 1;
            for _ in 0..kills() {
                let child = Child::start("come and go", folder.path());
                std::thread::sleep(moment(&mut state));
                child.kill();
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut next = 0;
        let mut longest = Duration::ZERO;
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            longest = longest.max(publish_in_time(&mut writer));
            next += 1;
            if let Ok(mut batch) = steady.poll() {
                batch.iter().for_each(|(sequence, event)| assert_eq!(*event, event_of(sequence)));
            }
        }
        println!("{next} events, longest wait for a slot {longest:?}");
        assert_eq!(steady.sequence(), next);
    });
    drop((writer, steady));
    let writer = folder.segment().create(64).unwrap();
    assert_eq!(writer.readers(), []);
    drop(writer);
    assert_eq!(folder.entries().len(), 0);
}

/// Writers take over from each other, and are killed meanwhile. A reader gets each event once, in
/// order.
#[test]
fn killed_writers_lose_no_published_event() {
    let folder = Folder::new();
    drop(folder.segment().create(64).unwrap());
    let (mut state, mut next, mut reader) = (2, 0, None);
    let mut longest = Duration::ZERO;
    for _ in 0..kills() {
        let child = Child::start("write", folder.path());
        let end = Instant::now() + Duration::from_millis(2) + moment(&mut state);
        // The first one is killed once it has published, however busy the machine is.
        while Instant::now() < end || next == 0 {
            if reader.is_none() {
                reader = folder.segment().from_oldest().open().ok();
                next = reader.as_ref().map_or(0, lapwing_shared::Reader::sequence);
            }
            let Some(reader) = &mut reader else {
                std::thread::sleep(Duration::from_micros(100)); // it needs the lock of the folder
                continue;
            };
            let Ok(mut batch) = reader.wait_timeout(Duration::from_millis(1)) else { continue };
            for (sequence, event) in batch.iter() {
                assert_eq!((sequence, *event), (next, event_of(next)));
                next += 1;
            }
        }
        child.kill();
        let start = Instant::now();
        while let Some(reader) = &mut reader {
            match reader.wait_timeout(LONG) {
                Err(PollError::WriterGone) => break,
                Err(error) => panic!("{error}"),
                Ok(mut batch) => batch.iter().for_each(|(sequence, event)| {
                    assert_eq!((sequence, *event), (next, event_of(next)));
                    next += 1;
                }),
            }
        }
        longest = longest.max(start.elapsed());
    }
    println!("{next} events, longest drain after a death {longest:?}");
    assert!(next > 0);
    drop(reader);
    drop(folder.segment().create(64).unwrap());
    assert_eq!(folder.entries().len(), 0);
}
