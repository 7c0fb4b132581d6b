//! Handles of the C client that move to another thread with their owner.

// The one place with unsafe code: the client implements `Send` for its other handles.
#![allow(unsafe_code)]

use rusteron_client::{
    AeronAsyncAddExclusivePublication, AeronAsyncAddSubscription,
    AeronControlledFragmentClosureAssembler,
};

/// A handle that its owner may take to another thread, and that one thread uses at a time.
pub(crate) struct Movable<T: NotBoundToAThread>(pub(crate) T);

/// A handle without state of a thread.
pub(crate) trait NotBoundToAThread {}

/// Its C part is a record on the heap that the conductor completes with atomic stores. Its Rust
/// part counts references with atomics.
impl NotBoundToAThread for AeronAsyncAddExclusivePublication {}

/// The same as for a publication.
impl NotBoundToAThread for AeronAsyncAddSubscription {}

/// Its C part is a map of buffers on the heap, which only a poll accesses. It points to the context
/// of a poll, and clears the pointer before the poll returns.
impl NotBoundToAThread for AeronControlledFragmentClosureAssembler {}

// SAFETY: `NotBoundToAThread` says that the handle refers to nothing of the thread that made it.
// The wrapper is not `Sync`, so no two threads use the handle at the same time.
unsafe impl<T: NotBoundToAThread> Send for Movable<T> {}
