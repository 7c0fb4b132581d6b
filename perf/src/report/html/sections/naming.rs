//! Labels: the contender of a row, its setting if that distinguishes rows, and whether it was
//! pinned.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::html::format;
use crate::report::html::records::{Latency, Speed};
use crate::report::settings::{self, Settings};

/// The prefix of the names of Lapwing's contenders and techniques.
const OWN: &str = "lapwing";
/// The baseline without a hand-off: one thread, which shows the overhead of the machine. It always
/// has enough CPUs, so it makes no panel of its own and is in each panel.
const FLOOR: &str = "no-hand-off";

/// A record with a contender and a setting.
pub(crate) trait Named {
    /// Returns the contender.
    fn contender(&self) -> &str;
    /// Returns the wait of its threads.
    fn wait(&self) -> Option<&str>;
    /// Returns the placement of its consumers on threads, or `None` if it is not Lapwing.
    fn placement(&self) -> Option<&str>;
    /// Returns whether each thread was bound to one CPU. A record without this key was not pinned.
    fn is_pinned(&self) -> bool;

    /// Returns whether it is Lapwing's.
    fn is_own(&self) -> bool {
        is_own(self.contender())
    }

    /// Returns whether it is the baseline without a hand-off.
    fn is_floor(&self) -> bool {
        self.contender() == FLOOR
    }

    /// Returns whether it belongs in the panel of pinned or unpinned rows.
    fn is_in(&self, pinned: bool) -> bool {
        self.is_floor() || self.is_pinned() == pinned
    }

    /// Returns its wait and the placement of its consumers, for a cell.
    fn wait_cell(&self) -> String {
        settings::setting(self.wait().unwrap_or(format::NONE), self.placement())
    }

    /// Returns whether it was pinned, for a cell.
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

    fn placement(&self) -> Option<&str> {
        self.placement.as_deref()
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

    fn placement(&self) -> Option<&str> {
        self.placement.as_deref()
    }

    fn is_pinned(&self) -> bool {
        self.pinned.unwrap_or(false)
    }
}

/// Returns whether `contender` is Lapwing's.
pub(crate) fn is_own(contender: &str) -> bool {
    contender.starts_with(OWN)
}

/// The settings that distinguish the rows of a contender.
pub(crate) struct Labels<'a> {
    /// The settings of each.
    of_contenders: BTreeMap<&'a str, BTreeSet<String>>,
    settings: Settings,
}

impl<'a> Labels<'a> {
    /// Returns the labels of `records`.
    pub(crate) fn of<N: Named>(records: &'a [N]) -> Self {
        let settings = Settings::of(records.iter().map(Named::placement));
        let mut of_contenders = BTreeMap::<_, BTreeSet<_>>::new();
        for record in records {
            let setting = setting(settings, record).unwrap_or_default();
            of_contenders.entry(record.contender()).or_default().insert(setting);
        }
        Self { of_contenders, settings }
    }

    /// Returns the contender, and its setting if that differs among its rows.
    pub(crate) fn label(&self, record: &impl Named) -> String {
        let contender = record.contender();
        let differs = self.of_contenders.get(contender).is_some_and(|settings| settings.len() > 1);
        match setting(self.settings, record).filter(|_| differs) {
            Some(setting) => format!("{contender} ({setting})"),
            None => contender.to_owned(),
        }
    }
}

/// Returns the setting of `record`, if it has one.
fn setting(settings: Settings, record: &impl Named) -> Option<String> {
    record.wait().map(|wait| settings.name(wait, record.placement()))
}

/// Returns whether threads were pinned, in words.
pub(crate) const fn pinning(is_pinned: bool) -> &'static str {
    if is_pinned { "each thread pinned to a CPU" } else { "not pinned" }
}

/// Returns the panels of `records` with their titles. Pinned and unpinned rows are separate.
pub(crate) fn panels<N: Named>(records: &[N]) -> Vec<(bool, String)> {
    let alone = records.iter().all(Named::is_floor);
    let counts = |one: &&N| alone || !one.is_floor();
    let present =
        |pinned: &bool| records.iter().filter(counts).any(|one| one.is_pinned() == *pinned);
    let panels = [true, false].into_iter().filter(present);
    panels.map(|pinned| (pinned, pinning(pinned).to_owned())).collect()
}
