//! What must be in a journal: a list of attempts, and how much of it is safe.

use super::events::Kind;

/// The history of a journal as a list. `None` is a claim that was given up.
pub(crate) struct Model<K: Kind> {
    events: Vec<Option<K::Event>>,
    /// Everything below it was synced.
    pub(crate) synced: u64,
    /// Everything below it was written.
    pub(crate) written: u64,
    /// Counts attempts.
    attempt: u64,
    /// First event of the batch that was not written.
    unwritten: Option<u64>,
    /// Histories with a batch that was given up and may not be erased yet.
    others: Vec<Vec<Option<K::Event>>>,
}

impl<K: Kind> Model<K> {
    pub(crate) fn new() -> Self {
        let (events, others) = (Vec::new(), Vec::new());
        Self { events, synced: 0, written: 0, attempt: 0, unwritten: None, others }
    }

    /// Returns a batch that may be written now, and its first sequence. After a failure it is the
    /// same batch, with more events at its end.
    pub(crate) fn batch(&mut self, count: usize, filler: usize, gap: u64) -> (u64, Vec<K::Event>) {
        self.attempt += 1;
        if self.unwritten.is_none() {
            self.events.truncate(self.written as usize);
            self.events.extend((0..gap).map(|_| None));
        }
        let first = self.unwritten.unwrap_or(self.events.len() as u64);
        for _ in 0..count {
            let event = K::event(self.attempt, self.events.len() as u64, filler);
            self.events.push(Some(event));
        }
        let batch = self.events[first as usize..].iter().flatten().cloned().collect();
        (first, batch)
    }

    /// Notes what became of a batch.
    pub(crate) fn wrote(&mut self, first: u64, is_ok: bool, next: u64) {
        self.unwritten = if is_ok { None } else { Some(first) };
        if is_ok {
            assert_eq!(next, self.events.len() as u64, "the batch is written");
            self.others.clear();
        }
        self.written = next;
    }

    /// Forgets the batch that was not written. It is erased before the next batch is written.
    pub(crate) fn give_up(&mut self) {
        if self.unwritten.take().is_some() {
            self.others.push(self.events.clone());
        }
    }

    /// Returns whether a batch was given up that may not be erased yet.
    pub(crate) fn must_erase(&self) -> bool {
        !self.others.is_empty()
    }

    /// Notes that the journal was opened, and has these events from `oldest` on, up to `end`.
    pub(crate) fn opened(&mut self, oldest: u64, end: u64, found: &[(u64, K::Event)]) {
        assert!(end >= self.synced, "end={end}, synced={}", self.synced);
        let others = std::mem::take(&mut self.others);
        let histories = [std::mem::take(&mut self.events)].into_iter().chain(others);
        let fits = |history: &Vec<_>| kept::<K>(history, oldest, end).is_some_and(|is| is == found);
        let mut candidates = histories.clone().filter(fits);
        let Some(mut events) = candidates.next() else {
            panic!("end={end}, found={found:?}, none of {:?}", histories.collect::<Vec<_>>());
        };
        events.truncate(end as usize);
        self.events = events;
        (self.synced, self.written, self.unwritten) = (end, end, None);
    }

    /// Returns the events from `oldest` on, up to what is written.
    pub(crate) fn expected(&self, oldest: u64) -> Vec<(u64, K::Event)> {
        kept::<K>(&self.events, oldest, self.written).expect("it has what is written")
    }
}

/// The events of a history from `oldest` on, up to `end`. `None` if it is shorter.
fn kept<K: Kind>(
    history: &[Option<K::Event>],
    oldest: u64,
    end: u64,
) -> Option<Vec<(u64, K::Event)>> {
    let events = history.get(..end as usize)?.iter().enumerate();
    let events = events.map(|(sequence, event)| (sequence as u64, event.clone()));
    let kept = events.filter(|(sequence, _)| *sequence >= oldest);
    Some(kept.filter_map(|(sequence, event)| Some((sequence, event?))).collect())
}
