//! Consumers that join while the ring runs, and leave when they have seen enough.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use lapwing::consumer::{Outcome, StopHandle};
use lapwing::error::{PollError, RingError, WaitTimeoutError};
use lapwing::graph::{Seat, Seats};
use lapwing::{Action, Poller, Sequence, Stage};

use crate::event::{Event, Logs, Recorder, Seen};
use crate::plan::{GuestPlan, Plan};

/// What a guest saw: all events from `start` on, to the end if it stayed.
pub(crate) struct Visit {
    pub(crate) start: Sequence,
    pub(crate) log: Vec<Seen>,
    pub(crate) stayed: bool,
}

/// The guests of a ring.
#[derive(Default)]
pub(crate) struct Guests {
    pub(crate) visits: Mutex<Vec<Visit>>,
    stops: Mutex<Vec<StopHandle>>,
}

impl Guests {
    /// Tells the guest that joined last, if it runs a closure, to leave.
    pub(crate) fn stop_one(&self) {
        if let Some(stop) = self.stops.lock().unwrap().pop() {
            stop.stop();
        }
    }

    /// A whole visit, if there is a free seat. `number` gives each guest its own random numbers.
    pub(crate) fn visit(&self, plan: &Plan, seats: &Seats<Event>, guest: &GuestPlan, number: u64) {
        let mut stage = Stage::new(&*guest.name);
        if let Some(strategy) = guest.wait.clone() {
            stage = stage.wait(strategy);
        }
        if let Some(events) = guest.max_batch {
            stage = stage.max_batch(events);
        }
        let Ok(seat) = seats.take(stage, guest.start) else {
            return; // no free seat, or the ring is halted
        };
        let (start, logs) = (seat.sequence(), Logs::default());
        let recorder = Recorder::of_guest(plan, number, &logs);
        let stayed = if guest.is_poller {
            poll(seat, guest, recorder)
        } else {
            self.run(seat, guest, recorder)
        };
        let log = logs.into_inner().unwrap().pop().unwrap();
        self.visits.lock().unwrap().push(Visit { start, log, stayed });
    }

    fn run(&self, seat: Seat<Event>, guest: &GuestPlan, mut recorder: Recorder<'_>) -> bool {
        let leaves_after = guest.leaves_after;
        let consumer = seat.read(move |event, sequence, is_last| {
            match recorder.handle(event, sequence, is_last) {
                Action::Continue if leaves_after.is_some_and(|most| recorder.count() > most) => {
                    recorder.forget_last(); // a consumer that stops at an event has not finished it
                    Action::Stop
                }
                action => action,
            }
        });
        self.stops.lock().unwrap().push(consumer.stop_handle());
        let finished = consumer.run();
        match finished.outcome() {
            Outcome::Drained => true,
            Outcome::Stopped | Outcome::Halted => false,
            outcome => panic!("unexpected end of a guest: {outcome:?}"),
        }
    }
}

/// Polls in different ways, until it has enough or the ring has ended.
fn poll(seat: Seat<Event>, guest: &GuestPlan, mut recorder: Recorder<'_>) -> bool {
    let mut poller = seat.poller();
    loop {
        if guest.leaves_after.is_some_and(|most| recorder.count() > most) {
            return false;
        }
        match read_some(&mut poller, &mut recorder) {
            Some(true) => {}
            Some(false) => return true,
            None => return false,
        }
    }
}

/// Polls once, in one of several ways. Returns `Some(false)` after the last event, `None` after a
/// halt.
pub(crate) fn read_some(poller: &mut Poller<Event>, recorder: &mut Recorder<'_>) -> Option<bool> {
    let most = 1 + recorder.draw(20) as usize;
    let batch = match recorder.draw(5) {
        0 => poller.poll(),
        1 => poller.poll_max(most),
        2 => poller.wait_timeout(Duration::from_micros(50)).map_err(|error| match error {
            WaitTimeoutError::TimedOut => PollError::Empty,
            WaitTimeoutError::Closed => PollError::Closed,
            WaitTimeoutError::Halted(cause) => PollError::Halted(cause),
        }),
        _ => poller.wait().map_err(|error| match error {
            RingError::Closed => PollError::Closed,
            RingError::Halted(cause) => PollError::Halted(cause),
        }),
    };
    match batch {
        Ok(mut batch) => {
            for (sequence, event) in batch.iter().take(most) {
                recorder.see(event, sequence);
            }
            Some(true)
        }
        Err(PollError::Empty) => {
            thread::yield_now();
            Some(true)
        }
        Err(PollError::Closed) => Some(false),
        Err(PollError::Halted(_)) => None,
    }
}
