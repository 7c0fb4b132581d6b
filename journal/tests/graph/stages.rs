//! The two stages, their errors and their policies.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lapwing::graph::Placement;
use lapwing::{Action, Disruptor};
use lapwing_journal::SyncPolicy;
use lapwing_journal::error::{OpenError, WriteError};
use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
use lapwing_journal::{Journal, Options, WaitForSpace};

use crate::{assert_has, open, publish, write_in_ring};

/// Runs a whole graph with both stages, and checks that no event is confirmed before it is synced.
fn run(journal: &Journal<u64>, policy: SyncPolicy, placement: Placement, events: u64) {
    let from = journal.next_sequence();
    let confirmed = Arc::new(AtomicU64::new(0));
    let (count, synced) = (Arc::clone(&confirmed), journal.syncer(policy));
    let (mut producer, consumers) = Disruptor::single_producer(256, || 0)
        .placement(placement)
        .first_sequence(from)
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("synced")
        .read_batch_handler(synced)
        .stage("confirm")
        .read(move |_, _, _| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, from, from + events);
    running.shutdown().unwrap();
    assert_eq!(confirmed.load(Ordering::Relaxed), events);
    assert_eq!(journal.synced(), from + events);
}

#[test]
fn confirmed_events_survive_a_power_cut_under_each_policy_and_placement() {
    let every = SyncPolicy::Every(Duration::from_millis(2));
    for policy in [SyncPolicy::EachBatch, every] {
        for threads in [1, 3] {
            let disk = SimulatedDisk::new();
            for end in [3_000, 6_000] {
                let journal = open(&disk);
                run(&journal, policy, Placement::threads(threads), 3_000);
                disk.crash(Crash::Power { seed: 1, loss: Loss::All });
                drop(journal);
                assert_has(&open(&disk), end);
            }
        }
    }
}

/// The journal left out what an upstream stage had skipped, and the syncer released it unsynced.
#[test]
fn events_that_an_upstream_stage_has_skipped_are_written_and_synced() {
    let disk = SimulatedDisk::new();
    let journal = Arc::new(open(&disk));
    let (syncer, at_end) = (journal.syncer(SyncPolicy::EachBatch), Arc::clone(&journal));
    let confirmed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&confirmed);
    let (mut producer, consumers) = Disruptor::single_producer(64, || 0)
        .stage("skips")
        .read(|_, sequence, _| if sequence % 3 == 0 { Action::Skip } else { Action::Continue })
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("synced")
        .read_batch_handler(syncer)
        .stage("confirm")
        .with_failed_events()
        .read(move |_, sequence, _| {
            assert!(at_end.synced() > sequence);
            count.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0, 1_000);
    running.shutdown().unwrap();
    assert_eq!(confirmed.load(Ordering::Relaxed), 1_000);
    assert_has(&journal, 1_000);
}

/// A shutdown waited for the time of the policy.
#[test]
fn a_shutdown_does_not_wait_for_the_next_sync_of_the_policy() {
    const EVERY: Duration = Duration::from_secs(60);
    for threads in [1, 3] {
        let disk = SimulatedDisk::new();
        let journal = open(&disk);
        let begun = Instant::now();
        for _ in 0..2 {
            let mut writer = journal.writer();
            let from = journal.next_sequence();
            let mut syncer = journal.syncer(SyncPolicy::Every(EVERY));
            writer.write(&[from], from).unwrap();
            assert_eq!(syncer.sync(from + 1).unwrap(), Action::Continue, "the first one, at once");
            let (mut producer, consumers) = Disruptor::single_producer(64, || 0)
                .placement(Placement::threads(threads))
                .first_sequence(from + 1)
                .stage("journal")
                .read_batch_handler(writer)
                .stage("synced")
                .read_batch_handler(syncer)
                .build()
                .unwrap();
            let running = consumers.start().unwrap();
            publish(&mut producer, from + 1, from + 10);
            while journal.next_sequence() < from + 10 {
                std::thread::yield_now();
            }
            assert_eq!(journal.synced(), from + 1, "the policy asks to wait");
            running.shutdown().unwrap();
            assert_eq!(journal.synced(), from + 10);
        }
        assert!(begun.elapsed() < EVERY / 2);
    }
}

#[test]
fn a_graph_continues_after_a_full_disk() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let (mut producer, consumers) = Disruptor::single_producer(64, || 0)
        .stage("journal")
        .on_error(WaitForSpace::every(Duration::from_millis(1)))
        .read_batch_handler(journal.writer())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    disk.set_space(Some(0)); // no second segment
    let publishing = std::thread::spawn(move || publish(&mut producer, 0, 20_000));
    while disk.times_full() < 3 {
        std::thread::yield_now();
    }
    disk.set_space(None);
    publishing.join().unwrap();
    running.shutdown().unwrap();
    assert_has(&journal, 20_000);
}

#[test]
fn a_stage_that_waits_for_space_halts_at_another_error() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let (mut producer, consumers) = Disruptor::single_producer(64, || 0)
        .stage("journal")
        .on_error(WaitForSpace::default())
        .read_batch_handler(journal.writer())
        .build()
        .unwrap();
    disk.fail_write(0);
    let running = consumers.start().unwrap();
    while producer.publish(|_| {}).is_ok() {}
    let ended = running.shutdown().unwrap_err().to_string();
    assert!(ended.contains("cannot write: a write that fails"), "{ended}");
}

#[test]
fn a_failed_sync_halts_the_ring_and_confirms_nothing() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    disk.fail_syncs(1);
    let confirmed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&confirmed);
    let (mut producer, consumers) = Disruptor::single_producer(64, || 0)
        .stage("journal")
        .read_batch_handler(journal.writer())
        .stage("synced")
        .read_batch_handler(journal.syncer(SyncPolicy::EachBatch))
        .stage("confirm")
        .read(move |_, _, _| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    while producer.publish(|_| {}).is_ok() {}
    let ended = running.shutdown().unwrap_err().to_string();
    // One of the two stages reports it first.
    assert!(ended.contains("cannot sync a segment"), "{ended}");
    assert_eq!((confirmed.load(Ordering::Relaxed), journal.synced()), (0, 0));
    let written = journal.writer().write(&[7], journal.next_sequence());
    assert!(matches!(written, Err(WriteError::SyncFailed(_))));
}

#[test]
fn a_ring_that_begins_below_the_end_is_an_error() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    write_in_ring(&journal, 10);
    let error = journal.writer().write(&[0], 0).unwrap_err();
    assert!(matches!(error, WriteError::AlreadyRecorded { first: 0, expected: 10 }), "{error}");
}

#[test]
fn a_policy_that_skips_a_batch_leaves_no_hole() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let mut writer = journal.writer();
    disk.fail_write(0);
    writer.write(&[0, 1], 0).unwrap_err();
    let error = writer.write(&[2], 2).unwrap_err();
    assert!(matches!(error, WriteError::Skipped { first: 2, missing: 0 }), "{error}");
    writer.write(&[0, 1, 2], 0).unwrap();
    assert_has(&journal, 3);
}

#[test]
fn a_closed_journal_takes_no_events() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk);
    let mut writer = journal.writer();
    journal.close().unwrap();
    assert!(matches!(writer.write(&[7], 0), Err(WriteError::Closed)));
    drop(open(&disk)); // it is unlocked, although the writer lives
}

#[test]
fn a_thread_prepares_segments_on_the_disk_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().segment_bytes(16 * 1024);
    let journal = options.clone().open::<u64>(folder.path()).unwrap();
    write_in_ring(&journal, 20_000);
    assert!(matches!(Journal::<u64>::open(folder.path()), Err(OpenError::Locked { .. })));
    journal.close().unwrap();
    let journal = options.open::<u64>(folder.path()).unwrap();
    assert_eq!((journal.recovered().cut_bytes, journal.recovered().resynced_events), (0, 0));
    assert_has(&journal, 20_000);
    drop(journal);
    let spares = std::fs::read_dir(folder.path()).unwrap();
    let spares =
        spares.filter(|entry| entry.as_ref().unwrap().path().extension() == Some("tmp".as_ref()));
    assert_eq!(spares.count(), 0, "no spare is left");
}

#[test]
fn archived_segments_are_a_journal_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let archive = tempfile::tempdir_in(folder.path()).unwrap();
    let options = Options::new().segment_bytes(16 * 1024).prepare_ahead(false);
    let journal = options.open::<u64>(folder.path()).unwrap();
    write_in_ring(&journal, 20_000);
    journal.sync().unwrap();
    let moved = journal.archive_before(10_000, archive.path()).unwrap();
    assert!(moved > 1);
    let found = lapwing_journal::inspect::inspect(archive.path(), |_| {}).unwrap();
    assert_eq!(found.segments.len(), moved);
    assert_eq!(found.end, journal.read(10_000).map(|_| found.end).unwrap());
    assert!(matches!(journal.read(0), Err(lapwing_journal::error::ReadError::NotRecorded { .. })));
}

/// Needs a file system of at most 16 MiB, for instance `mount -t tmpfs -o size=8m none FOLDER`, and
/// `LAPWING_JOURNAL_SMALL_DISK=FOLDER`.
#[test]
fn a_full_disk_of_the_system_is_an_error_that_loses_nothing() {
    let Some(disk) = std::env::var_os("LAPWING_JOURNAL_SMALL_DISK") else { return };
    let folder = tempfile::tempdir_in(&disk).unwrap();
    let ballast = std::path::Path::new(&disk).join("ballast");
    std::fs::write(&ballast, vec![1; 2 << 20]).unwrap();
    let options = Options::new().segment_bytes(1 << 20);
    let journal = options.open::<[u64; 512]>(folder.path()).unwrap();
    let mut writer = journal.writer();
    let mut next = 0;
    let error = loop {
        match writer.write(&[[next; 512]], next) {
            Ok(()) => next += 1,
            Err(error) => break error,
        }
    };
    assert!(error.is_full(), "{error}");
    std::fs::remove_file(&ballast).unwrap();
    writer.write(&[[next; 512]], next).unwrap(); // the same batch
    journal.close().unwrap();

    let journal = Journal::<[u64; 512]>::open(folder.path()).unwrap();
    let mut events = 0;
    let check = |sequence, event: &[u64; 512]| {
        assert_eq!(*event, [sequence; 512]);
        events += 1;
    };
    journal.read(0).unwrap().for_each([0; 512], check).unwrap();
    assert_eq!(events, next + 1);
}
