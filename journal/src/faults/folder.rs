//! The names of a simulated disk: what programs see, and what survives a power cut.

use std::collections::BTreeMap;

use super::crash::Loss;
use super::random::Random;

/// A number for each file that was made.
pub(super) type FileId = u64;

type Names = BTreeMap<String, FileId>;

/// A change of one name. A rename is two of them: a new name for a file, and the end of its old
/// name. Each names its file, so the loss of one never moves another file.
#[derive(Debug, Clone)]
enum Change {
    Link(String, FileId),
    Unlink(String, FileId),
}

#[derive(Debug, Default)]
pub(super) struct Folder {
    seen: Names,
    durable: Names,
    /// Changes that are not durable, in order.
    unsynced: Vec<Change>,
}

impl Folder {
    pub(super) fn names(&self) -> Vec<String> {
        self.seen.keys().cloned().collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<FileId> {
        self.seen.get(name).copied()
    }

    /// Returns whether the file has a name.
    pub(super) fn shows(&self, file: FileId) -> bool {
        self.seen.values().any(|&shown| shown == file)
    }

    /// Returns whether a name of the file exists, or may exist again after a power cut.
    pub(super) fn has(&self, file: FileId) -> bool {
        let linked = self.unsynced.iter().map(|change| match change {
            Change::Link(_, file) | Change::Unlink(_, file) => *file,
        });
        let named = self.seen.values().chain(self.durable.values()).copied();
        named.chain(linked).any(|existing| existing == file)
    }

    pub(super) fn link(&mut self, name: &str, file: FileId) {
        self.change(Change::Link(name.into(), file));
    }

    pub(super) fn unlink(&mut self, name: &str, file: FileId) {
        self.change(Change::Unlink(name.into(), file));
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.seen, &change);
        self.unsynced.push(change);
    }

    pub(super) fn sync(&mut self) {
        self.write_first(self.unsynced.len());
    }

    /// Some of the changes are written. The others stay unsynced: a file system that cannot write
    /// changes of names keeps them, or ends.
    pub(super) fn fail_sync(&mut self, random: &mut Random) {
        self.write_first(random.below(self.unsynced.len() + 1));
    }

    fn write_first(&mut self, count: usize) {
        for change in self.unsynced.drain(..count) {
            apply(&mut self.durable, &change);
        }
    }

    pub(super) fn cut_power(&mut self, loss: Loss, random: &mut Random) {
        let first_lost = random.below(self.unsynced.len() + 1);
        for (index, change) in std::mem::take(&mut self.unsynced).iter().enumerate() {
            let is_kept = match loss {
                Loss::All => false,
                Loss::Torn | Loss::Ordered => index < first_lost,
                Loss::Sectors => random.coin(),
                Loss::None => true,
            };
            if is_kept {
                apply(&mut self.durable, change);
            }
        }
        self.seen = self.durable.clone();
    }
}

/// Applies a change. The end of a name that belongs to another file does nothing: the change that
/// gave it to this file was lost.
fn apply(names: &mut Names, change: &Change) {
    match change {
        Change::Link(name, file) => {
            names.insert(name.clone(), *file);
        }
        Change::Unlink(name, file) => {
            if names.get(name) == Some(file) {
                names.remove(name);
            }
        }
    }
}
