//! The factory of the events of a ring. It makes each event in its slot, since a large event may not fit on
//! the stack twice. Not here: the memory of the slots (`memory`).

use std::ptr::NonNull;

/// Makes the event of a slot.
pub(crate) struct Factory<'env, E>(Box<dyn FnMut(usize, NonNull<E>) + 'env>);

impl<'env, E> Factory<'env, E> {
    /// A factory that writes what `make` returns for the index of each slot.
    pub(crate) fn of(mut make: impl FnMut(usize) -> E + 'env) -> Self {
        let make_in_place = move |index, slot: NonNull<E>| {
            // SAFETY: I18: only `make` calls this, and its caller provides the slot. Nothing separates the
            // call from the write, so the event is on the stack once.
            unsafe { slot.write(make(index)) };
        };
        // SAFETY: I3: the closure has written an event.
        unsafe { Self::in_place(make_in_place) }
    }

    /// A factory whose `make` writes each event where it is told to.
    ///
    /// # Safety
    ///
    /// When `make` returns, an event is in the place that it was given (I3). That place is room for one event
    /// and holds none yet (I18).
    pub(crate) unsafe fn in_place(make: impl FnMut(usize, NonNull<E>) + 'env) -> Self {
        Self(Box::new(make))
    }

    /// Makes the event of the slot with this `index`.
    ///
    /// # Safety
    ///
    /// `slot` is room for one event and holds none yet (I18).
    pub(super) unsafe fn make(&mut self, index: usize, slot: NonNull<E>) {
        (self.0)(index, slot);
    }
}
