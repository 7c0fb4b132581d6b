//! The parser of `config.yaml`: one `key: value` per line, with comments after `#`. It is the flat
//! part of YAML that the original reads. The laboratory parses it itself, so that an error names
//! the line and the allowed values. The original ignores unknown keys.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::ValueEnum;
use thiserror::Error;

use super::config::{Config, MAX_ORDERS, ModeName};

/// Most values of `orch_work_sweep`.
const MAX_SWEEP: usize = 16;
/// The longest work for an order, in nanoseconds. A turn of such orders is not a stall yet.
const MAX_WORK_NS: u64 = 100_000;

/// The reason why a file is refused.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    /// The system does not give it.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Something else than `key: value`.
    #[error("expected `key: value` or a comment: line={line} found={found:?}")]
    Form {
        /// The number of the line, from 1.
        line: usize,
        /// The line.
        found: String,
    },
    /// A key that does not exist.
    #[error("unknown key, the keys are {keys}: line={line} key={key:?}", keys = names())]
    UnknownKey {
        /// The number of the line, from 1.
        line: usize,
        /// The unknown key.
        key: String,
    },
    /// A key that occurs twice.
    #[error("a key can occur only once: line={line} first_line={first_line} key={key}")]
    Duplicate {
        /// The number of the line, from 1.
        line: usize,
        /// The line of its first occurrence.
        first_line: usize,
        /// The key.
        key: &'static str,
    },
    /// A value that its key does not accept.
    #[error("{key} must be {allowed}: line={line} value={value:?}")]
    Value {
        /// The number of the line, from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// The allowed values.
        allowed: String,
        /// The value in the file.
        value: String,
    },
    /// The shortest delay exceeds the longest.
    #[error("d_min_us must be at most d_max_us: d_min_us={d_min_us} d_max_us={d_max_us}")]
    Delays {
        /// The shortest delay.
        d_min_us: u64,
        /// The longest delay.
        d_max_us: u64,
    },
    /// More orders than fit in memory.
    #[error("n_strategies times orders_per_strategy must be at most {MAX_ORDERS}: orders={orders}")]
    Orders {
        /// Orders of a run.
        orders: u64,
    },
}

/// The values of a key, and its setter.
enum Takes {
    /// A whole number.
    Number(RangeInclusive<u64>, fn(&mut Config, u64)),
    /// A power of two.
    PowerOfTwo(RangeInclusive<u64>, fn(&mut Config, usize)),
    /// Whole numbers, separated by commas.
    List(RangeInclusive<u64>, fn(&mut Config, Vec<u64>)),
    /// A way to share threads.
    Mode(fn(&mut Config, ModeName)),
}

/// All keys. A delay must fit the 32 bits of a segment.
const KEYS: [(&str, Takes); 12] = [
    ("n_strategies", Takes::Number(1..=64, |config, value| config.n_strategies = value as usize)),
    ("m_venues", Takes::Number(1..=64, |config, value| config.m_venues = value as usize)),
    (
        "orders_per_strategy",
        Takes::Number(1..=MAX_ORDERS, |config, value| config.orders_per_strategy = value as u32),
    ),
    ("window_ms", Takes::Number(1..=600_000, |config, value| config.window_ms = value)),
    ("d_min_us", Takes::Number(0..=4_000_000, |config, value| config.d_min_us = value)),
    ("d_max_us", Takes::Number(0..=4_000_000, |config, value| config.d_max_us = value)),
    ("repeats", Takes::Number(1..=100, |config, value| config.repeats = value as u32)),
    ("shared_cap", Takes::PowerOfTwo(2..=1 << 20, |config, value| config.shared_cap = value)),
    ("spsc_cap", Takes::PowerOfTwo(2..=1 << 16, |config, value| config.spsc_cap = value)),
    ("sample_us", Takes::Number(1..=1_000_000, |config, value| config.sample_us = value)),
    (
        "orch_work_sweep",
        Takes::List(0..=MAX_WORK_NS, |config, values| config.orch_work_sweep = values),
    ),
    ("mode", Takes::Mode(|config, mode| config.mode = mode)),
];

impl Takes {
    /// Stores `text` in `config`, or returns `None` if it is not allowed.
    fn set(&self, config: &mut Config, text: &str) -> Option<()> {
        match self {
            Self::Number(allowed, put) => put(config, number(text, allowed)?),
            Self::PowerOfTwo(allowed, put) => {
                let value = number(text, allowed).filter(|value| value.is_power_of_two())?;
                put(config, value as usize);
            }
            Self::List(allowed, put) => {
                let values = text.split(',').map(|item| number(item.trim(), allowed));
                let values = values.collect::<Option<Vec<_>>>()?;
                let repeats = (1..values.len()).any(|at| values[..at].contains(&values[at]));
                if repeats || values.len() > MAX_SWEEP {
                    return None;
                }
                put(config, values);
            }
            Self::Mode(put) => put(config, ModeName::from_str(text, false).ok()?),
        }
        Some(())
    }

    /// Returns the allowed values as text.
    fn allowed(&self) -> String {
        let bounds =
            |allowed: &RangeInclusive<u64>| format!("{}..={}", allowed.start(), allowed.end());
        match self {
            Self::Number(allowed, _) => format!("a whole number in {}", bounds(allowed)),
            Self::PowerOfTwo(allowed, _) => format!("a power of two in {}", bounds(allowed)),
            Self::List(allowed, _) => format!(
                "1 to {MAX_SWEEP} different whole numbers in {}, separated by commas",
                bounds(allowed)
            ),
            Self::Mode(_) => "auto, threads or shared".to_owned(),
        }
    }
}

/// Reads the file at `path`. Keys that are not in the file have the values of `defaults`.
///
/// # Errors
///
/// [`ConfigError`] with the first error of the file.
pub(super) fn read(path: &Path, defaults: Config) -> Result<Config, ConfigError> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    parse(&text, defaults)
}

/// Parses `text`. Keys that are not in it have the values of `defaults`.
///
/// # Errors
///
/// [`ConfigError`] with the first error of the text.
fn parse(text: &str, defaults: Config) -> Result<Config, ConfigError> {
    let mut config = defaults;
    let mut first_lines = [None; KEYS.len()];
    for (line, written) in (1..).zip(text.lines()) {
        let content = without_comment(written).trim();
        if content.is_empty() {
            continue;
        }
        let form = || ConfigError::Form { line, found: written.to_owned() };
        let (key, value) = content.split_once(':').ok_or_else(form)?;
        let (key, value) = (key.trim_end(), value.trim());

        let known = KEYS.iter().position(|(name, _)| *name == key);
        let index = known.ok_or_else(|| ConfigError::UnknownKey { line, key: key.to_owned() })?;
        let (key, takes) = &KEYS[index];
        if let Some(first_line) = first_lines[index].replace(line) {
            return Err(ConfigError::Duplicate { line, first_line, key });
        }
        takes.set(&mut config, value).ok_or_else(|| {
            let (allowed, value) = (takes.allowed(), value.to_owned());
            ConfigError::Value { line, key, allowed, value }
        })?;
    }
    check(config)
}

/// Checks the rules between several keys.
fn check(config: Config) -> Result<Config, ConfigError> {
    let (d_min_us, d_max_us) = (config.d_min_us, config.d_max_us);
    if d_min_us > d_max_us {
        return Err(ConfigError::Delays { d_min_us, d_max_us });
    }
    let orders = config.orders();
    if orders > MAX_ORDERS {
        return Err(ConfigError::Orders { orders });
    }
    Ok(config)
}

/// Returns `line` up to a `#` at its start or after a blank.
fn without_comment(line: &str) -> &str {
    let begins =
        |(at, _): &(usize, &str)| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.match_indices('#').find(begins);
    comment.map_or(line, |(at, _)| &line[..at])
}

/// Parses a whole number in `allowed`, digits only.
fn number(text: &str, allowed: &RangeInclusive<u64>) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse::<u64>().ok().filter(|_| is_plain)?;
    allowed.contains(&value).then_some(value)
}

/// Returns the keys, for a message.
fn names() -> String {
    KEYS.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error message for `text`.
    fn refusal(text: &str) -> String {
        parse(text, Config::scaled()).unwrap_err().to_string()
    }

    #[test]
    fn file_of_the_published_results_is_the_published_setup() {
        let text = include_str!("published.yaml");
        assert_eq!(parse(text, Config::scaled()).unwrap(), Config::published());
    }

    #[test]
    fn what_a_file_does_not_say_is_as_without_a_file() {
        let config = parse("repeats: 2 # few\n\n  # nothing\nmode: shared\n", Config::scaled());
        let expected = Config { repeats: 2, mode: ModeName::Shared, ..Config::scaled() };
        assert_eq!(config.unwrap(), expected);
    }

    #[test]
    fn bad_line_is_refused_with_its_number_and_what_is_allowed() {
        let cases = [
            ("repeats: 1\nrepeat: 3", "unknown key, the keys are n_strategies, m_venues,"),
            ("repeats: 1\nrepeat: 3", "line=2 key=\"repeat\""),
            ("repeats: 1\n\nrepeats: 1", "line=3 first_line=1 key=repeats"),
            ("repeats 1", "expected `key: value` or a comment: line=1 found=\"repeats 1\""),
            ("repeats: many", "repeats must be a whole number in 1..=100: line=1 value=\"many\""),
            ("repeats:", "repeats must be a whole number in 1..=100: line=1 value=\"\""),
            ("repeats: +1", "value=\"+1\""),
            ("repeats: 0", "in 1..=100: line=1 value=\"0\""),
            ("repeats: 3#4", "value=\"3#4\""),
            ("shared_cap: 1000", "must be a power of two in 2..=1048576: line=1"),
            ("orch_work_sweep: 0,,1", "1 to 16 different whole numbers in 0..=100000, separated"),
            ("orch_work_sweep: 5,5", "value=\"5,5\""),
            ("mode: fast", "mode must be auto, threads or shared: line=1 value=\"fast\""),
            ("d_min_us: 30\nd_max_us: 20", "at most d_max_us: d_min_us=30 d_max_us=20"),
            ("n_strategies: 64\norders_per_strategy: 1000000", "at most 20000000: orders=64000000"),
        ];
        for (text, reason) in cases {
            let message = refusal(text);
            assert!(message.contains(reason), "text={text:?} message={message}");
        }
    }
}
