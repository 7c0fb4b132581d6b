//! The calls of a program, repeated on a simulated disk.

use std::collections::HashMap;
use std::path::Path;

use super::act::{Act, RecordedFile};
use crate::faults::disk::SimulatedDisk;
use crate::faults::folder::FileId;
use crate::faults::world::World;

/// Repeats the calls that concern one folder.
pub(super) struct Replay<'a> {
    folder: &'a Path,
    world: World,
    /// The simulated files.
    files: HashMap<RecordedFile, FileId>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(folder: &'a Path) -> Self {
        Self { folder, world: World::default(), files: HashMap::new() }
    }

    /// Returns the disk after the calls.
    pub(super) fn into_disk(self) -> SimulatedDisk {
        SimulatedDisk::of(self.world)
    }

    pub(super) fn act(&mut self, act: &Act) {
        match act {
            Act::Link { path, file } => {
                if let Some(name) = self.name(path) {
                    let world = &mut self.world;
                    let file = *self.files.entry(*file).or_insert_with(|| world.make());
                    world.folder().link(name, file);
                }
            }
            Act::Unlink { path, file } => {
                if let (Some(name), Some(&file)) = (self.name(path), self.files.get(file)) {
                    self.world.folder().unlink(name, file);
                }
            }
            Act::Write { file, offset, bytes } => {
                if let Some(&file) = self.files.get(file) {
                    self.world.contents(file).write(*offset as usize, bytes.clone());
                }
            }
            Act::Extend { file, length } => {
                if let Some(&file) = self.files.get(file) {
                    self.world.contents(file).extend(*length as usize);
                }
            }
            Act::Sync { file } => {
                if let Some(&file) = self.files.get(file) {
                    self.world.contents(file).sync();
                }
            }
            Act::SyncFolder { path } => {
                if path == self.folder {
                    self.world.folder().sync();
                }
            }
            Act::MakeFolder { .. } | Act::Send { .. } => {}
        }
    }

    fn name<'b>(&self, path: &'b Path) -> Option<&'b str> {
        let is_here = path.parent() == Some(self.folder);
        path.file_name().filter(|_| is_here).and_then(|name| name.to_str())
    }
}
