//! The names of the consumers in the dynamic stages of an observable ring, as words that another process
//! reads. Not here: the names that this process looks up (`description`).
//!
//! ```text
//! one line for each dynamic stage
//! word 0        version << 16 | has a handler << 8 | bytes of the name     version is odd while the
//! words 1 to 15 the name, in UTF-8, cut to 120 bytes                       line changes
//! ```

use lapwing_core::{Padded, Placed, StageIndex, Words};

use crate::sync::Ordering;
use crate::sync::under_lock::{AtomicU64, fence};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// One version of a line.
const VERSION: u64 = 1 << 16;
/// Marks a consumer that has a handler, and so a thread that runs it.
const HAS_HANDLER: u64 = 1 << 8;
/// How often a reader tries to read a line that changes.
const ATTEMPTS: u32 = 3;

/// The names of the consumers in dynamic stages.
#[derive(Debug)]
pub(crate) struct DynamicNames {
    /// Index of the first dynamic stage.
    first: StageIndex,
    lines: Box<[Line<16>]>,
}

impl DynamicNames {
    /// Places the names of `count` dynamic stages, the first of which has the index `first`.
    pub(crate) fn place(words: &mut Words, first: StageIndex, count: usize) -> Self {
        Self { first, lines: (0..count).map(|_| Line::place(words)).collect() }
    }

    /// Has the names of another process, in these lines.
    pub(crate) fn of(
        first: StageIndex,
        lines: impl Iterator<Item = Placed<LineWords<16>>>,
    ) -> Self {
        Self { first, lines: lines.map(Line).collect() }
    }

    /// Returns the words of each line.
    pub(crate) fn words(&self) -> impl Iterator<Item = &LineWords<16>> {
        self.lines.iter().map(|line| &*line.0)
    }

    /// Records the name of the consumer in `dynamic_stage`, and whether it has a handler. One thread at a
    /// time calls this.
    pub(crate) fn set(&self, dynamic_stage: StageIndex, name: &str, has_handler: bool) {
        self.lines[dynamic_stage - self.first].write(name, has_handler);
    }

    /// Returns the name of the consumer in `dynamic_stage`, and whether it has a handler. `None` if there
    /// is none, or if the name changes meanwhile.
    pub(crate) fn get(&self, dynamic_stage: StageIndex) -> Option<(String, bool)> {
        let line = self.lines.get(dynamic_stage.checked_sub(self.first)?)?;
        (0..ATTEMPTS).find_map(|_| line.read()).filter(|(name, _)| !name.is_empty())
    }
}

/// A name in words, which one thread writes while others read it.
#[derive(Debug)]
pub(crate) struct Line<const N: usize>(Placed<LineWords<N>>);

/// Its words.
pub(crate) type LineWords<const N: usize> = Padded<[AtomicU64; N]>;

impl<const N: usize> Line<N> {
    pub(crate) fn place(words: &mut Words) -> Self {
        Self(words.place(Padded([(); N].map(|()| AtomicU64::new(0)))))
    }

    pub(crate) fn write(&self, name: &str, has_handler: bool) {
        let most = name.len().min((N - 1) * WORD);
        let cut = (0..=most).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
        let name = &name[..cut];
        let handler = if has_handler { HAS_HANDLER } else { 0 };
        // O39, Relaxed: this thread is the only one that stores it.
        let version = self.0[0].load(Ordering::Relaxed) & !(VERSION - 1);
        // O39, Relaxed: ordered before the name by the fence.
        self.0[0].store(version + VERSION, Ordering::Relaxed);
        // O39: between the odd version and the name. Pairs with the fence in `read`.
        fence(Ordering::Release);
        for (word, bytes) in self.0[1..].iter().zip(name.as_bytes().chunks(WORD)) {
            let mut padded = [0; WORD];
            padded[..bytes.len()].copy_from_slice(bytes);
            // O39, Relaxed: ordered by the fence before, and by the Release after it.
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
        let head = version + 2 * VERSION + handler + name.len() as u64;
        // O39, Release: pairs with the Acquire in `read`; carries the name.
        self.0[0].store(head, Ordering::Release);
    }

    /// Returns the name and whether its consumer has a handler. `None` if it changes meanwhile.
    pub(crate) fn read(&self) -> Option<(String, bool)> {
        // O39, Acquire: pairs with the Release in `write`; brings the name.
        let head = self.0[0].load(Ordering::Acquire);
        if head & VERSION != 0 {
            return None;
        }
        let bytes = self.0[1..].iter().flat_map(|word| {
            // O39, Relaxed: the fence orders it before the second load of the version.
            word.load(Ordering::Relaxed).to_ne_bytes()
        });
        let bytes: Vec<u8> = bytes.take((head & (HAS_HANDLER - 1)) as usize).collect();
        // O39: between the name and the second load. Pairs with the fence in `write`.
        fence(Ordering::Acquire);
        // O39, Relaxed: as above.
        let is_same = self.0[0].load(Ordering::Relaxed) == head;
        let name = is_same.then(|| String::from_utf8_lossy(&bytes).into_owned())?;
        Some((name, head & HAS_HANDLER != 0))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_between_two_characters_and_may_be_of_any_length() {
        let names = DynamicNames::place(&mut Words::private(), 3, 2);
        assert_eq!(names.get(3), None);
        for name in ["a", "abcdefgh", "abcdefghi", &"ä".repeat(59), &"x".repeat(120)] {
            names.set(4, name, true);
            assert_eq!(names.get(4), Some((name.to_owned(), true)));
        }
        names.set(4, &("x".to_owned() + &"ä".repeat(60)), false);
        assert_eq!(names.get(4), Some(("x".to_owned() + &"ä".repeat(59), false)));
        names.set(4, "", false);
        assert_eq!((names.get(4), names.get(2), names.get(5)), (None, None, None));
    }
}
