//! Labels: whose row it is, what it was set to where that tells rows apart, and whether it was pinned.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::html::format;
use crate::report::html::records::{Latency, Speed};
use crate::report::settings::{self, Settings};

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
    /// Which of its consumers shared a thread; none if it is not Lapwing.
    fn placement(&self) -> Option<&str>;
    /// Whether each thread kept to one CPU; a record that does not say was not pinned.
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

    /// How it waited, and where its consumers ran, for a cell.
    fn wait_cell(&self) -> String {
        settings::setting(self.wait().unwrap_or(format::NONE), self.placement())
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

/// Whether `contender` is Lapwing's.
pub(crate) fn is_own(contender: &str) -> bool {
    contender.starts_with(OWN)
}

/// What tells the rows of a contender apart.
pub(crate) struct Labels<'a> {
    /// The settings of each.
    of_contenders: BTreeMap<&'a str, BTreeSet<String>>,
    settings: Settings,
}

impl<'a> Labels<'a> {
    /// Those of `records`.
    pub(crate) fn of<N: Named>(records: &'a [N]) -> Self {
        let settings = Settings::of(records.iter().map(Named::placement));
        let mut of_contenders = BTreeMap::<_, BTreeSet<_>>::new();
        for record in records {
            let setting = setting(settings, record).unwrap_or_default();
            of_contenders.entry(record.contender()).or_default().insert(setting);
        }
        Self { of_contenders, settings }
    }

    /// The contender, and what it was set to if that differs among its rows.
    pub(crate) fn label(&self, record: &impl Named) -> String {
        let contender = record.contender();
        let differs = self.of_contenders.get(contender).is_some_and(|settings| settings.len() > 1);
        match setting(self.settings, record).filter(|_| differs) {
            Some(setting) => format!("{contender} ({setting})"),
            None => contender.to_owned(),
        }
    }
}

/// What `record` was set to, if it says so.
fn setting(settings: Settings, record: &impl Named) -> Option<String> {
    record.wait().map(|wait| settings.name(wait, record.placement()))
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
