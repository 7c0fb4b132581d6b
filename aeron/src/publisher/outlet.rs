//! Where messages go: a publication that is open. Not here: how it is opened (`link`).

use rusteron_client::{
    AeronAsyncAddExclusivePublication, AeronCError, AeronExclusivePublication, AeronOfferError,
};

use crate::client::{Connection, text};
use crate::link::Resource;
use crate::stream::Stream;

/// Takes messages.
pub(crate) trait Outlet {
    /// Bytes of the longest message that is one frame.
    fn longest_frame(&self) -> usize;

    /// Bytes of the longest message of all.
    fn longest_message(&self) -> usize;

    /// Sends a message of one frame, which `fill` writes in place.
    fn send_in_place(
        &mut self,
        bytes: usize,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Refused>;

    /// Sends a message of any length, the parts one after another.
    fn send_parts(&mut self, parts: &[&[u8]]) -> Result<(), Refused>;
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No subscriber is connected.
    NotConnected,
    /// A subscriber, the network or the driver is behind.
    BackPressured,
    /// A term ends, or the like: the next attempt may succeed.
    AdminAction,
    /// The driver has gone, or has dropped this client.
    Closed,
    /// The publication has reached its largest position.
    AtLimit,
    /// The message exceeds the longest one.
    TooLarge { bytes: usize },
    /// Another error of Aeron.
    Other { reason: String },
}

/// An open publication.
pub(crate) struct OpenPublication {
    publication: AeronExclusivePublication,
    longest_frame: usize,
    longest_message: usize,
}

impl OpenPublication {
    pub(crate) fn is_connected(&self) -> bool {
        self.publication.is_connected()
    }
}

impl Outlet for OpenPublication {
    fn longest_frame(&self) -> usize {
        self.longest_frame
    }

    fn longest_message(&self) -> usize {
        self.longest_message
    }

    fn send_in_place(
        &mut self,
        bytes: usize,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Refused> {
        let mut claim = self.publication.try_claim_owned(bytes).map_err(refused)?;
        fill(claim.data());
        claim.commit().map(drop).map_err(|error| Refused::Other { reason: text(&error) })
    }

    fn send_parts(&mut self, parts: &[&[u8]]) -> Result<(), Refused> {
        self.publication.offer_parts(parts).map(drop).map_err(refused)
    }
}

fn refused(error: AeronOfferError) -> Refused {
    match error {
        AeronOfferError::NotConnected => Refused::NotConnected,
        AeronOfferError::BackPressured => Refused::BackPressured,
        AeronOfferError::AdminAction => Refused::AdminAction,
        AeronOfferError::Closed => Refused::Closed,
        AeronOfferError::MaxPositionExceeded => Refused::AtLimit,
        AeronOfferError::TooManyParts => Refused::Other { reason: "too many parts".into() },
        AeronOfferError::Error(error) => Refused::Other { reason: text(&error) },
    }
}

/// How a publication is opened. It is exclusive: one thread offers, so a claim needs no atomic
/// addition.
pub(crate) struct Publications;

impl Resource for Publications {
    type Request = AeronAsyncAddExclusivePublication;
    type Open = OpenPublication;

    fn request(
        &self,
        connection: &Connection,
        stream: &Stream,
    ) -> Result<Self::Request, AeronCError> {
        connection.aeron.async_add_exclusive_publication(stream.channel(), stream.id())
    }

    fn answer(&self, request: &Self::Request) -> Result<Option<Self::Open>, AeronCError> {
        let Some(publication) = request.poll()? else { return Ok(None) };
        let constants = publication.get_constants()?;
        Ok(Some(OpenPublication {
            longest_frame: constants.max_payload_length(),
            longest_message: constants.max_message_length(),
            publication,
        }))
    }
}
