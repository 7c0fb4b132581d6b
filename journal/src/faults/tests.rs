use std::io::IoSlice;
use std::sync::Arc;

use super::{Crash, Loss, SimulatedDisk};
use crate::storage::pace::Pace;
use crate::storage::{Storage, StorageFile};

const LOSSES: [Loss; 3] = [Loss::All, Loss::Torn, Loss::Sectors];

/// Makes a file of `byte`, synced but for its name.
fn make(storage: &dyn Storage, name: &str, byte: u8) -> Arc<dyn StorageFile> {
    let file = storage.create_zeros(name, 1, &Pace::urgent()).unwrap();
    file.write_at(&mut [IoSlice::new(&[byte])], 0).unwrap();
    file.sync().unwrap();
    file
}

/// A rename was applied by name. After a cut that lost the removal of an older file of that name,
/// the older file got the new name.
#[test]
fn a_rename_never_moves_another_file() {
    for seed in 0..100 {
        for loss in LOSSES {
            let disk = SimulatedDisk::new();
            let storage = disk.storage();
            make(&*storage, "spare", 1);
            storage.sync_folder().unwrap();
            storage.remove("spare").unwrap();
            make(&*storage, "spare", 2);
            storage.rename("spare", "segment").unwrap();
            disk.crash(Crash::Power { seed, loss });
            assert!(disk.contents("segment").is_none_or(|bytes| bytes == [2]), "{seed} {loss:?}");
        }
    }
}

/// The file was forgotten with its last name, and the sync failed. A real file stays until it is
/// closed.
#[test]
fn a_replaced_file_can_be_synced() {
    let disk = SimulatedDisk::new();
    let storage = disk.storage();
    let replaced = make(&*storage, "segment", 1);
    storage.sync_folder().unwrap();
    make(&*storage, "spare", 2);
    storage.rename("spare", "segment").unwrap();
    storage.sync_folder().unwrap();
    replaced.write_at(&mut [IoSlice::new(&[3])], 0).unwrap();
    replaced.sync().unwrap();
    assert_eq!(disk.contents("segment"), Some(vec![2]));
}

#[test]
fn a_file_without_a_name_takes_space_until_it_is_closed() {
    let disk = SimulatedDisk::new();
    let storage = disk.storage();
    disk.set_space(Some(1));
    let file = make(&*storage, "one", 1);
    storage.remove("one").unwrap();
    assert!(storage.create_zeros("two", 1, &Pace::urgent()).is_err());
    drop(file);
    storage.create_zeros("two", 1, &Pace::urgent()).unwrap();
}

#[test]
fn a_failed_sync_of_the_folder_leaves_the_rest_for_a_later_one() {
    for count in 0..20 {
        let disk = SimulatedDisk::new();
        let storage = disk.storage();
        for number in 0..count {
            make(&*storage, &number.to_string(), 1);
        }
        disk.fail_folder_syncs(1);
        storage.sync_folder().unwrap_err();
        storage.sync_folder().unwrap();
        disk.crash(Crash::Power { seed: 0, loss: Loss::All });
        assert_eq!(disk.names().len(), count);
    }
}

#[test]
fn a_crash_comes_in_place_of_a_call() {
    for calls in 0..4 {
        let disk = SimulatedDisk::new();
        let storage = disk.storage();
        disk.crash_after(calls, Crash::Process);
        let done = (0..4).filter(|number| storage.create(&number.to_string()).is_ok()).count();
        assert_eq!((done, disk.names().len()), (calls, calls));
    }
}
