//! The invariants that unsafe code relies on.
//!
//! | id | invariant | who keeps it |
//! |----|-----------|--------------|
//! | I1 | A claimed slot that is not settled has one owner: the claim. A claim is granted only when every consumer has released the event of a lap ago, and no two claims share a sequence. | `Single`: it is the only producer (`&mut self`, no `Clone`), and its gate. `Multi`: the compare-and-swap, and its gate. Both are granted nothing once no consumer is left. A published event that a close did not count (O8) is not settled: `publish_or_keep` hands its claim back. |
//! | I2 | A settled slot is touched only by stages, each between the moment its barrier shows the sequence and its own release of it. | `Barrier`, `Reader::release`; a `Batch` and the loop of a stage let go only when no borrow is left. |
//! | I3 | Every slot holds an initialised event from `RingBuffer::new` until the ring is dropped, once. | The factory fills the vector; nothing is moved out of a slot. |
//! | I4 | The capacity is a power of two and never changes; a slice ends at the wrap. | `Room::reserve`, `RingBuffer::wrap_after`. |
//! | I5 | Two threads hold `&E` of one event at a time only if `E: Sync`. | The verbs of `Builder`, `Side` and `Graph` that make a stage with shared access; claims and batches carry `PhantomData<&mut E>`, so that they are `Sync` only if `E` is. |
//! | I6 | A stage with exclusive access is before or after each other stage of its graph. | `Builder` and `Side` by their types; `topology::check` for every graph. A stage that leaves hands its own upstream on to those that came after it. |
//! | I7 | The entry of a tap's slot is read by the readers that are counted in its state, or written by the writer that has sealed it; never both. | `Slot::seal` swaps only a state with no reader, `Slot::enter` only one that is not sealed, and all of that is one word. A `Visit` ends after its copy. |
//! | I8 | A slot of a tap that can be entered has an entry. | A new slot is sealed; `Slots::write` opens it only after it has written the entry. |
