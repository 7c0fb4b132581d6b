//! What dropping `Running` does with the ring and its threads. Not here: the calls that wait and
//! say how the stages ended (`shutdown`).

use std::thread;
use std::time::Duration;

use super::on_drop::{OnDrop, TIMEOUT};
use super::{Handle, Running};
use crate::sync::now;

impl Running<'_> {
    /// The longest time that dropping `Running` waits, unless
    /// [`set_drop_timeout`](Self::set_drop_timeout) changes it: 10 s.
    ///
    /// That is long enough to write a full ring to a slow disk, and short enough for a service that
    /// is asked to end.
    pub const DROP_TIMEOUT: Duration = TIMEOUT;

    /// Sets the longest time that [dropping](Self#dropping) waits for the stages to handle every
    /// accepted event.
    ///
    /// [`Duration::MAX`] is no limit. [`Duration::ZERO`] closes the ring and does not wait: events
    /// that are not handled when the process ends are lost. The call returns at once.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use lapwing::{Disruptor, error::PublishError};
    ///
    /// let (go, gate) = mpsc::channel::<()>();
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("slow").read(move |_, _, _| _ = gate.recv()) // returns when `go` is dropped
    ///     .build()?;
    /// let mut running = consumers.start()?;
    /// running.set_drop_timeout(Duration::ZERO);
    /// producer.publish(|event| *event = 7)?;
    /// drop(running); // although the handler has not returned
    /// assert_eq!(producer.publish(|event| *event = 8), Err(PublishError::Closed));
    /// drop(go);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_drop_timeout(&mut self, timeout: Duration) {
        self.on_drop = OnDrop::CloseAndWait(timeout);
    }

    /// Leaves the ring open and its threads running. They end when the last producer is dropped,
    /// when the ring is closed or halted, or when their stages stop.
    ///
    /// No call waits for these threads: events that are not handled when the process ends are lost.
    /// A [scope](std::thread::scope) still waits until its threads have ended. The call returns at
    /// once.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use lapwing::Disruptor;
    ///
    /// let (send, receive) = mpsc::channel();
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("forward").read(move |event, _, _| send.send(*event).unwrap())
    ///     .build()?;
    /// consumers.start()?.detach();
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(receive.recv()?, 7);
    /// drop(producer); // the thread ends
    /// assert!(receive.recv().is_err()); // and has dropped `send`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn detach(mut self) {
        self.on_drop = OnDrop::LeaveOpen;
    }

    /// Waits until the threads have ended, for `timeout` at most. Returns whether they have ended.
    /// Does not join them.
    pub(super) fn wait_for_threads(&self, timeout: Duration) -> bool {
        // A timeout that is too long for the clock is no limit.
        let deadline = now().checked_add(timeout);
        self.completion.wait(self.threads.len(), deadline)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let OnDrop::CloseAndWait(timeout) = self.on_drop else {
            return;
        };
        // A stage may wait for a poller that this thread can no longer poll.
        if thread::panicking() {
            return self.halt();
        }
        self.close();
        // `shutdown` and `join` leave no threads.
        let is_own = self.threads.iter().any(Handle::is_own);
        if !is_own && self.wait_for_threads(timeout) {
            self.join_threads();
        }
    }
}
