//! The paper's baseline, `ArrayBlockingQueue`, in Rust: a ring in a mutex, one condition variable
//! for "not full" and one for "not empty".
//!
//! A condition variable of the standard library enters the kernel at every notification. Java's
//! does not if no thread waits, so this queue counts the waiting threads. Without the count, the
//! baseline would be slower than in the paper.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::load::queue::{Payload, Queue};
use crate::measure::crew::Disconnected;

/// A mutex with two condition variables.
#[derive(Clone, Copy, Default)]
pub(super) struct BoundedQueue;

impl Queue for BoundedQueue {
    const NAME: &'static str = super::BASELINE;
    const WAIT: &'static str = "condvar";

    type Sender<T: Payload> = SendEnd<T>;
    type Receiver<T: Payload> = ReceiveEnd<T>;

    fn bounded<T: Payload>(
        self,
        capacity: usize,
        senders: usize,
    ) -> (Vec<SendEnd<T>>, ReceiveEnd<T>) {
        let mut ring = VecDeque::new();
        ring.resize(capacity, T::default()); // touches the memory
        ring.clear();

        let state = State { ring, senders, receivers: 1, waiting_senders: 0, waiting_receivers: 0 };
        let shared = Arc::new(Shared {
            capacity,
            state: Mutex::new(state),
            not_full: Condvar::new(),
            not_empty: Condvar::new(),
        });
        let sender = |_| SendEnd(Arc::clone(&shared));
        ((0..senders).map(sender).collect(), ReceiveEnd(Arc::clone(&shared)))
    }

    #[inline]
    fn send<T: Payload>(sender: &mut SendEnd<T>, message: T) -> Result<(), Disconnected> {
        sender.send(message)
    }

    #[inline]
    fn receive<T: Payload>(receiver: &mut ReceiveEnd<T>) -> Result<T, Disconnected> {
        receiver.receive()
    }

    fn share<T: Payload>(receiver: &ReceiveEnd<T>) -> Option<ReceiveEnd<T>> {
        receiver.0.lock().receivers += 1;
        Some(ReceiveEnd(Arc::clone(&receiver.0)))
    }
}

/// The shared state of both ends.
struct Shared<T> {
    /// The maximum number of messages.
    capacity: usize,
    /// Everything that changes.
    state: Mutex<State<T>>,
    /// Notified when a message was taken and a sender waits.
    not_full: Condvar,
    /// Notified when a message was put and a receiver waits.
    not_empty: Condvar,
}

/// The queue and the counts of waiting threads, under the mutex.
struct State<T> {
    /// The messages, oldest first. It never grows beyond the capacity.
    ring: VecDeque<T>,
    /// Sending ends that exist.
    senders: usize,
    /// Receiving ends that exist.
    receivers: usize,
    /// Senders that wait for `not_full`.
    waiting_senders: usize,
    /// Receivers that wait for `not_empty`.
    waiting_receivers: usize,
}

impl<T> Shared<T> {
    /// Locks the state. No code that can panic runs under the lock, so a poisoned one is sound.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Releases the lock and waits for `condition`.
fn wait<'a, T>(condition: &Condvar, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
    condition.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// The sending end.
pub(super) struct SendEnd<T>(Arc<Shared<T>>);

impl<T> SendEnd<T> {
    #[inline]
    fn send(&self, message: T) -> Result<(), Disconnected> {
        let mut state = self.0.lock();
        while state.ring.len() == self.0.capacity && state.receivers > 0 {
            state.waiting_senders += 1;
            state = wait(&self.0.not_full, state);
            state.waiting_senders -= 1;
        }
        if state.receivers == 0 {
            return Err(Disconnected);
        }
        state.ring.push_back(message);

        let somebody_waits = state.waiting_receivers > 0;
        drop(state);
        if somebody_waits {
            self.0.not_empty.notify_one();
        }
        Ok(())
    }
}

impl<T> Drop for SendEnd<T> {
    fn drop(&mut self) {
        self.0.lock().senders -= 1;
        self.0.not_empty.notify_all();
    }
}

/// The receiving end.
pub(super) struct ReceiveEnd<T>(Arc<Shared<T>>);

impl<T> ReceiveEnd<T> {
    #[inline]
    fn receive(&self) -> Result<T, Disconnected> {
        let mut state = self.0.lock();
        while state.ring.is_empty() && state.senders > 0 {
            state.waiting_receivers += 1;
            state = wait(&self.0.not_empty, state);
            state.waiting_receivers -= 1;
        }
        let message = state.ring.pop_front().ok_or(Disconnected)?;

        let somebody_waits = state.waiting_senders > 0;
        drop(state);
        if somebody_waits {
            self.0.not_full.notify_one();
        }
        Ok(message)
    }
}

impl<T> Drop for ReceiveEnd<T> {
    fn drop(&mut self) {
        self.0.lock().receivers -= 1;
        self.0.not_full.notify_all();
    }
}
