//! The factory of the events of a ring. It makes each event in its slot, since the stack may not
//! hold a large event twice. Not here: the memory of the slots (`memory`).

use std::ptr::NonNull;

/// Makes the events of a ring, each in its slot.
pub struct Factory<'env, E>(Box<dyn FnMut(NonNull<E>) + 'env>);

impl<'env, E> Factory<'env, E> {
    /// Creates a factory that writes what `make` returns to each slot.
    pub fn of(mut make: impl FnMut() -> E + 'env) -> Self {
        let make_in_place = move |slot: NonNull<E>| {
            // SAFETY: I18: only `make` calls this, and its caller provides the slot. Nothing
            // separates the call from the write, so the event is on the stack once.
            unsafe { slot.write(make()) };
        };
        // SAFETY: I3: the closure has written an event.
        unsafe { Self::in_place(make_in_place) }
    }

    /// Creates a factory whose `make` writes each event to the place that it is given.
    ///
    /// # Safety
    ///
    /// When `make` returns, the place that it was given holds an event (I3). That place is room for
    /// one event and holds none before (I18).
    pub unsafe fn in_place(make: impl FnMut(NonNull<E>) + 'env) -> Self {
        Self(Box::new(make))
    }

    /// Makes the event of `slot`.
    ///
    /// # Safety
    ///
    /// `slot` is room for one event and holds none yet (I18).
    pub(super) unsafe fn make(&mut self, slot: NonNull<E>) {
        (self.0)(slot);
    }
}
