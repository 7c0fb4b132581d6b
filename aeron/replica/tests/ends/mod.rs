//! A leader and a follower whose messages a test writes itself.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use exchange::service::Input;
use exchange::types::{Command, PackedCommand};
use exchange_replica::messages::{ASK, CONFIRM, END, FromFollower, FromLeader, SCHEMA};
use lapwing::{Action, Consumers, Disruptor, Poller, SingleProducer};
use lapwing_aeron::{Client, Publisher, Stream, Subscriber};

/// The first of the three streams, as the programs have it by default.
pub(crate) const STREAM: i32 = 7410;

/// A channel that holds about 300 commands.
pub(crate) const SMALL: &str = "aeron:ipc?term-length=64k";

/// How long a program may take to connect, to ask or to take messages.
const PATIENCE: Duration = Duration::from_secs(40);

/// After this time, a confirmation does not come.
const SILENCE: Duration = Duration::from_secs(2);

/// A leader that hears its follower only when a test waits for a question.
pub(crate) struct FakeLeader {
    id: u64,
    live: Publisher<FromLeader>,
    resent: Publisher<FromLeader>,
    next_resent: u64,
    back: Option<Hearing<FromFollower>>,
    /// A reader that takes nothing.
    unread: Option<Hearing<FromFollower>>,
    client: Client,
    channel: String,
}

/// A follower without an exchange.
pub(crate) struct FakeFollower {
    live: Hearing<FromLeader>,
    resent: Hearing<FromLeader>,
    back: Publisher<FromFollower>,
    sent: u64,
}

/// Takes the messages of a stream.
struct Hearing<E: 'static> {
    subscriber: Subscriber<E>,
    producer: SingleProducer<E>,
    poller: Poller<E>,
    _consumers: Consumers<'static, E>,
}

impl<E: AnyBitPattern + Send + Sync> Hearing<E> {
    fn new(client: &Client, channel: &str, stream: i32) -> Self {
        let stream = Stream::new(channel, stream).unwrap();
        let mut subscriber = Subscriber::plain(client, stream).schema(SCHEMA);
        subscriber.open(PATIENCE).unwrap();
        let ring = Disruptor::single_producer(64, E::zeroed).stage("all").poller();
        let (producer, mut consumers) = ring.build().unwrap();
        let poller = consumers.take_poller("all").unwrap();
        Self { subscriber, producer, poller, _consumers: consumers }
    }

    /// Returns the last such message of those that have arrived.
    fn last(&mut self, counts: impl Fn(&E) -> bool) -> Option<E> {
        self.subscriber.poll_into(&mut self.producer, |_| {}).unwrap();
        let mut batch = self.poller.poll().ok()?;
        batch.iter().map(|(_, message)| *message).filter(|message| counts(message)).last()
    }

    /// Waits for such a message.
    fn wait_for(&mut self, counts: impl Fn(&E) -> bool) -> E {
        let begun = Instant::now();
        loop {
            if let Some(message) = self.last(&counts) {
                return message;
            }
            assert!(begun.elapsed() < PATIENCE, "the message does not come");
            thread::yield_now();
        }
    }
}

fn is_question(message: &FromFollower) -> bool {
    message.kind == ASK
}

fn open<E: NoUninit>(client: &Client, channel: &str, stream: i32) -> Publisher<E> {
    let stream = Stream::new(channel, stream).unwrap();
    let mut publisher = Publisher::plain(client, stream).schema(SCHEMA);
    publisher.open(PATIENCE).unwrap();
    publisher
}

impl FakeFollower {
    /// Connects to the streams. The stream to the leader is the default one.
    pub(crate) fn new(aeron: &Path, channel: &str) -> Self {
        let client = Client::new(aeron);
        Self {
            live: Hearing::new(&client, channel, STREAM),
            resent: Hearing::new(&client, channel, STREAM + 1),
            back: open(&client, "aeron:ipc", STREAM + 2),
            sent: 0,
        }
    }

    /// Takes live commands up to this sequence.
    pub(crate) fn take_live_up_to(&mut self, end: u64) {
        self.live.wait_for(|message| message.sequence + 1 == end);
    }

    /// Asks for commands, and takes the first part of the answer.
    pub(crate) fn ask_and_take_one(&mut self, from: u64) {
        self.send(FromFollower::ask(1, from, 1));
        self.resent.wait_for(|_| true);
    }

    /// Confirms the commands below this sequence.
    pub(crate) fn confirm(&mut self, end: u64) {
        self.send(FromFollower::confirm(1, end));
    }

    fn send(&mut self, message: FromFollower) {
        send_all(&mut self.back, &[message], self.sent);
        self.sent += 1;
    }
}

impl FakeLeader {
    /// Connects to the streams.
    pub(crate) fn new(aeron: &Path, channel: &str, id: u64) -> Self {
        let client = Client::new(aeron);
        Self {
            id,
            back: Some(Hearing::new(&client, channel, STREAM + 2)),
            live: open(&client, channel, STREAM),
            resent: open(&client, channel, STREAM + 1),
            next_resent: 0,
            unread: None,
            client,
            channel: channel.to_owned(),
        }
    }

    /// Waits for a question of the follower.
    pub(crate) fn wait_for_question(&mut self) -> FromFollower {
        self.back.as_mut().unwrap().wait_for(is_question)
    }

    /// Waits for a question, and says that there is no command from `end` on.
    pub(crate) fn answer_with_the_end(&mut self, end: u64) {
        let asked = self.wait_for_question();
        self.answer(&asked, end);
    }

    /// Answers questions until `is_over` is true.
    pub(crate) fn answer_until(&mut self, mut is_over: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_over() {
            assert!(begun.elapsed() < PATIENCE, "the follower does not end");
            if let Some(asked) = self.back.as_mut().unwrap().last(is_question) {
                self.answer(&asked, asked.sequence);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn answer(&mut self, asked: &FromFollower, end: u64) {
        let answer = FromLeader::answer(self.id, END, end, asked);
        send_all(&mut self.resent, &[answer], self.next_resent);
        self.next_resent += 1;
    }

    /// Sends commands to the live stream.
    pub(crate) fn ship(&mut self, first: u64, commands: &[Command]) {
        send_all(&mut self.live, &numbered(self.id, first, commands), first);
    }

    /// Ships commands one by one until the follower confirms none, since a second reader of its stream takes
    /// nothing. Returns how many were shipped.
    pub(crate) fn ship_until_confirmations_stop(&mut self, commands: &[Command]) -> usize {
        let second = Hearing::new(&self.client, &self.channel, STREAM + 2);
        let mut shipped = 0;
        loop {
            self.ship(shipped as u64, &commands[shipped..=shipped]);
            shipped += 1;
            let (begun, back) = (Instant::now(), self.back.as_mut().unwrap());
            let counts = |message: &FromFollower| {
                message.kind == CONFIRM && message.sequence >= shipped as u64
            };
            while back.last(counts).is_none() {
                if begun.elapsed() > SILENCE {
                    self.unread = Some(second);
                    return shipped;
                }
                thread::yield_now();
            }
        }
    }

    /// Sends commands to the stream of older ones.
    pub(crate) fn send_again(&mut self, first: u64, commands: &[Command]) {
        let messages = numbered(self.id, first, commands);
        send_all(&mut self.resent, &messages, self.next_resent);
        self.next_resent += messages.len() as u64;
    }

    /// Closes the stream of the follower.
    pub(crate) fn become_deaf(&mut self) {
        self.back = None;
    }
}

fn numbered(leader: u64, first: u64, commands: &[Command]) -> Vec<FromLeader> {
    let input = |command| Input { command: PackedCommand::from(command), ..Input::zeroed() };
    let numbered = (first..).zip(commands);
    numbered.map(|(at, command)| FromLeader::command(leader, at, input(command))).collect()
}

/// Sends all events, whose first one has this number.
pub(crate) fn send_all<E: NoUninit>(publisher: &mut Publisher<E>, events: &[E], first: u64) {
    let begun = Instant::now();
    while let Action::Retry(pause) = publisher.send(events, first).unwrap() {
        assert!(begun.elapsed() < PATIENCE, "nobody takes the messages");
        thread::sleep(pause);
    }
}
