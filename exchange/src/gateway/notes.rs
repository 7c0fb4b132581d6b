//! What the gateway tells the operator, at standard error.
//!
//! A thread writes, so no session waits for a reader of standard error that has stopped reading. Notes
//! that find too many before them are left out, and counted.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::STACK_BYTES;

/// Notes that may wait. Each has some hundred bytes at most.
const MOST_WAITING: usize = 100;

/// Where the gateway puts notes. The thread that writes ends after the last of them when this is
/// dropped.
#[derive(Debug)]
pub(super) struct Notes(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<String>,
    /// How many have not been told of that found no place.
    left_out: u64,
    is_writing: bool,
    is_over: bool,
}

impl Notes {
    /// Starts the thread, which writes to standard error.
    pub(super) fn start() -> io::Result<Self> {
        // An error is ignored: there is no other place to tell it.
        Self::start_with(|line| _ = io::stderr().lock().write_all(line.as_bytes()))
    }

    fn start_with(mut write: impl FnMut(&str) + Send + 'static) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let notes = Self(Arc::clone(&queue));
        let run = move || {
            while let Some(text) = queue.next() {
                write(&format!("gateway: {text}\n"));
                queue.change(|state| state.is_writing = false);
            }
        };
        let thread = thread::Builder::new().name("notes".into()).stack_size(STACK_BYTES);
        thread.spawn(run)?;
        Ok(notes)
    }

    /// Tells the operator something. Never waits for it.
    pub(super) fn add(&self, text: impl Display) {
        self.0.change(|state| {
            if state.waiting.len() < MOST_WAITING {
                state.waiting.push_back(text.to_string());
            } else {
                state.left_out += 1;
            }
        });
    }

    /// Waits until all notes are written. Returns false after `timeout`.
    pub(super) fn wait_until_written(&self, timeout: Duration) -> bool {
        let queue = &*self.0;
        let waited = queue.changed.wait_timeout_while(queue.lock(), timeout, |state| {
            state.is_writing || state.has_some()
        });
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        self.0.change(|state| state.is_over = true);
    }
}

impl Queue {
    /// Waits for a note, and takes it. Returns `None` behind the last one.
    fn next(&self) -> Option<String> {
        let waited =
            self.changed.wait_while(self.lock(), |state| !state.has_some() && !state.is_over);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let next = state.waiting.pop_front().or_else(|| {
            let left_out = std::mem::take(&mut state.left_out);
            (left_out > 0).then(|| format!("notes that were left out: {left_out}"))
        });
        state.is_writing = next.is_some();
        next
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// No panic leaves the state half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_some(&self) -> bool {
        !self.waiting.is_empty() || self.left_out > 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn notes_that_find_no_place_are_counted_and_nothing_waits_for_the_reader() {
        let (sender, written) = sync_channel::<String>(0);
        let notes = Notes::start_with(move |line| _ = sender.send(line.to_owned())).unwrap();
        let count = MOST_WAITING + 50;
        (0..count).for_each(|number| notes.add(number));
        assert!(!notes.wait_until_written(Duration::ZERO));
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.contains("left out")) {
            lines.push(written.recv().unwrap());
        }
        let told = lines.len() - 1;
        assert!(told == MOST_WAITING || told == MOST_WAITING + 1, "the thread may have taken one");
        assert_eq!(lines[told], format!("gateway: notes that were left out: {}\n", count - told));
        assert!((0..told).all(|number| lines[number] == format!("gateway: {number}\n")));
        assert!(notes.wait_until_written(Duration::from_secs(60)));
        drop(notes);
        assert!(written.recv().is_err(), "the thread has ended");
    }
}
