//! The power is cut while one thread writes and another one syncs.

use std::thread;

use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
use lapwing_journal::{Journal, Options, Plain};

fn open(disk: &SimulatedDisk) -> Journal<[u64; 4]> {
    let options = Options::new().segment_bytes(4096).prepare_ahead(false);
    options.open_simulated::<_, Plain>(disk).unwrap()
}

/// Writes batches until the power is cut.
fn write(journal: &Journal<[u64; 4]>) {
    let mut writer = journal.writer();
    let mut next = journal.next_sequence();
    loop {
        let events: Vec<_> = (next..next + 1 + next % 7).map(|event| [event; 4]).collect();
        if writer.write(&events, next).is_err() {
            return;
        }
        next += events.len() as u64;
    }
}

#[test]
fn what_was_reported_as_synced_survives_a_power_cut_at_any_time() {
    let disk = SimulatedDisk::new();
    for seed in 0..150 {
        let journal = open(&disk);
        let begin = journal.next_sequence();
        let synced = thread::scope(|scope| {
            let journal = &journal;
            let writing = scope.spawn(|| write(journal));
            scope.spawn(move || while !writing.is_finished() && journal.sync().is_ok() {});
            while journal.synced() < begin + seed % 50 + 1 {
                thread::yield_now();
            }
            let synced = journal.synced();
            disk.crash(Crash::Power { seed, loss: Loss::Sectors });
            synced
        });
        drop(journal);

        let journal = open(&disk);
        assert!(journal.next_sequence() >= synced, "{} < {synced}", journal.next_sequence());
        let mut next = journal.recovered().oldest;
        let check = |sequence, event: &[u64; 4]| {
            assert_eq!((sequence, *event), (next, [next; 4]));
            next += 1;
        };
        journal.read(journal.recovered().oldest).unwrap().for_each([0; 4], check).unwrap();
        assert_eq!(next, journal.next_sequence());
        journal.remove_before(next).unwrap();
    }
}
