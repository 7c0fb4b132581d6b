//! An exchange that follows a leader, until a line "promote" lets it serve clients itself.

use std::net::TcpListener;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::gateway::Gateway;
use exchange::service::{Entry, Output, Service};
use lapwing::{Action, EventHandler, Sequence};

use crate::Result;
use crate::following::{Following, Step};
use crate::inbox::{Found, Inbox};
use crate::leader;
use crate::messages::{ASK, CONFIRM, FromFollower, FromLeader};
use crate::outbox::Outbox;
use crate::process;
use crate::streams::Meeting;

/// How long to wait if nothing has arrived.
const IDLE_PAUSE: Duration = Duration::from_micros(50);
/// After this time without a command, the follower asks: the leader may have dropped the last ones.
const SILENCE: Duration = Duration::from_secs(1);
/// How long to wait for a driver or a leader.
const LONG_PAUSE: Duration = Duration::from_millis(20);
/// After this time without an answer, the follower asks again.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// A follower that takes over polls until nothing has arrived for this long,
const SETTLED: Duration = Duration::from_millis(300);
/// and at most for this long, since a leader may still run.
const LONGEST_SETTLING: Duration = Duration::from_secs(3);

/// What the follower keeps, and where its leader is.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// The address to listen at after the takeover. Port 0 takes a free one. The follower checks at
    /// its start that the address can be used.
    #[arg(long, default_value = "127.0.0.1:7412")]
    pub address: String,
    /// The folder of journal and snapshots. It is the follower's own.
    #[arg(long)]
    pub folder: PathBuf,
    /// Print the state hash after every N commands. 0 disables it.
    #[arg(long, default_value_t = 0)]
    pub hash_every: u64,
    /// Commands from one snapshot to the next.
    #[arg(long, default_value_t = 1_000_000)]
    pub snapshot_every: u64,
    /// The streams.
    #[command(flatten)]
    pub meeting: Meeting,
}

/// How following ends.
enum Ended {
    /// The standard input has ended.
    Closed,
    /// A line says "promote".
    Promoted,
}

/// Follows until the standard input ends. After a line "promote", serves clients until then.
///
/// # Errors
///
/// The exchange does not start or has failed, or the leader cannot be followed.
pub fn run(arguments: &Arguments) -> Result<()> {
    let lines = process::lines();
    check_address(&arguments.address)?;
    let opened = leader::open(&arguments.folder, arguments.snapshot_every)?;
    let next = opened.next_sequence();
    process::print_recovery(opened.recovery(), next);

    let synced = Arc::new(AtomicU64::new(next));
    let is_over = Arc::new(AtomicBool::new(false));
    let asking = Outbox::new(&arguments.meeting.client(), arguments.meeting.back()?);
    let confirming = Confirming {
        id: asking.id(),
        outbox: Outbox::new(&arguments.meeting.client(), arguments.meeting.back()?),
        synced: Arc::clone(&synced),
        is_over: Arc::clone(&is_over),
    };
    let opened = confirming.follow(process::print_states(opened, arguments.hash_every));
    let (service, entry) = opened.start(Ignore, Ignore)?;
    let mut follower = Follower::new(&arguments.meeting, next, entry, asking, synced)?;
    let followed = follower.run(&service, &lines);
    // What is not applied is lost to this exchange.
    drop(follower);
    is_over.store(true, Ordering::Release);
    let begun = Instant::now();
    let engine = service.shutdown()?;
    match followed? {
        Ended::Closed => process::print_end(&engine),
        Ended::Promoted => take_over(arguments, engine.state().hash(), begun, &lines)?,
    }
    Ok(())
}

/// Fails if a takeover could not listen at `address`. A takeover is an emergency, and too late to find that out.
///
/// The port is closed again, so that no client connects to an exchange that does not serve.
fn check_address(address: &str) -> Result<()> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("a takeover cannot listen at {address}: {error}").into()),
    }
}

/// Serves clients. The exchange recovers from its own folder as after any other restart.
fn take_over(
    arguments: &Arguments,
    followed: u64,
    begun: Instant,
    lines: &Receiver<String>,
) -> Result<()> {
    let opened = leader::open(&arguments.folder, arguments.snapshot_every)?;
    let state = opened.engine().state();
    if state.hash() != followed {
        return Err("the recovered state is not the one that was followed".into());
    }
    let gateway = Gateway::start(opened, &*arguments.address)?;
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

/// The stage that reports to the leader what is synced.
struct Confirming {
    id: u64,
    outbox: Outbox<FromFollower>,
    synced: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Confirming {
    fn follow(mut self, opened: exchange::service::Opened) -> exchange::service::Opened {
        opened.after_synced(move |inputs, first| Ok(self.confirm(first + inputs.len() as u64)))
    }

    fn confirm(&mut self, end: Sequence) -> Action {
        self.synced.store(end, Ordering::Release);
        let message = FromFollower { kind: CONFIRM, sequence: end, follower: self.id };
        match self.outbox.try_send(&[message]) {
            // A follower that takes over has no leader.
            Some(pause) if !self.is_over.load(Ordering::Acquire) => Action::Retry(pause),
            _ => Action::Continue,
        }
    }
}

/// The reports of a follower: the clients have them from the leader.
struct Ignore;

impl EventHandler<Output> for Ignore {
    fn on_event(&mut self, _: &Output, _: Sequence, _: bool) {}
}

/// The thread that applies what the leader sends.
struct Follower {
    live: Inbox<FromLeader>,
    resent: Inbox<FromLeader>,
    asking: Outbox<FromFollower>,
    entry: Entry,
    following: Following,
    /// The end of what this follower's journal has synced.
    synced: Arc<AtomicU64>,
    /// When it has asked, or has got a part of the answer.
    asked: Option<Instant>,
    messages: Vec<FromLeader>,
    /// Publications that are connected.
    leaders: usize,
    /// When the leader has sent a command, or has said that there is none.
    heard: Instant,
    /// Where the follower was when it last had all commands and said so.
    told: Option<Sequence>,
}

impl Follower {
    fn new(
        meeting: &Meeting,
        next: Sequence,
        entry: Entry,
        asking: Outbox<FromFollower>,
        synced: Arc<AtomicU64>,
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
            messages: Vec::new(),
            leaders: 0,
            heard: Instant::now(),
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
            self.messages.clear();
            let pause = self.follow()?;
            self.messages.clear();
            thread::sleep(pause.max(self.catch_up()?));
            if self.following.next() != changed.1 {
                changed = (Instant::now(), self.following.next());
            }
        }
        let missing = self.following.missing();
        if !missing.is_empty() {
            let Range { start, end } = missing;
            eprintln!("exchange-replica: commands are missing: from={start}, to={end}");
        }
        if self.leaders > 0 {
            eprintln!(
                "exchange-replica: the leader may live: end it, or two exchanges serve clients"
            );
        }
        Ok(())
    }

    /// Polls once. Returns the pause before the next time.
    fn step(&mut self) -> Result<Duration> {
        self.messages.clear();
        // Without a leader, the live stream says when one has connected.
        let asks = self.following.is_asking() && self.leaders > 0;
        if asks { self.catch_up() } else { self.follow() }
    }

    fn follow(&mut self) -> Result<Duration> {
        let found = self.live.poll(&mut self.messages)?;
        for index in 0..self.messages.len() {
            let message = self.messages[index];
            match self.following.live(&message)? {
                Step::Apply => self.apply(&message)?,
                Step::Ask => {
                    let (next, found) = (self.following.next(), message.sequence);
                    eprintln!("exchange-replica: commands are missing: from={next}, to={found}");
                    break; // the answer has the others, too
                }
                Step::Skip | Step::CaughtUp | Step::AskAgain => {}
            }
        }
        Ok(self.note(&found))
    }

    fn catch_up(&mut self) -> Result<Duration> {
        if self.asked.is_none_or(|asked| asked.elapsed() > ASK_AGAIN) && !self.ask() {
            return Ok(LONG_PAUSE);
        }
        let found = self.resent.poll(&mut self.messages)?;
        for index in 0..self.messages.len() {
            let message = self.messages[index];
            match self.following.resent(&message)? {
                Step::Apply => self.apply(&message)?,
                Step::CaughtUp => {
                    self.caught_up();
                    return Ok(Duration::ZERO);
                }
                Step::AskAgain => {
                    let (next, end) = (self.following.next(), message.sequence);
                    eprintln!("exchange-replica: an answer is incomplete: next={next}, end={end}");
                }
                Step::Skip | Step::Ask => {}
            }
            self.asked = Some(Instant::now());
        }
        Ok(if found.is_driver_gone { LONG_PAUSE } else { self.idle_pause() })
    }

    fn caught_up(&mut self) {
        self.asked = None;
        self.heard = Instant::now();
        let next = self.following.next();
        if self.told.replace(next) != Some(next) {
            println!("following: next={next}");
        }
    }

    /// Asks for the next commands. Returns whether a leader may have heard it.
    fn ask(&mut self) -> bool {
        let (synced, next) = (self.synced.load(Ordering::Acquire), self.following.next());
        let message = |kind, sequence| FromFollower { kind, sequence, follower: self.asking.id() };
        let messages = [message(ASK, next), message(CONFIRM, synced)];
        let is_sent = self.asking.send(&messages, || true);
        self.asked = is_sent.then(Instant::now);
        is_sent
    }

    fn apply(&mut self, message: &FromLeader) -> Result<()> {
        let sequence = self.entry.publish(|slot| *slot = message.input)?;
        if sequence != message.sequence {
            let expected = message.sequence;
            return Err(format!("command {expected} has the sequence {sequence} here").into());
        }
        Ok(())
    }

    /// Notes what has happened to the live stream.
    fn note(&mut self, found: &Found) -> Duration {
        self.leaders = (self.leaders + usize::from(found.has_connected)).saturating_sub(found.lost);
        if !self.messages.is_empty() {
            self.heard = Instant::now();
        }
        if found.has_connected || self.heard.elapsed() > SILENCE {
            self.following.ask();
        }
        if found.is_driver_gone {
            self.leaders = 0;
            return LONG_PAUSE;
        }
        self.idle_pause()
    }

    fn idle_pause(&self) -> Duration {
        if self.messages.is_empty() { IDLE_PAUSE } else { Duration::ZERO }
    }
}
