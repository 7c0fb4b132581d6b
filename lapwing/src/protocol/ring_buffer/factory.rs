//! What makes the events of a ring: each one where it is to lie, since a large one does not fit on the stack often.

use std::ptr::NonNull;

/// Makes the event of a slot.
pub(crate) struct Factory<'env, E>(Box<dyn FnMut(usize, NonNull<E>) + 'env>);

impl<'env, E> Factory<'env, E> {
    /// What `make` returns, for each slot by its index.
    pub(crate) fn of(mut make: impl FnMut(usize) -> E + 'env) -> Self {
        let make_in_place = move |index, slot: NonNull<E>| {
            // SAFETY: I18: called by `make` alone, whose caller has the slot. Nothing stands between the call and the
            // write, so that the event is on the stack once.
            unsafe { slot.write(make(index)) };
        };
        // SAFETY: I3: it has written an event.
        unsafe { Self::in_place(make_in_place) }
    }

    /// What `make` puts where it is told to.
    ///
    /// # Safety
    ///
    /// Where `make` returns, there is an event (I3). It is given room for one in which none is (I18).
    pub(crate) unsafe fn in_place(make: impl FnMut(usize, NonNull<E>) + 'env) -> Self {
        Self(Box::new(make))
    }

    /// Makes the event of the slot with this `index`.
    ///
    /// # Safety
    ///
    /// At `slot` there is room for an event, and none yet (I18).
    pub(super) unsafe fn make(&mut self, index: usize, slot: NonNull<E>) {
        (self.0)(index, slot);
    }
}
