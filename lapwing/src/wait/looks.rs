//! How to look again and again, and what comes between two looks.

use crate::presumption::Presumption;
use crate::sync::{dawdle, pause};

/// How to look again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    /// How often.
    pub(crate) all: u32,
    /// How many of them something comes after, from the first on.
    pub(crate) spaced: u32,
    /// What that is.
    pub(crate) space: Space,
    /// Whether the CPU is to [presume](Presumption) of each that it finds something.
    pub(crate) presumes: bool,
}

/// What comes between two looks, so that they leave the line to its writer for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// So many pause hints, 10 to 45 ns each.
    Hints(u32),
    /// A [moment](dawdle) of a few nanoseconds.
    Moment,
}

impl Space {
    #[inline(always)]
    pub(crate) fn keep(self) {
        match self {
            Self::Hints(times) => pause(times),
            Self::Moment => dawdle(),
        }
    }
}

impl Looks {
    /// Looks until there is something; what there is.
    #[inline(always)]
    pub(crate) fn until<T>(self, look: impl Fn() -> Option<T>) -> Option<T> {
        self.run(Presumption::NONE, look, Option::is_some, || {}).flatten()
    }

    /// Looks until what there is `shows` what is looked for; that. After a look in vain comes `missed`.
    ///
    /// The CPU may [presume](Presumption) of each look that it finds it. So it should not branch by whether it does.
    #[inline(always)]
    pub(crate) fn until_presumed<T>(
        self,
        look: impl Fn() -> T,
        shows: impl Fn(&T) -> bool,
        missed: impl Fn(),
    ) -> Option<T> {
        let presumption = if self.presumes { Presumption::new() } else { Presumption::NONE };
        self.run(presumption, look, shows, missed)
    }

    #[inline(always)]
    fn run<T>(
        self,
        presumption: Presumption,
        look: impl Fn() -> T,
        shows: impl Fn(&T) -> bool,
        missed: impl Fn(),
    ) -> Option<T> {
        // A loop, since an iterator's may become a call, with all that it asks about in memory.
        for past in 0..self.all {
            let seen = look();
            if presumption.holds(shows(&seen)) {
                return Some(seen);
            }
            missed();
            if past < self.spaced {
                self.space.keep();
            }
        }
        None
    }
}
