//! What a ring is, in one thread and without a ring: a history of events, and the position of each
//! consumer.

/// A ring and its consumers.
#[derive(Debug, Clone)]
pub struct Model {
    /// Number of slots.
    capacity: usize,
    /// The value of each sequence; `None` for a claim that was given up.
    history: Vec<Option<u64>>,
    /// Whether the ring accepts events.
    is_open: bool,
    /// The consumers, `None` once they have left.
    consumers: Vec<Option<Consumer>>,
}

/// One consumer: a stage of the graph, or a guest.
#[derive(Debug, Clone)]
struct Consumer {
    /// Index in the history of the first event that it has not finished.
    position: usize,
    /// The consumers that finish each event before it.
    upstream: Vec<usize>,
}

impl Model {
    /// A ring of `capacity` slots whose consumers have these upstream consumers.
    #[must_use]
    pub fn new(capacity: usize, upstream: &[Vec<usize>]) -> Self {
        let consumer =
            |upstream: &Vec<usize>| Some(Consumer { position: 0, upstream: upstream.clone() });
        let consumers = upstream.iter().map(consumer).collect();
        Self { capacity, history: Vec::new(), is_open: true, consumers }
    }

    /// Whether the ring accepts events.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Number of sequences that were claimed.
    #[must_use]
    pub fn claimed(&self) -> usize {
        self.history.len()
    }

    /// Number of free slots. A slot is free once every consumer has finished its event.
    #[must_use]
    pub fn free(&self) -> usize {
        let present = self.consumers.iter().flatten();
        let slowest = present.map(|consumer| consumer.position).min().unwrap_or(self.claimed());
        self.capacity - (self.claimed() - slowest)
    }

    /// Publishes values, or gives up claims.
    pub fn settle(&mut self, values: impl IntoIterator<Item = Option<u64>>) {
        self.history.extend(values);
    }

    /// Accepts no more events.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Number of consumers that are left.
    #[must_use]
    pub fn present(&self) -> usize {
        self.consumers.iter().flatten().count()
    }

    /// The position of `consumer`, if it has not left.
    #[must_use]
    pub fn position(&self, consumer: usize) -> Option<usize> {
        self.consumers[consumer].as_ref().map(|consumer| consumer.position)
    }

    /// The end of what `consumer` may read: what its upstream consumers have finished, or what is
    /// published.
    fn readable(&self, consumer: &Consumer) -> usize {
        let upstream = consumer.upstream.iter().filter_map(|&other| self.position(other));
        upstream.min().unwrap_or(self.claimed())
    }

    /// Moves `consumer` past claims that were given up, as each poll does. Returns the values that
    /// it may read, up to the next claim that was given up.
    pub fn poll(&mut self, consumer: usize) -> Vec<u64> {
        let Some(mut polling) = self.consumers[consumer].take() else { return Vec::new() };
        let readable = self.readable(&polling);
        let given_up = |&&value: &&Option<u64>| value.is_none();
        polling.position +=
            self.history[polling.position..readable].iter().take_while(given_up).count();
        let values =
            self.history[polling.position..readable].iter().map_while(|&value| value).collect();
        self.consumers[consumer] = Some(polling);
        values
    }

    /// Finishes `count` events.
    pub fn finish(&mut self, consumer: usize, count: usize) {
        if let Some(consumer) = &mut self.consumers[consumer] {
            consumer.position += count;
        }
    }

    /// Whether `consumer` has finished everything that a closed ring will ever have.
    #[must_use]
    pub fn is_drained(&self, consumer: usize) -> bool {
        !self.is_open && self.position(consumer) == Some(self.claimed())
    }

    /// Removes `consumer`. Those that waited for it wait for what it waited for.
    pub fn leave(&mut self, consumer: usize) {
        let Some(left) = self.consumers[consumer].take() else { return };
        for other in self.consumers.iter_mut().flatten() {
            if other.upstream.contains(&consumer) {
                other.upstream.retain(|&upstream| upstream != consumer);
                other.upstream.extend(&left.upstream);
            }
        }
    }

    /// Adds a consumer that begins at `position` and waits for no other.
    pub fn join(&mut self, position: usize) {
        self.consumers.push(Some(Consumer { position, upstream: Vec::new() }));
    }
}
