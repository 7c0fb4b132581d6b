//! Consumers that the soak runs itself: pollers of stages, and guests that take a seat and leave.

use std::sync::Arc;
use std::time::Duration;

use lapwing::consumer::Outcome;
use lapwing::error::PollError;
use lapwing::graph::{Seat, Seats, StartAt};
use lapwing::{Action, Poller};

use super::checker::Checker;
use super::event::Event;
use super::faults::Kind as Fault;
use super::orders::{Order, Orders};
use super::station::Post;
use super::violation::{Checked, Violation};
use super::world::World;

/// The timeout of a poll that has one.
const PATIENCE: Duration = Duration::from_micros(50);

/// How a poller ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// After the last event.
    Closed,
    /// By a halt.
    Halted,
    /// It has left.
    Left,
}

/// Polls for the stage `id` until the ring has ended.
pub(super) fn poll_stage(
    world: &Arc<World>,
    id: usize,
    mut poller: Poller<Event>,
    orders: &Orders,
) {
    let post = Post::of_stage(world, id);
    let mut checker = Checker::new(world.seed, !world.plan.is_multi);
    let may_leave = world.plan.stages[id].may_leave;
    let mut turn = 0_u64;
    let end = loop {
        match orders.take() {
            Some(Order::Stall(time)) => {
                world.board.injected(Fault::Stall);
                world.board.stall(time);
            }
            Some(Order::Leave) if may_leave => {
                world.board.injected(Fault::Left);
                world.stage(id).leave();
                break Ok(End::Left);
            }
            _ => {}
        }
        turn += 1;
        match poll(&post, &mut poller, &mut checker, turn) {
            Ok(None) => {}
            Ok(Some(end)) => break Ok(end),
            Err(violation) => break Err(violation),
        }
    };
    world.stage(id).keep(checker.seen().map(Option::unwrap_or_default));
    world.note(end.and_then(|end| check_end(world, end)), &post.name);
}

fn check_end(world: &World, end: End) -> Checked {
    if end == End::Halted && !world.is_halt_expected() {
        return Err(Violation::Outcome { outcome: "Halted: a poller".to_owned() });
    }
    Ok(())
}

/// Polls once, in one of several ways. Returns how the ring ended, if it has.
fn poll(
    post: &Post,
    poller: &mut Poller<Event>,
    checker: &mut Checker,
    turn: u64,
) -> Checked<Option<End>> {
    let batch = match turn % 8 {
        0 => poller.poll(),
        1 => poller.poll_max(3),
        2 => poller.wait_timeout(PATIENCE),
        _ => poller.wait().map_err(PollError::from),
    };
    let mut batch = match batch {
        Ok(batch) => batch,
        Err(PollError::Empty) => return Ok(None),
        Err(PollError::Closed) => return Ok(Some(End::Closed)),
        Err(PollError::Halted(_)) => return Ok(Some(End::Halted)),
    };
    checker.slice(&post.place, batch.as_slice(), batch.first_sequence())?;
    post.count(batch.len() as u64);
    batch.consume_all();
    Ok(None)
}

/// A consumer that joins.
pub(super) struct Guest {
    /// Its name.
    pub(super) name: String,
    /// After how many events it leaves.
    pub(super) leaves_after: Option<u64>,
    /// Whether it polls.
    pub(super) is_poller: bool,
    /// Where it begins.
    pub(super) start: StartAt,
}

impl Guest {
    /// A whole visit, if there is a free seat.
    pub(super) fn visit(self, world: &Arc<World>, seats: &Seats<Event>) {
        let Ok(seat) = seats.take(self.name.as_str(), self.start) else {
            return; // no free seat, or the ring is halted
        };
        world.board.injected(Fault::Joined);
        let is_single = !world.plan.is_multi;
        let checker = Checker::joining(world.seed, is_single, seat.sequence());
        let post = Post::of_guest(world, self.name.clone());
        let visited = if self.is_poller {
            self.poll(seat, &post, checker)
        } else {
            self.run(seat, &post, checker)
        };
        match visited {
            Ok(End::Left) => world.board.injected(Fault::Left),
            Ok(end) => world.note(check_end(world, end), &self.name),
            Err(violation) => post.refuse(violation),
        }
    }

    fn poll(&self, seat: Seat<Event>, post: &Post, mut checker: Checker) -> Checked<End> {
        let start = seat.sequence();
        let mut poller = seat.poller();
        let mut turn = 0;
        loop {
            if self.leaves_after.is_some_and(|most| poller.sequence() - start > most) {
                return Ok(End::Left);
            }
            turn += 1;
            if let Some(end) = poll(post, &mut poller, &mut checker, turn)? {
                return Ok(end);
            }
        }
    }

    fn run(&self, seat: Seat<Event>, post: &Post, mut checker: Checker) -> Checked<End> {
        let leaves_after = self.leaves_after;
        let (mut seen, mut found) = (0, Ok(()));
        let consumer = seat.read(|event, sequence, _| {
            if leaves_after.is_some_and(|most| seen > most) {
                return Action::Stop;
            }
            seen += 1;
            post.count(1);
            found = checker.one(&post.place, event, sequence, false);
            if found.is_ok() { Action::Continue } else { Action::Stop }
        });
        let finished = consumer.run();
        found?;
        match finished.outcome() {
            Outcome::Drained => Ok(End::Closed),
            Outcome::Stopped => Ok(End::Left),
            Outcome::Halted => Ok(End::Halted),
            outcome => Err(Violation::Outcome { outcome: format!("{outcome:?}: a guest") }),
        }
    }
}
