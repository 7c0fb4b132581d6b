//! The contenders on the command line: the names that a flag takes, their help, and which of them a comparison runs
//! if none is named. All of it follows from the registry.

use std::fmt;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::channels::{ChannelKind, Load, Shape};
use super::contender::Entry;
use super::registry::{CONTENDERS, Graphs, Kind, Registered, Role};
use super::{Setting, WaitName};
use crate::load::traffic::Traffic;
use crate::measure::crew::RunError;
use crate::record::OWN;

/// The name of a contender that takes part in graphs.
pub(crate) type ContenderName = Name<Graphs>;

/// The name of a contender that takes part as a channel under load.
pub(crate) type ChannelName = Name<ChannelKind>;

/// The name of a contender in one of its uses. Names are equal if they are the same word.
pub(crate) struct Name<U: 'static> {
    contender: &'static Registered,
    of: &'static U,
}

/// A channel with its setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    /// The crate and the kind of the channel.
    pub(crate) name: ChannelName,
    /// The wait of both ends of Lapwing's channel. Other channels have no choice.
    pub(crate) wait: WaitName,
}

/// A use of contenders: in graphs, or as channels under load.
pub(crate) trait Use: Sized {
    /// Returns this use of `contender`, if it has it.
    fn of(contender: &Registered) -> Option<&Self>;

    /// Returns what the contender is in this use.
    fn help(&self) -> String;

    /// Returns the names of all contenders that have this use, in the order of the help.
    fn names() -> &'static [Name<Self>];
}

impl Use for Graphs {
    fn of(contender: &Registered) -> Option<&Self> {
        contender.graphs.as_ref()
    }

    fn help(&self) -> String {
        self.help.concat()
    }

    fn names() -> &'static [Name<Self>] {
        static NAMES: LazyLock<Vec<ContenderName>> = LazyLock::new(Name::in_help);
        &NAMES
    }
}

impl Use for ChannelKind {
    fn of(contender: &Registered) -> Option<&Self> {
        contender.channel.as_ref()
    }

    fn help(&self) -> String {
        self.help.to_owned()
    }

    fn names() -> &'static [Name<Self>] {
        static NAMES: LazyLock<Vec<ChannelName>> = LazyLock::new(Name::in_help);
        &NAMES
    }
}

impl<U: Use> Name<U> {
    /// Returns the contenders of a full comparison, in the order of the columns of a table.
    pub(crate) fn all() -> Vec<Self> {
        Self::having(|role| matches!(role, Role::Short | Role::Full))
    }

    /// Returns those of a short comparison of many cells.
    pub(crate) fn few() -> Vec<Self> {
        Self::having(|role| role == Role::Short)
    }

    /// Returns those that the help shows.
    #[cfg(test)]
    pub(crate) fn shown() -> Vec<Self> {
        Self::having(|role| role != Role::Hidden)
    }

    /// Returns the contender `name`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[cfg(test)]
    pub(crate) fn of(name: &str) -> Self {
        Self::from_str(name, false).unwrap()
    }

    /// Returns the contenders with one of these roles, in the order of the registry.
    fn having(role: impl Fn(Role) -> bool) -> Vec<Self> {
        let name = |contender| Some(Self { contender, of: U::of(contender)? });
        let names = CONTENDERS.iter().filter_map(name);
        names.filter(|name| role(name.contender.role)).collect()
    }

    /// Returns all contenders, with the forms of Lapwing first.
    fn in_help() -> Vec<Self> {
        let mut names = Self::having(|_| true);
        names.sort_by_key(|name| !name.name().starts_with(OWN));
        names
    }

    /// Returns the name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        self.contender.name
    }

    /// Returns whether it is Lapwing in its default form.
    pub(crate) fn is_own(self) -> bool {
        self.name() == OWN
    }
}

impl ContenderName {
    /// Returns the settings of the contender of this name: Lapwing, tuned or plain, once for each
    /// of `settings`, any other contender once.
    ///
    /// # Errors
    ///
    /// The reason why it cannot take part: a tool is missing.
    pub(crate) fn enlist(self, settings: &[Setting]) -> Result<Vec<Entry>, String> {
        match self.of.kind {
            Kind::Own(contender) => {
                let entry = |setting: &Setting| Entry::only(contender(*setting));
                Ok(settings.iter().map(entry).collect())
            }
            Kind::Rival(entry) => Ok(vec![entry()]),
            Kind::Process(entry) => Ok(vec![entry()?]),
        }
    }

    /// Returns whether it is a program in another language.
    pub(crate) const fn is_process(self) -> bool {
        matches!(self.of.kind, Kind::Process(_))
    }
}

impl Channel {
    /// Returns the wait of its ends, in one word.
    pub(crate) fn wait(self) -> &'static str {
        (self.name.of.wait)(self.wait)
    }

    /// Returns the reason why it does not take part in `shape` over this many slots, if there is
    /// one.
    pub(crate) fn refusal(self, shape: Shape, capacity: usize) -> Option<&'static str> {
        (self.name.of.refusal)(shape, capacity)
    }

    /// Runs once.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a thread could not start or did not complete.
    pub(crate) fn run(self, load: &Load) -> Result<Traffic, RunError> {
        (self.name.of.run)(self.wait, load)
    }
}

impl<U: Use> ValueEnum for Name<U> {
    fn value_variants<'a>() -> &'a [Self] {
        U::names()
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.name()).help(self.of.help());
        Some(value.hide(self.contender.role == Role::Hidden))
    }
}

impl<U> Clone for Name<U> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<U> Copy for Name<U> {}

impl<U> PartialEq for Name<U> {
    fn eq(&self, other: &Self) -> bool {
        self.contender.name == other.contender.name
    }
}

impl<U> Eq for Name<U> {}

impl<U> fmt::Debug for Name<U> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.contender.name)
    }
}
