//! Calls as changes of files and folders: which file a descriptor or a name is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::act::{Act, Event, RecordedFile};
use super::error::RecordingError;
use super::strace::Call;

/// What a descriptor is.
#[derive(Debug, Clone)]
enum Open {
    File { file: RecordedFile, position: u64 },
    Folder(PathBuf),
}

/// The names of all files, and the descriptors of the program that runs.
#[derive(Debug, Default)]
pub(super) struct Follower {
    folders: Vec<PathBuf>,
    names: HashMap<PathBuf, RecordedFile>,
    files: RecordedFile,
    open: HashMap<i64, Open>,
}

impl Follower {
    pub(super) fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// Follows the calls of a new program. Descriptors of the last one are closed.
    pub(super) fn follow(
        &mut self,
        mut calls: Vec<Call<'_>>,
        events: &mut Vec<Event>,
    ) -> Result<(), RecordingError> {
        self.open.clear();
        // A descriptor may be used again before a close of it has returned.
        calls.sort_by_key(|call| if call.name == "close" { call.begun } else { call.ended });
        for call in &calls {
            let acts = self.acts(call)?;
            let (begun, ended) = (call.begun, call.ended);
            let is_over = call.result.is_some();
            events.extend(acts.into_iter().map(|act| Event { act, begun, ended, is_over }));
        }
        Ok(())
    }

    fn acts(&mut self, call: &Call<'_>) -> Result<Vec<Act>, RecordingError> {
        match call.name {
            "openat" => self.open(call, self.path(call, 0)?),
            "close" => {
                self.open.remove(&call.number(0)?);
                Ok(Vec::new())
            }
            "write" | "writev" | "sendto" | "sendmsg" => self.write(call, None),
            "pwrite64" | "pwritev" | "pwritev2" => self.write(call, Some(3)),
            "fsync" | "fdatasync" => self.sync(call),
            "fallocate" => self.extend(call, &[2, 3]),
            "ftruncate" => self.extend(call, &[1]),
            // What a name refers to is not known if the program was ended meanwhile.
            _ if call.result.is_none() => Ok(Vec::new()),
            "rename" => self.rename(call, plain_path(call, 0)?, plain_path(call, 1)?),
            "renameat" | "renameat2" => self.rename(call, self.path(call, 0)?, self.path(call, 2)?),
            "link" => self.link(call, &plain_path(call, 0)?, plain_path(call, 1)?),
            "linkat" => self.link(call, &self.path(call, 0)?, self.path(call, 2)?),
            "unlink" => Ok(self.unlink(&plain_path(call, 0)?)),
            "unlinkat" => Ok(self.unlink(&self.path(call, 0)?)),
            "mkdir" => Ok(self.make_folder(plain_path(call, 0)?)),
            "mkdirat" => Ok(self.make_folder(self.path(call, 0)?)),
            _ => Err(call.error("unknown")),
        }
    }

    /// The path in two arguments: a folder that is open, and a name.
    fn path(&self, call: &Call<'_>, index: usize) -> Result<PathBuf, RecordingError> {
        let path = plain_path(call, index + 1)?;
        let folder = call.number(index).ok().and_then(|number| self.open.get(&number));
        Ok(if let Some(Open::Folder(folder)) = folder { folder.join(path) } else { path })
    }

    fn follows(&self, path: &Path) -> bool {
        path.parent().is_some_and(|folder| self.folders.iter().any(|known| known == folder))
    }

    fn open(&mut self, call: &Call<'_>, path: PathBuf) -> Result<Vec<Act>, RecordingError> {
        let Some(number) = call.result else { return Ok(Vec::new()) };
        self.open.remove(&number);
        if self.folders.iter().any(|folder| folder.starts_with(&path)) {
            self.open.insert(number, Open::Folder(path));
            return Ok(Vec::new());
        }
        if !self.follows(&path) {
            return Ok(Vec::new());
        }
        if call.has(2, "O_TRUNC") || call.has(2, "O_APPEND") {
            return Err(call.error("not supported"));
        }
        let known = self.names.get(&path).copied();
        let file = known.unwrap_or(self.files);
        self.open.insert(number, Open::File { file, position: 0 });
        if known.is_some() {
            return Ok(Vec::new());
        }
        if !call.has(2, "O_CREAT") {
            return Err(call.error("a file that no call has made"));
        }
        self.files += 1;
        self.names.insert(path.clone(), file);
        Ok(vec![Act::Link { path, file }])
    }

    fn write(
        &mut self,
        call: &Call<'_>,
        offset: Option<usize>,
    ) -> Result<Vec<Act>, RecordingError> {
        let number = call.number(0)?;
        let mut bytes = call.bytes(1)?;
        bytes.truncate(call.result.unwrap_or(i64::MAX) as usize);
        Ok(match self.open.get_mut(&number) {
            None if offset.is_some() => Vec::new(),
            None => vec![Act::Send { number, bytes }],
            Some(Open::Folder(_)) => return Err(call.error("a folder")),
            Some(Open::File { file, position }) => {
                let at = match offset {
                    Some(index) => call.number(index)? as u64,
                    None => *position,
                };
                if offset.is_none() {
                    *position += bytes.len() as u64;
                }
                vec![Act::Write { file: *file, offset: at, bytes }]
            }
        })
    }

    fn sync(&self, call: &Call<'_>) -> Result<Vec<Act>, RecordingError> {
        Ok(match self.open.get(&call.number(0)?) {
            None => Vec::new(),
            Some(Open::File { file, .. }) => vec![Act::Sync { file: *file }],
            Some(Open::Folder(path)) => vec![Act::SyncFolder { path: path.clone() }],
        })
    }

    /// A file gets at least the length that is the sum of these arguments.
    fn extend(&self, call: &Call<'_>, sum: &[usize]) -> Result<Vec<Act>, RecordingError> {
        let Some(Open::File { file, .. }) = self.open.get(&call.number(0)?) else {
            return Ok(Vec::new());
        };
        let parts = sum.iter().map(|&index| call.number(index));
        let length = parts.sum::<Result<i64, _>>()? as u64;
        Ok(vec![Act::Extend { file: *file, length }])
    }

    fn rename(
        &mut self,
        call: &Call<'_>,
        from: PathBuf,
        to: PathBuf,
    ) -> Result<Vec<Act>, RecordingError> {
        let mut acts = self.link(call, &from, to)?;
        acts.extend(self.unlink(&from));
        Ok(acts)
    }

    /// A file that leaves the folders only loses its name there.
    fn link(
        &mut self,
        call: &Call<'_>,
        from: &Path,
        to: PathBuf,
    ) -> Result<Vec<Act>, RecordingError> {
        if !self.follows(&to) {
            return Ok(Vec::new());
        }
        let unknown = || call.error("a file that no call has made");
        let file = *self.names.get(from).ok_or_else(unknown)?;
        if from.parent() != to.parent() {
            return Err(call.error("not supported"));
        }
        self.names.insert(to.clone(), file);
        Ok(vec![Act::Link { path: to, file }])
    }

    fn unlink(&mut self, path: &Path) -> Vec<Act> {
        let file = self.names.remove(path);
        file.map(|file| Act::Unlink { path: path.to_owned(), file }).into_iter().collect()
    }

    fn make_folder(&self, path: PathBuf) -> Vec<Act> {
        let is_known = self.folders.iter().any(|folder| folder.starts_with(&path));
        if is_known { vec![Act::MakeFolder { path }] } else { Vec::new() }
    }
}

fn plain_path(call: &Call<'_>, index: usize) -> Result<PathBuf, RecordingError> {
    let path = String::from_utf8(call.bytes(index)?);
    Ok(path.map_err(|_| call.error("a path that is not Unicode"))?.into())
}
