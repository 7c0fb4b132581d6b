//! A simulated disk as a program sees it, until the next crash.

use std::any::Any;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::folder::FileId;
use super::world::World;
use crate::mutex::lock;
use crate::storage::pace::Pace;
use crate::storage::{OpenFolder, Storage, StorageFile};

#[derive(Debug, Clone)]
pub(super) struct View {
    world: Arc<Mutex<World>>,
    crashes: u64,
    path: PathBuf,
}

impl View {
    pub(super) fn new(world: &Arc<Mutex<World>>) -> Self {
        let crashes = lock(world).crashes();
        Self { world: Arc::clone(world), crashes, path: "/simulated".into() }
    }

    fn act<T>(&self, act: impl FnOnce(&mut World) -> io::Result<T>) -> io::Result<T> {
        let mut world = lock(&self.world);
        if world.crashes() != self.crashes {
            return Err(crashed());
        }
        act(&mut world)
    }

    /// The same for a call that changes the disk. A crash may come in its place.
    fn change<T>(&self, change: impl FnOnce(&mut World) -> io::Result<T>) -> io::Result<T> {
        self.act(|world| if world.crashes_now() { Err(crashed()) } else { change(world) })
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        self.change(|world| world.unlink(name))
    }
}

fn crashed() -> io::Error {
    io::Error::other("the program was ended by a crash")
}

impl Storage for View {
    fn names(&self) -> io::Result<Vec<String>> {
        self.act(|world| Ok(world.folder().names()))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        self.create_zeros(name, 0, &Pace::urgent())
    }

    fn create_zeros(&self, name: &str, bytes: u64, _: &Pace) -> io::Result<Arc<dyn StorageFile>> {
        let file = self.change(|world| {
            let file = world.create(name, bytes)?;
            world.open(file);
            Ok(file)
        })?;
        Ok(Arc::new(OpenFile { view: self.clone(), file }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let file = self.act(|world| {
            let file = world.find(name)?;
            world.open(file);
            Ok(file)
        })?;
        Ok(Arc::new(OpenFile { view: self.clone(), file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(|world| world.rename(from, to))
    }

    fn move_out(&self, name: &str, _: &OpenFolder) -> io::Result<()> {
        self.unlink(name)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.unlink(name)
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.change(World::sync_folder)
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.act(World::lock)?;
        Ok(Box::new(Lock(self.clone())))
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// The lock of the folder. A crash has released it.
struct Lock(View);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.act(|world| {
            world.unlock();
            Ok(())
        });
    }
}

#[derive(Debug)]
struct OpenFile {
    view: View,
    file: FileId,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let _ = self.view.act(|world| {
            world.close(self.file);
            Ok(())
        });
    }
}

impl StorageFile for OpenFile {
    fn bytes(&self) -> io::Result<u64> {
        self.view.act(|world| Ok(world.contents(self.file).read().len() as u64))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.view.act(|world| {
            let contents = world.contents(self.file).read();
            let left = contents.get(offset as usize..).unwrap_or_default();
            let length = left.len().min(into.len());
            into[..length].copy_from_slice(&left[..length]);
            Ok(length)
        })
    }

    fn write_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        let bytes = parts.iter().flat_map(|part| part.iter().copied()).collect();
        self.view.change(|world| world.write(self.file, offset, bytes))
    }

    fn sync(&self) -> io::Result<()> {
        self.view.change(|world| world.sync(self.file))
    }
}
