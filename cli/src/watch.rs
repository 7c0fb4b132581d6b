//! Rings under observation: takes snapshots and keeps what the figures need of the past.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use lapwing::monitor::{Limits, Snapshot, Throughput};
use lapwing::observe::{ObserveError, Observer, ProcessState, RingFile};

use crate::figures::{Figures, Identity, Seen};

/// The time over which the shares of the limits are shown.
const SHARES_OVER: Duration = Duration::from_secs(60);

/// A ring under observation.
#[derive(Debug)]
pub(crate) struct Watched {
    observer: Observer,
    identity: Identity,
    stall_after: Duration,
    last: Option<Snapshot>,
    /// Of the last [`SHARES_OVER`], the oldest first.
    recent: VecDeque<Throughput>,
    figures: Option<Figures>,
}

impl Watched {
    /// Opens a ring.
    ///
    /// # Errors
    ///
    /// [`ObserveError`].
    pub(crate) fn open(file: &RingFile, stall_after: Duration) -> Result<Self, ObserveError> {
        let observer = file.observe()?;
        let (name, pid) = (file.name().to_owned(), observer.pid());
        let identity = Identity { name, pid, made_at: observer.made_at() };
        let (last, recent, figures) = (None, VecDeque::new(), None);
        Ok(Self { observer, identity, stall_after, last, recent, figures })
    }

    /// Whether the figures change no more.
    pub(crate) fn has_ended(&self) -> bool {
        self.figures.as_ref().is_some_and(|figures| {
            matches!(figures.process, ProcessState::Ended | ProcessState::Dropped)
        })
    }

    /// Takes a snapshot, unless the process has ended, and returns the figures.
    ///
    /// # Errors
    ///
    /// [`ObserveError::Io`], if the system does not say whether the process lives.
    pub(crate) fn look(&mut self) -> Result<&Figures, ObserveError> {
        if !self.has_ended() {
            let figures = self.take_look()?;
            self.figures = Some(figures);
        }
        Ok(self.figures.as_ref().expect("set above, now or by the look that saw the end"))
    }

    fn take_look(&mut self) -> Result<Figures, ObserveError> {
        // Before the snapshot: that of a process that has ended is its last one.
        let process = self.observer.process()?;
        let snapshot = self.observer.monitor().snapshot();
        let throughput = self.last.as_ref().map(|last| snapshot.since(last));
        if process == ProcessState::Running
            && let Some(throughput) = &throughput
        {
            self.remember(throughput.clone());
        }
        let mut limits = Limits::new();
        self.recent.iter().for_each(|throughput| limits.add(throughput));
        let figures = Figures::of(&Seen {
            identity: &self.identity,
            process,
            at: SystemTime::now(),
            snapshot: &snapshot,
            earlier: self.last.as_ref().zip(throughput.as_ref()),
            limits: &limits,
            stall_after: self.stall_after,
        });
        self.last = Some(snapshot);
        Ok(figures)
    }

    fn remember(&mut self, throughput: Throughput) {
        self.recent.push_back(throughput);
        let mut over: Duration = self.recent.iter().map(|throughput| throughput.elapsed).sum();
        while over > SHARES_OVER && self.recent.len() > 1 {
            let oldest = self.recent.pop_front().expect("two are there");
            over = over.saturating_sub(oldest.elapsed);
        }
    }
}
