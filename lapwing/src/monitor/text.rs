//! Formats names, numbers and durations.

use std::time::Duration;

/// Escapes invisible characters of a name: a newline becomes `\n`.
pub(super) fn visible(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' | '\'' | '\\' => text.push(c),
            _ => text.extend(c.escape_debug()),
        }
    }
    text
}

/// Formats a duration, rounded down: "2.1 s", "350 ms".
pub(super) fn rounded_down(duration: Duration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    if seconds == 0 { format!("{millis} ms") } else { format!("{seconds}.{} s", millis / 100) }
}

/// Formats a count with its noun: "1 event", "2 events".
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{counted, rounded_down, visible};

    #[test]
    fn a_duration_is_rounded_down() {
        assert_eq!(rounded_down(Duration::from_micros(999)), "0 ms");
        assert_eq!(rounded_down(Duration::from_millis(999)), "999 ms");
        assert_eq!(rounded_down(Duration::from_millis(2_199)), "2.1 s");
        assert_eq!(rounded_down(Duration::from_secs(3_600)), "3600.0 s");
    }

    #[test]
    fn what_has_no_shape_is_visible_and_the_rest_stays() {
        assert_eq!(visible("a \"b\" 'c' \\ ä→"), "a \"b\" 'c' \\ ä→");
        assert_eq!(visible("a\nb\t\u{1b}\0\u{202e}"), "a\\nb\\t\\u{1b}\\0\\u{202e}");
    }

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!(counted(1, "event", "events"), "1 event");
        assert_eq!(counted(0, "event", "events"), "0 events");
    }
}
