//! LMAX's Disruptor and Lapwing: the features of both, the scenarios of the conformance suite, and
//! the defects of the original.
//!
//! "LMAX" is the Java library, versions 1.0 to 4.0. The test names are those of
//! `tests/conformance`, where each test runs for every sequencer and every wait strategy.
//! `tests/sources/tables.rs` checks the tables of this page against the suite.
//! [`wait`](crate::wait) has a table of the wait strategies.
//!
//! # Features
//!
//! ## Ring, sequences, sequencers, barriers
//!
//! | LMAX | here | what is different |
//! |---|---|---|
//! | `RingBuffer` | [`Disruptor`] builds one | An event is accessible only through a claim, a handler or a batch, for the time of the borrow. No code can access an arbitrary slot. The capacity is a power of two, including 1. |
//! | `createSingleProducer`, `createMultiProducer`, `ProducerType` | [`Disruptor::single_producer`], [`Disruptor::multi_producer`] | The choice is a type: a [`SingleProducer`] cannot be cloned, so publishing from a second thread does not compile. |
//! | `EventFactory` | the closure passed to either | |
//! | `next`, `next(n)` | [`Producer::claim`], [`Producer::claim_batch`] | A claim is a guard: publish it, or drop it and no consumer waits for it. Claiming waits with a strategy, which may park, and ends on a close or a halt. [`Producer::claim_or`] waits for a limited time; [`Producer::claim_up_to`] takes what is free. |
//! | `tryNext`, `tryNext(n)` | [`Producer::try_claim`], [`Producer::try_claim_batch`] | A small enum instead of an exception. A count that can never be granted is a separate error. |
//! | `publish(sequence)`, `publish(lo, hi)` | [`Claim::publish`], [`ClaimBatch::publish`] | Consumes the claim, so an event is published once, and only if it was claimed. |
//! | `claim(sequence)`, `claimAndGetPreallocated`, `forcePublish`, `resetTo` | [`Builder::first_sequence`] | A ring may begin at any sequence. The cursor of a running ring cannot be moved. |
//! | `isAvailable(sequence)`, `isPublished` | none | There is no access by sequence; [`Poller::poll`] returns what is available. |
//! | `hasAvailableCapacity(n)` | [`Producer::try_claim_batch`], [`Producer::free_slots`] | The query writes nothing. |
//! | `remainingCapacity` | [`Producer::free_slots`] | Never negative: claims never go beyond the capacity. |
//! | `getCursor` | [`Snapshot::published`], [`Snapshot::claimed`] | With several producers, LMAX returns the claimed sequence, even beyond the capacity. |
//! | `getMinimumGatingSequence`, `getBufferSize` | [`Snapshot::held_slots`], [`Producer::capacity`] | |
//! | `addGatingSequences` | a stage gates by being built; [`DynamicStages::join`] while the ring runs | A consumer that joins begins at the next event, at the oldest event or at a given sequence, and misses no later event. A ring cannot be overwritten unnoticed: a graph without stages is [`BuildError::NoConsumers`]. |
//! | `removeGatingSequence` | dropping a [`Poller`], [`StopHandle::stop`], [`Action::Stop`] | Its downstream stages then depend on its upstream stages. When the last consumer has left, the ring halts. |
//! | `newBarrier(sequences…)` | [`Stage::after`] | |
//! | `newPoller(sequences…)` | [`Stage::poller`] | |
//! | `Sequence` | [`Sequence`] | A number, 0 for the first event. The words that threads share are private; each has two cache lines of its own. |
//! | `SequenceGroup`, `FixedSequenceGroup` | none | Private: the graph fixes the dependencies of each stage. |
//! | `Sequencer`, `Sequenced`, `Cursored`, `DataProvider`, `EventSequencer`, `EventSink` | [`Sequencer`] | Sealed. For custom storage, off the heap or in several arrays, use `()` as the event: stages and claims have the sequence. |
//! | `SingleProducerSequencer` | [`Single`] | |
//! | `MultiProducerSequencer` | [`Multi`] | Claims by compare-and-swap, never more than the ring holds: a producer that dies while it waits leaves no gap, and `try_` calls do not starve behind a waiting one. |
//! | `getHighestPublishedSequence` | none | Private; a downstream stage checks for claims that were given up only if there are any. |
//! | `SequenceBarrier` | none; [`Poller::wait`] waits | One per stage, never shared. A state of the ring ends a wait, not an alert that must be cleared. |
//! | `InsufficientCapacityException`, `AlertException`, `TimeoutException` | [`TryPublishError`], [`RingError`], [`PollError`] | |
//! | `NoOpEventProcessor` | a [`Poller`] | [`Batch::consume_all`](crate::consumer::Batch::consume_all) releases events without reading them. |
//! | `Util`, `ThreadHints`, `DaemonThreadFactory` | none | The standard library has them; [`Running::detach`] leaves a thread running. |
//!
//! ## Publishing
//!
//! | LMAX | here | what is different |
//! |---|---|---|
//! | `EventTranslator`, `…OneArg`, `…TwoArg`, `…ThreeArg`, `…Vararg` | a closure | Captures cost no allocation, so there is no overload for each number of arguments. |
//! | `publishEvent` | [`Producer::publish`] | |
//! | `tryPublishEvent` | [`Producer::try_publish`] | |
//! | `publishEvents` | [`Producer::publish_batch`] | One closure for the batch, which gets exactly the claimed [`Slots`]. [`Slots::copy_from_slice`] checks the length. |
//! | `tryPublishEvents` | [`Producer::try_publish_batch`] | |
//! | bounds checks that claim nothing | [`BatchError::Zero`], [`BatchError::TooLarge`] | |
//! | a translator that throws publishes its slot | a panic gives the claim up | No consumer sees the half-written event, and none waits for it. |
//! | `EventPublisher` | [`Producer`] | |
//! | none | [`Producer::publish_or`], [`WhenFull`] | An argument of the call decides what happens on a full ring: wait, wait for a limited time, refuse, or drop and count. |
//!
//! ## Waiting
//!
//! | LMAX | here | what is different |
//! |---|---|---|
//! | `BusySpinWaitStrategy` | [`BusySpin`] | |
//! | `YieldingWaitStrategy` | [`Yielding`] | With the CPU's pause hint between polls. Under oversubscription it yields without polling first. |
//! | `SleepingWaitStrategy` | [`Sleeping`] | A halt ends a sleep of any length at once. Under oversubscription it yields without polling first. |
//! | `BlockingWaitStrategy` | [`Blocking`] | No lock, and one load per publication while no thread is parked. It also parks on an upstream stage and on a full ring. |
//! | `LiteBlockingWaitStrategy` | [`Blocking`] | There is only the lite variant. |
//! | `TimeoutBlockingWaitStrategy`, `LiteTimeoutBlockingWaitStrategy` | [`Blocking`] and [`Stage::timeout_after`] | The time limit belongs to the wait, not to the strategy. It applies to a slow upstream stage as well as to an empty ring. A limit of zero is allowed. |
//! | `PhasedBackoffWaitStrategy` | [`PhasedBackoff`] over any strategy | A halt ends each phase. |
//! | `withLock`, `withLiteLock` | `PhasedBackoff::new(spin, yielding, Blocking { yields: 0 })` | |
//! | `withSleep` | `PhasedBackoff::new(spin, yielding, Sleeping { spins: 0, yields: 0, ..Sleeping::default() })` | |
//! | `waitFor` and `signalAllWhenBlocking` of your own strategy | [`WaitStrategy::next`] | The strategy answers the next step. The library takes it, checks what ends the wait, and wakes parked threads. |
//! | one strategy for a ring | [`Builder::wait_strategy`], [`Stage::wait_strategy`], [`Builder::producer_wait_strategy`], [`Producer::set_wait_strategy`] | One strategy per consumer and per producer. |
//! | 1.x: an enum; 2.x: timeouts in every method | [`Poller::wait_timeout`], [`WhenFull::Timeout`] | |
//! | none | [`Adaptive`] | The default: spins or yields for as long as parking costs, then parks. On a stream of events it backs off for a learnt gap. |
//!
//! ## Consumers
//!
//! | LMAX | here | what is different |
//! |---|---|---|
//! | `EventHandler.onEvent` | [`EventHandler::on_event`], or a closure | A stage that runs alone may get `&mut E`; parallel stages get `&E`. |
//! | `BatchEventProcessor`, `BatchEventProcessorBuilder` | [`Consumer`] | A value that runs once: by [`Consumers::start`], in a scope, on your own thread, or [several on one thread](Consumer::run_together). |
//! | maximum batch size | [`Stage::max_batch`] | For any stage. The default is at most half of the ring. |
//! | `onStart`, `onShutdown` | [`EventHandler::on_start`], [`EventHandler::on_shutdown`] | Called once each, even if the halt came first. A panic in `on_start` halts the ring; LMAX continues. |
//! | `onBatchStart(batchSize, queueDepth)` | [`EventHandler::on_batch_start`] | |
//! | `onTimeout` | [`EventHandler::on_timeout`] | With the sequence that it waits for, not the last finished one. |
//! | `setSequenceCallback` (early release) | [`Action::ReleaseNow`] | |
//! | the same, to release later (documented, but not possible) | [`Stage::acknowledged`], [`Acknowledger`] | |
//! | `RewindableEventHandler`, `RewindableException`, `BatchRewindStrategy` | [`Action::Rewind`], [`Retries::of_batch`], any [`FailurePolicy`] | For any handler; `EventuallyGiveUp(n)` is [`Retries::attempts`] and [`Retries::or`], `NanosecondPause` is [`Retries::pause`]. Also for one event: [`Action::Retry`]. |
//! | `ExceptionHandler` | [`Stage::on_error`], [`Stage::on_panic`] | The policy returns the action. [`Failure`] names the place. |
//! | `FatalExceptionHandler` | the default | The ring halts, so producers and the other stages get an error. In LMAX the thread ends and its sequence holds producers back for ever. |
//! | `IgnoreExceptionHandler` | [`Action::Skip`] | Downstream stages do not act on the event unless they ask: [`EventHandler::on_failed_event`], [`Stage::with_failed_events`]. |
//! | `AggregateEventHandler` | [several handlers in one stage](EventHandler#several-handlers-in-one-stage) | Every call is forwarded; LMAX forwards three. |
//! | `EventPoller.poll`: `PROCESSING`, `GATING`, `IDLE` | [`Poller::poll`] | Returns a batch, [`PollError::Empty`] for the last two states, or an error if the ring has ended. A [`StageSnapshot`] tells the two states apart. It can also [wait](Poller::wait). An event that an iterator has yielded is consumed. To get a failed event again, read [`Batch::as_slice`](crate::consumer::Batch::as_slice) and [consume](crate::consumer::Batch::consume) only what is finished. |
//! | `WorkerPool`, `WorkProcessor`, `WorkHandler`, `EventReleaser`, `drainAndHalt` (2.6 to 3.4) | [`Stage::workers`], [`WorkerGroup`], [`Action::ReleaseNow`], [`Running::close`] | Workers claim batches, not events, and may change events. A group can be resized while it runs. [`WorkerStage::by_key`] keeps the order of each key. |
//! | custom `EventProcessor` | a [`Poller`] on your own thread | |
//!
//! ## The builder
//!
//! | LMAX | here | what is different |
//! |---|---|---|
//! | `handleEventsWith(a, b)` | [`Builder::parallel`] with [`Parallel::stage`] | Names instead of identity. |
//! | `handleEventsWith(strategy, rewindable…)` | [`Stage::on_error`] | |
//! | `handleEventsWithWorkerPool`, `thenHandleEventsWithWorkerPool` (3.0 to 3.4) | [`Stage::workers`] | |
//! | `handleEventsWith(factories…)`, `…(processors…)` | [`Stage::read_local`], [`Stage::poller`] | |
//! | `then` | [`Builder::stage`] | The next stage depends on all stages before it. |
//! | `after(…)`, `and(…)` | [`Stage::after`] in a [`Graph`]; [`Parallel::chain`] | A stage of another graph is [`BuildError::UnknownStage`]; a cycle cannot be expressed. |
//! | `asSequenceBarrier` | none | Ids suffice. |
//! | `start`, `hasStarted` | [`Consumers::start`] | Consumes the consumers, so nothing is started twice and no stage is added later. To join later, use [`DynamicStages`]. |
//! | `halt` | [`Running::halt`] | Wakes all threads, including producers. For one stage: [`Running::stop_handle`]. |
//! | `shutdown`, `shutdown(timeout)` | [`Running::shutdown`], [`Running::shutdown_timeout`] | Closes first, so producers need not have stopped. Waits without spinning, and returns when the threads have ended. Returns the handlers in a [`Report`]; after a timeout, reports what is left. |
//! | `setDefaultExceptionHandler`, `handleExceptionsFor(h).with(e)`, `handleExceptionsWith` | [`Stage::on_error`], [`Stage::on_panic`] | Part of the stage, so it cannot be set too late. |
//! | `getRingBuffer`, `get(sequence)` | none | See the first row of this page. |
//! | `getCursor`, `getSequenceValueFor` | [`Monitor::snapshot`], [`Poller::sequence`] | For every stage: sequence, lag and state, and [what holds up the ring](Stall). |
//! | `getBarrierFor` | none | |
//! | `ThreadFactory`, `Executor` | [`Consumers::start_scoped`], [`Consumer::run`] | One named thread per stage. Sharing threads is explicit: [`Placement`], [`Stage::on_thread`]. No stage starves because a pool is too small. |
//! | producers are gated by the leaves of the graph | the same | |
//!
//! ## What only 1.x and 2.x had
//!
//! | LMAX | here |
//! |---|---|
//! | `AbstractEntry`, which has its sequence | handlers and claims have the sequence |
//! | `ProducerBarrier.nextEntry`, `commit` | [`Producer::claim`], [`Claim::publish`] |
//! | `ForceFillProducerBarrier` | [`Builder::first_sequence`] |
//! | `ConsumerBarrier`, `NoOpConsumer` | see `SequenceBarrier` and `NoOpEventProcessor` |
//! | `SequenceBatch`, `BatchDescriptor` | [`ClaimBatch`] |
//! | `ClaimStrategy`: single, low contention, several | [`Single`], [`Multi`] |
//! | timeouts of `next` | [`Producer::claim_or`] |
//! | `Histogram`, OSGi metadata | none |
//!
//! # Scenarios
//!
//! | id | scenario | tests |
//! |----|----------|-------|
//! | C01 | one producer, one consumer: first in, first out | `c01_one_consumer_sees_the_events_of_one_producer_in_order` |
//! | C02 | multicast: every stage sees every event | `c02_every_stage_of_a_multicast_sees_every_event` |
//! | C03 | pipeline: each stage depends on the previous one | `c03_each_stage_of_a_pipeline_sees_the_writes_of_the_previous_one` |
//! | C04 | diamond: the join sees what both sides wrote | `c04_join_of_a_diamond_sees_the_writes_of_both_sides` |
//! | C05 | `after` and `and`: a join of some, not of all | `c05_stage_waits_only_for_the_stages_that_it_names` |
//! | C06 | a consumer that joins late begins at the cursor | `c06_consumer_that_joins_late_begins_at_the_cursor` |
//! | C07 | events published before the start are delivered | `c07_events_published_before_the_start_are_delivered` |
//! | C10 | a full ring blocks the producer at exactly its size | `c10_full_ring_blocks_the_producer_at_exactly_its_size` |
//! | C11 | the producer continues after one release | `c11_blocked_producer_continues_by_one_event_after_one_release` |
//! | C12 | `try_` calls on a full ring claim nothing | `c12_try_calls_on_a_full_ring_return_full_and_claim_nothing` |
//! | C13 | a batch of the ring's size fits; one of 0, or of one more, is refused | `c13_batch_of_the_whole_ring_fits_and_none_or_one_more_is_refused` |
//! | C14 | a batch across the wrap | `c14_batch_across_the_wrap_arrives_in_order` |
//! | C15 | a ring of one slot | `c15_ring_of_one_slot_works` |
//! | C16 | a ring of two slots | `c16_ring_of_two_slots_works` |
//! | C17 | a ring without gating consumers overwrites in LMAX; here it cannot be built | `c17_ring_without_gating_consumers_is_refused` |
//! | C20 | a claim in the middle stalls: consumers see the events before it, then all in order | `c20_claim_in_the_middle_that_stalls_hides_later_events` |
//! | C21 | two claims are outstanding: neither is visible before it is published (issue 477) | `c21_claims_that_are_outstanding_are_invisible` |
//! | C22 | the last event of a batch is visible | `c22_last_event_of_a_batch_is_visible_when_the_batch_is_published` |
//! | C23 | a claim is dropped, or its owner panics | `c23_dropped_claim_shows_no_event_and_blocks_no_thread`, `c23_panic_while_a_claim_is_filled_shows_no_event_and_blocks_no_thread` |
//! | C30 | a single event wakes the waiting stages at each depth; `wake_ups.rs` covers every phase | `c30_single_event_wakes_each_depth` |
//! | C31 | a timeout is never early, and none occurs while there are events | `c31_timeout_is_never_early`, `c31_timeout_does_not_come_while_there_are_events` |
//! | C32 | a timeout also occurs while an upstream stage is slow | `c32_timeout_comes_while_an_upstream_stage_is_slow` |
//! | C33 | a halt ends every wait, in every phase; `ends_of_waits.rs` measures how fast | `c33_halt_ends_the_waits_on_an_empty_ring`, `c33_halt_ends_the_waits_on_a_full_ring` |
//! | C34 | one stage stops, its siblings continue (issue 417) | `c34_stage_that_stops_leaves_its_siblings_running`, `c34_stage_that_is_stopped_leaves_its_siblings_running` |
//! | C40 | a halt before, during and after the start: one start, one shutdown | `c40_halt_before_the_run_gives_one_start_and_one_shutdown`, `c40_halt_at_any_moment_gives_one_start_and_one_shutdown` |
//! | C41 | start, publish, and shut down at once: no event is lost (issue 517) | `c41_events_published_between_a_start_and_a_shutdown_are_all_handled` |
//! | C42 | a shutdown returns when the handlers have (issue 166) | `c42_shutdown_returns_when_every_handler_has` |
//! | C43 | a shutdown ends although a consumer has died (issue 50) | `c43_shutdown_with_a_stage_that_died_ends` |
//! | C44 | a shutdown wakes producers that are blocked (issue 182) | `c44_shutdown_wakes_a_producer_that_is_blocked` |
//! | C45 | a shutdown that times out reports what is left | `c45_shutdown_that_times_out_reports_what_is_left` |
//! | C50 | a handler fails: skip, retry, stop, halt, and what downstream stages see | `c50_event_that_is_skipped_reaches_downstream_stages_as_failed`, `c50_event_that_is_retried_reaches_downstream_stages_once`, `c50_stage_that_stops_on_an_error_hands_its_place_on`, `c50_error_without_a_policy_halts_the_ring_and_names_the_place` |
//! | C51 | a failure in the last event of a batch; handlers that flush at its end | `c51_error_on_the_last_event_of_a_batch_leaves_no_batch_without_an_end` |
//! | C52 | a failure in `on_batch_start` skips no event | `c52_panic_of_on_batch_start_skips_no_event` |
//! | C53 | a spurious wake-up skips no event (sofa-jraft 410) | `c53_spurious_wake_up_skips_no_event` |
//! | C54 | a panic while a slot is filled | `c54_panic_of_a_fill_publishes_nothing_and_blocks_no_thread` |
//! | C55 | rewinding: the cases of `RewindBatchEventProcessorTest` | `c55_rewind_begins_the_batch_again_wherever_it_failed`, `c55_rewind_begins_no_batch_again_but_its_own`, `c55_error_that_is_not_for_a_rewind_is_not_rewound`, `c55_policy_is_called_once_per_failure_and_never_otherwise`, `c55_rewind_with_a_pause_takes_as_long`, `c55_rewind_that_gives_up_skips_its_event` |
//! | C60 | batches of 3, 2 and 1 while a handler publishes more | `c60_events_that_come_during_a_batch_are_the_next_one` |
//! | C61 | the maximum batch, its size and the depth of the queue | `c61_maximum_batch_is_respected_and_the_queue_depth_reported`, `c61_with_one_producer_the_queue_depth_needs_no_extra_poll` |
//! | C62 | an early release is visible within the batch | `c62_event_that_is_released_early_is_visible_within_the_batch` |
//! | C63 | a deferred acknowledgement holds back the producer and downstream stages | `c63_deferred_acknowledgement_holds_the_producer_and_downstream_stages` |
//! | C64 | a poller: its states, stopping within a batch, and failing | `c64_poller_is_empty_until_an_event_is_published_and_its_upstream_stage_has_finished_it`, `c64_poller_that_stops_within_a_batch_gets_the_rest_again`, `c64_poller_that_fails_gets_the_same_event_again` |
//! | C65 | `on_batch_start` is never called without an event | `c65_batch_that_is_announced_has_an_event` |
//! | C70 | consumers join under load: no gap after their first event, never overrun | `c70_consumers_that_join_under_load_miss_nothing_and_are_never_overrun` |
//! | C71 | consumers leave under load: no other consumer loses an event, the producer continues | `c71_consumers_that_leave_under_load_take_no_event_from_others`, `c71_stages_that_are_stopped_under_load_take_no_event_from_others`, `c71_producer_continues_when_the_consumer_that_it_waits_for_leaves` |
//! | C72 | workers: each event goes to one of them; resizing; draining; no event before it is published | `c72_each_event_goes_to_exactly_one_worker`, `c72_group_that_is_resized_under_load_loses_and_duplicates_no_event`, `c72_close_is_drained_by_the_workers` |
//!
//! # Defects
//!
//! A letter marks a part of a defect. "Open" defects are present in 4.0.
//!
//! | id | where | the defect in LMAX | tests |
//! |----|-------|---------------|-------|
//! | B01 | Blocking, up to 2.10 | a publisher that saw no waiting thread did not wake one that was about to wait (issues 119, 246) | `b01_single_event_wakes_its_consumer`, `b01_single_free_slot_wakes_its_producer` |
//! | B02 | 3.0 | `publish(lo, hi)` of several producers left out `hi` | `b02_last_event_of_a_batch_arrives_without_another` |
//! | B03 | up to 4.0 | `hasAvailableCapacity` wrote the cursor between a claim and its publication; `next` still does (issue 477). Here a single producer has one claim at a time, and no claim moves a shared word | `b03a_query_of_free_slots_publishes_nothing`, `b03b_second_claim_that_reads_the_gate_publishes_nothing` |
//! | B04 | 3.0 | a worker consumed an event before it was published | `b04_nothing_reaches_a_worker_before_it_is_published` |
//! | B05 | 3.0 | a worker's releaser let the producer overwrite the event that the worker was handling | `b05_event_that_a_worker_has_is_not_overwritten` |
//! | B06 | 2.8 to 3.3 | stages did not gate the producer before they had started (issues 155, 172), or at all; a stage named by `after` was started twice (issue 262) | `b06a_stages_that_have_not_started_hold_their_events`, `b06b_every_last_stage_gates_the_producer`, `b06c_stage_that_is_named_twice_runs_once`, `b06d_workers_that_have_not_started_hold_their_events` |
//! | B07 | 3.3 | a poller saw nothing of a ring that was exactly full (issue 84) | `b07_poller_sees_a_ring_that_is_exactly_full` |
//! | B08 | up to 3.3.5 | a consumer that joined was overrun, because a fence was missing | `b08_consumer_that_joins_beside_a_fast_producer_is_not_overrun` |
//! | B09 | up to 3.4.2 | halt and start raced | `b09_halt_while_stages_start_gives_each_one_start_and_one_shutdown` |
//! | B10 | 3.x | `onBatchStart(0)` (issue 259) | `b10_wait_that_makes_no_progress_announces_no_batch` |
//! | B11 | up to 2018 | `next(n)` for more than the capacity parked for ever (issue 236) | `b11_batch_larger_than_the_ring_is_an_error_without_a_wait` |
//! | B12 | up to 2.10.3 | `SequenceGroup.remove` raced, and failed for an absent sequence (issue 30). Here a consumer leaves by being dropped, so it leaves once | `b12_consumers_that_leave_at_the_same_time_free_the_producer` |
//! | B13 | 3.0 | a gating sequence ahead of the cursor let the producer overrun | `b13_stage_cannot_be_ahead_of_the_cursor_and_let_the_producer_overrun` |
//! | B14 | 2.x | the claims of all rings shared a `static`; two threads that published batches deadlocked | `b14a_thread_that_publishes_to_two_rings_keeps_them_apart`, `b14b_two_threads_that_publish_batches_end` |
//! | B15 | 1.x | the wrap was off by one; publications of several producers were lost; a handler that released early did not release the end of its batch | `b15a_event_is_not_overwritten_before_its_reader_releases_it`, `b15b_every_event_of_several_producers_arrives`, `b15c_end_of_a_batch_releases_all_after_an_early_release` |
//! | B16 | 3.x, 4.0 | a fence behind its store; `addAndGet` returned the value before | `b16a_event_is_whole_when_it_is_visible`, `b16b_sequence_of_a_claim_is_that_of_its_event` |
//! | B17 | 2.x, 3.x | workers: a drain that compared with `!=` (issue 42), shutdowns that waited for dead workers (issue 50), a timeout without a handler (issue 144), a halt that dropped an event (issue 286); a shutdown by the wall clock; loggers that deadlocked (issue 370) | `b17a_shutdown_ends_although_the_last_claims_were_given_up`, `b17a_backlog_of_workers_is_their_unfinished_events`, `b17b_worker_that_stopped_holds_up_no_shutdown`, `b17b_shutdown_waits_for_no_stage_that_has_died`, `b17e_time_limit_of_a_shutdown_uses_a_monotonic_clock`, `b17f_rings_that_many_threads_build_at_the_same_time_work`, `b17c_timeout_of_a_worker_is_called`, `b17d_worker_that_stops_leaves_its_events_to_the_others` |
//! | B18 | open | a shutdown halts processors that have not started, and their events are lost (issue 517) | `b18_events_are_not_lost_to_stages_that_have_not_begun` |
//! | B19 | open | a processor that is halted before it runs counts as running for ever | `b19_ring_that_was_halted_before_its_stages_began_can_be_shut_down` |
//! | B20 | open | several processors share an alert (issue 417): a processor that is halted keeps the others from their events, and one that starts clears the alert. Here a policy belongs to its stage, so it cannot be changed too late | `b20a_stage_that_stops_leaves_its_siblings_parked_and_able_to_wake`, `b20b_halt_is_seen_by_a_stage_that_begins_late` |
//! | B21 | open | an exception of a wait is treated as a failure of the next event, which is skipped | `b21a_panic_of_a_wait_skips_no_event`, `b21b_panic_of_on_timeout_skips_no_event` |
//! | B22 | open | LiteTimeoutBlocking misses an event until its timeout; the others time out without a last poll | `b22a_event_does_not_wait_for_the_timeout_and_calls_none`, `b22b_event_that_comes_as_the_timeout_ends_is_not_a_timeout` |
//! | B23 | open | PhasedBackoff does not see a halt while it spins | `b23_halt_ends_a_wait_in_its_first_phase` |
//! | B24 | open | a processor that is added after the start gates producers and is never started: producers hang | `b24_stage_that_never_runs_blocks_no_producer` |
//! | B25 | by design | a translator that throws publishes its partial result | `b25_panic_of_a_fill_exposes_no_partial_event` |
//! | B26 | by design | a handler that is registered twice is found once; here a handler belongs to one stage | `b26_stages_of_equal_handlers_are_told_apart` |
//! | B27 | open (log4j2 issue 4009) | a publication takes a lock under which user code may run | `b27_fill_that_publishes_and_halts_waits_for_no_lock`, `b27_publishing_under_a_lock_that_the_handler_wants_ends` |
//!
//! # Lessons from its code
//!
//! | LMAX | here |
//! |---|---|
//! | Padding of 56 bytes on each side | 128 bytes, because cache lines are fetched in pairs |
//! | A producer caches the gate and reads it again when the cached limit is used up | the same |
//! | That read writes the cursor, as a fence for consumers that join | a fence without a write: the cursor only says what is published |
//! | A lap number for each slot, so that no slot has to be cleared | the same, with a bit for claims that were given up |
//! | 4.0 adds to the claim counter first and waits afterwards | compare-and-swap: the counter never exceeds what the ring holds |
//! | `signalNeeded` is set before the last poll of the cursor | the same pair, with the fence on the waiting side (O6) |
//! | Only a producer signals, so downstream stages and producers spin | each thread that others wait for wakes them, also a stage |
//! | An alert stays until a run clears it | closed and halted are final states of the ring |
//! | `halt` drops the backlog, `shutdown` spins until it is handled, neither joins | [`Running::halt`] stops the stages, [`Running::shutdown`] drains and joins |
//! | Progress is published once per batch, so a slow batch hides it | the same; [`Stage::max_batch`], [`Action::ReleaseNow`] |
//! | After an exception, the rest of the batch is a new batch | the same |
//! | Handlers that are added before the start get events published before it | the same |

#[cfg(doc)]
use crate::wait::{Adaptive, Blocking, BusySpin, PhasedBackoff, Sleeping, WaitStrategy, Yielding};
#[cfg(doc)]
use crate::{
    Action, Builder, Consumers, Disruptor, EventHandler, Poller, Producer, Report, Running,
    Sequence, SingleProducer, Stage,
    consumer::{Acknowledger, Consumer, Failure, FailurePolicy, Retries, StopHandle},
    error::{BatchError, BuildError, PollError, RingError, TryPublishError},
    graph::{DynamicStages, Graph, Parallel, Placement, WorkerStage},
    lifecycle::WorkerGroup,
    monitor::{Monitor, Snapshot, StageSnapshot, Stall},
    producer::{Claim, ClaimBatch, Multi, Sequencer, Single, Slots, WhenFull},
};
