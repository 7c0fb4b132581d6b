//! Ends of channels and rings that async tasks await, and what is done with them. The contenders are in
//! `contenders::tasks`.

pub(crate) mod idle; // tasks that wait, and what they cost
pub(crate) mod stream; // values for a fixed time
pub(crate) mod wake_up; // a thread wakes a task

use std::future::Future;
use std::ops::Range;

use tokio::runtime::{Builder, Runtime};

use crate::measure::crew::{Disconnected, RunError};

/// A sending end.
pub(crate) trait TaskSender: Send + 'static {
    /// Sends one value. Waits while there is no room.
    fn send_one(&mut self, value: u64) -> impl Future<Output = Result<(), Disconnected>> + Send;

    /// Sends these values. One that cannot send several together sends them one by one.
    fn send_batch(
        &mut self,
        values: Range<u64>,
    ) -> impl Future<Output = Result<(), Disconnected>> + Send {
        async move {
            for value in values {
                self.send_one(value).await?;
            }
            Ok(())
        }
    }
}

/// A receiving end.
pub(crate) trait TaskReceiver: Send + 'static {
    /// Receives one value, or `None` at the end.
    fn receive_one(&mut self) -> impl Future<Output = Option<u64>> + Send;

    /// Receives what is there, at least one value, or `None` at the end. One that cannot receive several
    /// together receives one.
    fn receive_batch(&mut self) -> impl Future<Output = Option<Tally>> + Send {
        async move { self.receive_one().await.map(|value| [value].into_iter().collect()) }
    }

    /// Returns how many values were overwritten before it received them.
    fn lost(&self) -> u64 {
        0
    }
}

/// The number of some values, and their sum, with wrapping additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    pub(crate) sum: u64,
}

impl Tally {
    /// Adds `other`.
    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl FromIterator<u64> for Tally {
    fn from_iter<V: IntoIterator<Item = u64>>(values: V) -> Self {
        let mut tally = Self::default();
        values.into_iter().for_each(|value| tally.add(Self { count: 1, sum: value }));
        tally
    }
}

/// Returns a runtime with this many threads.
fn runtime(threads: usize) -> Result<Runtime, RunError> {
    let runtime = Builder::new_multi_thread().worker_threads(threads).build();
    runtime.map_err(|error| RunError::Build(error.to_string()))
}

/// Returns the error of a task that panicked.
fn panicked(error: &tokio::task::JoinError) -> RunError {
    RunError::Panicked { worker: "task".to_owned(), message: error.to_string() }
}
