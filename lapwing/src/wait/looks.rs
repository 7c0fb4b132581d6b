//! How to look again and again, and what comes between two looks.

use crate::presumption::Presumption;
use crate::sync::{dawdle, pause};

/// How to look again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    /// How often.
    pub(crate) all: u32,
    /// How many of them hints come after, from the first on, if it is hints: a moment comes after each.
    pub(crate) spaced: u32,
    /// What comes after a look in vain.
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
        let holds = |seen: &T| presumption.holds(shows(seen));
        // A loop for each: what lies between two looks counts by the nanosecond, also what asks which of these it is.
        match self.space {
            Space::Moment => repeat(self.all, &look, holds, || {
                missed();
                dawdle();
            }),
            Space::Hints(times) => {
                let spaced = self.spaced.min(self.all);
                let seen = repeat(spaced, &look, holds, || {
                    missed();
                    pause(times);
                });
                seen.or_else(|| repeat(self.all - spaced, &look, holds, &missed))
            }
        }
    }
}

/// Looks `times` times, each in vain followed by what is `between`; the first thing seen that `holds`.
#[inline(always)]
fn repeat<T>(
    times: u32,
    look: impl Fn() -> T,
    holds: impl Fn(&T) -> bool,
    between: impl Fn(),
) -> Option<T> {
    // A loop, since an iterator's may become a call, with all that it asks about in memory.
    for _ in 0..times {
        let seen = look();
        if holds(&seen) {
            return Some(seen);
        }
        between();
    }
    None
}
