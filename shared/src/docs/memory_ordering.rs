//! The pairs of atomic operations between processes, what each one carries, and the model that
//! checks it.
//!
//! Atomic operations on memory that processes share order what they do as those between threads:
//! the processor does not know of processes, and the file has the same physical pages in each of
//! them. Loom runs the models, in which a thread stands for a process.
//!
//! | id | release side | acquire side | carries | checked by |
//! |----|--------------|--------------|---------|------------|
//! | P1 | `Writing::publish`: published | `Shared::published` | the events below it, to readers | `loom_an_event_is_read_before_its_slot_is_written_again`, `loom_a_parked_reader_is_woken` |
//! | P2 | `Reading::release`: sequence | `Shared::held` | the end of the reader's reads, to the writer that writes the slots again | `loom_an_event_is_read_before_its_slot_is_written_again`, `loom_a_reader_joins_at_the_oldest_event` |
//! | P3 | `Shared::leave` and `clear`: tenure; `Shared::join`: sequence and tenure | `Shared::tenure_of`; `held` | the end of the reads of a reader that has left, to the writer, and to the next reader of the seat, which passes it on | `loom_a_reader_that_leaves_has_read`, `loom_a_dead_reader_has_read`, `loom_a_reader_whose_seat_is_taken_has_read`, `loom_a_seat_is_not_cleared_under_its_next_reader` |
//! | P4 | `Writing::look`: granted, fence, tenures | `Shared::join`: tenure, fence, granted | either the writer sees the seat, or the reader sees the limit, and with it the events on which it is based | `loom_a_reader_joins_at_the_newest_event`, `loom_a_reader_joins_at_the_oldest_event`, `loom_a_reader_joins_a_lap_late`, `loom_a_writer_takes_over_while_a_reader_joins`, `loom_a_writer_that_takes_over_lowers_no_limit`, `loom_a_reader_joins_after_an_unpublished_event` |
//! | P5 | published, sequence or tenure, `light` fence (in `join` a full one), load of the mark | `EventCount::mark`, `heavy` fence, load of the sequence or of published | either the thread that parks sees the advance, or the other side sees the mark | `loom_a_parked_reader_is_woken`, `loom_two_parked_readers_are_woken`, `loom_a_parked_writer_is_woken_by_a_release`, `loom_a_parked_writer_is_woken_by_a_reader_that_leaves`, `loom_a_parked_writer_is_woken_by_a_reader_that_joins` |
//! | P6 | `EventCount::wake_all`: fence, epoch | `EventCount::current`, or `mark` and the `heavy` fence | what was stored before, to sleepers, marked or not | `loom_a_parked_reader_is_woken`, `loom_a_sleeping_reader_is_woken_by_the_close` |
//! | P7 | `Shared::close`: closed | `Shared::is_closed` | the last event | `loom_the_last_event_is_read_before_the_end`, `loom_a_parked_reader_is_woken` |
//! | P8 | any | any | nothing: a number for people, a flag of one process, or a hint that something else confirms | `loom_a_parked_reader_is_woken` |
//! | P9 | `WriterWatch::find`: whether the writer is gone | `Reader::is_writer_gone` | that the kernel has closed the writer's pipe, and so what the writer published | `loom_the_last_event_is_read_before_the_end` |
//!
//! # Fences between processes (P5)
//!
//! Where each process is registered, the frequent side runs only a compiler fence, and the rare
//! side calls `membarrier` with `MEMBARRIER_CMD_GLOBAL_EXPEDITED`. The kernel then runs a full
//! fence on each CPU that runs a thread of a registered process, and silently skips all others. So
//! a process registers before it takes part, and says in the segment whether it could. The rare
//! side reads that after its own fence:
//!
//! - A process that is there already has stored its number before it took its seat, or before it wrote.
//! - A process that takes part later runs a full fence after it has stored its number. Either the
//!   rare side sees the number, or that process sees the mark.
//!
//! A process that may not call `membarrier`, for example under a filter of system calls, sleeps for
//! 50 µs at a time while another one relies on it.
//!
//! # Why the stored limit does not permit writing (P4)
//!
//! The writer stores the limit, runs a fence and looks at the seats again, and only then writes up
//! to the smaller limit of the two looks. It may be killed in between, so the limit proves nothing
//! to its successor. A writer that takes over begins without a grant and looks for itself. The
//! limit in the segment does not decrease: the dead writer may have been granted that much, and
//! have written there without publishing, so no reader begins with these slots.
