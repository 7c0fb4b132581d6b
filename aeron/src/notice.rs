//! What a subscriber reports to the program besides the events.

use std::fmt;
use std::ops::Range;

use lapwing::Sequence;

/// Something that happened to a stream. [`Subscriber::poll_into`](crate::Subscriber::poll_into)
/// passes each to a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A publication has connected. Its messages follow.
    ImageAvailable {
        /// Aeron's number of the connection.
        session: i32,
        /// Where it comes from: an address, or `aeron:ipc`.
        source: String,
    },
    /// A publication has gone: it was closed, its process or its driver died, or the network is
    /// cut.
    ///
    /// If its driver is alive, all that it had published has been delivered before.
    ImageLost {
        /// Aeron's number of the connection.
        session: i32,
    },
    /// Events of a publisher arrive that this subscriber did not know. What it sent before is
    /// unknown.
    PublisherSeen {
        /// A random number, which a [`Publisher`](crate::Publisher) keeps for its whole life.
        publisher: u64,
        /// Sequence of the first event, in the ring of the publisher.
        first: Sequence,
    },
    /// Events of a publisher are missing: they were sent while this subscriber was not connected,
    /// or the publisher has dropped them. The events after them follow.
    ///
    /// The range is in sequences of the publisher's ring. It includes claims that were given up.
    Gap {
        /// The number of the publisher.
        publisher: u64,
        /// What is missing.
        missing: Range<Sequence>,
    },
    /// A message was skipped: it is not one for this subscriber.
    Rejected {
        /// Aeron's number of the connection.
        session: i32,
        /// Why it was skipped.
        reason: Rejected,
    },
    /// The decoder has refused an event, which was skipped. The events after it follow.
    Undecodable {
        /// The number of the publisher.
        publisher: u64,
        /// The event's sequence in the ring of the publisher.
        sequence: Sequence,
        /// What the decoder said.
        reason: String,
    },
}

/// Why a subscriber cannot read a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejected {
    /// It is not from a [`Publisher`](crate::Publisher) of this version, or has another byte order.
    NotLapwing,
    /// Its publisher states another [schema](crate::Publisher::schema).
    Schema {
        /// The schema of this subscriber.
        expected: u32,
        /// The schema of the message.
        found: u32,
    },
    /// Its events have another size, or are encoded where this end expects plain ones.
    EventSize {
        /// Bytes of an event of this subscriber; 4294967295 for encoded events.
        expected: u32,
        /// Bytes of an event of the message.
        found: u32,
    },
    /// Its header is inconsistent, or does not match the length of the message.
    Damaged,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLapwing => f.write_str("the message is not from a publisher of this version"),
            Self::Schema { expected, found } => {
                write!(f, "the message has another schema: expected={expected}, found={found}")
            }
            Self::EventSize { expected, found } => {
                write!(f, "the events have another size: expected={expected}, found={found}")
            }
            Self::Damaged => f.write_str("the header of the message does not match its length"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ImageAvailable { session, source } => {
                write!(f, "a publication has connected: session={session}, source={source}")
            }
            Self::ImageLost { session } => write!(f, "a publication has gone: session={session}"),
            Self::PublisherSeen { publisher, first } => {
                write!(f, "a new publisher sends: publisher={publisher:016x}, first={first}")
            }
            Self::Gap { publisher, missing: Range { start, end } } => {
                write!(f, "events are missing: publisher={publisher:016x}, from={start}, to={end}")
            }
            Self::Rejected { session, reason } => write!(f, "{reason}, session={session}"),
            Self::Undecodable { publisher, sequence, reason } => write!(
                f,
                "an event cannot be decoded: {reason}: publisher={publisher:016x}, sequence={sequence}"
            ),
        }
    }
}
