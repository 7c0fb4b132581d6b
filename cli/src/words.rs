//! Numbers, durations and names as text.

use std::time::Duration;

/// Escapes invisible characters of a name, so that it cannot change the terminal.
pub(crate) fn visible(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' | '\'' | '\\' => text.push(c),
            _ => text.extend(c.escape_debug()),
        }
    }
    text
}

/// Formats a rate with three digits and a factor: "0.25", "951", "12.3 k", "1.00 M".
pub(crate) fn rate(rate: f64) -> String {
    let factors = [(1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, "")];
    if rate == 0.0 {
        return "0".to_owned();
    }
    // The factor that leaves at least 1 after the rounding to three digits.
    let (factor, name) =
        factors.into_iter().find(|(factor, _)| rate >= 0.9995 * factor).unwrap_or((1.0, ""));
    let number = rate / factor;
    match number {
        99.95.. => format!("{number:.0}{name}"),
        9.995.. => format!("{number:.1}{name}"),
        _ => format!("{number:.2}{name}"),
    }
}

/// Formats a rate that may be unknown.
pub(crate) fn optional_rate(of: Option<f64>) -> String {
    of.map_or_else(|| "-".to_owned(), rate)
}

/// Formats a duration, rounded down: "350 ms", "2.1 s", "75 s", "12 min", "3 h 05 min", "4 d 02 h".
pub(crate) fn rounded_down(duration: Duration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match seconds {
        0 => format!("{millis} ms"),
        1..10 => format!("{seconds}.{} s", millis / 100),
        10..120 => format!("{seconds} s"),
        120..3600 => format!("{minutes} min"),
        3600..86400 => format!("{hours} h {:02} min", minutes % 60),
        _ => format!("{} d {:02} h", hours / 24, hours % 24),
    }
}

/// Formats a count with its noun: "1 event", "2 events".
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns the number of columns of a text in a terminal.
pub(crate) fn columns(text: &str) -> usize {
    ratatui::text::Span::raw(text).width()
}

/// Cuts a text to a number of columns. A cut text ends with "…".
pub(crate) fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if columns(&kept) >= most {
            kept.pop();
            break;
        }
    }
    if most > 0 {
        kept.push('…');
    }
    kept
}

/// Breaks a text at spaces into lines of at most `width` columns. A longer word is cut.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, width)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.254, "0.25"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (951.0, "951"),
            (999.6, "1.00 k"),
            (12_345.0, "12.3 k"),
            (999_600.0, "1.00 M"),
            (1.5e9, "1.50 G"),
        ] {
            assert_eq!(rate(number), text);
        }
        assert_eq!(optional_rate(None), "-");
    }

    #[test]
    fn a_duration_is_rounded_down() {
        for (seconds, text) in [
            (0.999, "999 ms"),
            (9.99, "9.9 s"),
            (119.9, "119 s"),
            (120.0, "2 min"),
            (3_900.0, "1 h 05 min"),
            (180_000.0, "2 d 02 h"),
        ] {
            assert_eq!(rounded_down(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn a_text_is_cut_at_columns_and_not_at_bytes() {
        assert_eq!(cut("journal", 7), "journal");
        assert_eq!(cut("journal", 5), "jour…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("journal", 1), "…");
        assert_eq!(cut("journal", 0), "");
    }

    #[test]
    fn a_text_is_broken_at_spaces() {
        assert_eq!(
            wrapped("stage journal is in its handler", 14),
            ["stage journal", "is in its", "handler"]
        );
        assert_eq!(wrapped("acknowledgement", 8), ["acknowl…"]);
        assert_eq!(wrapped("", 8), [""]);
    }

    #[test]
    fn a_name_cannot_change_the_terminal() {
        assert_eq!(visible("a\u{1b}[2J\n\"b\" ä"), "a\\u{1b}[2J\\n\"b\" ä");
    }
}
