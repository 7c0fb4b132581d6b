//! Commands that are sent at a steady rate, and their answers.
//!
//! A delay begins when its command should be sent, so a client that falls behind does not hide the
//! delay that this causes.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use exchange::client::{self, AnswerReceiver, OrderSender};
use exchange::flows::mix::Mix;
use exchange::gateway::Login;
use exchange::gateway::wire::{Answer, Order};
use exchange::types::{Command, PackedCommand, Report};

use super::deadline::Progress;
use super::delays::Delays;

/// Commands that are sent in one call.
const LARGEST_SEND: usize = 1_000;
/// How many commands may be sent beyond those whose right answers are known.
const LARGEST_LEAD: usize = 2_000;
/// How long the sender sleeps if no command is due.
const PAUSE: Duration = Duration::from_micros(50);

/// Returns the commands of exchange-core's mix for two flights of so many seconds.
pub(super) fn commands_of_two(rate: f64, seconds: f64, seed: u64) -> Vec<Command> {
    let commands = (2.0 * rate * seconds) as usize;
    Mix { seed, commands, ..Mix::default() }.flow().into_commands()
}

/// A number of commands in the order in which they are sent, and how fast.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight<'a> {
    pub(super) commands: &'a [Command],
    /// The tag of the first command. The tags of the others follow.
    pub(super) first_tag: u64,
    /// Commands per second.
    pub(super) rate: f64,
    /// The sender stops after this time, even if there are more commands.
    pub(super) longest: Duration,
    /// The operator's, for an exchange with secrets.
    pub(super) login: Option<&'a Login>,
    /// What the sender waits for.
    pub(super) pace: Option<&'a Pace<'a>>,
}

/// Holds a flight back until the answers that have come are compared. So a check ends in time on a
/// busy machine, and compares fewer commands there.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    pub(super) progress: &'a Progress,
    /// Commands that are answered.
    answered: AtomicUsize,
    /// Commands whose right answers are known.
    known: AtomicUsize,
    is_over: AtomicBool,
}

impl<'a> Pace<'a> {
    pub(super) fn new(progress: &'a Progress) -> Self {
        let (answered, known) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { progress, answered, known, is_over: AtomicBool::new(false) }
    }

    /// Waits for more answers than `known`. Returns how many there are; `None` after the last one.
    pub(super) fn next(&self, known: usize) -> Option<usize> {
        // Relaxed: the numbers carry nothing.
        self.known.store(known, Ordering::Relaxed);
        loop {
            let is_over = self.is_over.load(Ordering::Relaxed);
            let answered = self.answered.load(Ordering::Relaxed);
            if answered > known || is_over {
                return (answered > known).then_some(answered);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Notes that no further answer comes.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn answer(&self, count: usize) {
        self.answered.store(count, Ordering::Relaxed);
        self.progress.count(count);
    }

    /// Returns up to which command the sender may go.
    fn limit(&self) -> usize {
        self.known.load(Ordering::Relaxed) + LARGEST_LEAD
    }
}

/// What came back.
#[derive(Debug)]
pub(super) struct Landed {
    /// The answers with a tag, in the order of their arrival.
    pub(super) answers: Vec<Answer>,
    pub(super) delays: Delays,
    /// The number of commands that were sent.
    pub(super) sent: usize,
    /// From the first command to the last answer.
    pub(super) time: Duration,
    /// Whether commands were sent later than due, since the comparison was behind.
    pub(super) is_held: bool,
}

impl Landed {
    /// Returns the number of reports of this kind.
    pub(super) fn count(&self, is_counted: impl Fn(&Report) -> bool) -> usize {
        let reports = self.answers.iter().filter_map(|answer| answer.report.unpack().ok());
        reports.filter(is_counted).count()
    }

    /// Prints what was sent, and the delays.
    pub(super) fn print(&self, name: &str) {
        println!(
            "{name}: {} commands sent, {} answered in {:.1} s, {} trades",
            self.sent,
            self.delays.count(),
            self.time.as_secs_f64(),
            self.trades(),
        );
        let held = if self.is_held { " (held back until answers are compared)" } else { "" };
        println!("            from intended send time to last answer: {}{held}", self.delays);
    }

    pub(super) fn trades(&self) -> usize {
        self.count(|report| matches!(report, Report::Trade(_)))
    }
}

impl Flight<'_> {
    /// Sends the commands and receives their answers, until all are answered or the exchange is gone.
    /// `at_end` is called when the last command is sent.
    pub(super) fn fly(&self, address: SocketAddr, at_end: impl FnOnce()) -> io::Result<Landed> {
        let (mut sender, receiver) = client::connect_as(address, self.login)?;
        let start = Instant::now();
        thread::scope(|scope| {
            let receiving = scope.spawn(move || self.receive(receiver, start));
            let (sent, is_held) = self.send(&mut sender, start);
            at_end();
            // A sender that is dropped too early would end the session before its answers.
            let _ = sender.finish();
            let (answers, delays) = receiving.join().expect("the receiver does not panic")?;
            Ok(Landed { answers, delays, sent, time: start.elapsed(), is_held })
        })
    }

    /// Returns the number of commands that were sent, and whether some were held back.
    fn send(&self, sender: &mut OrderSender, start: Instant) -> (usize, bool) {
        let mut orders = Vec::with_capacity(LARGEST_SEND);
        let (mut sent, mut is_held) = (0, false);
        while sent < self.commands.len() && start.elapsed() < self.longest {
            let due = (start.elapsed().as_secs_f64() * self.rate) as usize + 1;
            let limit = self.pace.map_or(usize::MAX, Pace::limit);
            is_held |= due.min(self.commands.len()) > limit;
            let end = due.min(sent + LARGEST_SEND).min(self.commands.len()).min(limit);
            if end <= sent {
                thread::sleep(PAUSE);
                continue;
            }
            orders.clear();
            orders.extend((sent..end).map(|index| self.order(index)));
            if sender.send(&orders).is_err() {
                break;
            }
            sent = end;
        }
        (sent, is_held)
    }

    fn order(&self, index: usize) -> Order {
        let command = PackedCommand::from(&self.commands[index]);
        Order { tag: self.first_tag + index as u64, command }
    }

    fn receive(
        &self,
        mut receiver: AnswerReceiver,
        start: Instant,
    ) -> io::Result<(Vec<Answer>, Delays)> {
        let (mut answers, mut delays) = (Vec::new(), Delays::new());
        let last_tag = self.first_tag + self.commands.len() as u64 - 1;
        while let Some(answer) = receiver.receive()? {
            if answer.tag == 0 {
                continue;
            }
            answers.push(answer);
            if answer.is_last == 1 {
                let index = answer.tag - self.first_tag;
                let intended = Duration::from_secs_f64(index as f64 / self.rate);
                delays.add(start.elapsed().saturating_sub(intended));
                if let Some(pace) = self.pace {
                    pace.answer(index as usize + 1);
                }
                if answer.tag == last_tag {
                    break;
                }
            }
        }
        Ok((answers, delays))
    }
}
