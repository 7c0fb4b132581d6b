//! The values of a cell, and of facts about a row.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A word or a number.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Label {
    /// A count, such as the slots of a ring.
    Count(u64),
    /// A measure, such as a ratio.
    Number(f64),
    /// A word.
    Word(String),
}

impl Label {
    /// Returns the number, or `None` if it is a word.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(*count as f64),
            Self::Number(number) => Some(*number),
            Self::Word(_) => None,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
            Self::Word(word) => word.fmt(formatter),
        }
    }
}

impl From<&str> for Label {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<String> for Label {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

impl From<u64> for Label {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Label {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<usize> for Label {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<f64> for Label {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_as_it_was_written() {
        for label in
            [Label::from(64_u64), Label::from(1.5), Label::from("unicast"), Label::from("64")]
        {
            let text = serde_json::to_string(&label).unwrap();
            assert_eq!(serde_json::from_str::<Label>(&text).unwrap(), label, "{text}");
        }
    }
}
