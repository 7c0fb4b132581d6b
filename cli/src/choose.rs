//! Which rings are shown. Not here: how one is read (`watch`).

use std::collections::BTreeSet;

use lapwing::observe::{self, RingFile};

use crate::error::{Error, Result};

/// The rings that the user asks for: all of this user, or those with this name. If there are none and
/// it is a number, those of this process.
#[derive(Debug)]
pub(crate) struct Wanted(pub(crate) Option<String>);

impl Wanted {
    /// Returns the files of the rings, which may be none.
    ///
    /// # Errors
    ///
    /// [`Error::Folder`].
    pub(crate) fn files(&self) -> Result<Vec<RingFile>> {
        Ok(self.of(&all_files()?))
    }

    /// Returns the files of the rings, at least one.
    ///
    /// # Errors
    ///
    /// [`Error::Folder`] and [`Error::NoRing`].
    pub(crate) fn some_files(&self) -> Result<Vec<RingFile>> {
        let all = all_files()?;
        let chosen = self.of(&all);
        if chosen.is_empty() {
            let others: BTreeSet<_> = all.iter().map(|file| file.name().to_owned()).collect();
            let (wanted, others) = (self.0.clone(), others.into_iter().collect());
            return Err(Error::NoRing { wanted, others, folder: observe::folder() });
        }
        Ok(chosen)
    }

    fn of(&self, all: &[RingFile]) -> Vec<RingFile> {
        let Some(text) = &self.0 else { return all.to_vec() };
        let of = |is_it: &dyn Fn(&RingFile) -> bool| -> Vec<RingFile> {
            all.iter().filter(|file| is_it(file)).cloned().collect()
        };
        let named = of(&|file| file.name() == text);
        match text.parse::<u32>() {
            Ok(pid) if named.is_empty() => of(&|file| file.pid() == pid),
            _ => named,
        }
    }
}

fn all_files() -> Result<Vec<RingFile>> {
    observe::ring_files().map_err(|error| Error::Folder { folder: observe::folder(), error })
}
