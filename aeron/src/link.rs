//! How an end comes to its publication or subscription: asks the driver, waits for its answer,
//! loses it, and asks again. No step blocks.

use std::thread;
use std::time::{Duration, Instant};

use rusteron_client::AeronCError;

use crate::client::{Client, Connection, text};
use crate::error::OpenError;
use crate::movable::{Movable, NotBoundToAThread};
use crate::stream::Stream;

/// How long a driver may take to answer. A driver that lives does so in milliseconds.
const ANSWER: Duration = Duration::from_secs(5);

/// How often `open` asks for the answer.
const ASK_AGAIN: Duration = Duration::from_millis(1);

/// What a link opens.
pub(crate) trait Resource {
    /// A request that the driver has not answered.
    type Request: NotBoundToAThread;
    /// The open publication or subscription.
    type Open;

    fn request(
        &self,
        connection: &Connection,
        stream: &Stream,
    ) -> Result<Self::Request, AeronCError>;

    /// Returns `None` until the driver has answered.
    fn answer(&self, request: &Self::Request) -> Result<Option<Self::Open>, AeronCError>;
}

/// A publication or subscription, or the way to it.
pub(crate) struct Link<R: Resource> {
    client: Client,
    stream: Stream,
    resource: R,
    state: State<R>,
}

enum State<R: Resource> {
    Closed,
    Asked { request: Movable<R::Request>, connection: Connection, since: Instant },
    Open { open: R::Open, connection: Connection },
}

impl<R: Resource> Link<R> {
    pub(crate) fn new(client: &Client, stream: Stream, resource: R) -> Self {
        Self { client: client.clone(), stream, resource, state: State::Closed }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(crate) fn resource(&self) -> &R {
        &self.resource
    }

    /// Returns what is open, or `None` if the driver has still to answer.
    pub(crate) fn opened(&mut self) -> Result<Option<&mut R::Open>, OpenError> {
        if let State::Closed = self.state {
            self.ask()?;
        }
        if let State::Asked { .. } = self.state {
            self.take_answer()?;
        }
        match &mut self.state {
            State::Open { open, .. } => Ok(Some(open)),
            _ => Ok(None),
        }
    }

    /// Waits until a driver runs and has answered, at most for `timeout`.
    pub(crate) fn open(&mut self, timeout: Duration) -> Result<(), OpenError> {
        let start = Instant::now();
        loop {
            let missing = match self.opened() {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => None,
                Err(error @ OpenError::NoDriver { .. }) => Some(error),
                Err(error) => return Err(error),
            };
            let waited = start.elapsed();
            if waited >= timeout {
                let stream = self.stream.to_string();
                return Err(missing.unwrap_or(OpenError::TimedOut { stream, waited }));
            }
            thread::sleep(ASK_AGAIN);
        }
    }

    /// Whether the driver still serves this client.
    pub(crate) fn is_served(&self) -> bool {
        match &self.state {
            State::Open { connection, .. } | State::Asked { connection, .. } => {
                connection.is_open()
            }
            State::Closed => false,
        }
    }

    /// Drops what is open. Returns why the connection has ended, as far as Aeron says.
    pub(crate) fn close(&mut self) -> String {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Open { connection, .. } | State::Asked { connection, .. } => connection.reason(),
            State::Closed => String::new(),
        }
    }

    fn ask(&mut self) -> Result<(), OpenError> {
        let connection = self.client.connection()?;
        let request = self.resource.request(&connection, &self.stream);
        let request = Movable(request.map_err(|error| self.refused(&error))?);
        self.state = State::Asked { request, connection, since: Instant::now() };
        Ok(())
    }

    fn take_answer(&mut self) -> Result<(), OpenError> {
        let State::Asked { request, connection, since } = &self.state else { return Ok(()) };
        let waited = since.elapsed();
        let connection = connection.clone();
        match self.resource.answer(&request.0) {
            Ok(Some(open)) => self.state = State::Open { open, connection },
            Ok(None) if waited < ANSWER && connection.is_open() => {}
            Ok(None) => {
                self.close();
                return Err(OpenError::TimedOut { stream: self.stream.to_string(), waited });
            }
            Err(error) => {
                let refused = self.refused(&error);
                self.close();
                return Err(refused);
            }
        }
        Ok(())
    }

    fn refused(&self, error: &AeronCError) -> OpenError {
        OpenError::Refused { stream: self.stream.to_string(), reason: text(error) }
    }
}
