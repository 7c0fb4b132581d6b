//! Labels: whose row it is, how it waited where that tells rows apart, and whether it was pinned.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::html::format;
use crate::report::html::records::{Latency, Speed};

/// What begins the names of Lapwing's own contenders and techniques.
const OWN: &str = "lapwing";
/// One thread that hands nothing over: what the machine adds by itself. It is never unpinned for
/// want of CPUs, so it makes no panel of its own, and stands in each.
const FLOOR: &str = "no-hand-off";

/// Who ran, and how.
pub(crate) trait Named {
    /// Who.
    fn contender(&self) -> &str;
    /// How its threads waited.
    fn wait(&self) -> Option<&str>;
    /// Whether each thread had its CPU; a record that does not say was not pinned.
    fn is_pinned(&self) -> bool;

    /// Whether it is Lapwing's.
    fn is_own(&self) -> bool {
        is_own(self.contender())
    }

    /// Whether it is what the machine adds by itself.
    fn is_floor(&self) -> bool {
        self.contender() == FLOOR
    }

    /// Whether it belongs into the panel of those that are pinned, or not.
    fn is_in(&self, pinned: bool) -> bool {
        self.is_floor() || self.is_pinned() == pinned
    }

    /// How it waited, for a cell.
    fn wait_cell(&self) -> String {
        self.wait().unwrap_or(format::NONE).to_owned()
    }

    /// Whether it was pinned, for a cell.
    fn pinned_cell(&self) -> String {
        if self.is_pinned() { "yes" } else { "no" }.to_owned()
    }
}

impl Named for Speed {
    fn contender(&self) -> &str {
        &self.contender
    }

    fn wait(&self) -> Option<&str> {
        self.wait.as_deref()
    }

    fn is_pinned(&self) -> bool {
        self.pinned.unwrap_or(false)
    }
}

impl Named for Latency {
    fn contender(&self) -> &str {
        &self.contender
    }

    fn wait(&self) -> Option<&str> {
        self.wait.as_deref()
    }

    fn is_pinned(&self) -> bool {
        self.pinned.unwrap_or(false)
    }
}

/// Whether `contender` is Lapwing's.
pub(crate) fn is_own(contender: &str) -> bool {
    contender.starts_with(OWN)
}

/// The ways to wait of each contender.
pub(crate) struct Labels<'a>(BTreeMap<&'a str, BTreeSet<Option<&'a str>>>);

impl<'a> Labels<'a> {
    /// Those of `records`.
    pub(crate) fn of<N: Named>(records: &'a [N]) -> Self {
        let mut waits = BTreeMap::<_, BTreeSet<_>>::new();
        for record in records {
            waits.entry(record.contender()).or_default().insert(record.wait());
        }
        Self(waits)
    }

    /// The contender, and how it waited if that differs among its rows.
    pub(crate) fn label(&self, record: &impl Named) -> String {
        let contender = record.contender();
        let differs = self.0.get(contender).is_some_and(|waits| waits.len() > 1);
        match record.wait().filter(|_| differs) {
            Some(wait) => format!("{contender} ({wait})"),
            None => contender.to_owned(),
        }
    }
}

/// Whether threads were pinned, in words.
pub(crate) const fn pinning(is_pinned: bool) -> &'static str {
    if is_pinned { "each thread pinned to a CPU" } else { "not pinned" }
}

/// The panels of `records`: pinned and not pinned apart, with their titles.
pub(crate) fn panels<N: Named>(records: &[N]) -> Vec<(bool, String)> {
    let alone = records.iter().all(Named::is_floor);
    let counts = |one: &&N| alone || !one.is_floor();
    let present =
        |pinned: &bool| records.iter().filter(counts).any(|one| one.is_pinned() == *pinned);
    let panels = [true, false].into_iter().filter(present);
    panels.map(|pinned| (pinned, pinning(pinned).to_owned())).collect()
}
