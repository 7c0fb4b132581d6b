//! The newest event of the only producer, copied beside the word that says that it is there.
//!
//! Whoever waits for a lone event looks at a word that shows it, and then at the event: two lines to bring from the producer's
//! cache. Events of a ring lie side by side, so that a batch is a slice, and leave no room for such a word. But of events that
//! may be copied, the word can have a copy of the last one beside it: then a lone event comes in one line, and the ring's own
//! lines stay with the producer.
//!
//! ```text
//! one line    | end | event, 48 bytes at most |        end = sequence after it; 0 while there is none
//! ```
//!
//! A copy comes after the cursor, so what is published is still decided by the cursor alone. It is given, or taken away, before
//! the call that publishes has returned, so while there is one, its end is that of the ring: whoever has finished all below it
//! need not look at the cursor either.
//!
//! The word and the copy are a seqlock (Boehm, "Can seqlocks get along with programming language memory models?", 2012):
//! whoever has copied the copy looks at the end once more.
//!
//! Not here: when a copy is given (`sequencer::single`), and of what (`ring_buffer::Copies`).

use crate::Sequence;
use crate::sync::{AtomicU64, Ordering, fence, own};

/// Bytes of the largest event that is copied: what fits on a line beside the end, in words.
pub(crate) const MOST_BYTES: usize = 48;
/// Words that a copy has.
pub(crate) const WORDS: usize = MOST_BYTES / size_of::<u64>();
/// Whether anything is copied here.
pub(crate) const IS_COPIED: bool = cpu::READS_PADDING;

/// The words; no copy at first.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Newest {
    end: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl Newest {
    /// Gives a copy of the event before `end`, which is published.
    ///
    /// # Safety
    ///
    /// The caller is the only producer. At `event` lie so many `bytes`, at most [`MOST_BYTES`], which nobody writes (I17).
    #[inline(always)]
    pub(crate) unsafe fn give(&self, end: Sequence, event: *const u8, bytes: usize) {
        self.end.store(0, Ordering::Relaxed); // O35, Relaxed: ordered by the fence
        // O35, Release: pairs with the Acquire in `copy`: who has seen a word of what follows sees that the end is not his.
        fence(Ordering::Release);
        for (offset, word) in (0..bytes).step_by(size_of::<u64>()).zip(&self.words) {
            // SAFETY: I17, by the caller: `offset` is below `bytes`.
            let value = unsafe { read(event.wrapping_add(offset), bytes - offset) };
            word.store(value, Ordering::Relaxed); // O34 and O35, Relaxed: released by the end
        }
        // O34, Release: pairs with the Acquire in `end`; carries the copy, and the cursor.
        self.end.store(end, Ordering::Release);
    }

    /// Gives the copy of a word, which is such an event.
    #[cfg(test)]
    pub(crate) fn give_word(&self, end: Sequence, word: u64) {
        // SAFETY: I17: a word that nobody else has.
        unsafe { self.give(end, (&raw const word).cast(), size_of::<u64>()) };
    }

    /// Takes the copy away, if there is one: what is published from now on may have none. The only producer's to call.
    pub(crate) fn withdraw(&self) {
        if own(&self.end) != 0 {
            // O35, Relaxed: released by the next store of the cursor.
            self.end.store(0, Ordering::Relaxed);
        }
    }

    /// Sequence after the event that is copied; 0 if none is.
    #[inline(always)]
    pub(crate) fn end(&self) -> Sequence {
        // O34, Acquire: pairs with the Release in `give`; brings the copy, and the cursor.
        self.end.load(Ordering::Acquire)
    }

    /// How far is published, if there is a copy.
    #[inline(always)]
    pub(crate) fn end_if_given(&self) -> Option<Sequence> {
        Some(self.end()).filter(|&end| end != 0)
    }

    /// The first `bytes` of the copy, in words, if it is still that of the event before `end`, which [`end`](Self::end) has
    /// shown to the caller.
    #[inline(always)]
    pub(crate) fn copy(&self, end: Sequence, bytes: usize) -> Option<[u64; WORDS]> {
        let mut copy = [0; WORDS];
        let words = bytes.div_ceil(size_of::<u64>());
        for (value, word) in copy.iter_mut().zip(&self.words).take(words) {
            *value = word.load(Ordering::Relaxed); // O35, Relaxed: what the look below finds out
        }
        // O35, Acquire: pairs with the Release in `give`, between the words and the look.
        fence(Ordering::Acquire);
        (self.end.load(Ordering::Relaxed) == end).then_some(copy) // O35, Relaxed: ordered by the fence
    }
}

/// Says that in `copy` lies an event, of which parts may be pointers: to the compiler, the CPU may have put them there.
#[inline(always)]
pub(crate) fn hand_over(copy: &mut [u64; WORDS]) {
    cpu::may_have_written(copy);
}

/// The word at `from`, or what of it is among `bytes`, at least 1.
///
/// # Safety
///
/// So many bytes are there, and nobody writes them (I17).
#[inline(always)]
unsafe fn read(from: *const u8, bytes: usize) -> u64 {
    if bytes >= size_of::<u64>() {
        // SAFETY: I17, by the caller.
        return unsafe { cpu::read_word(from) };
    }
    (0..bytes).fold(0, |word, offset| {
        // SAFETY: I17, by the caller: `offset` is below `bytes`.
        let byte = unsafe { cpu::read_byte(from.wrapping_add(offset)) };
        word | u64::from(byte) << (8 * offset)
    })
}

/// An event may have padding, of which Rust may not read what lies there, and pointers, which are more to Rust than their bits. The
/// CPU reads and writes words.
#[cfg(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable))))]
mod cpu {
    use std::arch::asm;

    pub(super) const READS_PADDING: bool = true;

    /// The word at `from`, of which some may be padding.
    ///
    /// # Safety
    ///
    /// It is there, and nobody writes it (I17).
    #[inline(always)]
    pub(super) unsafe fn read_word(from: *const u8) -> u64 {
        let word: u64;
        // SAFETY: I17, by the caller.
        unsafe {
            asm!(
                "mov {word}, qword ptr [{from}]",
                word = lateout(reg) word,
                from = in(reg) from,
                options(nostack, preserves_flags, readonly),
            );
        }
        word
    }

    /// The byte at `from`, which may be padding.
    ///
    /// # Safety
    ///
    /// It is there, and nobody writes it (I17).
    #[inline(always)]
    pub(super) unsafe fn read_byte(from: *const u8) -> u8 {
        let byte: u32;
        // SAFETY: I17, by the caller.
        unsafe {
            asm!(
                "movzx {byte:e}, byte ptr [{from}]",
                byte = lateout(reg) byte,
                from = in(reg) from,
                options(nostack, preserves_flags, readonly),
            );
        }
        byte as u8
    }

    /// Does nothing, but the compiler does not know.
    #[inline(always)]
    pub(super) fn may_have_written(words: &mut [u64]) {
        // SAFETY: I17: there is no instruction.
        unsafe {
            asm!("/* {words} */", words = in(reg) words.as_mut_ptr(), options(nostack, preserves_flags))
        };
    }
}

/// Not measured on this CPU, or the program is checked and not timed. A model copies, but only events without padding and pointers.
#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri, lapwing_portable)))))]
mod cpu {
    pub(super) const READS_PADDING: bool = cfg!(loom);

    /// The word at `from`.
    ///
    /// # Safety
    ///
    /// It is there, has no padding, and nobody writes it (I17).
    #[inline(always)]
    pub(super) unsafe fn read_word(from: *const u8) -> u64 {
        // SAFETY: I17, by the caller.
        unsafe { from.cast::<u64>().read_unaligned() }
    }

    /// The byte at `from`.
    ///
    /// # Safety
    ///
    /// It is there, is no padding, and nobody writes it (I17).
    #[inline(always)]
    pub(super) unsafe fn read_byte(from: *const u8) -> u8 {
        // SAFETY: I17, by the caller.
        unsafe { *from }
    }

    /// Nothing.
    #[inline(always)]
    pub(super) fn may_have_written(_: &mut [u64]) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_bytes_of_its_event_and_no_others() {
        let event: [u8; MOST_BYTES + 8] = std::array::from_fn(|place| place as u8 + 1);
        for bytes in 0..=MOST_BYTES {
            let newest = Newest::default();
            // SAFETY: I17: there are more bytes than that, and nobody else.
            unsafe { newest.give(7, event.as_ptr(), bytes) };
            let copy = newest.copy(7, bytes).expect("nobody has given another");
            let copy: Vec<u8> = copy.into_iter().flat_map(u64::to_ne_bytes).collect();
            assert_eq!(copy[..bytes], event[..bytes]);
            assert!(copy[bytes..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn a_copy_that_was_taken_away_or_follows_is_no_copy() {
        let newest = Newest::default();
        assert_eq!(newest.end(), 0);
        [1, 2].iter().for_each(|&end| newest.give_word(end, end));
        assert_eq!((newest.end(), newest.copy(1, 8)), (2, None));
        assert_eq!(newest.copy(2, 8).map(|copy| copy[0]), Some(2));
        newest.withdraw();
        assert_eq!((newest.end(), newest.copy(2, 8)), (0, None));
    }
}
