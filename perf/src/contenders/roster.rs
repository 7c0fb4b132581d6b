//! Who takes part in a comparison: each contender with its settings, and who cannot, with the reason.

use super::contender::Contender;
use super::{ContenderName, Setting};
use crate::load::topologies::Topology;
use crate::report::Missing;

/// A contender that takes part: with its only setting, or with those of which the fastest is to be
/// measured.
pub(crate) struct Entry {
    /// Its settings: at least one.
    pub(crate) candidates: Vec<Box<dyn Contender>>,
}

/// Everyone who was asked for.
pub(crate) struct Roster {
    /// Who takes part, in the order asked for.
    pub(crate) entries: Vec<Entry>,
    /// Who cannot.
    pub(crate) missing: Vec<Missing>,
}

impl Entry {
    /// A contender with one setting.
    pub(crate) fn only(contender: Box<dyn Contender>) -> Self {
        Self { candidates: vec![contender] }
    }

    /// A contender of which the fastest of its settings is measured.
    pub(crate) fn fastest_of(candidates: Vec<Box<dyn Contender>>) -> Self {
        Self { candidates }
    }
}

impl Entry {
    /// Why it does not take part in `topology` with a ring of so many slots, if it does not.
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
    /// Without those who do not take part in `topology` with a ring of so many slots.
    pub(crate) fn fitting(mut self, topology: Topology, ring: usize) -> Self {
        let refusals = self.entries.iter().filter_map(|entry| entry.refusal(topology, ring));
        self.missing.extend(refusals);
        self.entries.retain(|entry| entry.refusal(topology, ring).is_none());
        self
    }

    /// As [`of`](Self::of), without those for whom there is a `refusal`.
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

    /// Everyone of `names`: Lapwing once for each of `settings`, each rival at its best.
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
