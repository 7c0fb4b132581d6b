//! The stage that ships commands. Not here: how far it is (`progress`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use exchange::service::Input;
use lapwing::{Action, Sequence};
use lapwing_aeron::{Publisher, WhenNotConnected};

use crate::Result;
use crate::acknowledge::Acknowledge;
use crate::messages::{FromLeader, SCHEMA};
use crate::progress::Progress;
use crate::streams::Meeting;

/// How often a leader that needs its follower tries again without a driver.
const DRIVER_PAUSE: Duration = Duration::from_millis(100);

/// How long a leader whose answers wait for its own journal only tries to ship a batch.
///
/// A follower that is connected and stuck takes nothing, for example because its disk is full. The batch keeps its
/// slots of the input ring meanwhile. The ring has slots for 1.6 s at 10,000 commands per second, so that no
/// client waits.
const LONGEST_TRY: Duration = Duration::from_secs(1);

/// How long a leader waits for its driver when it starts.
const OPENING: Duration = Duration::from_secs(5);

/// The handler of the stage.
pub(crate) struct Shipping {
    publisher: Publisher<FromLeader>,
    acknowledge: Acknowledge,
    progress: Arc<Progress>,
    /// The batch that is being shipped.
    messages: Vec<FromLeader>,
    has_failed: bool,
    /// Since when Aeron has not taken all of a batch.
    refused: Option<Instant>,
    /// A batch was dropped, and Aeron has taken none as a whole since.
    is_dropping: bool,
}

impl Shipping {
    pub(crate) fn new(
        meeting: &Meeting,
        acknowledge: Acknowledge,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let policy = match acknowledge {
            Acknowledge::Journal => WhenNotConnected::Drop,
            Acknowledge::Follower => WhenNotConnected::Wait,
        };
        let mut publisher = Publisher::plain(&meeting.client(), meeting.live()?)
            .schema(SCHEMA)
            .when_not_connected(policy);
        // A follower asks once the leader has connected, also if there is no command.
        if let Err(error) = publisher.open(OPENING) {
            eprintln!("exchange-replica: the first command tries again: {error}");
        }
        Ok(Self {
            publisher,
            acknowledge,
            progress,
            messages: Vec::new(),
            has_failed: false,
            refused: None,
            is_dropping: false,
        })
    }

    /// A random number of this run of the leader.
    pub(crate) fn id(&self) -> u64 {
        self.publisher.id()
    }

    /// Ships a batch. The next call may be with the same batch.
    pub(crate) fn ship(&mut self, inputs: &[Input], first: Sequence) -> Action {
        let end = first + inputs.len() as u64;
        if self.progress.offer(end) {
            self.messages.clear();
            let id = self.publisher.id();
            let numbered = (first..).zip(inputs);
            self.messages.extend(numbered.map(|(at, input)| FromLeader::command(id, at, *input)));
        }
        let pause = match self.publisher.send(&self.messages, first) {
            Ok(Action::Retry(pause)) => self.has_patience().then_some(pause),
            Ok(_) => {
                (self.has_failed, self.refused, self.is_dropping) = (false, None, false);
                None
            }
            Err(error) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    eprintln!("exchange-replica: nothing is shipped: {error}");
                }
                // A follower asks for what it has not got.
                (self.acknowledge == Acknowledge::Follower).then_some(DRIVER_PAUSE)
            }
        };
        match pause {
            Some(pause) if !self.progress.is_over() => Action::Retry(pause),
            _ => {
                self.refused = None;
                self.progress.set_shipped(end);
                Action::Continue
            }
        }
    }

    /// Whether a batch that Aeron has not taken is tried again. If not, it is dropped: the follower asks for what
    /// it has not got. The batches after it are tried once each, until Aeron takes a whole one.
    fn has_patience(&mut self) -> bool {
        if self.acknowledge == Acknowledge::Follower {
            return true;
        }
        if self.is_dropping {
            return false;
        }
        let since = *self.refused.get_or_insert_with(Instant::now);
        if since.elapsed() < LONGEST_TRY {
            return true;
        }
        eprintln!(
            "exchange-replica: the follower takes no commands, and asks for them later: waited={:?}",
            LONGEST_TRY
        );
        self.is_dropping = true;
        false
    }
}
