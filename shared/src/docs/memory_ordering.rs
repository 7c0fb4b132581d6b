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
//! | P2 | `Reading::release`: sequence | `Shared::held` | the end of the reader's reads, to the writers that write the slots again | `loom_an_event_is_read_before_its_slot_is_written_again`, `loom_a_reader_joins_at_the_oldest_event`, `loom_events_of_two_writers_are_read_once`, `loom_a_reader_that_passes_over_makes_room` |
//! | P3 | `Holder::take`, `leave` and `clear`: tenure; `Shared::join`: sequence | `Holder::tenure`; `Shared::held` | the end of the reads of a reader that has left, to the writers, and to the next reader of the seat, which passes it on; of a writer that has left, that it has sealed what it had claimed | `loom_a_reader_that_leaves_has_read`, `loom_a_dead_reader_has_read`, `loom_a_reader_whose_seat_is_taken_has_read`, `loom_a_seat_is_not_cleared_under_its_next_reader`, `loom_a_writer_that_leaves_has_published`, `loom_a_writer_whose_seat_is_taken_has_published`, `loom_a_late_repair_leaves_the_next_writer_alone` |
//! | P4 | `Shared::grant`: granted, fence, tenures | `Shared::join`: tenure, fence, granted | either the writer sees the seat, or the reader sees the limit, and with it the events or claims on which it is based | `loom_a_reader_joins_at_the_newest_event`, `loom_a_reader_joins_at_the_oldest_event`, `loom_a_reader_joins_a_lap_late`, `loom_a_writer_takes_over_while_a_reader_joins`, `loom_a_writer_that_takes_over_lowers_no_limit`, `loom_a_reader_joins_after_an_unpublished_event`, `loom_a_reader_joins_beside_two_writers`, `loom_a_writer_joins_while_a_reader_joins`, `loom_a_limit_carries_what_is_claimed` |
//! | P5 | published, stamps, sequence or tenure, `light` fence (in `join` a full one), load of the mark | `EventCount::mark`, `heavy` fence, load of the sequence, of published or of the stamp | either the thread that parks sees the advance, or the other side sees the mark | `loom_a_parked_reader_is_woken`, `loom_two_parked_readers_are_woken`, `loom_a_parked_writer_is_woken_by_a_release`, `loom_a_parked_writer_is_woken_by_a_reader_that_leaves`, `loom_a_parked_writer_is_woken_by_a_reader_that_joins`, `loom_a_parked_writer_is_woken_by_another_writer`, `loom_two_parked_writers_are_woken_by_a_release`, `loom_a_reader_passes_over_a_skipped_event`, `loom_a_reader_that_passes_over_makes_room` |
//! | P6 | `EventCount::wake_all`: fence, epoch | `EventCount::current`, or `mark` and the `heavy` fence | what was stored before, to sleepers, marked or not | `loom_a_parked_reader_is_woken`, `loom_a_sleeping_reader_is_woken_by_the_close`, `loom_a_parked_writer_is_woken_by_the_repair`, `loom_a_reader_parked_before_the_end_is_woken_by_the_repair` |
//! | P7 | `Shared::close` and `close_after_last`: closed; `announce`: joins | `Shared::is_closed`; `close_after_last` | the last event, and all claims; the seat of a writer that joins while the last one leaves | `loom_the_last_event_is_read_before_the_end`, `loom_a_parked_reader_is_woken`, `loom_a_closed_segment_ends_behind_the_claims_of_the_dead`, `loom_the_last_of_two_writers_closes`, `loom_the_last_writer_carries_what_others_published`, `loom_a_writer_joins_while_the_last_one_leaves` |
//! | P8 | any | any | nothing: a number for people, a flag of one process, or a hint that something else confirms | `loom_a_parked_reader_is_woken` |
//! | P9 | `WriterWatch::find`, `PeersWatch::look_at_writers`: whether all writers are gone | `Reader::is_writer_gone` | that the kernel has closed their pipes, and so what they published; of several writers, that what they had claimed is published or skipped | `loom_the_last_event_is_read_before_the_end` |
//! | P10 | `Shared::make_claim`: claimed; `Claim::record` and `withdraw`: first and count | `Shared::is_claimed`; `Claim::range` | the record of each claim below the counter, to a repair; and that what a record has no more is sealed | `loom_a_claim_is_recorded_until_it_is_sealed`, `loom_a_claim_is_sealed_before_its_seat_is_taken`, `loom_a_claim_is_repaired_that_may_not_have_been_made`, `loom_a_claim_is_repaired_that_was_not_published`, `loom_a_claim_of_two_is_repaired`, `loom_a_claim_is_not_repaired_that_was_published`, `loom_a_record_that_changes_hides_no_claim`, `loom_two_dead_writers_are_repaired`, `loom_a_writer_that_gives_up_withdraws_its_record`, `loom_a_writer_that_joins_holds_up_no_repair`, `loom_a_late_repair_leaves_the_next_writer_alone`, `loom_a_writer_that_leaves_has_published`, `loom_a_writer_whose_seat_is_taken_has_published`, `loom_a_closed_segment_ends_behind_the_claims_of_the_dead`, `loom_a_reader_parked_before_the_end_is_woken_by_the_repair` |
//! | P11 | `Shared::seal` and `skip`: stamp | `Shared::fate` | the event, to readers; and the end of what its writer wrote, by the stamp or by the death, to the writer that writes the slot again | `loom_events_of_two_writers_are_read_once`, `loom_a_writer_waits_for_the_event_a_lap_before`, `loom_a_claim_of_two_waits_for_both_events_a_lap_before`, `loom_a_dead_writer_writes_no_more`, `loom_two_repair_the_same_claim`, `loom_a_reader_passes_over_a_skipped_event`, `loom_a_reader_that_passes_over_makes_room`, `loom_no_skipped_event_is_read`, `loom_a_parked_writer_is_woken_by_the_repair` |
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
//! A writer stores the limit, runs a fence and looks at the seats again, and only then writes up
//! to the smaller limit of the two looks. It may be killed in between, so the limit proves nothing
//! to its successor. A writer that takes over or joins begins without a grant and looks for itself. The
//! limit in the segment does not decrease: the dead writer, or another one, may have been granted that
//! much, and have written there without publishing, so no reader begins with these slots.
//!
//! # Why a claim has an owner (P10)
//!
//! The counter shows that a sequence is claimed, but not which writer claimed it. If that writer dies
//! before it publishes, readers wait until another process skips the sequence. No process may skip a
//! sequence that a living writer is about to publish. So a writer stores its record, and then moves
//! the counter by a compare-and-swap (CAS):
//!
//! ```text
//! writer                             repair
//! record the sequences               the stamp is not sealed
//! CAS of the counter                 is it claimed? then load the records
//! write, and seal the stamps         no living writer has it?
//! record the next sequences          then CAS of the stamp, unless it has changed
//! ```
//!
//! - All changes of the counter are CASes. So a process that reads a counter above a sequence also sees
//!   the record of its claim, or a later record of the same writer. It does not matter which CAS
//!   stored the counter.
//! - Each word of a later record is stored after the stamps, with Release. So if a repair loads any of
//!   them, it sees the sequence sealed, and its own CAS fails. Otherwise it has loaded both words of
//!   the record that has the sequence. The order of the two words does not matter.
//! - A stamp only grows, so the CAS of a stamp succeeds once if no writer has sealed it. A repair that
//!   comes late finds it changed, even if the slot was written again.
//! - A record can also contain a sequence that another writer claimed, if its own writer lost the race
//!   or died between storing the two words. So a repair waits for each living writer that has the
//!   sequence in its record, and skips nothing because of the dead writer's record alone.
//! - A writer withdraws its record when it has lost a race and finds no free slot, and when it takes a
//!   seat, because the previous writer may have died before its CAS. A stale record would delay
//!   repairs for as long as the writer lives.
//!
//! In loom, a read-modify-write always reads the newest value, even without synchronisation. So the
//! models of these orderings load the stamp where a repair runs the CAS.
