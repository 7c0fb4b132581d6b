#!/usr/bin/env python3
"""Breaks each row of the ordering table, and the invariants that models check, and checks that the model fails.

Usage: ci/mutants.py [ROW ...]        (default: all rows)
       ci/mutants.py --one-of-each    (one edit of each row; another one at the next commit)
       ci/mutants.py --texts          (only checks that each edit finds its text; runs no model)

Each mutant is one edit of a copy of the library. The check fails if a model passes with its edit, since such a model
proves nothing. It also fails if the text of an edit does not occur exactly once in its file, or if a model does not
compile, overflows its stack or runs too long.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Number of copies of the library that are edited in parallel. A build or a model keeps about one CPU busy.
TREES = min(os.cpu_count() or 1, 4)
# Longest time of one build and one model, in seconds.
LIMIT_S = 300
# The exit status of `timeout` after that time.
TIMED_OUT = 124

# Each mutant: row, file, text, replacement, model that must fail.
MUTANTS = [
    ("O1", "protocol/claims/single.rs", "cursor.store(end, Ordering::Release)", "cursor.store(end, Ordering::Relaxed)",
     "loom_publish_then_read"),
    ("O1", "protocol/reading/cursor.rs", "cursor.load(Ordering::Acquire)", "cursor.load(Ordering::Relaxed)",
     "loom_publish_then_read"),
    ("O1", "protocol/reading/cursor.rs", "cursor.load(Ordering::Acquire)", "cursor.load(Ordering::Relaxed)",
     "loom_publish_then_read_by_one_that_spins"),
    ("O2", "protocol/control/mod.rs", "sequence.store(sequence, Ordering::Release)", "sequence.store(sequence, Ordering::Relaxed)",
     "loom_wrap_waits_for_reader"),
    ("O2", "protocol/control/mod.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_wrap_waits_for_reader"),
    ("O2", "protocol/control/mod.rs", "sequence.store(DETACHED, Ordering::Release)", "sequence.store(DETACHED, Ordering::Relaxed)",
     "loom_a_consumer_that_left_has_read_its_last"),
    ("O2", "protocol/control/mod.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_lines_are_taken_by_the_last_of_stages_side_by_side"),
    ("I15", "protocol/reading/reader.rs", "if self.advice.wants_lines_of(",
     "self.ring.control.advance(self.stage, sequence); if self.advice.wants_lines_of(",
     "loom_lines_are_taken_while_nobody_else_has_them"),
    ("I15", "protocol/reading/reader.rs", "end.min(self.ring.control.finished_by_all(beside))",
     "end.min(self.ring.control.finished_by_all(&beside[..0]))",
     "loom_lines_are_taken_by_the_last_of_stages_side_by_side"),
    ("I15", "protocol/control/mod.rs", "self.gating.contains(&stage) && self.seating.is_empty()", "self.gating.contains(&stage)",
     "loom_lines_are_left_where_somebody_has_a_seat"),
    ("O3", "protocol/reading/barrier.rs", "upstream::end(control, &self.upstream).unwrap_or_else(|| cursor::end(control))",
     "cursor::end(control)",
     "loom_a_stage_that_spins_comes_after_the_one_before_it"),
    ("O3", "protocol/control/mod.rs", "sequence.store(sequence, Ordering::Release)", "sequence.store(sequence, Ordering::Relaxed)",
     "loom_dependent_stage"),
    ("O3", "protocol/control/mod.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_dependent_stage"),
    ("O3", "protocol/control/mod.rs", "fetch_max(sequence, Ordering::Release)", "fetch_max(sequence, Ordering::Relaxed)",
     "loom_acknowledgement_comes_after_what_it_says"),
    ("O4", "protocol/stamps.rs", "self.stamp(claim, fate), Ordering::Release", "self.stamp(claim, fate), Ordering::Relaxed",
     "loom_multi_producer_stamps"),
    ("O4", "protocol/stamps.rs", "slot.store(stamp, Ordering::Release)", "slot.store(stamp, Ordering::Relaxed)",
     "loom_multi_producer_stamps_of_batches"),
    ("O4", "protocol/stamps.rs", "slot(sequence).load(Ordering::Acquire)", "slot(sequence).load(Ordering::Relaxed)",
     "loom_multi_producer_stamps"),
    ("O4", "protocol/stamps.rs", "slot.load(Ordering::Acquire)", "slot.load(Ordering::Relaxed)",
     "loom_multi_producer_stamps"),
    ("O5", "protocol/stamps.rs", "if fate == Fate::Tombstone {", "if false {",
     "loom_tombstone_downstream"),
    ("O6", "protocol/parking/asymmetric.rs", "Self::Full => fence(Ordering::SeqCst)", "Self::Full => ()",
     "loom_park_on_publication"),
    ("O6", "protocol/parking/asymmetric.rs", "Self::Full => fence(Ordering::SeqCst)", "Self::Full => ()",
     "loom_park_on_upstream_stage"),
    ("O6", "protocol/parking/asymmetric.rs", "Self::Full => fence(Ordering::SeqCst)", "Self::Full => ()",
     "loom_park_on_full_ring"),
    ("O6", "protocol/parking/event_count.rs", "fence.heavy();", "{ let _ = fence; true };",
     "loom_park_on_publication"),
    ("O6", "wait/waiting.rs", "is_elsewhere() || self.is_over()", "{ let _ = is_elsewhere; self.is_over() }",
     "loom_park_on_full_ring_with_two_gates"),
    ("O6", "wait/waiting.rs", "is_elsewhere() || self.is_over()", "{ let _ = is_elsewhere; self.is_over() }",
     "loom_park_on_two_upstream_stages"),
    ("O6", "protocol/claims/single.rs", "control.notify_published();", "",
     "loom_park_on_anything"),
    ("O6", "protocol/control/mod.rs", "self.stages[stage].released.notify(|| self.has_room_behind(stage));\n            self.notify_shared_threads();",
     "self.stages[stage].released.notify(|| self.has_room_behind(stage));",
     "loom_park_on_anything_for_another_stage"),
    ("O6", "protocol/claims/multi.rs", "control.notify_published();", "",
     "loom_fused_park_on_publication"),
    ("O6", "protocol/claims/multi.rs", "control.notify_published();", "",
     "loom_fused_park_behind_a_claim_that_is_given_up"),
    ("O6", "protocol/claims/single.rs", "control.notify_published();", "",
     "loom_fused_park_behind_one_that_has_left"),
    ("O6", "protocol/control/mod.rs", "self.stages[stage].released.notify(|| self.has_room_behind(stage));\n            self.notify_shared_threads();",
     "self.stages[stage].released.notify(|| self.has_room_behind(stage));",
     "loom_fused_park_between_stages_of_other_threads"),
    ("O6", "protocol/control/mod.rs", "self.stages[stage].released.notify(|| self.has_room_behind(stage));\n            self.notify_shared_threads();",
     "self.stages[stage].released.notify(|| self.has_room_behind(stage));",
     "loom_fused_worker_beside_the_stage_after_its_group"),
    ("O6", "protocol/control/mod.rs", "self.stages[stage].released.notify(|| self.has_room_behind(stage));", "",
     "loom_fused_gate_of_a_full_ring"),
    ("O6", "protocol/parking/released.rs", "if self.room.is_awaited() && has_room() {", "if false && has_room() {",
     "loom_fused_gate_until_there_is_room"),
    ("O6", "protocol/parking/word.rs", "let next = (seen & !MARK).wrapping_add(EPOCH);", "let next = seen & !MARK;",
     "loom_two_stages_park_on_publication"),
    ("O6", "protocol/parking/word.rs", "self.word.fetch_or(MARK, Ordering::Relaxed) | MARK", "self.word.load(Ordering::Relaxed)",
     "loom_park_twice_on_publication"),
    ("O6", "protocol/parking/released.rs", "if self.room.is_awaited() && has_room() {", "if false && has_room() {",
     "loom_park_until_there_is_room"),
    ("O6", "protocol/control/mod.rs", "            control.follow_up_releases();\n", "",
     "loom_park_on_full_ring"),
    ("O7", "protocol/parking/word.rs", "fetch_update(Ordering::Release,", "fetch_update(Ordering::Relaxed,",
     "loom_close_against_park"),
    ("O6", "protocol/parking/word.rs", "                    self.sleepers.wake(&self.word);\n                    return true;", "                    return true;",
     "loom_park_on_publication"),
    ("O6", "protocol/parking/word.rs", "Err(now) => seen = now,", "Err(_) => return false,",
     "loom_wake_while_a_flag_comes_and_goes"),
    ("O7", "protocol/parking/word.rs", "fetch_update(Ordering::Release,", "fetch_update(Ordering::Relaxed,",
     "loom_close_against_sleep"),
    ("O7", "protocol/parking/word.rs", "self.word.load(Ordering::Acquire)", "self.word.load(Ordering::Relaxed)",
     "loom_close_against_sleep"),
    ("O7", "protocol/parking/event_count.rs", "let seen = self.epoch.current();\n        if let Some(length) = length() {",
     "let length = length();\n        let seen = self.epoch.current();\n        if let Some(length) = length {",
     "loom_halt_against_sleep"),
    ("O7", "protocol/control/ending.rs", "self.published.wake_all();\n        self.turns.end();", "self.published.notify();\n        self.turns.end();",
     "loom_close_against_sleep"),
    ("O7", "protocol/control/ending.rs", "self.published.wake_all();\n        self.turns.end();", "self.turns.end();",
     "loom_fused_close_against_park"),
    ("O7", "protocol/control/ending.rs", "self.published.wake_all();\n        self.turns.end();", "self.turns.end();",
     "loom_fused_halt_against_park"),
    ("O7", "protocol/control/ending.rs", "self.published.wake_all();\n        self.turns.end();", "self.turns.end();",
     "loom_fused_stop_of_one_against_park"),
    ("O7", "protocol/control/mod.rs", "if self.has_shared_threads {\n            self.published.wake_all();", "if false {\n            self.published.wake_all();",
     "loom_fused_park_on_one_that_leaves"),
    ("O7", "protocol/control/ending.rs", "            stage.released.wake_all();", "",
     "loom_fused_halt_against_full_ring"),
    ("O7", "protocol/control/ending.rs", "            stage.released.wake_all();", "            stage.released.notify(|| true);",
     "loom_halt_against_sleep_on_full_ring"),
    ("O8", "protocol/reading/polling.rs", "control.fence.light();", "",
     "loom_close_against_publish"),
    ("O8", "protocol/reading/polling.rs", "control.fence.light();", "",
     "loom_close_against_publish_of_what_is_read_in_parts"),
    ("O8", "protocol/reading/polling.rs", "control.fence.light();", "",
     "loom_close_against_publish_and_one_that_spins"),
    ("O8", "protocol/reading/polling.rs", "if end <= self.next || !self.is_still_open() {", "if end <= self.next {",
     "loom_close_against_publish_and_one_that_spins"),
    ("O8", "protocol/claims/single.rs", "        control.fence.light();\n        control.notify", "        control.notify",
     "loom_close_against_publish"),
    ("O6", "protocol/control/mod.rs", "            control.follow_up_publications(true);\n", "",
     "loom_fused_park_on_publication"),
    ("O8", "protocol/control/ending.rs", "let is_fenced = self.fence.heavy();", "let is_fenced = true;",
     "loom_close_against_publish"),
    ("O8", "protocol/control/ending.rs", "let is_fenced = self.fence.heavy();", "let is_fenced = true;",
     "loom_single_send_against_a_receiver_that_leaves"),
    ("O8", "protocol/claims/single.rs", "settled_end() >= end {", "settled_end() + 1 >= end {",
     "loom_single_send_against_a_receiver_that_leaves"),
    ("O8", "protocol/claims/single.rs", "settled_end() >= end {", "settled_end() > end {",
     "loom_halt_refuses_no_event_that_is_seen"),
    ("O8", "protocol/control/ending.rs", "let is_fenced = self.fence.heavy();", "let is_fenced = true;",
     "loom_halt_refuses_no_event_that_is_seen"),
    ("O8", "protocol/reading/polling.rs", "control.fence.light();", "",
     "loom_halt_refuses_no_event_that_one_that_spins_sees"),
    ("O8", "protocol/reading/polling.rs", "Span::Events(limit) => Span::Events(limit.min(end)),", "Span::Events(limit) => Span::Events(limit),",
     "loom_close_against_the_second_of_two_events"),
    ("O8", "protocol/reading/polling.rs", "Span::Events(limit) => Span::Events(limit.min(end)),", "Span::Events(limit) => Span::Events(limit),",
     "loom_close_against_the_second_of_two_events_in_parts"),
    ("O38", "open_claim.rs", "self.0.first.store(first, Ordering::Release);", "self.0.first.store(first, Ordering::Relaxed);",
     "loom_a_claim_of_another_thread_is_not_ones_own"),
    ("O38", "open_claim.rs", "self.first.load(Ordering::Acquire)", "self.first.load(Ordering::Relaxed)",
     "loom_a_claim_of_another_thread_is_not_ones_own"),
    ("O9", "protocol/control/ending.rs", "            self.life.settled_end();\n", "",
     "loom_a_second_closer_finds_what_was_accepted"),
    ("O38", "open_claim.rs", "self.0.first.store(first, Ordering::Release);", "self.0.first.store(first, Ordering::Relaxed);",
     "loom_a_claim_of_another_thread_is_not_ones_own"),
    ("O38", "open_claim.rs", "self.first.load(Ordering::Acquire)", "self.first.load(Ordering::Relaxed)",
     "loom_a_claim_of_another_thread_is_not_ones_own"),
    ("O9", "protocol/control/ending.rs", "            self.life.settled_end();\n", "",
     "loom_a_second_closer_finds_what_was_accepted_multi"),
    ("O8", "protocol/control/ending.rs", "let is_fenced = self.fence.heavy();", "let is_fenced = true;",
     "loom_send_batch_against_a_receiver_that_leaves"),
    ("O8", "monitor/look.rs", "control.fence.light();", "",
     "loom_a_look_counts_no_event_that_a_close_does_not"),
    ("O9", "protocol/life.rs", "fetch_or(CLOSED, Ordering::Release)", "fetch_or(CLOSED, Ordering::Relaxed)",
     "loom_close_against_publish"),
    ("O9", "protocol/life.rs", "state.load(Ordering::Acquire)", "state.load(Ordering::Relaxed)",
     "loom_close_against_publish"),
    ("O8", "protocol/control/ending.rs", "        self.published.raise(ENDED);\n", "",
     "loom_close_against_publish"),
    ("O8", "protocol/control/ending.rs", "        let accepted = self.close_claims();\n", "        if !is_first {\n            return;\n        }\n        let accepted = self.close_claims();\n",
     "loom_two_closers"),
    ("O12", "protocol/control/ending.rs", "        let accepted = self.close_claims();\n", "        if !is_first {\n            return;\n        }\n        let accepted = self.close_claims();\n",
     "loom_two_closers_multi"),
    ("O8", "protocol/control/ending.rs", "let is_fenced = self.fence.heavy();", "let is_fenced = true;",
     "loom_close_against_publish_of_one_that_counts"),
    ("O8", "protocol/claims/single.rs", "settled_end() >= end {", "settled_end() > end {",
     "loom_halt_refuses_no_event_of_one_that_counts"),
    ("O33", "protocol/control/ending.rs", "        self.window.close();\n", "",
     "loom_no_claim_after_a_close"),
    ("O33", "protocol/control/ending.rs", "let is_fenced = self.fence.heavy();", "let is_fenced = true;",
     "loom_no_claim_after_a_halt"),
    ("O33", "protocol/claims/single.rs", "            control.window.close();\n", "",
     "loom_no_claim_after_a_close"),
    ("O33", "protocol/claims/single.rs", "        control.fence.light();\n        if", "        if",
     "loom_no_claim_after_a_halt"),
    ("O32", "protocol/parking/word.rs", "self.word.fetch_or(flag, Ordering::Release);", "self.word.fetch_or(flag, Ordering::Relaxed);",
     "loom_halt_against_publish"),
    ("O32", "protocol/claims/single.rs", "    fence(Ordering::Acquire);\n    control", "    let _ = || fence(Ordering::Acquire);\n    control",
     "loom_halt_against_publish"),
    ("O32", "protocol/control/ending.rs", "        let is_first = self.life.begin_halt(cause);\n", "        self.close_claims();\n        let is_first = self.life.begin_halt(cause);\n",
     "loom_halt_against_publish"),
    ("O10", "protocol/control/ending.rs", "let is_first = self.life.begin_halt(cause);\n        self.settle_end(is_first);\n        self.wake_all();",
     "self.wake_all();\n        self.life.begin_halt(cause);",
     "loom_halt_against_park"),
    ("O12", "protocol/control/ending.rs", "self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release)", "self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Relaxed)",
     "loom_halt_against_claim"),
    ("O12", "protocol/claims/gate.rs", "    fence(Ordering::Acquire);\n", "    let _ = || fence(Ordering::Acquire);\n",
     "loom_halt_against_claim"),
    ("O12", "protocol/control/ending.rs", "self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release)", "self.cursor.load(Ordering::Relaxed)",
     "loom_close_against_claim"),
    ("O12", "protocol/control/ending.rs", "self.cursor.fetch_or(CLAIMS_CLOSED, Ordering::Release)", "self.cursor.load(Ordering::Relaxed)",
     "loom_multi_send_against_a_receiver_that_leaves"),
    ("O12", "protocol/claims/multi.rs", "        if !try_swap(control, claimed, end) {\n            return None;\n        }\n", "        let _ = try_swap(control, claimed, end);\n",
     "loom_claim_in_a_row_against_another"),
    ("O12", "protocol/claims/limit.rs", "self.reach(control, next..end)?;\n        Ok(end)", "Ok(wanted)",
     "loom_claim_up_to_waits_for_reader"),
    ("O17", "consumer/stage_loop/mod.rs", "self.source.mark_failed(events.clone());\n        self.let_go(events.end)",
     "let ended = self.let_go(events.end);\n        self.source.mark_failed(events.clone());\n        ended",
     "loom_failed_event_is_seen_downstream"),
    ("O17", "protocol/control/mod.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_failed_event_is_seen_downstream"),
    ("O18", "monitor/look.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_no_stage_shows_ahead"),
    ("O18", "monitor/look.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_no_stage_shows_ahead_of_a_claim"),
    ("O18", "monitor/look.rs", "(0..control.stages.len()).rev()", "0..control.stages.len()",
     "loom_no_stage_shows_ahead"),
    ("O18", "monitor/look.rs", "stages.into_iter().chain(parts)", "parts.into_iter().chain(stages)",
     "loom_no_stage_shows_ahead_of_an_acknowledgement"),
    ("O20", "tap/slot.rs", "self.state.store(lap, Ordering::Release)", "self.state.store(lap, Ordering::Relaxed)",
     "loom_tap_slot_hands_on_its_entry"),
    ("O20", "tap/slot.rs", "state + 1,\n                Ordering::Acquire", "state + 1,\n                Ordering::Relaxed",
     "loom_tap_slot_hands_on_its_entry"),
    ("O21", "tap/slot.rs", "fetch_sub(1, Ordering::Release)", "fetch_sub(1, Ordering::Relaxed)",
     "loom_tap_slot_is_written_after_its_readers"),
    ("O21", "tap/slot.rs", "(expected, sealed, Ordering::Acquire", "(expected, sealed, Ordering::Relaxed",
     "loom_tap_slot_is_written_after_its_readers"),
    ("O22", "tap/head.rs", "store(word, Ordering::Release)", "store(word, Ordering::Relaxed)",
     "loom_tap_loses_nothing_that_there_is_room_for"),
    ("O22", "tap/head.rs", "load(Ordering::Acquire)", "load(Ordering::Relaxed)",
     "loom_tap_loses_nothing_that_there_is_room_for"),
    ("O4", "protocol/seats/joining.rs", "        next\n    }", "        claimed\n    }",
     "loom_join_now_behind_a_claim_that_is_held"),
    ("O6", "protocol/seats/joining.rs", "        self.published.wake_all();\n        result.map", "        result.map",
     "loom_join_as_the_consumer_in_the_other_seat_leaves"),
    ("O10", "protocol/control/mod.rs", "stop.fetch_max(turn, Ordering::Relaxed);\n        self.wake_all();", "stop.fetch_max(turn, Ordering::Relaxed);",
     "loom_stop_against_park"),
    ("O10", "protocol/control/stage.rs", "stop.load(Ordering::Relaxed) >= turn", "stop.load(Ordering::Relaxed) > 0",
     "loom_stop_of_a_consumer_that_has_left"),
    ("O14", "protocol/seats/seating.rs", "self.consumers.fetch_sub(1, Ordering::Relaxed) == 1",
     "{ let left = self.consumers.load(Ordering::Relaxed) - 1; self.consumers.store(left, Ordering::Relaxed); left == 0 }",
     "loom_last_two_consumers_leave"),
    ("O14", "protocol/control/mod.rs", "!is_drained && self", "self",
     "loom_last_one_leaves_drained"),
    ("O14", "protocol/control/mod.rs", "!is_drained && self", "self",
     "loom_last_one_leaves_drained_multi"),
    ("O14", "protocol/control/mod.rs", "!is_drained && self", "self",
     "loom_one_leaves_after_another_has_drained"),
    ("O14", "protocol/seats/seating.rs", "while consumers > 0 {", "loop {",
     "loom_join_as_the_last_one_leaves"),
    ("O14", "protocol/claims/gate.rs", "if is_joining {", "if false && is_joining {",
     "loom_claim_as_one_leaves_and_another_joins"),
    ("O15", "protocol/seats/joining.rs", "fence(Ordering::SeqCst);\n        let oldest", "let oldest",
     "loom_join_at_the_oldest_against_publish"),
    ("O15", "protocol/seats/joining.rs", "fence(Ordering::SeqCst);\n        limit.min", "limit.min",
     "loom_join_at_the_oldest_against_publish"),
    ("O15", "protocol/seats/joining.rs", "limit.min(self.slowest_seat().saturating_add(self.capacity))", "limit",
     "loom_join_now_against_publish"),
    ("O15", "protocol/seats/joining.rs", "if wish >= oldest {", "if true {",
     "loom_join_now_against_publish"),
    ("O15", "protocol/seats/joining.rs", "if wish >= oldest {", "if true {",
     "loom_join_now_against_publish_multi"),
    ("O16", "protocol/seats/seating.rs", "fetch_add(1, Ordering::Release)", "fetch_add(1, Ordering::Relaxed)",
     "loom_a_seat_is_taken_again"),
    ("O16", "protocol/seats/seating.rs", "last.is_multiple_of(2) && swap", "swap",
     "loom_two_join_for_one_seat"),
    ("O25", "protocol/group/mod.rs", "events.end, Ordering::Release, Ordering::Relaxed", "events.end, Ordering::Relaxed, Ordering::Relaxed",
     "loom_no_event_is_overwritten_while_a_worker_has_it"),
    ("O25", "protocol/group/mod.rs", "self.control.advance(word, events.start);", "",
     "loom_no_event_is_overwritten_while_a_worker_has_it"),
    ("O25", "protocol/control/progress.rs", "stages.iter().map(|&stage| self.finished_by(stage))", "stages.iter().rev().map(|&stage| self.finished_by(stage))",
     "loom_no_event_is_overwritten_while_a_worker_has_it"),
    ("O25", "protocol/control/progress.rs", "stages.iter().map(|&stage| self.finished_by(stage))", "stages.iter().rev().map(|&stage| self.finished_by(stage))",
     "loom_stage_after_a_group"),
    ("O25", "protocol/control/mod.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_stage_after_a_group"),
    ("O25", "protocol/control/mod.rs", "sequence.store(sequence, Ordering::Release)", "sequence.store(sequence, Ordering::Relaxed)",
     "loom_stage_after_a_group"),
    ("O25", "protocol/group/mod.rs", "group.compare_exchange(events.start, events.end, Ordering::Release, Ordering::Relaxed);",
     "Ok::<u64, u64>(group.swap(events.end, Ordering::Release));",
     "loom_two_workers_never_get_one_event"),
    ("O6", "protocol/group/mod.rs", "self.control.notify_released(self.words[0]);", "",
     "loom_park_on_full_ring_of_a_group"),
    ("O6", "protocol/control/progress.rs", "            None => None,\n", "            None => Some(&self.published),\n",
     "loom_park_while_a_worker_claims_in_vain"),
    ("O6", "consumer/worker/wait.rs", "Some(end) => end <= next || is_over(),", "Some(end) => next < end && is_over(),",
     "loom_two_workers_share_the_last_event"),
    ("O26", "protocol/group/mod.rs", "self.roster.size.store(size as u64, Ordering::Relaxed);\n        self.control.wake_all();", "self.control.wake_all();\n        self.roster.size.store(size as u64, Ordering::Relaxed);",
     "loom_resize_against_sleep"),
    ("O26", "protocol/group/mod.rs", "        } else {\n            self.control.wake_all();", "        } else {",
     "loom_a_worker_takes_over_what_another_left"),
    ("O27", "protocol/group/mod.rs", "store(events.end, Ordering::Release)", "store(events.end, Ordering::Relaxed)",
     "loom_a_worker_takes_over_what_another_left"),
    ("O27", "protocol/group/mod.rs", "swap(0, Ordering::Acquire)", "swap(0, Ordering::Relaxed)",
     "loom_a_worker_takes_over_what_another_left"),
    ("O27", "protocol/group/mod.rs", "store(events.end, Ordering::Release)", "store(events.end, Ordering::Relaxed)",
     "loom_a_worker_takes_over_what_was_routed_to_another"),
    ("O30", "protocol/ring_buffer/notices.rs", "store(shown(sequence), Ordering::Release)", "store(shown(sequence), Ordering::Relaxed)",
     "loom_notice_brings_its_value"),
    ("O30", "protocol/ring_buffer/notices.rs", "load(Ordering::Acquire)", "load(Ordering::Relaxed)",
     "loom_notice_brings_its_value"),
    ("O30", "channel/send_batch.rs", "if sequence == first {", "if false {",
     "loom_notices_of_a_batch_come_with_its_first"),
    ("O30", "wait/waiting.rs", "is_elsewhere() || self.is_over()", "is_elsewhere() || self.seems_over()",
     "loom_parked_receiver_needs_no_notice"),
    ("O29", "protocol/parking/watch.rs", "fence.light();", "",
     "loom_two_idle_workers_get_an_event_each"),
    ("O29", "protocol/parking/watch.rs", "is_over() || self.watch.is_vacant()", "is_over()",
     "loom_two_idle_workers_get_an_event_each"),
    ("O29", "protocol/parking/event_count.rs", "self.epoch.take_mark()", "self.epoch.is_marked()",
     "loom_a_watch_is_handed_to_one_that_goes"),
    ("O29", "protocol/parking/watch.rs", "if place.take_mark() {", "if place.take_mark() || true {",
     "loom_a_watch_is_handed_to_one_that_goes"),
    ("O25", "protocol/group/routes.rs", "group.control.advance(word, next);", "",
     "loom_a_worker_that_joins_by_key_holds_its_events"),
    ("O26", "protocol/group/mod.rs", "|| self.control.sequence_of(self.word_of(worker)) != IDLE", "",
     "loom_a_worker_that_goes_to_sleep_is_routed_to"),
    ("O6", "protocol/group/routes.rs", "self.group.control.notify_released(self.group.words[0]);", "",
     "loom_park_until_a_key_is_routed"),
    ("O6", "consumer/worker/wait.rs", "let is_anything_left = || self.group.has_orphans() ||", "let is_anything_left = ||",
     "loom_workers_by_key_drain_a_closed_ring"),
    ("O28", "protocol/control/mod.rs", "sequence.store(sequence, Ordering::Release)", "sequence.store(sequence, Ordering::Relaxed)",
     "loom_a_key_is_read_before_its_event_is_handled"),
    ("O28", "protocol/control/mod.rs", "sequence.load(Ordering::Acquire)", "sequence.load(Ordering::Relaxed)",
     "loom_a_key_is_read_before_its_event_is_handled"),
    ("O28", "protocol/group/routes.rs", "compare_exchange(0, holder, Ordering::Acquire, Ordering::Relaxed)", "compare_exchange(0, holder, Ordering::Relaxed, Ordering::Relaxed)",
     "loom_two_route_one_after_another"),
    ("O28", "protocol/group/routes.rs", "self.routes.lock.store(0, Ordering::Release);", "self.routes.lock.store(0, Ordering::Relaxed);",
     "loom_two_route_one_after_another"),
    ("O28", "protocol/group/routes.rs", "swap.ok()?;", "let _ = swap;",
     "loom_two_route_one_after_another"),
    ("O28", "protocol/group/routes.rs", "!group.has_finished(self.next.get())", "false",
     "loom_resize_by_key_keeps_the_order"),
    ("O36", "protocol/group/moves.rs", "fetch_and(!own, Ordering::Release)", "fetch_and(!own, Ordering::Relaxed)",
     "loom_what_is_known_of_a_key_comes_before_its_event"),
    ("O36", "protocol/group/moves.rs", "self.owing.load(Ordering::Acquire) == 0", "self.owing.load(Ordering::Relaxed) == 0",
     "loom_what_is_known_of_a_key_comes_before_its_event"),
    ("O36", "protocol/group/routes.rs", "moves.have_all_given().then(|| moves.target())", "Some(moves.target())",
     "loom_what_is_known_of_a_key_comes_before_its_event"),
    ("O36", "consumer/worker/routing.rs", "if self.has_transfer() {\n                return Err(PollError::Empty);", "if false {\n                return Err(PollError::Empty);",
     "loom_what_is_known_of_a_key_comes_before_its_event"),
    ("O36", "consumer/worker/routing.rs", "if self.has_transfer() {\n                return Err(PollError::Empty);", "if false {\n                return Err(PollError::Empty);",
     "loom_what_a_worker_knew_is_taken_over_before_its_events"),
    ("O36", "protocol/group/moves.rs", "self.pending.fetch_or(words, Ordering::Release)", "self.pending.fetch_or(words, Ordering::Relaxed)",
     "loom_what_is_known_of_a_key_comes_before_its_event"),
    ("O36", "protocol/group/moves.rs", "self.pending.fetch_and(!own, Ordering::Acquire)", "self.pending.fetch_and(!own, Ordering::Relaxed)",
     "loom_what_is_known_of_a_key_comes_before_its_event"),
    ("O36", "protocol/group/moves.rs", "self.target.load(Ordering::Acquire)", "self.target.load(Ordering::Relaxed)",
     "loom_a_worker_that_leaves_gives_by_the_team_that_it_is_in"),
    ("O36", "protocol/group/moves.rs", "self.target.store(0, Ordering::Release)", "self.target.store(0, Ordering::Relaxed)",
     "loom_a_worker_that_leaves_gives_by_the_team_that_it_is_in"),
    ("O37", "consumer/worker/routing.rs", "if self.group.has_left_something() =>", "if false =>",
     "loom_what_a_worker_knew_is_with_the_last_one"),
    ("O37", "protocol/group/moves.rs", "let slots: Vec<usize> = if life.is_halted() {", "let slots: Vec<usize> = if false {",
     "loom_what_a_worker_knew_is_with_the_last_that_leaves"),
    ("O37", "protocol/group/moves.rs", "} else if is_drained() {", "} else if false && is_drained() {",
     "loom_what_a_worker_knew_is_not_lost_at_the_end"),
    ("O6", "protocol/group/moves.rs", "self.control.notify_released(self.words[0]);", "",
     "loom_park_until_keys_are_given"),
]


def cargo(tree, *arguments):
    """Runs the models of `tree` that `arguments` select; returns the finished process."""
    # Incremental even in CI: each build but the first compiles one edit.
    env = dict(os.environ, RUSTFLAGS="--cfg loom -Awarnings", LOOM_MAX_PREEMPTIONS="3", RUST_BACKTRACE="0",
               CARGO_INCREMENTAL="1")
    # Each tree has its own target directory, since two builds in one directory would wait for each other.
    # `timeout` also ends the test program, which would outlive cargo.
    command = ["timeout", str(LIMIT_S), "cargo", "test", "--profile", "mutant", "-p", "lapwing", "--lib",
               "--target-dir", str(ROOT / "target-loom" / tree.name), "--", *arguments]
    result = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    if result.returncode == TIMED_OUT:
        sys.exit(f"{' '.join(arguments)}: not finished after {LIMIT_S} s:\n{result.stdout[-1000:]}{result.stderr[-1000:]}")
    if "Running unittests" not in result.stderr:
        sys.exit(f"the mutant does not compile:\n{result.stderr[-2000:]}")
    if "overflowed its stack" in result.stdout + result.stderr:
        sys.exit(f"{' '.join(arguments)}: overflowed its stack, independent of the edit")
    return result


def models(tree):
    """Returns the path of each model, by its name."""
    lines = cargo(tree, "--list").stdout.splitlines()
    paths = [line.removesuffix(": test") for line in lines if "loom_" in line]
    return {path.rsplit("::", 1)[-1]: path for path in paths}


def of_rows(rows):
    """Returns the mutants of `rows`, or all mutants."""
    return [mutant for mutant in MUTANTS if not rows or mutant[0] in rows]


def one_of_each(number):
    """Returns one mutant of each row. Consecutive values of `number` choose each mutant of a row in turn."""
    by_row = {}
    for mutant in MUTANTS:
        by_row.setdefault(mutant[0], []).append(mutant)
    return [mutants[number % len(mutants)] for mutants in by_row.values()]


def commits():
    """Returns the number of commits up to this one; 0 outside a repository."""
    command = ["git", "rev-list", "--count", "HEAD"]
    try:
        return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        return 0


def edits(mutants):
    """Returns the edits of `mutants`, each with its rows and models, so that each edit is compiled once."""
    grouped = {}
    for row, name, text, replacement, model in mutants:
        grouped.setdefault((name, text, replacement), []).append((row, model))
    return grouped


def texts_missing():
    """Yields a message for each edit whose text does not occur exactly once in its file."""
    for name, text, _ in edits(MUTANTS):
        count = (ROOT / "lapwing/src" / name).read_text().count(text)
        if count != 1:
            yield f"the text must occur once in {name}, but occurs {count} times: {text!r}"


def survivors_of(tree, edit, broken, paths):
    """Makes `edit` in `tree`, runs its models, and reverts it. Returns the rows and models that passed."""
    name, text, replacement = edit
    path = tree / "lapwing/src" / name
    source = path.read_text()
    path.write_text(source.replace(text, replacement))
    survivors = []
    for row, model in broken:
        is_seen = cargo(tree, "--exact", paths[model]).returncode != 0
        print(f"{row:4} {name:24} {model:46} {'fails' if is_seen else 'PASSES'}", flush=True)
        if not is_seen:
            survivors.append((row, model))
    path.write_text(source)
    return survivors


def main(arguments):
    if missing := list(texts_missing()):
        sys.exit("\n".join(missing))
    if arguments == ["--texts"]:
        return
    mutants = one_of_each(commits()) if arguments == ["--one-of-each"] else of_rows(arguments)
    if not mutants:
        sys.exit(f"no such row: {arguments}")
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(TREES) as pool:
        trees = [pathlib.Path(temporary) / f"tree-{number}" for number in range(TREES)]
        free = SimpleQueue()
        for tree in trees:
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("target*", ".git"))
            free.put(tree)
        paths = models(trees[0])

        def check(edit, broken):
            tree = free.get()
            try:
                return survivors_of(tree, edit, broken, paths)
            finally:
                free.put(tree)

        checks = [pool.submit(check, *item) for item in edits(mutants).items()]
        try:
            survivors = sum((one.result() for one in checks), [])
        finally:
            pool.shutdown(cancel_futures=True)
    if survivors:
        sys.exit(f"models that pass with their edit: {survivors}")
    print(f"mutants: {len(mutants)} of {len(MUTANTS)} checked, each model fails")


if __name__ == "__main__":
    main(sys.argv[1:])
