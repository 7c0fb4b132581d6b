//! Seats: how a reader takes one and gives it up, how that of a dead reader is cleared, and how far the
//! slowest reader is.
//!
//! A reader that joins has to be seen by the writer before the writer overwrites what the reader begins
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
use crate::words::Seat;

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the next event that is published.
    Newest,
    /// With the oldest event that is still in its slot.
    Oldest,
}

/// A seat that this process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tenure {
    pub(crate) index: usize,
    pub(crate) number: u64,
}

/// Whether a reader has a seat while its word is this.
pub(crate) fn is_held(tenure: u64) -> bool {
    !tenure.is_multiple_of(2)
}

impl Shared<'_> {
    /// Takes the seat `index`, which is free. Returns it, and the sequence of the first event. No other
    /// thread or process takes a seat at the same time (M3).
    pub(crate) fn join(self, index: usize, start: Start, fences: u32) -> (Tenure, u64) {
        let seat = &self.seats[index];
        let mut sequence = self.begin(start);
        // P3: acquires what the last reader of this seat has read. The stores below pass that on.
        let number = self.tenure_of(index) + 1;
        // P3, Release: the writer may see this sequence together with the last tenure.
        seat.sequence.0.store(sequence, Ordering::Release);
        seat.holder.0.fences.store(fences, Ordering::Relaxed); // P5, Relaxed: as above
        // P3, Release: pairs with the Acquire in `held`; carries the sequence.
        seat.holder.0.tenure.store(number, Ordering::Release);
        loop {
            // P4: between the tenure and the limit. Pairs with the fence in `look`.
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
            // P1, Relaxed: it reads no event before a poll has acquired it.
            Start::Newest => self.words.published.0.load(Ordering::Relaxed),
            Start::Oldest => self.oldest(),
        }
    }

    /// Returns the sequence of the oldest event that the writer may not overwrite yet.
    fn oldest(self) -> u64 {
        // P4, Acquire: pairs with the Release in `look`; carries the published events on which the
        // limit is based, so that it is never ahead of them.
        self.words.granted.0.load(Ordering::Acquire).saturating_sub(self.capacity)
    }

    /// Gives up a seat. The caller reads no more events.
    pub(crate) fn leave(self, tenure: Tenure) {
        let word = &self.seats[tenure.index].holder.0.tenure;
        // P3, Release: pairs with the Acquire in `held`; orders what was read before what is written.
        word.store(tenure.number + 1, Ordering::Release);
    }

    /// Clears the seat of a reader that is dead: it had this tenure (M3). Returns whether it did.
    pub(crate) fn clear(self, tenure: Tenure) -> bool {
        let (word, number) = (&self.seats[tenure.index].holder.0.tenure, tenure.number);
        // P3, AcqRel: as in `leave`; the kernel orders what a process did before its death.
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        word.compare_exchange(number, number + 1, success, failure).is_ok()
    }

    /// Returns the seats that are held, and where their readers are.
    pub(crate) fn held(self) -> impl Iterator<Item = (Tenure, u64)> {
        self.seats.iter().enumerate().filter_map(move |(index, seat)| {
            let number = self.tenure_of(index);
            is_held(number).then(|| {
                // P2, Acquire: pairs with the Release in `release`.
                let sequence = seat.sequence.0.load(Ordering::Acquire);
                (Tenure { index, number }, sequence)
            })
        })
    }

    /// Returns the word of a seat.
    pub(crate) fn tenure_of(self, index: usize) -> u64 {
        // P3, Acquire: pairs with the Release in `join` and in `leave`.
        self.seats[index].holder.0.tenure.load(Ordering::Acquire)
    }

    /// Returns the sequence of the slowest reader; `None` without readers.
    pub(crate) fn slowest(self) -> Option<u64> {
        self.held().map(|(_, sequence)| sequence).min()
    }

    /// Whether the slot of `sequence` is free: each reader has finished the event one lap before.
    pub(crate) fn has_room(self, sequence: u64) -> bool {
        self.slowest().is_none_or(|slowest| slowest + self.capacity > sequence)
    }

    /// Returns the number of readers. Unlike [`held`](Self::held), it loads no sequence, whose cache
    /// line another reader is writing.
    pub(crate) fn readers(self) -> usize {
        (0..self.seats.len()).filter(|&index| is_held(self.tenure_of(index))).count()
    }

    /// Returns the number of threads at the segment, if each end has one.
    pub(crate) fn threads(self) -> u64 {
        1 + self.readers() as u64
    }

    /// Returns the free seats.
    pub(crate) fn free_seats(self) -> impl Iterator<Item = usize> {
        (0..self.seats.len()).filter(move |&index| !is_held(self.tenure_of(index)))
    }
}

impl Seat {
    /// Returns which fence its reader runs.
    pub(crate) fn fences(&self) -> u32 {
        // P5, Relaxed: a fence precedes.
        self.holder.0.fences.load(Ordering::Relaxed)
    }
}
