//! The content of a channel's slot: space for a value, after the published mark that shows it.
//!
//! No mutable reference to a message slot in a ring exists, since a waiting thread may read the
//! published mark at any time (I13).
//!
//! A receiver that moves a value out writes nothing to the slot. Such a write would first fetch the
//! slot's cache line back to the receiver's CPU, and an answer that the receiver stores next would
//! wait behind it. So each receiver records by itself how far it has taken values (`Taken`). A
//! message slot only records whether its value stays. A value that is moved is owned by its
//! receiver alone, which drains the channel when it is dropped.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use lapwing_core::{Claims, Factory, HasPublishedMark, PublishedMark};

use crate::Sequence;
use crate::producer::Sequencer;

/// Space for one value.
#[repr(C)]
pub(super) struct MessageSlot<T> {
    mark: PublishedMark,
    /// Whether the message slot must drop a value: in a broadcast, once a value was put here.
    /// Accessed only with the claim.
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

/// Whether senders set published marks. With several senders they do not: a sender could be delayed
/// between its publication and its published mark, and would then overwrite a later published mark.
const fn sets_marks<S: Sequencer>() -> bool {
    !S::Claims::IS_MULTI
}

/// The published mark of a message slot, to be set after the publication, when the slot belongs to
/// other threads. `None` if there are several senders.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingMark(Option<NonNull<PublishedMark>>);

impl PendingMark {
    /// Marks `sequence` as published.
    ///
    /// # Safety
    ///
    /// The ring of the message slot still exists (I4).
    #[inline]
    pub(super) unsafe fn set(self, sequence: Sequence) {
        if let Some(mark) = self.0 {
            // SAFETY: I4, by the caller; I13: the published mark is only borrowed as shared.
            unsafe { mark.as_ref() }.set(sequence);
        }
    }
}

// SAFETY: I13: `repr(C)` with a published mark in front; the channels lend no message slot mutably.
// O30: `put` of a value and of a batch set the published marks, after the publication or ahead of
// the first of a batch.
unsafe impl<T> HasPublishedMark for MessageSlot<T> {}

// SAFETY: I1, I2: `keeps` and `value` are accessed by the owner of the claim alone, or read by
// receivers that have the slot. Receivers of a broadcast hold `&T` at the same time, hence
// `T: Sync` (I5). A value is dropped by another thread than the one that it came from, hence
// `T: Send`.
unsafe impl<T: Send + Sync> Sync for MessageSlot<T> {}

impl<T> MessageSlot<T> {
    /// Makes message slots without a value. This takes no stack for the value, however large it is.
    pub(super) fn factory<'env>() -> Factory<'env, Self>
    where
        T: 'env,
    {
        // SAFETY: I18: the caller has space for a message slot there.
        let begin = |slot| unsafe { Self::begin(slot) };
        // SAFETY: I3: `begin` makes a message slot there.
        unsafe { Factory::in_place(begin) }
    }

    /// Makes a message slot without a value.
    ///
    /// # Safety
    ///
    /// `slot` points to space for one (I18).
    unsafe fn begin(slot: NonNull<Self>) {
        let slot = slot.as_ptr();
        // SAFETY: I18: a field in that space.
        let mark = unsafe { &raw mut (*slot).mark };
        // SAFETY: I18: as above.
        let keeps = unsafe { &raw mut (*slot).keeps };
        // SAFETY: I18: as above. The value may be uninitialised (I14).
        unsafe { mark.write(PublishedMark::default()) };
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

    /// Sets the published mark of `sequence` before its publication.
    ///
    /// An earlier event is published together with it, and the published mark of that event is
    /// still to come. No receiver reads this published mark before that one.
    #[inline]
    pub(super) fn set_mark_ahead<S: Sequencer>(&self, sequence: Sequence) {
        if sets_marks::<S>() {
            self.mark.set(sequence);
        }
    }

    /// The published mark, to be set after the publication.
    #[inline]
    pub(super) fn pending_mark<S: Sequencer>(&self) -> PendingMark {
        PendingMark(sets_marks::<S>().then(|| NonNull::from(&self.mark)))
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

impl<T> Drop for MessageSlot<T> {
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
    fn a_slot_drops_no_value_that_was_taken_back() {
        let mut slot = MaybeUninit::<MessageSlot<Rc<()>>>::uninit();
        // SAFETY: I18: space for one message slot.
        unsafe { MessageSlot::<Rc<()>>::begin(NonNull::from(&mut slot).cast()) };
        // SAFETY: I18: `begin` has made it.
        let slot = unsafe { slot.assume_init() };
        let value = Rc::new(());
        // SAFETY: I1: no other thread has the message slot.
        let former = unsafe { slot.put(Rc::clone(&value), Keeping::Kept) };
        assert!(former.is_none());
        // SAFETY: I1: the value is taken back once.
        drop(unsafe { slot.take_back() });
        drop(slot);
        assert_eq!(Rc::strong_count(&value), 1);
    }
}
