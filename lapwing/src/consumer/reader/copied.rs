//! A lone event that was seen by a copy of it (`newest`): its bytes, until the next one is.

use std::marker::PhantomData;

use crate::Sequence;
use crate::newest::{Newest, WORDS, hand_over};

/// The last such event; bytes that are none, at first.
pub(super) struct Copied<E> {
    words: [u64; WORDS],
    /// No `E` lies here before a look, and nobody gets one but by `&mut Reader`: so this is `Send` and
    /// `Sync` whatever `E` is.
    event: PhantomData<fn() -> E>,
}

impl<E> Copied<E> {
    /// No event.
    pub(super) const fn none() -> Self {
        Self { words: [0; WORDS], event: PhantomData }
    }

    /// Takes the copy of the event before `end`, if that is still the newest.
    #[inline(always)]
    pub(super) fn take(&mut self, newest: &Newest, end: Sequence) -> bool {
        let Some(words) = newest.copy(end, size_of::<E>()) else {
            return false;
        };
        self.words = words;
        hand_over(&mut self.words);
        true
    }

    /// Where the event lies. There is one once [`take`](Self::take) has taken it: its type may be copied, is no larger than the
    /// words, and aligned as one at most (I17).
    #[inline(always)]
    pub(super) fn event(&self) -> *const E {
        self.words.as_ptr().cast()
    }
}
