//! Where each word of a segment lies. `docs::layout` has the same as a table, which a test compares.

use std::mem::offset_of;

use crate::memory::WORDS;
use crate::words::{Life, Words};

/// The process that writes.
pub(crate) const WRITER_PID: usize = WORDS + offset_of!(Words, life) + offset_of!(Life, writer_pid);

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::header::{
        BOOT_AT, BYTE_ORDER, BYTE_ORDER_AT, CAPACITY_AT, EVENT_BYTES_AT, LAYOUT_AT,
        LAYOUT_BYTES_AT, LAYOUT_HASH_AT, MAGIC, MAGIC_AT, MAX_LAYOUT, SEATS_AT, VERSION,
        VERSION_AT, WRITERS_AT,
    };
    use crate::memory::SEATS;
    use crate::words::{Claim, Holder, Seat, WriterSeat};

    const TABLES: &str = include_str!("docs/layout.rs");

    /// Returns the rows of the tables: the offset of each word, and its value.
    fn rows() -> BTreeMap<&'static str, (usize, &'static str)> {
        let rows = TABLES.lines().filter_map(|line| {
            let cells: Vec<_> = line.strip_prefix("//! |")?.split('|').map(str::trim).collect();
            Some((cells[2].trim_matches('`'), (cells[0].parse().ok()?, cells[3])))
        });
        rows.collect()
    }

    #[test]
    fn the_tables_have_each_word_where_it_is() {
        let words = |offset| WORDS + offset;
        let life = |offset| WORDS + offset_of!(Words, life) + offset;
        let holder = |offset| offset_of!(Seat, holder) + offset;
        let expected = [
            ("magic", MAGIC_AT),
            ("version", VERSION_AT),
            ("byte_order", BYTE_ORDER_AT),
            ("boot", BOOT_AT),
            ("capacity", CAPACITY_AT),
            ("seats", SEATS_AT),
            ("writers", WRITERS_AT),
            ("event_bytes", EVENT_BYTES_AT),
            ("layout_hash", LAYOUT_HASH_AT),
            ("layout_bytes", LAYOUT_BYTES_AT),
            ("layout", LAYOUT_AT),
            ("published", words(offset_of!(Words, published))),
            ("claimed", words(offset_of!(Words, claimed))),
            ("granted", words(offset_of!(Words, granted))),
            ("events", words(offset_of!(Words, events))),
            ("slots", words(offset_of!(Words, slots))),
            ("closed", life(offset_of!(Life, closed))),
            ("takeovers", life(offset_of!(Life, takeovers))),
            ("writer_pid", WRITER_PID),
            ("writer_fences", life(offset_of!(Life, writer_fences))),
            ("sequence", offset_of!(Seat, sequence)),
            ("first", offset_of!(WriterSeat, claim) + offset_of!(Claim, first)),
            ("count", offset_of!(WriterSeat, claim) + offset_of!(Claim, count)),
            ("tenure", holder(offset_of!(Holder, tenure))),
            ("pid", holder(offset_of!(Holder, pid))),
            ("fences", holder(offset_of!(Holder, fences))),
        ];
        let found: BTreeMap<_, _> = rows().into_iter().map(|(word, (at, _))| (word, at)).collect();
        assert_eq!(found, BTreeMap::from(expected));
    }

    #[test]
    fn the_text_has_the_numbers_of_the_code() {
        let rows = rows();
        assert_eq!(rows["magic"].1.as_bytes()[1..9], MAGIC);
        assert_eq!(rows["version"].1, VERSION.to_string());
        assert_eq!(rows["byte_order"].1, format!("{BYTE_ORDER:#010x}"));
        assert!(rows["layout_bytes"].1.ends_with(&format!("at most {MAX_LAYOUT}")));
        assert!(TABLES.contains(&format!("From offset {WORDS} on lie the words")));
        let seats = format!("From offset {SEATS} on lie the seats of readers");
        assert!(TABLES.contains(&seats), "{seats}");
        assert_eq!(size_of::<Seat>(), size_of::<WriterSeat>());
        assert_eq!(offset_of!(Seat, holder), offset_of!(WriterSeat, holder));
        assert!(TABLES.contains(&format!("Each seat has {} bytes", size_of::<Seat>())));
        assert!(TABLES.contains(&format!("word by word: version {VERSION}.")));
    }
}
