//! The invariants that unsafe code relies on.
//!
//! The slots and every right to them are in `lapwing-core` (I1 to I4, I6, I15, I18, I19). This crate has
//! the contracts that the core cannot check: which threads share events (I5), which worker has an
//! event (I12), what a channel does with its message slots (I13, I14). Taps do not use the core
//! (I7, I8).
//!
//! | id | invariant | established by |
//! |----|-----------|--------------|
//! | I1 | A claimed slot that is not settled has one owner: the claim. A claim is granted only after every consumer has released the event one lap before it, and no two claims share a sequence. | `SingleClaims`: `Producer::only` refuses a second producer, a `Claim` borrows its producer mutably, and `ClaimLimit` ends at the gate. `MultiClaims`: `Publication::try_claim`, a compare-and-swap, and its `ClaimLimit`. A `Granted` is of one attempt, so no other producer can fill it. Neither grants a claim once no consumer is left. A consumer that [joins](#consumers-that-join) does not start below what a producer may overwrite. A published event that a close or a halt did not count (O8) is not settled: `Claim::publish` and `ClaimBatch::publish` return the claim. |
//! | I2 | A settled slot is accessed only by stages, each between the moment when its barrier shows the sequence and its own release of it. A worker accesses a part of what its group may access (I12). | `Barrier`, by which alone a `Reader` learns what it may read. `Reader::check`, before each access: the range is between `next` and `known` and does not cross the wrap. A reader that has left, and one of a group, know nothing. `Reader::events` and a `Batch` borrow the reader, and `Reader::release` needs it mutably, so no borrow is left. `StageWords::take_reader`: a stage has one reader. |
//! | I3 | Every slot holds an initialised event from `RingBuffer::new` until the ring is dropped. The event is dropped once. | `RingBuffer::new`, by `Reserved::fill_in_place`, through which the `Factory` is called (I18). Nothing is moved out of a slot. |
//! | I4 | The capacity is a power of two and never changes. A slice ends at the wrap. The slots do not move as long as a `RingBuffer` exists. | `Reserved::reserve`, `RingBuffer::wrap_after`. Each `RingBuffer` is an owner of the storage, and no code takes the slots out of it. |
//! | I5 | Two threads hold `&E` of one event at a time only if `E: Sync`. | A contract of `Reader::new`, which the core cannot check: `E: Sync`, unless the reader is exclusive. `topology/wiring` meets it: each method of `Stage` and `WorkerStage` that makes a stage with shared access requires `E: Sync`, or, for a poller, `Consumers::take_poller` does. `topology/dynamic_stage` meets it: `Consumers::dynamic_stages` requires it. Claims and batches contain `PhantomData<&mut E>`, so they are `Sync` only if `E` is. Producers and pollers are `Sync` for every `E`: a shared reference to one gives no access to an event. |
//! | I6 | A stage with exclusive access is upstream or downstream of each other stage of its graph. | `Reader::new`, which panics unless `Stages::is_alone` says so of an exclusive reader. `Reader::events_mut` checks that the reader is exclusive. A program does not get that far: `topology::Alone`, for the methods that give exclusive access, and `topology::check`, for every graph, refuse it earlier. A stage that leaves passes its upstream stages on to its downstream stages. A dynamic consumer only reads, and depends on the last stage with exclusive access. |
//! | I7 | The entry of a tap's slot is either read by the readers that are counted in its state, or written by the writer that has sealed it, never both. | `Slot::seal` swaps only a state without readers, `Slot::enter` only one that is not sealed, and both change the same word. A `Visit` ends after its copy. |
//! | I8 | A slot of a tap that can be entered has an entry. | A new slot is sealed. `Slots::write` opens it only after it has written the entry. |
//! | I12 | Only one worker of a group accesses an event: the one that has claimed it, until it finishes the event or leaves it to one other worker. By key it is the owner of the event, or the worker that took over the owner's word. Before the event has an owner, only the thread that holds the lock accesses it, and only reads it. | A contract of `Reader::events_of_worker` and of `Sharing::of`. `Group::try_claim` and `take_over`, each by one atomic read-modify-write that only one worker wins: `Sharing::try_move_word` for a claim. `Router`, whose lock is such an operation too. `Group` has the `Sharing` of its words, so no other module moves them. |
//! | I13 | A waiting thread may read the published mark of an event at any time, so no thread has a mutable reference to an event of a ring with published marks. The published mark is the first field of its slot. | A contract of the trait `HasPublishedMark`. `MessageSlot`, the only such event, and `channel`, which does not share its rings. The fields of a message slot that change are cells. Senders and receivers use `Claim::deref`, `ClaimBatch::events`, `Batch::iter` and `Poller::pass_known`, never their mutable counterparts. |
//! | I14 | A published message slot has its value until the value is taken, once. If values stay, it has the value until the next one replaces it or the message slot is dropped. In a channel either all values stay or none. | `Taken`: the only receiver marks a value as taken before it takes it, and consumes no slot without that mark. `MessageSlot::put` and `take_back`, with the claim (I1). The `Keeping` of a channel, which its builder chooses with the kind of its receivers. |
//! | I15 | The cache line of an event is acquired by storing the value that is already there. This happens only while no other thread may access the event, or the stamp, in whose slot the cache line begins, and never in a ring with published marks, whose sender stores to a slot after it has published the slot. | `lines_of` in `reading/reader`, for published marks. `Stages::gating_beside`: the upstream stages have released the event, there are no downstream stages, and producers wait for the release. `Reader::acquire_lines`, which `Reader::release` calls before it stores its sequence: it does not pass what the parallel stages have released, for which producers wait as well. `Lines::acquire` in `ring_buffer/lines` stores. In models the store counts as a write to the event, its stamp and its published mark, on the memory that other threads access. |
//! | I18 | The memory of the slots is one allocation, or a part of a mapping that has no other use (I19). It begins on a cache line and is freed once, with the layout that it was allocated with. It has space for one value per slot, and the first `filled` of those are initialised. | `Memory`, which is never cloned. `Reserved::fill_in_place`, which counts a value after writing it. `PerSlot`, which drops as many values. |
//! | I19 | No two values in a mapping overlap, and the mapping lasts as long as any of them. The file has as many bytes as are mapped, and nobody shortens it. What an observer reads are atomics of which any bytes are a value, so another process may change them at any time, and no store of the observer reaches the file. | `Words`, which takes a mapping by value and hands out each part once. `Placed` and `Memory`, which keep the mapping. A contract of `Mapping::shared`, which `Draft::new` meets: it reserves the bytes of a new file before it maps them, and refuses a folder to which another user may write. `Placed::observed`, which requires a `Word`: only atomics, and arrays of them, are words. `Mapping::observed` maps copies of the pages. |
//!
//! # Consumers that join
//!
//! A dynamic stage is a stage that gates producers while it has a consumer. A consumer that joins
//! must satisfy three conditions: no producer overruns it (I2), no other stage writes its events
//! (I6), and it does not let two claims share a slot (I1).
//!
//! The *limit* of a producer is the sequence below which it may claim. It then overwrites only
//! events below the limit minus the capacity. *Granted* is the highest limit that any producer has
//! had; [O15](super::memory_ordering) covers it.
//!
//! **No consumer is overrun.** A producer that reads the gate for a limit raises the granted value
//! to that limit and runs a fence. It then lowers its limit to what the dynamic stages allow that
//! it reads after the fence. A consumer that joins stores a first sequence in its dynamic stage,
//! runs a fence and reads the granted value. It starts at most one lap below that value, and not
//! below what it stored. One of the two fences is first:
//!
//! - The producer's fence is first. Then the consumer sees that limit, or a higher one, and starts
//!   where the producer may not overwrite.
//! - The consumer's fence is first. Then the producer sees the dynamic stage, as it was stored or
//!   later. The value in the dynamic stage is never above the first event that the consumer has not
//!   finished, so the limit is at most one lap above that event. If the producer sees that the
//!   consumer has left, or that a later consumer is in the dynamic stage, then the consumer's reads
//!   are over (O2, O16).
//!
//! A limit that the producer keeps was granted before it was kept, so the same holds as long as the
//! limit is used. The producer reads the stages and dynamic stages one by one, while consumers come
//! and go. This does no harm: the second reading only lowers the result of the first, and the proof
//! is about the second.
//!
//! **No two claims share a slot.** This requires that everything below the value in a dynamic stage
//! is settled. A limit one lap above the value then reaches no slot of a claim that is still held.
//! For the stages of the graph it holds, because they read only settled events. A consumer that
//! joins starts at one of two places:
//!
//! - One lap below the granted value. Some consumer had finished everything below that.
//! - A sequence up to which it has seen every stamp settled, beginning at a sequence that a stage
//!   had finished.
//!
//! With a single producer every sequence below the cursor is settled. The sequence carries the
//! stores that it stands for (O2, O4, O15), so the new owner of the slot is ordered after the old
//! one.
//!
//! **No other stage writes its events.** Each stage with exclusive access is upstream or downstream
//! of each other one, so one of them is the last. A dynamic stage depends on that one. If that one
//! leaves, the dynamic stage waits for its upstream stages, as any stage would.
//!
//! **The last consumer.** Consumers are counted (O14). A consumer that joins is counted before it
//! stores where it starts, and only while the count is not 0. A consumer that leaves is subtracted
//! before its sequence says so. The thread that brings the count to 0 halts the ring. A consumer
//! that has drained a closed ring stays in the count, because no claims follow. A producer that
//! sees no consumer at the gate is granted nothing. It gets a halt error only if the count is 0.
//! Otherwise a consumer is joining, and the producer waits for a moment, or the ring is closed.
