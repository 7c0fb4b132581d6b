//! The pairs of atomic operations, what each one carries, and the model that checks it.
//!
//! | id | release side | acquire side | carries | checked by |
//! |----|--------------|--------------|---------|------------|
//! | O1 | `SingleClaims::publish`: cursor | `cursor::end` | the event, to a first stage | `loom_publish_then_read`, `loom_publish_then_read_by_one_that_spins` |
//! | O2 | `Control::advance`, `detach`, `sit_down`: stage's sequence | `Control::sequence_of`, for the gate, and for a parallel stage that acquires cache lines | the end of the stage's reads, and that everything below is settled, to the producer that writes the slot again; the end of its reads, to the stage that acquires the cache line | `loom_wrap_waits_for_reader`, `loom_lines_are_taken_by_the_last_of_stages_side_by_side`, `loom_a_consumer_that_left_has_read_its_last`, `loom_leave_a_seat_against_a_producer_that_parks`, `loom_a_seat_is_taken_again_before_a_claim` |
//! | O3 | `Control::advance`, `detach`, `acknowledge`: stage's sequence | `Control::sequence_of`, for a barrier | the stage's writes, the end of its reads, and what happened before an acknowledgement, to downstream stages | `loom_dependent_stage`, `loom_acknowledgement_comes_after_what_it_says`, `loom_an_acknowledgement_never_goes_back`, `loom_a_stage_parked_on_an_acknowledged_one_that_leaves`, `loom_a_stage_behind_one_that_left_waits_for_the_one_before_it` |
//! | O4 | `Stamps::settle`, `settle_one`: stamp | `Stamps::fate`, `end_of` | with several producers: the event, to a first stage; that it is settled, to a consumer that joins | `loom_multi_producer_stamps`, `loom_multi_producer_stamps_of_batches`, `loom_join_now_behind_a_claim_that_is_held` |
//! | O5 | `Stamps::settle`: count of tombstones, then stamp | `Stamps::known_settled`, after O3 and O4 | that there may be a tombstone | `loom_tombstone_downstream` |
//! | O6 | sequence or stamp, `light` fence, load of the mark | `Epoch::mark`, `heavy` fence, load of the sequence | either the waiting thread sees the sequence or the other side sees the mark | `loom_park_on_publication`, `loom_park_twice_on_publication`, `loom_park_on_two_publications`, `loom_two_stages_park_on_publication`, `loom_park_until_there_is_room`, `loom_two_producers_park_until_there_is_room`, `loom_park_on_upstream_stage`, `loom_park_on_an_acknowledgement`, `loom_fused_park_on_an_acknowledgement`, `loom_park_on_full_ring`, `loom_park_on_anything`, `loom_park_on_anything_for_another_stage`, `loom_fused_park_on_publication`, `loom_fused_park_behind_a_claim_that_is_given_up`, `loom_fused_park_between_stages_of_other_threads`, `loom_fused_gate_of_a_full_ring`, `loom_fused_gate_until_there_is_room`, `loom_fused_park_behind_one_that_has_left`, `loom_fused_worker_beside_the_stage_after_its_group`, `loom_join_against_a_producer_that_parks`, `loom_join_as_the_consumer_in_the_other_seat_leaves`; and that the waiting thread chose the right stage to wait for: `loom_park_on_full_ring_with_two_gates`, `loom_park_on_two_upstream_stages`, `loom_park_on_full_ring_while_another_claims`, `loom_park_while_a_worker_claims_in_vain`, `loom_park_on_full_ring_of_a_group`, `loom_two_workers_share_the_last_event`, `loom_park_until_a_key_is_routed`, `loom_park_until_keys_are_given`, `loom_workers_by_key_drain_a_closed_ring`, `loom_wake_while_a_flag_comes_and_goes` |
//! | O7 | `Epoch::advance_and_wake` | `Epoch::current`, or `Epoch::mark` and the `heavy` fence, and the poll before the sleep | what was stored before the epoch was advanced, to parked threads, marked or not | `loom_halt_against_park`, `loom_halt_against_sleep`, `loom_close_against_park`, `loom_close_against_sleep`, `loom_halt_against_sleep_on_full_ring`, `loom_fused_close_against_park`, `loom_fused_halt_against_park`, `loom_fused_halt_against_full_ring`, `loom_fused_stop_of_one_against_park`, `loom_fused_park_on_one_that_leaves`, `loom_close_against_an_inactive_worker`, `loom_halt_against_park_on_upstream_stage` |
//! | O8 | cursor, `light` fence, load of the flag of a close; reader: cursor, `light` fence, load of the close | closing and its flag, `heavy` fence, cursor | either the close or halt counts the event, or the producer sees the close or halt; no reader or monitor sees an event that was not counted, so a channel's sender may take it back | `loom_close_against_publish`, `loom_close_against_publish_and_one_that_spins`, `loom_close_against_publish_of_one_that_counts`, `loom_close_against_publish_of_what_is_read_in_parts`, `loom_close_against_the_second_of_two_events`, `loom_close_against_the_second_of_two_events_in_parts`, `loom_halt_refuses_no_event_that_is_seen`, `loom_halt_refuses_no_event_that_one_that_spins_sees`, `loom_halt_refuses_no_event_of_one_that_counts`, `loom_last_one_leaves_drained`, `loom_a_look_counts_no_event_that_a_close_does_not`, `loom_single_send_against_a_receiver_that_leaves`, `loom_send_batch_against_a_receiver_that_leaves`, `loom_two_closers` |
//! | O9 | `Life::finish_close`: end, then closed | `Life::end` | the number of accepted events; to a second thread that closes or halts, that this number is known | `loom_close_against_publish`, `loom_a_second_closer_finds_what_was_accepted`, `loom_a_second_closer_finds_what_was_accepted_multi`, `loom_a_second_closer_counts_no_refused_event` |
//! | O10 | `Life::begin_halt`; `Control::stop` | every load of the state; `StageControl::is_stopping` | nothing but the flag itself; to parked threads, by O7 | `loom_halt_against_park`, `loom_stop_against_park`, `loom_stop_of_a_consumer_that_has_left`, `loom_stop_against_an_inactive_worker`, `loom_stop_against_a_parked_worker`, `loom_a_late_stop_undoes_no_other` |
//! | O11 | `Life::remove_producer` | the same, by the last producer | what other producers published, before the ring is closed | `loom_last_producer_closes` |
//! | O12 | `Multi::try_claim`, `Control::close_claims`: cursor | the same | of a claim, nothing: the numbers have one modification order, and slots are carried by O2 and O4; of a close or a halt, which of the two it was, to a producer whose claim fails | `loom_multi_producer_stamps`, `loom_claim_in_a_row_against_another`, `loom_halt_against_claim`, `loom_close_against_claim`, `loom_multi_send_against_a_receiver_that_leaves`, `loom_claims_up_to_share_what_is_free`, `loom_claim_up_to_waits_for_reader`, `loom_two_closers_multi` |
//! | O13 | any | any | nothing: a poll whose result something else confirms, a figure for a monitor, a number that need only be unique, or a total | `loom_park_on_full_ring` |
//! | O14 | `Control::detach`, `join`: count of consumers | the same, by another consumer | nothing: the count has one modification order, which ends at 0; of consumers that leave at the same time one is the last, and none joins after it; a consumer that has drained the ring is not subtracted | `loom_last_two_consumers_leave`, `loom_last_one_leaves_drained_multi`, `loom_one_leaves_after_another_has_drained`, `loom_join_as_the_last_one_leaves`, `loom_claim_as_one_leaves_and_another_joins` |
//! | O15 | `Control::grant`: granted value, fence, load of the seats | `Control::sit_down`: sequence of the seat, fence, load of the granted value | either the producer sees the seat or the consumer sees the grant; with the grant, that everything one lap below it is settled | `loom_join_at_the_oldest_against_publish`, `loom_join_at_the_oldest_against_publish_multi`, `loom_join_now_against_publish`, `loom_join_now_against_publish_multi` |
//! | O16 | `Seating::free_seat`: turn | `Seating::take` | the end of the reads of the last consumer in the seat, to the next | `loom_a_seat_is_taken_again`, `loom_two_join_for_one_seat` |
//! | O17 | `Failures::mark`, then O3 | `Failures::is_any_from`, `is_marked`, after O3 | that an event has failed, to the stages downstream of the one that skipped it | `loom_failed_event_is_seen_downstream` |
//! | O18 | `Control::advance`, `acknowledge`: stage's sequence | `Look::at`, downstream stages first | what the stage had waited for, at least as far: no stage appears ahead of its upstream stages | `loom_no_stage_shows_ahead`, `loom_no_stage_shows_ahead_of_a_claim`, `loom_no_stage_shows_ahead_of_an_acknowledgement` |
//! | O20 | `Slot::open`: state | `Slot::enter` | the entry of a tap, to a reader | `loom_tap_slot_hands_on_its_entry` |
//! | O21 | `Visit::drop`: state | `Slot::seal` | the end of the read, to the writer that writes the slot again | `loom_tap_slot_is_written_after_its_readers` |
//! | O22 | `Head::advance` | `Head::look` | the state of each position below, so that a reader counts no written position as passed over; that nothing more will be written | `loom_tap_counts_exactly`, `loom_tap_loses_nothing_that_there_is_room_for` |
//! | O25 | `Group::try_claim`, `Router::settle_team` and `finish`: worker's bound, then the group's word | `Control::finished_by_all` and `behind`: the group's word, then the workers' | that a claim below the group's word appears in a worker's word until it is finished | `loom_no_event_is_overwritten_while_a_worker_has_it`, `loom_two_workers_never_get_one_event`, `loom_stage_after_a_group`, `loom_a_worker_that_joins_by_key_holds_its_events` |
//! | O26 | `Group::resize`, `leave`: which workers are wanted, which claims are left behind; then O7 | every load of them | nothing but numbers; to parked threads, by O7; a thread that routes to a worker, and has not seen that it is not wanted, wakes it by O7 as well | `loom_resize_against_sleep`, `loom_last_two_workers_leave`, `loom_a_worker_takes_over_what_another_left`, `loom_a_worker_that_goes_to_sleep_is_routed_to` |
//! | O27 | `Group::leave`: end of the claim left behind | `Group::take_over` | the claim's word, and what the worker that left has done to its events | `loom_a_worker_takes_over_what_another_left`, `loom_a_worker_takes_over_what_was_routed_to_another` |
//! | O28 | `Router::finish`: group's word; `Router::drop`: lock | `Group::claimed`; `Router::new` | the owner of each event and the end of the read of its key, to the owner; the team and its words, to the thread that routes next | `loom_a_key_is_read_before_its_event_is_handled`, `loom_two_route_one_after_another`, `loom_resize_by_key_keeps_the_order` |
//! | O29 | `Turn::hand_on_watch`: watch, `light` fence, load of the followers | mark of a follower, `heavy` fence, load of the watch | either the follower sees that no worker watches, or it is woken; of a follower that leaves and the thread that wakes it, one sees that the other was first | `loom_two_idle_workers_get_an_event_each`, `loom_a_watch_is_handed_to_one_that_goes` |
//! | O30 | `Notice::give`: notice, after the cursor | `Notice::shows` | the cursor, and with it the event, to a first stage; that the event was accepted (O8), so that the receiver need not check for a close | `loom_notice_brings_its_value`, `loom_notices_of_a_batch_come_with_its_first`, `loom_parked_receiver_needs_no_notice` |
//! | O32 | `Control::close`, `halt`: state, then the flag by `Epoch::raise` | `single::why_ended` | why the ring has ended, to a producer that saw the flag | `loom_halt_against_publish`, `loom_a_flag_is_raised_while_another_comes_and_goes` |
//! | O33 | `SingleClaims::check`: window, `light` fence, load of the flag | `Control::close_claims`: flag, `heavy` fence, window | either the producer sees the flag, or the 0 comes after what the producer stored: no claim is granted after a close or a halt | `loom_no_claim_after_a_close`, `loom_no_claim_up_to_after_a_close`, `loom_no_claim_after_a_halt` |
//! | O36 | `Moves::has_given`, with O28; `send`; `begin`; `end` | `Moves::have_all_given`; `fetch`; `owes`; `target` | that there is state to take, to the thread that routes next, and with the group's word to the worker whose event is routed; the state, to the worker that takes it; the target, to the workers that give; the resulting team, to a worker that leaves | `loom_what_is_known_of_a_key_comes_before_its_event`, `loom_what_a_worker_knew_is_taken_over_before_its_events`, `loom_a_worker_that_leaves_gives_by_the_team_that_it_is_in` |
//! | O37 | `Group::leave`: claim left behind, fence, load of the end | end of the ring, fence, load of the claims left behind | either a worker that leaves sees that no worker needs what it gave, or a worker that ends sees that there is something to take over | `loom_what_a_worker_knew_is_not_lost_at_the_end`, `loom_what_a_worker_knew_is_with_the_last_one`, `loom_what_a_worker_knew_is_with_the_last_that_leaves` |
//! | O38 | `OpenClaim::note`: thread, then the claim | `Record::of_this_thread` | which thread made the claim, to a thread that checks whether it made it | `loom_a_claim_of_another_thread_is_not_ones_own` |
//!
//! A relaxed load of a thread's own word needs no row. `fence(SeqCst)` is used where a store must
//! be visible before a later load of another word (O6, O8, O15, O29, O37), and for O33 also before
//! a later store. On Linux the frequent side of O6, O8, O29 and O33 is a compiler fence, because
//! the rare side calls `membarrier`. The model replaces both by a fence.
//!
//! # Why the least word of a group is below every event that is in hand (O25)
//!
//! A group has a word of its own, `g`, and a word `w` for each worker. All stores to a `w` are
//! releases. `g` changes only by compare-and-swaps that are releases, so a thread that acquires a
//! value of `g` has acquired every claim below it. A reader loads `g` first and then each `w`, with
//! acquires, and takes the least as the sequence `s`. Let `e < s` be an event.
//!
//! - `e` is claimed, because `e < s <= g`. Its worker stored a bound `b <= e` in its `w` before the
//!   compare-and-swap. That is before the value of `g` that was read, and so before `w` was read.
//!   The reader saw `b` or a later value.
//! - The reader did not see a value at or below `e`, because `s` is the least of all. While a
//!   worker has `e` in hand it stores nothing above `e`. So the reader saw what the worker stored
//!   when it finished `e`, or later. Each of these stores carries the end of the worker's reads of
//!   `e`, and its writes.
//! - No worker gets `e` again: a claim begins at `g`, which never goes back.
//!
//! So `e` is finished. Its slot may be written again, or read by the next stage. A worker whose
//! compare-and-swap fails has stored a bound that is too low. This holds back others until the
//! worker stores the next bound, and does no other harm. A claim that was left behind keeps the
//! word of the worker that left. The word passes to the worker that takes the claim over (O27).
//!
//! # By key (O25, O28)
//!
//! Here `g` is the sequence up to which events are routed. The thread that holds the lock moves it.
//! The `w` of a worker of the team is the sequence up to which it has gone through the routed
//! events; the other workers are idle.
//!
//! - Before `g` passes an event, the `w` of its owner is at or below it. Either it was so before,
//!   or the thread that holds the lock has just set it to `g`.
//! - It does so only while all workers of the old team are at `g`. There they store nothing: each
//!   loads `g` first and its own `w` afterwards. A worker that sees that `g` has moved therefore
//!   sees the value to which its `w` was set before.
//! - So the least word is below every routed event that is not finished. The argument is the one
//!   above, with "the owner" instead of "the worker that claimed it".
//! - A worker that gets a key after the team has changed is ordered after all earlier accesses to
//!   the events of that key. `has_finished` has acquired each `w` of the old team, the lock or the
//!   same thread hands this on, and `g` carries it to the new owner.
//! - The slot of `owners` is that of the event. It is written again for an event one lap later,
//!   which is published only when every `w` is past the earlier event.
