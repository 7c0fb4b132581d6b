//! The contenders of a comparison with their settings, and those that cannot take part, with the
//! reason.

use super::Setting;
use super::contender::Entry;
use super::name::ContenderName;
use crate::load::topologies::Topology;
use crate::record::Missing;

/// The requested contenders.
pub(crate) struct Roster {
    /// The contenders that take part, in the requested order.
    pub(crate) entries: Vec<Entry>,
    /// The contenders that cannot take part.
    pub(crate) missing: Vec<Missing>,
}

impl Roster {
    /// Removes the contenders that do not take part in `topology` with a ring of this many slots.
    pub(crate) fn fitting(mut self, topology: Topology, ring: usize) -> Self {
        let refusals = self.entries.iter().filter_map(|entry| entry.refusal(topology, ring));
        self.missing.extend(refusals);
        self.entries.retain(|entry| entry.refusal(topology, ring).is_none());
        self
    }

    /// Creates the roster of `names` without the contenders for which `refusal` returns a reason.
    pub(crate) fn admitting(
        names: &[ContenderName],
        settings: &[Setting],
        refusal: impl Fn(ContenderName) -> Option<&'static str>,
    ) -> Self {
        let (takes_part, others): (Vec<_>, Vec<_>) =
            names.iter().partition(|name| refusal(**name).is_none());
        let mut roster = Self::of(&takes_part, settings);
        roster.missing.extend(others.into_iter().filter_map(|name| {
            let reason = refusal(name)?.to_owned();
            Some(Missing { contender: name.name().to_owned(), reason })
        }));
        roster
    }

    /// Creates the roster of `names`: Lapwing once for each of `settings`, and each rival with its
    /// best setting.
    pub(crate) fn of(names: &[ContenderName], settings: &[Setting]) -> Self {
        let mut roster = Self { entries: Vec::new(), missing: Vec::new() };
        for name in names {
            match name.enlist(settings) {
                Ok(entries) => roster.entries.extend(entries),
                Err(reason) => {
                    let contender = name.name().to_owned();
                    roster.missing.push(Missing { contender, reason });
                }
            }
        }
        roster
    }
}
