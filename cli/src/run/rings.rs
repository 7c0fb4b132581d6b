//! The rings under observation, as rings come and go.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lapwing::observe::{ObserveError, ProcessState, RingFile};

use crate::choose::Wanted;
use crate::error::{Error, Result};
use crate::figures::Figures;
use crate::watch::Watched;

/// The rings that are wanted.
#[derive(Debug)]
pub(crate) struct Rings {
    wanted: Wanted,
    stall_after: Duration,
    rings: Vec<Ring>,
}

/// A ring that was found.
#[derive(Debug)]
pub(crate) struct Ring {
    file: RingFile,
    /// Whether its file is still there.
    is_there: bool,
    watched: std::result::Result<Watched, ObserveError>,
    figures: Option<Figures>,
}

impl Rings {
    /// Finds and opens the rings, and looks at each. At least one can be read.
    ///
    /// # Errors
    ///
    /// [`Error`]. If no ring can be read, the reason of the first one.
    pub(crate) fn open(wanted: Wanted, stall_after: Duration) -> Result<Self> {
        let files = wanted.some_files()?;
        let mut rings = Self { wanted, stall_after, rings: Vec::new() };
        rings.update(files);
        rings.look();
        if rings.rings.iter().any(|ring| ring.figures.is_some()) {
            return Ok(rings);
        }
        let first = rings.rings.into_iter().next();
        Err(first.map_or(Error::Dropped, Ring::into_error))
    }

    /// Finds rings that are new, and looks at all.
    ///
    /// # Errors
    ///
    /// [`Error::Folder`].
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let files = self.wanted.files()?;
        self.update(files);
        self.look();
        Ok(())
    }

    /// Takes a snapshot of each ring.
    pub(crate) fn look(&mut self) {
        self.rings.iter_mut().for_each(Ring::look);
    }

    /// Forgets the rings that are dropped or whose file was removed, except those for which `is_kept`
    /// holds.
    pub(crate) fn forget_gone(&mut self, is_kept: impl Fn(&Ring) -> bool) {
        self.rings.retain(|ring| !ring.is_gone() || is_kept(ring));
    }

    pub(crate) fn all(&self) -> &[Ring] {
        &self.rings
    }

    /// Returns the position of the ring with this file.
    pub(crate) fn position(&self, path: &Path) -> Option<usize> {
        self.rings.iter().position(|ring| ring.path() == path)
    }

    fn update(&mut self, files: Vec<RingFile>) {
        for ring in &mut self.rings {
            ring.is_there = files.contains(&ring.file);
        }
        for file in files {
            let known = self.position(file.path());
            // What could not be read may be complete now.
            let is_open = known.is_some_and(|at| self.rings[at].watched.is_ok());
            if is_open {
                continue;
            }
            let watched = Watched::open(&file, self.stall_after);
            if is_not_found(&watched) {
                continue;
            }
            let ring = Ring { file, is_there: true, watched, figures: None };
            match known {
                Some(at) => self.rings[at] = ring,
                None => self.rings.push(ring),
            }
        }
    }
}

impl Ring {
    pub(crate) fn name(&self) -> &str {
        self.file.name()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.file.pid()
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn path_buf(&self) -> PathBuf {
        self.path().to_owned()
    }

    /// Returns the figures of the last look. `None` if there is none.
    pub(crate) fn figures(&self) -> Option<&Figures> {
        self.figures.as_ref()
    }

    /// Returns why there are no figures.
    pub(crate) fn reason(&self) -> String {
        self.watched.as_ref().err().map_or_else(|| "not read yet".to_owned(), ToString::to_string)
    }

    /// Whether its figures change no more.
    pub(crate) fn has_ended(&self) -> bool {
        self.watched.as_ref().is_ok_and(Watched::has_ended)
    }

    /// Whether its process has dropped it or its file was removed.
    fn is_gone(&self) -> bool {
        let process = self.figures.as_ref().map(|figures| figures.process);
        process == Some(ProcessState::Dropped) || !self.is_there
    }

    fn look(&mut self) {
        let Ok(watched) = &mut self.watched else { return };
        match watched.look() {
            Ok(figures) => self.figures = Some(figures.clone()),
            Err(error) => self.watched = Err(error),
        }
    }

    /// Returns why it cannot be read.
    fn into_error(self) -> Error {
        let (name, pid) = (self.file.name().to_owned(), self.file.pid());
        match self.watched {
            Err(error) => Error::Ring { name, pid, error },
            Ok(_) => Error::Dropped,
        }
    }
}

fn is_not_found(watched: &std::result::Result<Watched, ObserveError>) -> bool {
    matches!(watched, Err(ObserveError::Io(error)) if error.kind() == io::ErrorKind::NotFound)
}
