//! The contenders of a comparison with their settings, and those that cannot take part, with the
//! reason.

use super::contender::Contender;
use super::{ContenderName, Setting};
use crate::load::topologies::Topology;
use crate::record::Missing;

/// A contender that takes part, with its only setting or with several. The fastest of several is
/// measured.
pub(crate) struct Entry {
    /// Its settings: at least one.
    pub(crate) candidates: Vec<Box<dyn Contender>>,
}

/// The requested contenders.
pub(crate) struct Roster {
    /// The contenders that take part, in the requested order.
    pub(crate) entries: Vec<Entry>,
    /// The contenders that cannot take part.
    pub(crate) missing: Vec<Missing>,
}

impl Entry {
    /// Creates a contender with one setting.
    pub(crate) fn only(contender: Box<dyn Contender>) -> Self {
        Self { candidates: vec![contender] }
    }

    /// Creates a contender of which the fastest setting is measured.
    pub(crate) fn fastest_of(candidates: Vec<Box<dyn Contender>>) -> Self {
        Self { candidates }
    }
}

impl Entry {
    /// Returns the reason why it does not take part in `topology` with a ring of this many slots,
    /// if there is one.
    pub(crate) fn refusal(&self, topology: Topology, ring: usize) -> Option<Missing> {
        let too_small = |contender: &dyn Contender| {
            let fewest = contender.fewest_slots(topology);
            (ring < fewest).then(|| Missing {
                contender: format!("{} in {}", contender.name(), topology.name()),
                reason: format!("its ring has at least {fewest} slots: slots={ring}"),
            })
        };
        self.candidates.iter().find_map(|contender| too_small(contender.as_ref()))
    }
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
            Some(Missing { contender: name.name(), reason })
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
                    let contender = name.name();
                    roster.missing.push(Missing { contender, reason });
                }
            }
        }
        roster
    }
}
