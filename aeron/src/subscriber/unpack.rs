//! How the events of a message become events of the ring: plain ones in one copy, others by a
//! decoder.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use bytemuck::AnyBitPattern;
use lapwing::producer::Slots;

use crate::frame::{LENGTH, VARIABLE, plain_bytes};

/// Unpacks events of one type.
pub(crate) trait Unpack<E>: Send {
    /// The size of an event, which the head of a message must state.
    fn event_bytes(&self) -> u32;

    /// Writes the events of `body` into `slots`, without the first `skipped` ones, as many as there
    /// are slots.
    fn unpack(
        &mut self,
        body: &[u8],
        skipped: usize,
        slots: Slots<'_, E>,
    ) -> Result<(), Undecodable>;
}

/// The event that could not be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Undecodable {
    /// Its place among the events that were to be written.
    pub(crate) index: usize,
    pub(crate) reason: String,
}

/// Events that are their bytes.
pub(crate) struct Plain<E>(PhantomData<fn() -> E>);

impl<E: AnyBitPattern> Plain<E> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E: AnyBitPattern> Unpack<E> for Plain<E> {
    fn event_bytes(&self) -> u32 {
        plain_bytes::<E>()
    }

    fn unpack(
        &mut self,
        body: &[u8],
        skipped: usize,
        mut slots: Slots<'_, E>,
    ) -> Result<(), Undecodable> {
        let from = skipped * size_of::<E>();
        let bytes = &body[from..from + slots.len() * size_of::<E>()];
        // An event with a large alignment may lie across it in the message.
        let is_copied = bytemuck::try_cast_slice(bytes)
            .is_ok_and(|events: &[E]| slots.copy_from_slice(events).is_ok());
        if !is_copied {
            let events = bytes.chunks_exact(size_of::<E>()).map(bytemuck::pod_read_unaligned);
            slots.iter_mut().zip(events).for_each(|(slot, event)| *slot = event);
        }
        Ok(())
    }
}

/// Events that a decoder makes of bytes. Each has its length before it.
pub(crate) struct Encoded<F>(pub(crate) F);

/// An error that can be sent to another thread.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

impl<E, F> Unpack<E> for Encoded<F>
where
    F: FnMut(&[u8], &mut E) -> Result<(), BoxError> + Send,
{
    fn event_bytes(&self) -> u32 {
        VARIABLE
    }

    fn unpack(
        &mut self,
        body: &[u8],
        skipped: usize,
        mut slots: Slots<'_, E>,
    ) -> Result<(), Undecodable> {
        let mut rest = body;
        for _ in 0..skipped {
            take_event(&mut rest).ok_or_else(|| undecodable(0, &"the message is cut off"))?;
        }
        for (index, slot) in slots.iter_mut().enumerate() {
            let event = take_event(&mut rest);
            let event = event.ok_or_else(|| undecodable(index, &"the message is cut off"))?;
            (self.0)(event, slot).map_err(|error| undecodable(index, &error))?;
        }
        Ok(())
    }
}

fn undecodable(index: usize, reason: &dyn fmt::Display) -> Undecodable {
    Undecodable { index, reason: reason.to_string() }
}

/// Takes the next event off `rest`, if it has one.
fn take_event<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<LENGTH>()?;
    let (event, after) = after.split_at_checked(u32::from_ne_bytes(*length) as usize)?;
    *rest = after;
    Some(event)
}
