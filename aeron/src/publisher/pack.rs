//! How events become messages: plain ones in one copy, others by an encoder.

use std::marker::PhantomData;

use bytemuck::NoUninit;

use super::outlet::{Outlet, Refused};
use crate::frame::{Frame, HEAD, LENGTH, VARIABLE, plain_bytes};

/// Packs events of one type.
pub(crate) trait Pack<E>: Send {
    /// The size of an event, for the header of the message.
    fn event_bytes(&self) -> u32;

    /// Sends one message with as many of `events` as fit, and returns their number. `frame.first`
    /// is the sequence of the first one.
    fn send(
        &mut self,
        outlet: &mut dyn Outlet,
        frame: Frame,
        events: &[E],
    ) -> Result<usize, Refused>;
}

/// Events that are their bytes.
pub(crate) struct Plain<E>(PhantomData<fn(E)>);

impl<E: NoUninit> Plain<E> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E: NoUninit> Pack<E> for Plain<E> {
    fn event_bytes(&self) -> u32 {
        plain_bytes::<E>()
    }

    fn send(
        &mut self,
        outlet: &mut dyn Outlet,
        mut frame: Frame,
        events: &[E],
    ) -> Result<usize, Refused> {
        let fitting = outlet.longest_frame().saturating_sub(HEAD) / size_of::<E>();
        let count = fitting.clamp(1, events.len());
        let bytes: &[u8] = bytemuck::cast_slice(&events[..count]);
        let length = HEAD + bytes.len();
        frame.count = u32::try_from(count).unwrap_or(u32::MAX);
        if fitting > 0 {
            outlet.send_in_place(length, &mut |message| {
                message[..HEAD].copy_from_slice(frame.as_bytes());
                message[HEAD..].copy_from_slice(bytes);
            })?;
        } else if length <= outlet.longest_message() {
            outlet.send_parts(&[frame.as_bytes(), bytes])?;
        } else {
            return Err(Refused::TooLarge { bytes: length });
        }
        Ok(count)
    }
}

/// Events that an encoder turns into bytes. Each has its length before it.
pub(crate) struct Encoded<F> {
    encode: F,
    /// The events of a message, kept while Aeron refuses it.
    body: Vec<u8>,
    /// Sequence of the first event of `body`, and their number.
    packed: Option<(u64, usize)>,
}

impl<F> Encoded<F> {
    pub(crate) fn new(encode: F) -> Self {
        Self { encode, body: Vec::new(), packed: None }
    }

    /// Encodes as many events as fit into `room` bytes, at least one, and returns their number.
    fn pack<E>(&mut self, events: &[E], room: usize) -> usize
    where
        F: FnMut(&E, &mut Vec<u8>),
    {
        self.body.clear();
        for (packed, event) in events.iter().enumerate() {
            let start = self.body.len();
            self.body.extend([0; LENGTH]);
            (self.encode)(event, &mut self.body);
            if self.body.len() > room && packed > 0 {
                self.body.truncate(start);
                return packed;
            }
            // A longer event exceeds every message, and is refused as such.
            let bytes = u32::try_from(self.body.len() - start - LENGTH).unwrap_or(u32::MAX);
            self.body[start..start + LENGTH].copy_from_slice(&bytes.to_ne_bytes());
        }
        events.len()
    }
}

impl<E, F: FnMut(&E, &mut Vec<u8>) + Send> Pack<E> for Encoded<F> {
    fn event_bytes(&self) -> u32 {
        VARIABLE
    }

    fn send(
        &mut self,
        outlet: &mut dyn Outlet,
        mut frame: Frame,
        events: &[E],
    ) -> Result<usize, Refused> {
        let count = match self.packed {
            Some((first, count)) if first == frame.first && count <= events.len() => count,
            _ => {
                self.packed = None; // in case the encoder panics
                let count = self.pack(events, outlet.longest_frame().saturating_sub(HEAD));
                self.packed = Some((frame.first, count));
                count
            }
        };
        let length = HEAD + self.body.len();
        if length > outlet.longest_message() {
            return Err(Refused::TooLarge { bytes: length });
        }
        frame.count = u32::try_from(count).unwrap_or(u32::MAX);
        outlet.send_parts(&[frame.as_bytes(), &self.body])?;
        self.packed = None;
        Ok(count)
    }
}
