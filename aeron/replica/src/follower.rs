//! An exchange that follows a leader, until a line "promote" lets it serve clients itself.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::service::{Entry, Output, Service};
use lapwing::{EventHandler, Sequence};

use crate::Result;
use crate::confirming::{Confirming, Synced};
use crate::following::{Following, Step};
use crate::inbox::{Found, Inbox};
use crate::local::Local;
use crate::messages::{FromFollower, FromLeader};
use crate::outbox::Outbox;
use crate::process;
use crate::streams::Meeting;

/// How long to wait if nothing has arrived.
const IDLE_PAUSE: Duration = Duration::from_micros(50);
/// After this time without a command of its leader, the follower asks: the last ones may have been dropped, or
/// another leader runs.
const SILENCE: Duration = Duration::from_secs(1);
/// How long to wait for a driver or a leader.
const LONG_PAUSE: Duration = Duration::from_millis(20);
/// After this time without an answer, the follower asks again.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// A follower that takes over polls until nothing has arrived for this long,
const SETTLED: Duration = Duration::from_millis(300);
/// and at most for this long, since a leader may still run.
const LONGEST_SETTLING: Duration = Duration::from_secs(3);

/// Where the follower listens after a takeover, its exchange, and where its leader is.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// The address to listen at after the takeover. Port 0 takes a free one. The follower checks at
    /// its start that the address can be used.
    #[arg(long, default_value = "127.0.0.1:7412")]
    pub address: String,
    /// The exchange.
    #[command(flatten)]
    pub local: Local,
    /// The streams.
    #[command(flatten)]
    pub meeting: Meeting,
}

/// How following ends.
enum Ended {
    /// A signal has come, or the standard input has ended.
    Closed,
    /// A line says "promote".
    Promoted,
}

/// Follows until SIGTERM, SIGINT or the end of a piped standard input. After a line "promote", serves clients until
/// then.
///
/// # Errors
///
/// The exchange does not start or has failed, or the leader cannot be followed.
pub fn run(arguments: &Arguments) -> Result<()> {
    let lines = process::lines()?;
    check_address(arguments)?;
    let opened = arguments.local.open()?;
    let next = opened.next_sequence();
    process::print_recovery(opened.recovery(), next);

    let synced = Arc::new(Synced::new(next));
    let asking = Outbox::new(&arguments.meeting.client(), arguments.meeting.back()?);
    let outbox = Outbox::new(&arguments.meeting.client(), arguments.meeting.back()?);
    let confirming = Confirming::new(asking.id(), outbox, Arc::clone(&synced));
    let opened = confirming.stage(arguments.local.print_states(opened));
    let (service, entry) = opened.start(Ignore, Ignore)?;
    let mut follower = Follower::new(&arguments.meeting, next, entry, asking, synced)?;
    let followed = follower.run(&service, &lines);
    // What is not applied is lost to this exchange.
    drop(follower);
    let begun = Instant::now();
    let engine = service.shutdown()?;
    match followed? {
        Ended::Closed => process::print_end(&engine),
        Ended::Promoted => take_over(arguments, engine.state().hash(), begun, &lines)?,
    }
    Ok(())
}

/// Fails if a takeover could not serve clients. A takeover is an emergency, and too late to find that out.
fn check_address(arguments: &Arguments) -> Result<()> {
    let Arguments { address, local, .. } = arguments;
    let checked = local.check(address);
    checked.map_err(|error| format!("a takeover cannot listen at {address}: {error}").into())
}

/// Serves clients. The exchange recovers from its own folder as after any other restart.
fn take_over(
    arguments: &Arguments,
    followed: u64,
    begun: Instant,
    lines: &Receiver<String>,
) -> Result<()> {
    let opened = arguments.local.open()?;
    let state = opened.engine().state();
    if state.hash() != followed {
        return Err("the recovered state is not the one that was followed".into());
    }
    let gateway = arguments.local.serve(opened, &arguments.address)?;
    println!(
        "promoted: commands={} hash={:016x} ms={}",
        state.commands,
        state.hash(),
        begun.elapsed().as_millis()
    );
    process::serve(&gateway, lines, || false);
    process::print_end(&gateway.shutdown()?);
    Ok(())
}

/// The reports of a follower: the clients have them from the leader.
struct Ignore;

impl EventHandler<Output> for Ignore {
    fn on_event(&mut self, _: &Output, _: Sequence, _: bool) {}
}

/// A live message that cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    /// The first missing command, and the leader that is followed.
    position: (Sequence, Option<u64>),
    /// The sequence of the message.
    found: Sequence,
}

/// The thread that applies what the leader sends.
struct Follower {
    live: Inbox<FromLeader>,
    resent: Inbox<FromLeader>,
    asking: Outbox<FromFollower>,
    entry: Entry,
    following: Following,
    synced: Arc<Synced>,
    /// When it has asked, or has got a part of the answer.
    asked: Option<Instant>,
    /// Live messages that are not handled. They wait behind missing commands.
    held: VecDeque<FromLeader>,
    /// What holds them up. `None` after an answer.
    gap: Option<Gap>,
    /// When the leader has sent a command, or has said that there is none.
    heard: Instant,
    /// When it has last asked: leaders that run answer it.
    doubted: Instant,
    /// Where the follower was when it last had all commands and said so.
    told: Option<Sequence>,
}

impl Follower {
    fn new(
        meeting: &Meeting,
        next: Sequence,
        entry: Entry,
        asking: Outbox<FromFollower>,
        synced: Arc<Synced>,
    ) -> Result<Self> {
        let client = meeting.client();
        Ok(Self {
            live: Inbox::new("leader", &client, meeting.live()?)?,
            resent: Inbox::new("leader, older commands", &client, meeting.resent()?)?,
            entry,
            following: Following::new(next, asking.id()),
            asking,
            synced,
            asked: None,
            held: VecDeque::new(),
            gap: None,
            heard: Instant::now(),
            doubted: Instant::now(),
            told: None,
        })
    }

    fn run(&mut self, service: &Service, lines: &Receiver<String>) -> Result<Ended> {
        while !service.has_failed() {
            match lines.try_recv() {
                Ok(line) if line == "promote" => {
                    self.settle()?;
                    return Ok(Ended::Promoted);
                }
                Ok(line) => eprintln!("exchange-replica: unknown command: {line}"),
                Err(TryRecvError::Disconnected) => return Ok(Ended::Closed),
                Err(TryRecvError::Empty) => {}
            }
            let pause = self.step()?;
            if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
        Ok(Ended::Closed) // the shutdown says why
    }

    /// Takes what is on its way before a takeover.
    fn settle(&mut self) -> Result<()> {
        let begun = Instant::now();
        let mut changed = (begun, self.following.next());
        while changed.0.elapsed() < SETTLED && begun.elapsed() < LONGEST_SETTLING {
            let pause = self.follow()?;
            thread::sleep(pause.min(self.catch_up()?));
            if self.following.next() != changed.1 {
                changed = (Instant::now(), self.following.next());
            }
        }
        let missing = self.following.missing();
        if !missing.is_empty() {
            let Range { start, end } = missing;
            eprintln!("exchange-replica: commands are missing: from={start}, to={end}");
        }
        if self.live.is_connected() {
            eprintln!(
                "exchange-replica: the leader may still run: stop it, or two exchanges serve clients"
            );
        }
        Ok(())
    }

    /// Polls once. Returns the pause before the next time.
    fn step(&mut self) -> Result<Duration> {
        let mut pause = self.follow()?;
        if self.following.is_asking() && self.live.is_connected() {
            pause = pause.min(self.catch_up()?);
        }
        if !pause.is_zero() && self.live.is_connected() {
            self.confirm();
        }
        Ok(pause)
    }

    /// Handles what is in the live stream, up to missing commands.
    fn follow(&mut self) -> Result<Duration> {
        // Also behind missing commands: it says which publications are connected.
        let found = accepted(self.live.receive()?)?;
        if self.held.is_empty() {
            self.live.take(&mut self.held);
        }
        let before = self.held.len();
        let (mut has_heard, mut is_in_doubt) = (false, false);
        while let Some(message) = self.held.front().copied() {
            match self.following.live(&message)? {
                Step::Apply => {
                    self.apply(&message)?;
                    has_heard = true;
                }
                // The message stays: the leader may die before it answers.
                Step::Ask => {
                    self.note_gap(message.sequence);
                    break;
                }
                Step::Doubt => is_in_doubt = true,
                Step::Skip | Step::CaughtUp | Step::AskAgain => has_heard = true,
            }
            self.held.pop_front();
        }
        if has_heard {
            self.heard = Instant::now();
        }
        let is_silent = self.heard.elapsed() > SILENCE;
        let is_in_doubt = is_in_doubt && self.doubted.elapsed() > SILENCE;
        if found.has_connected || is_silent || is_in_doubt {
            self.following.ask();
        }
        Ok(pause(&found, self.held.len() < before))
    }

    /// Commands before the live one with this sequence are missing, or another leader has sent it.
    fn note_gap(&mut self, found: Sequence) {
        let position = self.position();
        let is_told = self.gap.is_some_and(|gap| gap.found == found);
        if found > position.0 && !is_told {
            eprintln!("exchange-replica: commands are missing: from={}, to={found}", position.0);
        }
        self.gap = Some(Gap { position, found });
    }

    /// Returns the next command, and the leader that is followed.
    fn position(&self) -> (Sequence, Option<u64>) {
        (self.following.next(), self.following.leader())
    }

    /// Asks for commands if it is time, and handles what the leader has sent again.
    fn catch_up(&mut self) -> Result<Duration> {
        let is_due = self.asked.is_none_or(|asked| asked.elapsed() > ASK_AGAIN);
        let is_heard = !is_due || self.ask();
        let mut messages = Vec::new();
        let found = accepted(self.resent.poll(&mut messages)?)?;
        for message in &messages {
            self.asked = Some(Instant::now());
            match self.following.resent(message)? {
                Step::Apply => self.apply(message)?,
                Step::CaughtUp => self.caught_up(),
                Step::AskAgain => {
                    let (next, end) = (self.following.next(), message.sequence);
                    eprintln!("exchange-replica: an answer is incomplete: next={next}, end={end}");
                }
                Step::Skip | Step::Ask | Step::Doubt => {}
            }
        }
        let pause = pause(&found, !messages.is_empty());
        Ok(if is_heard || !messages.is_empty() { pause } else { LONG_PAUSE })
    }

    fn caught_up(&mut self) {
        self.asked = None;
        self.heard = Instant::now();
        let next = self.following.next();
        // The leader does not have the missing commands, or the messages are not of the leader.
        if self.gap.take().is_some_and(|gap| gap.position == self.position()) {
            self.held.clear();
        }
        if self.told.replace(next) != Some(next) {
            println!("following: next={next}");
        }
    }

    /// Asks for the next commands, and confirms. Returns whether a leader may have heard it.
    fn ask(&mut self) -> bool {
        let (id, end) = (self.asking.id(), self.synced.end());
        let question = self.following.next_question();
        let ask = FromFollower::ask(id, self.following.next(), question);
        let is_sent = self.asking.offer(&[ask, FromFollower::confirm(id, end)]);
        self.asked = is_sent.then(Instant::now);
        if is_sent {
            self.doubted = Instant::now();
            self.synced.tell(end);
        }
        is_sent
    }

    /// Repeats the last confirmation if the stage could not send it.
    fn confirm(&mut self) {
        let end = self.synced.end();
        let message = FromFollower::confirm(self.asking.id(), end);
        if self.synced.is_untold() && self.asking.offer(&[message]) {
            self.synced.tell(end);
        }
    }

    fn apply(&mut self, message: &FromLeader) -> Result<()> {
        let sequence = self.entry.publish(|slot| *slot = message.input)?;
        if sequence != message.sequence {
            let expected = message.sequence;
            return Err(format!("command {expected} has the sequence {sequence} here").into());
        }
        Ok(())
    }
}

/// Fails if the leader sends messages of another form.
fn accepted(mut found: Found) -> Result<Found> {
    match found.rejected.take() {
        Some(why) => Err(why.into()),
        None => Ok(found),
    }
}

/// Returns the pause before the next poll.
fn pause(found: &Found, has_messages: bool) -> Duration {
    match (found.is_driver_gone, has_messages) {
        (true, _) => LONG_PAUSE,
        (false, true) => Duration::ZERO,
        (false, false) => IDLE_PAUSE,
    }
}
