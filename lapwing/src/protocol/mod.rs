//! The protocol: everything that makes passing events from producers to consumers correct. It can
//! be read, and works, without the tuning.
//!
//! ```text
//! producer                                          consumer
//!
//! claim   up to the gate: least finished + capacity poll    cursor, upstream, stamps or notice
//!   │     (claims::gate)                              │     (reading::barrier)
//!   v                                                 v
//! fill    the slots of the claim                    read    all events that the poll found
//!   │     (ring_buffer)                               │     (ring_buffer)
//!   v                                                 v
//! publish cursor, or a stamp for each slot          release its sequence: one store
//!   │     (claims::single, claims::multi, stamps)     │     (control)
//!   v                                                 v
//! wake    a parked consumer (parking)               wake    a parked producer or later stage
//! ```
//!
//! # Reading order
//!
//! 1. [`ring_buffer`] and [`memory`]: slots, and which slot a sequence has.
//! 2. [`control`]: the words that threads share. [`life`]: open, closing, closed, halted.
//! 3. [`claims`]: the gate; claims and publications of one producer and of several. [`stamps`]: how
//!    several producers publish.
//! 4. [`reading`]: what a stage may read; how it reads, releases and leaves.
//! 5. [`parking`]: how a thread parks until another one advances a word. While no thread is parked,
//!    a publication pays one load.
//! 6. [`seats`]: consumers that join and leave while the ring runs. [`group`]: consumers that share
//!    the events of a stage.
//!
//! # Advice
//!
//! Nothing here exists only for speed. The tuning reaches the protocol through the two traits of
//! [`advice`]. The protocol clamps or checks each answer, so wrong advice costs time, but never an
//! event. [`advice::Plain`] is the advice of the build with `--cfg lapwing_plain`.

// I15: one method that gets events which no other thread accesses.
#[allow(unsafe_code)]
pub(crate) mod advice;
pub(crate) mod claims;
pub(crate) mod control;
pub(crate) mod failures;
pub(crate) mod group;
pub(crate) mod life;
// I18: gets memory from the allocator.
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
