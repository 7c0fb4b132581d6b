//! The pairs of atomic operations, what each one carries, and the model that checks it.
//!
//! | id | release side | acquire side | carries | checked by |
//! |----|--------------|--------------|---------|------------|
//! | O1 | `Single::publish`: cursor | `Barrier::published` | the event, to a first stage | `loom_publish_then_read` |
//! | O2 | `Control::advance`, `detach`: stage's sequence | `Control::finished_by`, for the gate | the end of the stage's reads, to the producer that writes the slot again | `loom_wrap_waits_for_reader`, `loom_a_consumer_that_left_has_read_its_last` |
//! | O3 | `Control::advance`, `detach`, `acknowledge`: stage's sequence | `Control::finished_by`, for a barrier | the stage's writes and the end of its reads, and what came before an acknowledgement, to stages after it | `loom_dependent_stage`, `loom_acknowledgement_comes_after_what_it_says` |
//! | O4 | `Stamps::settle`: stamp | `Stamps::fate` | the event, to a first stage; many producers | `loom_multi_producer_stamps` |
//! | O5 | `Stamps::settle`: count of tombstones, then stamp | `Stamps::known_settled`, after O3 and O4 | that there is a tombstone to look for | `loom_tombstone_downstream` |
//! | O6 | sequence or stamp, `light` fence, look for sleepers | sleepers, `heavy` fence, look at the sequence | either the waiter sees the sequence or the other side sees the sleeper | `loom_park_on_publication`, `loom_park_on_upstream_stage`, `loom_park_on_full_ring`, `loom_park_on_doorbell`, `loom_park_on_doorbell_for_another_stage`; and that the waiter chose whom to wait for rightly: `loom_park_on_full_ring_with_two_gates`, `loom_park_on_two_upstream_stages`, `loom_park_on_full_ring_while_another_claims` |
//! | O7 | `Epoch::advance_and_wake` | `Epoch::current` and the look before the sleep | what was stored before the epoch was advanced, to sleepers counted or not | `loom_halt_against_park`, `loom_halt_against_sleep`, `loom_close_against_sleep`, `loom_halt_against_sleep_on_full_ring` |
//! | O8 | cursor, `light` fence, look for a close; reader: cursor, `light` fence, look for a close | closing, `heavy` fence, cursor | either the close counts the event or the producer learns of the close; and no reader or monitor sees an event that was not counted, so that a channel's sender may take it back | `loom_close_against_publish`, `loom_a_look_counts_no_event_that_a_close_does_not`, `loom_single_send_against_a_receiver_that_leaves`, `loom_send_batch_against_a_receiver_that_leaves` |
//! | O9 | `Life::finish_close`: end, then closed | `Life::end` | the number of events accepted | `loom_close_against_publish` |
//! | O10 | `Life::halt` | every look at the state | nothing: the flag itself, and to sleepers by O7 | `loom_halt_against_park` |
//! | O11 | `Life::remove_producer` | the same, by the last one | what other producers published, before the ring is closed | `loom_last_producer_closes` |
//! | O12 | `Multi::try_claim`, `Control::close`: cursor | the same | nothing: numbers, in one modification order; slots come by O2 and O4 | `loom_multi_producer_stamps`, `loom_close_against_claim`, `loom_multi_send_against_a_receiver_that_leaves`, `loom_claims_up_to_share_what_is_free`, `loom_claim_up_to_waits_for_reader` |
//! | O13 | any | any | nothing: a look that something else decides, a figure for a monitor, a number that need only be unique, or a total | `loom_park_on_full_ring` |
//! | O14 | `Control::detach`: sequence, fence | the same by another stage | of two stages that leave together, one sees that nobody is left | `loom_last_two_consumers_leave` |
//! | O15 | `Control::advance`, `acknowledge`: stage's sequence | `Look::at`, downstream stages first | what the stage had waited for, at least as far: no stage shows ahead | `loom_no_stage_shows_ahead`, `loom_no_stage_shows_ahead_of_a_claim`, `loom_no_stage_shows_ahead_of_an_acknowledgement` |
//! | O17 | `Failures::mark`, then O3 | `Failures::is_any_from`, `is_marked`, after O3 | that an event has failed, to stages after the one that skipped it | `loom_failed_event_is_seen_downstream` |
//! | O20 | `Slot::open`: state | `Slot::enter` | the entry of a tap, to a reader | `loom_tap_slot_hands_on_its_entry` |
//! | O21 | `Visit::drop`: state | `Slot::seal` | the end of the read, to the writer that writes the slot again | `loom_tap_slot_is_written_after_its_readers` |
//! | O22 | `Head::advance` | `Head::look` | what became of each position below: a reader counts none as passed over that was written; and that there will be no more | `loom_tap_counts_exactly`, `loom_tap_loses_nothing_that_there_is_room_for` |
//!
//! A relaxed load of a thread's own word needs no row. `fence(SeqCst)` stands where a store must be
//! seen before a later load of something else (O6, O8, O14); on Linux the frequent side of O6 and
//! O8 is a compiler fence, since the rare side runs `membarrier`, which the model replaces by a
//! fence on both.
