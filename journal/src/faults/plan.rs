//! What will go wrong on a simulated disk.

use std::io;

use super::crash::Crash;

/// What will go wrong. A crash forgets it.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// How many syncs of files fail.
    syncs: u32,
    /// How many syncs of the folder fail.
    folder_syncs: u32,
    /// Bytes that the next write keeps before it fails.
    write: Option<usize>,
    /// The crash that comes after so many more calls.
    crash: Option<(usize, Crash)>,
}

impl Plan {
    pub(super) fn fail_syncs(&mut self, count: u32) {
        self.syncs = count;
    }

    pub(super) fn fail_folder_syncs(&mut self, count: u32) {
        self.folder_syncs = count;
    }

    pub(super) fn fail_write(&mut self, kept: usize) {
        self.write = Some(kept);
    }

    pub(super) fn crash_after(&mut self, calls: usize, crash: Crash) {
        self.crash = Some((calls, crash));
    }

    /// A sync of a file. Returns its error if it fails.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        take_one(&mut self.syncs, "a sync that fails")
    }

    /// The same for a sync of the folder.
    pub(super) fn sync_folder(&mut self) -> io::Result<()> {
        take_one(&mut self.folder_syncs, "a sync of the folder that fails")
    }

    /// A write. Returns how many bytes it keeps if it fails.
    pub(super) fn write(&mut self) -> Option<usize> {
        self.write.take()
    }

    /// Counts a call that changes the disk. Returns the crash that comes in its place, if one does.
    pub(super) fn count_call(&mut self) -> Option<Crash> {
        let (calls, crash) = self.crash.as_mut()?;
        if *calls == 0 {
            return Some(*crash);
        }
        *calls -= 1;
        None
    }
}

/// Takes one of the faults that are left, and fails if there was one.
fn take_one(left: &mut u32, what: &'static str) -> io::Result<()> {
    if *left == 0 {
        return Ok(());
    }
    *left -= 1;
    Err(io::Error::other(what))
}
