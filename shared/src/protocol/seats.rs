//! Seats: how a process takes one and gives it up, how that of a dead process is cleared, and how far
//! the slowest reader is.
//!
//! A reader that joins has to be seen by a writer before the writer overwrites what the reader begins
//! with. The writer looks at the seats only now and then, and is *granted* all sequences below a limit
//! in between:
//!
//! ```text
//! reader                                    writer
//! sequence = start                          granted = slowest sequence + capacity
//! tenure = odd                              full fence
//! full fence                                look at the seats again
//! start + capacity < granted?               write below the smaller of the two limits
//! then begin later, and check again
//! ```
//!
//! Either the writer sees the seat, or the reader sees the new limit (P4).

use super::Shared;
use crate::sync::{Ordering, fence};
use crate::words::Holder;

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the next event that is published.
    Newest,
    /// With the oldest event that is still in its slot.
    Oldest,
}

/// Whose seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Readers,
    /// With several writers only: one that is alone has no seat.
    Writers,
}

/// A seat, and the time for which a process has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tenure {
    pub(crate) index: usize,
    pub(crate) number: u64,
}

/// Whether a process has a seat while its word is this.
pub(crate) fn is_held(tenure: u64) -> bool {
    !tenure.is_multiple_of(2)
}

impl<'a> Shared<'a> {
    /// Takes the seat `index`, which is free. Returns it, and the sequence of the first event. No other
    /// thread or process takes a seat at the same time (M3).
    pub(crate) fn join(self, index: usize, start: Start, fences: u32) -> (Tenure, u64) {
        let seat = &self.seats[index];
        let mut sequence = self.begin(start);
        // P3: acquires what the last reader of this seat has read. The stores below pass that on.
        let number = seat.holder.0.tenure() + 1;
        // P3, Release: the writer may see this sequence together with the last tenure.
        seat.sequence.0.store(sequence, Ordering::Release);
        seat.holder.0.take(number, fences);
        loop {
            // P4: between the tenure and the limit. Pairs with the fence in `grant`.
            fence(Ordering::SeqCst);
            let oldest = self.oldest();
            if sequence >= oldest {
                // P5: the writer may have parked because of where this reader was going to begin. The
                // fence above is the light one.
                self.words.slots.0.notify();
                return (Tenure { index, number }, sequence);
            }
            sequence = oldest.max(self.begin(start));
            // P3, Release: as above.
            seat.sequence.0.store(sequence, Ordering::Release);
        }
    }

    /// Returns where a reader begins, unless the writer has been granted more meanwhile.
    fn begin(self, start: Start) -> u64 {
        match start {
            Start::Newest => self.newest(),
            Start::Oldest => self.oldest(),
        }
    }

    /// Returns the sequence of the oldest event that the writer may not overwrite yet.
    pub(crate) fn oldest(self) -> u64 {
        // P4, Acquire: pairs with the Release in `grant`; carries the published events on which the
        // limit is based, so that it is never ahead of them.
        self.words.granted.0.load(Ordering::Acquire).saturating_sub(self.capacity)
    }

    /// Gives up a seat. The caller reads no more events.
    pub(crate) fn leave(self, tenure: Tenure) {
        self.seats[tenure.index].holder.0.leave(tenure.number);
    }

    /// Clears the seat of a reader that is dead: it had this tenure (M3). Returns whether it did.
    pub(crate) fn clear(self, tenure: Tenure) -> bool {
        self.seats[tenure.index].holder.0.clear(tenure.number)
    }

    /// Returns the seats that are held, and where their readers are.
    pub(crate) fn held(self) -> impl Iterator<Item = (Tenure, u64)> {
        self.tenures(Side::Readers).map(move |tenure| {
            // P2, Acquire: pairs with the Release in `release`.
            (tenure, self.seats[tenure.index].sequence.0.load(Ordering::Acquire))
        })
    }

    /// Returns the sequence of the slowest reader; `None` without readers.
    pub(crate) fn slowest(self) -> Option<u64> {
        self.held().map(|(_, sequence)| sequence).min()
    }

    /// Whether the slot of `sequence` is free: each reader has finished the event one lap before.
    pub(crate) fn has_room(self, sequence: u64) -> bool {
        self.slowest().is_none_or(|slowest| slowest + self.capacity > sequence)
    }

    /// Returns who has a seat.
    pub(crate) fn holder(self, side: Side, index: usize) -> &'a Holder {
        match side {
            Side::Readers => &self.seats[index].holder.0,
            Side::Writers => &self.writers[index].holder.0,
        }
    }

    /// Returns the number of seats.
    pub(crate) fn seats(self, side: Side) -> usize {
        match side {
            Side::Readers => self.seats.len(),
            Side::Writers => self.writers.len(),
        }
    }

    /// Returns the seats that are held. Unlike [`held`](Self::held), it loads no sequence, whose
    /// cache line another process is writing.
    pub(crate) fn tenures(self, side: Side) -> impl Iterator<Item = Tenure> {
        let tenure = move |index| Tenure { index, number: self.holder(side, index).tenure() };
        (0..self.seats(side)).map(tenure).filter(|tenure| is_held(tenure.number))
    }

    /// Returns the free seats.
    pub(crate) fn free_seats(self, side: Side) -> impl Iterator<Item = usize> {
        let is_free = move |&index: &usize| !is_held(self.holder(side, index).tenure());
        (0..self.seats(side)).filter(is_free)
    }

    /// Returns the number of readers.
    pub(crate) fn readers(self) -> usize {
        self.tenures(Side::Readers).count()
    }

    /// Returns the number of writers; 1 if there can be no more.
    pub(crate) fn writers(self) -> usize {
        if self.has_one_writer() { 1 } else { self.tenures(Side::Writers).count() }
    }

    /// Whether there is one writer, without a seat.
    #[inline]
    pub(crate) fn has_one_writer(self) -> bool {
        self.writers.is_empty()
    }

    /// Returns the number of threads at the segment, if each end has one.
    pub(crate) fn threads(self) -> u64 {
        (self.writers() + self.readers()) as u64
    }

    /// Returns where the next event is.
    pub(crate) fn newest(self) -> u64 {
        if self.has_one_writer() {
            // P1, Relaxed: a reader reads no event before a poll has acquired it.
            self.words.published.0.load(Ordering::Relaxed)
        } else {
            self.next_claim()
        }
    }
}

impl Holder {
    /// Returns the word that says whether a process has the seat.
    pub(crate) fn tenure(&self) -> u64 {
        // P3, Acquire: pairs with the Release in `take`, `leave` and `clear`.
        self.tenure.load(Ordering::Acquire)
    }

    /// Takes the seat.
    pub(super) fn take(&self, number: u64, fences: u32) {
        self.fences.store(fences, Ordering::Relaxed); // P5, Relaxed: a fence follows
        // P3, Release: pairs with the Acquire in `tenure`; carries where a reader begins.
        self.tenure.store(number, Ordering::Release);
    }

    /// Gives up the seat.
    pub(super) fn leave(&self, number: u64) {
        // P3, Release: pairs with the Acquire in `tenure`; orders what was read before what is
        // written.
        self.tenure.store(number + 1, Ordering::Release);
    }

    /// Frees the seat of a dead process, if it has had it with this number. Returns whether it had.
    pub(super) fn clear(&self, number: u64) -> bool {
        // P3, Release: as in `leave`; the kernel orders what a process did before its death. The caller
        // has acquired this tenure.
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        self.tenure.compare_exchange(number, number + 1, success, failure).is_ok()
    }

    /// Returns its process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed) // P8, Relaxed: for people
    }

    /// Returns which fence its process runs.
    pub(super) fn fences(&self) -> u32 {
        // P5, Relaxed: a fence precedes.
        self.fences.load(Ordering::Relaxed)
    }
}
