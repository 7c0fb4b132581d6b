//! Waiting at several receiving ends at once, as a thread.
//!
//! [`select`] blocks until one of several receivers and pollers has something, whatever their types and
//! rings are, and says which. A receive call that does not wait then takes it. An async task needs no
//! such call: `select!` of its runtime does the same with the calls that end in `_async`.
//!
//! ```
//! use lapwing::{channel, select::select};
//!
//! let (mut orders, mut order_receiver) = channel::spsc(8)?;
//! let (mut alarms, mut alarm_receiver) = channel::spsc(8)?;
//! let threads = [
//!     std::thread::spawn(move || orders.send(7).is_ok()),
//!     std::thread::spawn(move || alarms.send("fire").is_ok()),
//! ];
//!
//! let (mut order, mut alarm) = (None, None);
//! while order.is_none() || alarm.is_none() {
//!     match select(&mut [&mut alarm_receiver, &mut order_receiver]) {
//!         0 => alarm = alarm_receiver.try_recv().ok().or(alarm),
//!         _ => order = order_receiver.try_recv().ok().or(order),
//!     }
//! }
//! assert_eq!((order, alarm), (Some(7), Some("fire")));
//! # drop(threads.map(|thread| thread.join().unwrap()));
//! # Ok::<(), lapwing::error::BuildError>(())
//! ```

use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use crate::awaiting::ReadyEnd;
use crate::channel::{BroadcastReceiver, Receiver};
use crate::consumer::{Access, Poller};
use crate::deadline::{TimeLimit, has_passed};

/// An end that [`select`] can wait at: [`Receiver`], [`BroadcastReceiver`] and [`Poller`]. No other type
/// can implement it.
pub trait Selectable: sealed::End {}

mod sealed {
    use std::task::{Context, Poll};

    /// What the wait needs of an end.
    pub trait End {
        /// Is ready if a receive call would not wait. If not, the waker of `context` is registered.
        fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()>;

        /// Removes the waker.
        fn leave_end(&mut self);
    }
}

impl<R: ReadyEnd> sealed::End for R {
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.poll_ready(context)
    }

    fn leave_end(&mut self) {
        self.leave_place();
    }
}

impl<E, A: Access> Selectable for Poller<E, A> {}
impl<T> Selectable for Receiver<T> {}
impl<T> Selectable for BroadcastReceiver<T> {}

impl fmt::Debug for dyn Selectable + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selectable").finish_non_exhaustive()
    }
}

/// Blocks until one of `ends` has something to receive or has ended, and returns its index.
///
/// If several have, one of them is chosen at random, so none starves. The calls without a wait then say
/// what there is: [`Receiver::try_recv`], [`Poller::poll`] and their like. They may still find nothing, in
/// the rare case that a sender has taken its value back; then select again.
///
/// # Blocking
///
/// The thread sleeps until another one publishes to one of the rings, or closes or halts it. It does not
/// spin before, and the wait strategies of the ends have no effect. But if all strategies of a ring spin,
/// no publication looks for waiters there, so the thread polls without a pause.
///
/// While it waits, it has the place of [a task](crate::channel#tasks) at each ring. This ends the
/// registration of an earlier `poll_recv` or `poll_wait` of these ends.
///
/// # Panics
///
/// If `ends` is empty, since nothing would end the wait.
#[must_use = "the end with this index has something"]
pub fn select(ends: &mut [&mut dyn Selectable]) -> usize {
    select_until(ends, None).expect("a wait without a time limit ends with an end that is ready")
}

/// Blocks until one of `ends` has something to receive or has ended, and returns its index; `None` if
/// that takes longer than `timeout`.
///
/// If `timeout` is too long for the clock, there is no limit. If something is there when the limit
/// expires, the wait succeeds.
///
/// ```
/// use std::time::Duration;
/// use lapwing::{channel, select::select_timeout};
///
/// let (mut sender, mut receiver) = channel::spsc(8)?;
/// let patience = Duration::from_millis(1);
/// assert_eq!(select_timeout(&mut [&mut receiver], patience), None);
/// sender.send(7)?;
/// assert_eq!(select_timeout(&mut [&mut receiver], patience), Some(0));
/// assert_eq!(receiver.try_recv(), Ok(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Blocking
///
/// Blocks as [`select`] does, for about `timeout` at most.
///
/// # Panics
///
/// If `ends` is empty.
#[must_use = "the end with this index has something"]
pub fn select_timeout(ends: &mut [&mut dyn Selectable], timeout: Duration) -> Option<usize> {
    select_until(ends, TimeLimit::For(timeout).deadline())
}

fn select_until(ends: &mut [&mut dyn Selectable], deadline: Option<Instant>) -> Option<usize> {
    assert!(!ends.is_empty(), "select needs at least one end");
    let (signal, mut visit) = (Arc::<Signal>::default(), Visit(ends));
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    loop {
        let is_last = has_passed(deadline);
        if let Some(ready) = visit.first_ready(&mut context) {
            return Some(ready);
        }
        if is_last {
            return None;
        }
        signal.wait(deadline);
    }
}

/// The ends while a thread waits at them. Its drop removes the thread from all of them.
struct Visit<'v, 'e>(&'v mut [&'e mut dyn Selectable]);

impl Visit<'_, '_> {
    /// Polls the ends until one is ready.
    fn first_ready(&mut self, context: &mut Context<'_>) -> Option<usize> {
        let count = self.0.len();
        let first = random() as usize % count;
        let mut order = (first..count).chain(0..first);
        order.find(|index| self.0[*index].poll_end(context).is_ready())
    }
}

/// Returns a number of a sequence that this thread has for all of its waits: xorshift32 (Marsaglia,
/// "Xorshift RNGs", 2003). A number in turn would always begin with the same end where a loop selects twice.
fn random() -> u32 {
    thread_local! {
        static STATE: Cell<u32> = const { Cell::new(0x9e37_79b9) };
    }
    let mut state = STATE.get();
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    STATE.set(state);
    state
}

impl Drop for Visit<'_, '_> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|end| end.leave_end());
    }
}

/// Wakes the thread that waits. `std::thread::park` would use up a wake-up that the program has for it.
#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Signal {
    /// Waits until it is woken, or until `deadline`.
    fn wait(&self, deadline: Option<Instant>) {
        let mut is_woken = self.lock();
        while !*is_woken && !has_passed(deadline) {
            is_woken = match deadline {
                None => self.woken.wait(is_woken).expect(UNPOISONED),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    self.woken.wait_timeout(is_woken, left).expect(UNPOISONED).0
                }
            };
        }
        *is_woken = false;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, bool> {
        self.is_woken.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "no code panics under this lock";

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.lock() = true;
        self.woken.notify_one();
    }
}
