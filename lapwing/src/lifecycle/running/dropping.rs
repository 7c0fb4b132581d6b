//! What a drop of `Running` does with the ring and its threads. Not here: the calls that wait and say how the stages
//! ended (`shutdown`).

use std::thread;
use std::time::{Duration, Instant};

use super::{Handle, Running};

/// What a drop of `Running` does, where nothing panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDrop {
    /// Closes the ring, and waits so long at most until its threads have ended.
    CloseAndWait(Duration),
    /// Leaves the ring open.
    LeaveOpen,
}

impl Default for OnDrop {
    fn default() -> Self {
        Self::CloseAndWait(Running::DROP_TIMEOUT)
    }
}

impl Running<'_> {
    /// How long a drop waits at most, unless [`set_drop_timeout`](Self::set_drop_timeout) says otherwise: 10 s. That is
    /// long enough to write out a full ring to a slow disk, and short enough for a service that is asked to end.
    pub const DROP_TIMEOUT: Duration = Duration::from_secs(10);

    /// Sets how long a drop of this waits at most until the stages have handled every accepted event; see
    /// [Dropping](Self#dropping). [`Duration::MAX`] is no limit. [`Duration::ZERO`] closes the ring and does not wait:
    /// what is not handled when the process ends is lost. Returns at once.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use lapwing::{Disruptor, error::PublishError};
    ///
    /// let (go, gate) = mpsc::channel::<()>();
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("slow").read(move |_, _, _| { let _ = gate.recv(); }) // until `go` is dropped
    ///     .build()?;
    /// let mut running = consumers.start()?;
    /// running.set_drop_timeout(Duration::ZERO);
    /// producer.publish(|event| *event = 7)?;
    /// drop(running); // though the handler has not returned
    /// assert_eq!(producer.publish(|event| *event = 8), Err(PublishError::Closed));
    /// # drop(go);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_drop_timeout(&mut self, timeout: Duration) {
        self.on_drop = OnDrop::CloseAndWait(timeout);
    }

    /// Leaves the ring open and the threads alone. They end when the last producer is gone, or when the ring is closed
    /// or halted. Nothing waits for them: what they have not handled when the process ends is lost. Returns at once.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// # use lapwing::Disruptor;
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

    /// Waits until the threads have ended, for `timeout` at most; whether they have. It does not join them.
    pub(super) fn wait_for_threads(&self, timeout: Duration) -> bool {
        // Too long for the clock is no limit.
        let deadline = Instant::now().checked_add(timeout);
        self.completion.wait(self.threads.len(), deadline)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let OnDrop::CloseAndWait(timeout) = self.on_drop else {
            return;
        };
        // A poller that this thread would have let go of events with may be gone.
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
