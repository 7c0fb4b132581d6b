//! What lies in the slots of a channel: room for a value, behind the notice of it.
//!
//! Nobody ever has a mutable reference to a letter in a ring, since whoever waits looks at its notice at any time (I13).
//! Receivers that move a value out write nothing either: a slot that they wrote would have to come back to their
//! CPU first, and an answer is stored behind that. So they know by themselves how far they have taken values
//! (`Taken`), and a letter is only told whether its value stays. A value that is moved has no other owner than its
//! receiver, which drains the channel when it goes.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::Sequence;
use crate::producer::Sequencer;
use crate::protocol::claims::Claims;
use crate::protocol::ring_buffer::{Factory, Notice, Noticed};

/// Room for one value.
#[repr(C)]
pub(super) struct Letter<T> {
    notice: Notice,
    /// Whether there is a value that the letter has to drop: of a broadcast, once there was any. Belongs to whoever has
    /// the claim.
    keeps: Cell<bool>,
    /// Written by a sender with the claim (I1), read or moved out by receivers that have the slot (I2).
    value: UnsafeCell<MaybeUninit<T>>,
}

/// What becomes of a value that is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// The one receiver moves it out, and drops it if it leaves first.
    Moved,
    /// It stays until its slot is used again, or the channel is gone.
    Kept,
}

/// Whether senders give notices: not one of several, since one that was held up between its publication and its notice
/// would hide a later one.
const fn gives_notices<S: Sequencer>() -> bool {
    !S::Claims::IS_MULTI
}

/// The notice of a letter, to be given once its slot belongs to others; none for one of several senders.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingNotice(Option<NonNull<Notice>>);

impl PendingNotice {
    /// Gives it: `sequence` is published.
    ///
    /// # Safety
    ///
    /// The ring of the letter is still there (I4).
    #[inline]
    pub(super) unsafe fn give(self, sequence: Sequence) {
        if let Some(notice) = self.0 {
            // SAFETY: I4, by the caller; I13: it is shared only.
            unsafe { notice.as_ref() }.give(sequence);
        }
    }
}

// SAFETY: I13: `repr(C)` with a notice in front; the channels lend no letter as mutable.
unsafe impl<T> Noticed for Letter<T> {}

// SAFETY: I1, I2: `keeps` and `value` are touched by who has the claim alone, or looked at by receivers that have the
// slot. Receivers of a broadcast have `&T` at the same time, hence `T: Sync` (I5); a value is dropped by another thread
// than it came from, hence `T: Send`.
unsafe impl<T: Send + Sync> Sync for Letter<T> {}

impl<T> Letter<T> {
    /// Makes letters without a value, which takes no stack, however large a value is.
    pub(super) fn factory<'env>() -> Factory<'env, Self>
    where
        T: 'env,
    {
        // SAFETY: I18: whoever calls this has room for a letter there.
        let begin = |_, letter| unsafe { Self::begin(letter) };
        // SAFETY: I3: that has made one.
        unsafe { Factory::in_place(begin) }
    }

    /// Makes one without a value.
    ///
    /// # Safety
    ///
    /// At `letter` there is room for one (I18).
    unsafe fn begin(letter: NonNull<Self>) {
        let letter = letter.as_ptr();
        // SAFETY: I18: in that room.
        let notice = unsafe { &raw mut (*letter).notice };
        // SAFETY: I18: as above.
        let keeps = unsafe { &raw mut (*letter).keeps };
        // SAFETY: I18: as above. What there is besides may be uninitialised (I14).
        unsafe { notice.write(Notice::default()) };
        // SAFETY: I18: as above.
        unsafe { keeps.write(Cell::new(false)) };
    }

    /// Puts `value` here, and hands out the one that was kept here.
    ///
    /// # Safety
    ///
    /// The caller has claimed the slot (I1), and a value of [`Keeping::Moved`] that was here has been taken.
    #[inline]
    pub(super) unsafe fn put(&self, value: T, keeping: Keeping) -> Option<T> {
        let former = match keeping {
            // A look at the slot would wait for its line.
            Keeping::Moved => None,
            // SAFETY: I1, by the caller.
            Keeping::Kept => unsafe { self.keep() },
        };
        // SAFETY: I1, by the caller: nobody else touches the value.
        unsafe { self.value.get().cast::<T>().write(value) };
        former
    }

    /// Notes that the value that is put here stays, and hands out the one that was kept here.
    ///
    /// # Safety
    ///
    /// The caller has claimed the slot (I1) and puts a value there at once.
    unsafe fn keep(&self) -> Option<T> {
        // SAFETY: I1, by the caller; I14: a value that is kept is there.
        self.keeps.replace(true).then(|| unsafe { self.take() })
    }

    /// Takes back the value that was put here and refused.
    ///
    /// # Safety
    ///
    /// The caller has the claim with which it put the value here (I1), and takes it back once.
    pub(super) unsafe fn take_back(&self) -> T {
        self.keeps.set(false);
        // SAFETY: I1 and I14, by the caller.
        unsafe { self.take() }
    }

    /// Gives the notice of `sequence`, which will be published in this slot with an event before it whose notice is still
    /// to come: nobody gets here before.
    #[inline]
    pub(super) fn give_notice_ahead<S: Sequencer>(&self, sequence: Sequence) {
        if gives_notices::<S>() {
            self.notice.give(sequence);
        }
    }

    /// The notice, for when the value is published.
    #[inline]
    pub(super) fn pending_notice<S: Sequencer>(&self) -> PendingNotice {
        PendingNotice(gives_notices::<S>().then(|| NonNull::from(&self.notice)))
    }

    /// Moves the value out.
    ///
    /// # Safety
    ///
    /// The slot is the caller's, claimed (I1) or as the only receiver of a settled one (I2), with a value that nobody
    /// has taken yet nor will drop (I14).
    #[inline]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: I1 or I2, by the caller; I14: it is there.
        unsafe { self.value.get().cast::<T>().read() }
    }

    /// The value, which stays.
    ///
    /// # Safety
    ///
    /// For the whole of the borrow the caller is a receiver that has the slot, settled (I2), and nobody takes its value
    /// (I14).
    #[inline]
    pub(super) unsafe fn value(&self) -> &T {
        let value = self.value.get();
        // SAFETY: I2, by the caller: nobody writes it.
        let value = unsafe { &*value };
        // SAFETY: I14, by the caller: it is there.
        unsafe { value.assume_init_ref() }
    }
}

impl<T> Drop for Letter<T> {
    fn drop(&mut self) {
        if self.keeps.get() {
            // SAFETY: I14: a value that is kept is there, and nobody else will drop it.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}
