//! The invariants that unsafe code relies on.
//!
//! | id | invariant | who keeps it |
//! |----|-----------|--------------|
//! | I1 | A claimed slot that is not settled has one owner: the claim. A claim is granted only when every consumer has released the event of a lap ago, and no two claims share a sequence. | `Single`: it is the only producer (`&mut self`, no `Clone`), and its gate. `Multi`: the compare-and-swap, and its gate. Both are granted nothing once no consumer is left, and nobody who [joins](#consumers-that-join) starts below what they may overwrite. A published event that a close or a halt did not count (O8) is not settled: `publish_or_keep` hands its claim back. |
//! | I2 | A settled slot is touched only by stages, each between the moment its barrier shows the sequence and its own release of it. A worker has part of what its group has (I12). | `Barrier`, `Reader::release`, `Worker::release`; a `Batch`, `Poller::pass_known` and the loop of a stage let go only when no borrow is left. |
//! | I3 | Every slot holds an initialised event from `RingBuffer::new` until the ring is dropped, once. | `Reserved::fill_in_place`, which the `Factory` is called by (I18); nothing is moved out of a slot. |
//! | I4 | The capacity is a power of two and never changes; a slice ends at the wrap. The slots lie where they are for as long as anybody has a `RingBuffer`. | `Reserved::reserve`, `RingBuffer::wrap_after`. Each `RingBuffer` is an owner of the storage, and nothing takes the slots out of it. |
//! | I5 | Two threads hold `&E` of one event at a time only if `E: Sync`. | The verbs of `Stage` and `Workers` that make a stage with shared access, and `Consumers::seats`; claims and batches carry `PhantomData<&mut E>`, so that they are `Sync` only if `E` is. Producers and pollers are `Sync` whatever `E` is: a shared reference to one lends no event. |
//! | I6 | A stage with exclusive access is before or after each other stage of its graph. | The verbs that change events, by `topology::Alone`; `topology::check` for every graph. A stage that leaves hands its own upstream on to those that came after it. A consumer in a seat only reads, and comes after the last stage with exclusive access. |
//! | I7 | The entry of a tap's slot is read by the readers that are counted in its state, or written by the writer that has sealed it; never both. | `Slot::seal` swaps only a state with no reader, `Slot::enter` only one that is not sealed, and all of that is one word. A `Visit` ends after its copy. |
//! | I8 | A slot of a tap that can be entered has an entry. | A new slot is sealed; `Slots::write` opens it only after it has written the entry. |
//! | I12 | Of the workers of a group, one touches an event: the one that has claimed it, until it has finished it or leaves it behind for one other to take over; by key, its owner, or who took over the owner's word, and before it has an owner whoever holds the lock, who only reads. | `Group::try_claim` and `take_over`, each by one atomic read-modify-write that only one worker wins; `Router`, whose lock is one too. |
//! | I13 | Whoever waits looks at the notice of an event at any time, so nobody has a mutable reference to an event of a ring with notices. It is the first field of its slot. | `Letter`, the only such event, and `channel`, which has its rings to itself: what changes in a letter lies in cells, and senders and receivers use `Claim::deref`, `ClaimBatch::events`, `Batch::iter` and `Poller::pass_known`, never their mutable twins. |
//! | I14 | A letter that is published has its value until that is taken, once, or, if values stay, until the next one takes its place or the letter is dropped. In a channel all values stay, or none. | `Taken`: the only receiver notes a value as taken before it takes it, and consumes no slot without. `Letter::put` and `take_back`, with the claim (I1). The `Keeping` of a channel, which its builder chooses with the kind of its receivers. |
//! | I15 | The cache line of an event is acquired, by a store of what is there, only while no other thread has the event, or the stamp, in whose slot the line begins. | `Control::gating_beside`: the stages before have released the event, none comes after, and producers wait for the release. `Reader::acquire_lines`, which `Reader::release` calls before it stores its sequence: it goes no further than the stages beside, for which producers wait as well, have released. In models the store counts as a write to the event. |
//! | I16 | A branch by a return writes nothing but the return address that its own call has pushed and its return takes: to one of two places in the same block of assembly. It is not taken on a thread with a shadow stack, which would refuse it. | `predicted_branch::cpu::predicted`, without `nostack`, so that the compiler keeps nothing below the stack pointer. `Prediction::new`, which asks for the shadow stack at each wait. |
//! | I18 | The memory of slots is one allocation, begins on a line and goes back once, with the layout that it was had with. It has room for one value for each slot, and of those the first `filled` are there. | `Memory`, which nobody clones. `Reserved::fill_in_place`, which counts a value once it is written; `PerSlot` drops so many. |
//!
//! # Consumers that join
//!
//! A seat is a stage that gates producers while somebody sits there. Its consumer must not be
//! overrun (I2), nobody may write beside it (I6), and it must not let two claims share a slot (I1).
//!
//! Let a producer be allowed to claim below its *limit*. It then overwrites events below the limit
//! less the capacity, and no others. *Granted* is the highest limit that any producer ever had;
//! [O15](super::memory_ordering) is about it.
//!
//! **Nobody is overrun.** A producer that reads the gate for a limit raises what is granted to that
//! limit, runs a fence, and then lowers the limit to what the seats allow that it sees after the
//! fence. A consumer that joins stores a first sequence in its seat, runs a fence, reads what is
//! granted, and starts no more than a lap below that, nor below what it stored. One of the two
//! fences is first:
//!
//! - The producer's: then the consumer sees that limit, or a higher one, and starts where the
//!   producer may not overwrite.
//! - The consumer's: then the producer sees the seat, as it was stored or later. What is in the
//!   seat is never above the first event that the consumer has not finished, so the limit is at
//!   most a lap above that event. If the producer sees that the consumer has left, or one that sits
//!   there after it, then the consumer's reads are over (O2, O16).
//!
//! A limit that the producer keeps was granted before it was kept, so the same holds for it as long
//! as it is used. It does not matter that the producer reads the stages and seats one by one, while
//! some come and some go: what it makes of the first look is only ever lowered by the second, and
//! the second is the one that the proof is about.
//!
//! **No two claims share a slot.** For that, all that lies below what is in a seat must be settled:
//! then a limit of a lap above it reaches no slot of a claim that is still held. For the stages of
//! the graph that is so, since they read nothing else. A consumer that joins starts where it was
//! granted to, less a lap, which is below what some consumer had finished; or at a sequence up to
//! which it has seen every stamp settled, from one that a stage had finished. With a single
//! producer every sequence below the cursor is settled. The stores that a sequence stands for come
//! with it (O2, O4, O15), so the claim's new owner comes after the old one.
//!
//! **Nobody writes beside it.** Stages with exclusive access are all before or after each other, so
//! one of them is the last, and the others come before it. A seat comes after that one. If that one
//! leaves, the seat waits for those before it, as any stage would.
//!
//! **The last one.** Consumers are counted (O14). One that joins is counted before it says where it
//! starts, and only while the count is not 0; one that leaves is taken off before its sequence says
//! so. Whoever takes it to 0 halts the ring. One that has drained a closed ring stays in the count:
//! nothing is claimed there any more. A producer that sees nobody at the gate is granted nothing. It
//! is told of a halt only if the count is 0; else somebody is just joining, and it waits for a moment,
//! or the ring is closed.
