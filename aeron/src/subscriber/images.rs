//! How a subscription is opened, and what its images do: Aeron says it on a thread of its own.

use std::sync::mpsc::{Receiver, Sender, channel};

use rusteron_client::{
    AeronAsyncAddSubscription, AeronCError, AeronImage, AeronSubscription, Handler,
};

use crate::client::Connection;
use crate::link::Resource;
use crate::notice::Notice;
use crate::stream::Stream;

/// How a subscription is opened.
pub(super) struct Subscriptions {
    sender: Sender<Notice>,
    /// What the images have done since the last poll.
    pub(super) notices: Receiver<Notice>,
}

impl Subscriptions {
    pub(super) fn new() -> Self {
        let (sender, notices) = channel();
        Self { sender, notices }
    }
}

impl Resource for Subscriptions {
    type Request = AeronAsyncAddSubscription;
    type Open = AeronSubscription;

    fn request(
        &self,
        connection: &Connection,
        stream: &Stream,
    ) -> Result<Self::Request, AeronCError> {
        let (available, lost) = (self.sender.clone(), self.sender.clone());
        // A subscriber that is gone needs no notice.
        let on_available = Handler::new(move |_: AeronSubscription, image: AeronImage| {
            let (session, source) = identity(&image);
            let _ = available.send(Notice::ImageAvailable { session, source });
        });
        let on_lost = Handler::new(move |_: AeronSubscription, image: AeronImage| {
            let (session, _) = identity(&image);
            let _ = lost.send(Notice::ImageLost { session });
        });
        connection.aeron.async_add_subscription(
            stream.channel(),
            stream.id(),
            Some(&on_available),
            Some(&on_lost),
        )
    }

    fn answer(&self, request: &Self::Request) -> Result<Option<Self::Open>, AeronCError> {
        request.poll()
    }
}

/// The session of an image, and where it comes from.
fn identity(image: &AeronImage) -> (i32, String) {
    match image.get_constants() {
        Ok(constants) => (constants.session_id(), constants.source_identity().to_owned()),
        Err(_) => (0, String::new()),
    }
}
