//! What an observable ring may be called.

/// Longest name of an observable ring, in bytes.
pub(crate) const MAX_NAME: usize = 64;

/// Whether a ring may have this name: it is part of the name of a file.
pub(crate) fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_allowed) && !name.starts_with('.')
}
