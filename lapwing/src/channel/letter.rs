//! The content of a channel's slot: space for a value, after the notice that shows it.
//!
//! No mutable reference to a letter in a ring exists, since a waiting thread may read the notice at
//! any time (I13).
//!
//! A receiver that moves a value out writes nothing to the slot. Such a write would first fetch the
//! slot's cache line back to the receiver's CPU, and an answer that the receiver stores next would
//! wait behind it. So each receiver records by itself how far it has taken values (`Taken`). A
//! letter only records whether its value stays. A value that is moved is owned by its receiver
//! alone, which drains the channel when it is dropped.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use lapwing_core::{Claims, Factory, Notice, Noticed};

use crate::Sequence;
use crate::producer::Sequencer;

/// Space for one value.
#[repr(C)]
pub(super) struct Letter<T> {
    notice: Notice,
    /// Whether the letter must drop a value: in a broadcast, once a value was put here. Accessed
    /// only with the claim.
    keeps: Cell<bool>,
    /// Written by a sender with the claim (I1). Read or moved out by receivers that have the slot
    /// (I2).
    value: UnsafeCell<MaybeUninit<T>>,
}

/// What happens to a published value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// The only receiver moves it out, or drops it when the receiver is dropped.
    Moved,
    /// It stays until its slot is used again, or all ends of the channel are gone.
    Kept,
}

/// Whether senders give notices. With several senders they do not: a sender could be delayed
/// between its publication and its notice, and would then overwrite a later notice.
const fn gives_notices<S: Sequencer>() -> bool {
    !S::Claims::IS_MULTI
}

/// The notice of a letter, to be given after the publication, when the slot belongs to other
/// threads. `None` if there are several senders.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingNotice(Option<NonNull<Notice>>);

impl PendingNotice {
    /// Gives the notice that `sequence` is published.
    ///
    /// # Safety
    ///
    /// The ring of the letter still exists (I4).
    #[inline]
    pub(super) unsafe fn give(self, sequence: Sequence) {
        if let Some(notice) = self.0 {
            // SAFETY: I4, by the caller; I13: the notice is only borrowed as shared.
            unsafe { notice.as_ref() }.give(sequence);
        }
    }
}

// SAFETY: I13: `repr(C)` with a notice in front; the channels lend no letter mutably. O30: `put` of a
// value and of a batch give the notices, after the publication or ahead of the first of a batch.
unsafe impl<T> Noticed for Letter<T> {}

// SAFETY: I1, I2: `keeps` and `value` are accessed by the owner of the claim alone, or read by
// receivers that have the slot. Receivers of a broadcast hold `&T` at the same time, hence
// `T: Sync` (I5). A value is dropped by another thread than the one that it came from, hence
// `T: Send`.
unsafe impl<T: Send + Sync> Sync for Letter<T> {}

impl<T> Letter<T> {
    /// Makes letters without a value. This takes no stack for the value, however large it is.
    pub(super) fn factory<'env>() -> Factory<'env, Self>
    where
        T: 'env,
    {
        // SAFETY: I18: the caller has space for a letter there.
        let begin = |letter| unsafe { Self::begin(letter) };
        // SAFETY: I3: `begin` makes a letter there.
        unsafe { Factory::in_place(begin) }
    }

    /// Makes a letter without a value.
    ///
    /// # Safety
    ///
    /// `letter` points to space for one (I18).
    unsafe fn begin(letter: NonNull<Self>) {
        let letter = letter.as_ptr();
        // SAFETY: I18: a field in that space.
        let notice = unsafe { &raw mut (*letter).notice };
        // SAFETY: I18: as above.
        let keeps = unsafe { &raw mut (*letter).keeps };
        // SAFETY: I18: as above. The value may be uninitialised (I14).
        unsafe { notice.write(Notice::default()) };
        // SAFETY: I18: as above.
        unsafe { keeps.write(Cell::new(false)) };
    }

    /// Puts `value` here and returns the one that was kept here.
    ///
    /// # Safety
    ///
    /// The caller has claimed the slot (I1), and a value of [`Keeping::Moved`] that was here has
    /// been taken.
    #[inline]
    pub(super) unsafe fn put(&self, value: T, keeping: Keeping) -> Option<T> {
        let former = match keeping {
            // Reading the slot would wait for its cache line.
            Keeping::Moved => None,
            // SAFETY: I1, by the caller.
            Keeping::Kept => unsafe { self.keep() },
        };
        // SAFETY: I1, by the caller: no other thread accesses the value.
        unsafe { self.value.get().cast::<T>().write(value) };
        former
    }

    /// Records that the value that is put here stays, and returns the one that was kept here.
    ///
    /// # Safety
    ///
    /// The caller has claimed the slot (I1) and puts a value there at once.
    unsafe fn keep(&self) -> Option<T> {
        // SAFETY: I1, by the caller; I14: a value that is kept is there.
        self.keeps.replace(true).then(|| unsafe { self.take() })
    }

    /// Takes back a value that was put here, after the ring refused it.
    ///
    /// # Safety
    ///
    /// The caller has the claim with which it put the value here (I1), and takes it back once.
    pub(super) unsafe fn take_back(&self) -> T {
        self.keeps.set(false);
        // SAFETY: I1 and I14, by the caller.
        unsafe { self.take() }
    }

    /// Gives the notice of `sequence` before its publication.
    ///
    /// An earlier event is published together with it, and the notice of that event is still to
    /// come. No receiver reads this notice before that one.
    #[inline]
    pub(super) fn give_notice_ahead<S: Sequencer>(&self, sequence: Sequence) {
        if gives_notices::<S>() {
            self.notice.give(sequence);
        }
    }

    /// The notice, to be given after the publication.
    #[inline]
    pub(super) fn pending_notice<S: Sequencer>(&self) -> PendingNotice {
        PendingNotice(gives_notices::<S>().then(|| NonNull::from(&self.notice)))
    }

    /// Moves the value out.
    ///
    /// # Safety
    ///
    /// The caller has claimed the slot (I1), or is the only receiver and has the settled slot (I2).
    /// The value has not been taken, and nothing else will drop it (I14).
    #[inline]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: I1 or I2, by the caller; I14: it is there.
        unsafe { self.value.get().cast::<T>().read() }
    }

    /// The value, which stays.
    ///
    /// # Safety
    ///
    /// For the whole borrow, the caller is a receiver that has the settled slot (I2), and no thread
    /// takes its value (I14).
    #[inline]
    pub(super) unsafe fn value(&self) -> &T {
        let value = self.value.get();
        // SAFETY: I2, by the caller: no thread writes it.
        let value = unsafe { &*value };
        // SAFETY: I14, by the caller: it is there.
        unsafe { value.assume_init_ref() }
    }
}

impl<T> Drop for Letter<T> {
    fn drop(&mut self) {
        if self.keeps.get() {
            // SAFETY: I14: a value that is kept is there, and nothing else will drop it.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    /// A ring refuses a value of a broadcast after the sender has put it into its slot.
    #[test]
    fn a_letter_drops_no_value_that_was_taken_back() {
        let mut letter = MaybeUninit::<Letter<Rc<()>>>::uninit();
        // SAFETY: I18: space for one letter.
        unsafe { Letter::<Rc<()>>::begin(NonNull::from(&mut letter).cast()) };
        // SAFETY: I18: `begin` has made it.
        let letter = unsafe { letter.assume_init() };
        let value = Rc::new(());
        // SAFETY: I1: no other thread has the letter.
        let former = unsafe { letter.put(Rc::clone(&value), Keeping::Kept) };
        assert!(former.is_none());
        // SAFETY: I1: the value is taken back once.
        drop(unsafe { letter.take_back() });
        drop(letter);
        assert_eq!(Rc::strong_count(&value), 1);
    }
}
