//! The names of a simulated disk: what programs see, and what survives a power cut.

use std::collections::BTreeMap;

use super::random::Random;
use super::{FileId, Loss};

type Names = BTreeMap<String, FileId>;

#[derive(Debug, Clone)]
pub(super) enum Change {
    Create(String, FileId),
    Rename(String, String),
    Remove(String),
}

impl Change {
    fn created(&self) -> Option<FileId> {
        if let Self::Create(_, file) = self { Some(*file) } else { None }
    }
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

    /// The files that have a name.
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> {
        self.seen.values().copied()
    }

    /// Returns whether a name of the file exists, or may exist again after a power cut.
    pub(super) fn has(&self, file: FileId) -> bool {
        let created = self.unsynced.iter().filter_map(Change::created);
        let named = self.seen.values().chain(self.durable.values()).copied();
        named.chain(created).any(|existing| existing == file)
    }

    pub(super) fn change(&mut self, change: Change) {
        apply(&mut self.seen, &change);
        self.unsynced.push(change);
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            apply(&mut self.durable, &change);
        }
    }

    pub(super) fn cut_power(&mut self, loss: Loss, random: &mut Random) {
        let count = self.unsynced.len();
        let first_lost = random.below(count + 1);
        for (index, change) in std::mem::take(&mut self.unsynced).iter().enumerate() {
            let is_kept = match loss {
                Loss::All => false,
                Loss::Torn => index < first_lost,
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

/// Applies a change. One whose file is not there does nothing: the change before it was lost.
fn apply(names: &mut Names, change: &Change) {
    match change {
        Change::Create(name, file) => {
            names.insert(name.clone(), *file);
        }
        Change::Rename(from, to) => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        Change::Remove(name) => {
            names.remove(name);
        }
    }
}
