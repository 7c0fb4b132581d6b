//! The protocol: all that makes a hand-over correct.
//!
//! ```text
//! producer                                            consumer
//!
//! claim   gate: finished by all + capacity            what shows: cursor, stages before, stamps, notice
//!   │     (claims::gate)                                │  (reading::barrier)
//!   v                                                   v
//! fill    the slots of the claim, nobody else's       read    everything below what was shown
//!   │     (ring_buffer)                                 │  (ring_buffer)
//!   v                                                   v
//! publish cursor, or a stamp for each slot            release its sequence: one store
//!   │     (claims::single, claims::multi, stamps)       │  (control)
//!   v                                                   v
//! wake    a consumer that sleeps, if any (parking)    wake    a producer or a later stage that sleeps, if any
//! ```
//!
//! # Reading order
//!
//! 1. [`ring_buffer`] and [`memory`]: slots, and which slot a sequence has.
//! 2. [`control`]: the words that threads share. [`life`]: open, closing, closed, halted.
//! 3. [`claims`]: the gate; claims and publications of one producer and of several. [`stamps`]: what several publish by.
//! 4. [`reading`]: what a stage may read; reading, releasing, leaving.
//! 5. [`parking`]: asleep until another thread advances a word. A publisher pays one load while no thread sleeps.
//! 6. [`seats`]: consumers that join and leave while the ring runs. [`group`]: consumers that share the events of a stage.
//!
//! # Advice
//!
//! Nothing here exists only for speed. What is only fast is in `tuning`, and reaches the protocol through the two traits
//! of [`advice`]. Each answer is clamped or checked, so wrong advice costs time and never an event. [`advice::Plain`] is
//! the advice of the build with `--cfg lapwing_plain`.

// I15: one method that gets events which no other thread has.
#[allow(unsafe_code)]
pub(crate) mod advice;
pub(crate) mod claims;
pub(crate) mod control;
pub(crate) mod failures;
pub(crate) mod group;
pub(crate) mod life;
// I18: has memory from the allocator.
#[allow(unsafe_code)]
pub(crate) mod memory;
pub(crate) mod parking;
// I2, I15: hands out what a stage may read.
#[allow(unsafe_code)]
pub(crate) mod reading;
pub(crate) mod ring;
// I1 to I4: the slots themselves.
#[allow(unsafe_code)]
pub(crate) mod ring_buffer;
pub(crate) mod seats;
pub(crate) mod stamps;
