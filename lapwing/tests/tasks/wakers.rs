//! Wakers that count their calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Wake, Waker};

/// Counts its calls.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    pub(crate) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

pub(crate) fn counting() -> (Arc<Count>, Waker) {
    let count = Arc::<Count>::default();
    (Arc::clone(&count), Waker::from(count))
}
