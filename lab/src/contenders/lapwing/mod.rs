//! Lapwing in its default build. Its use with one ring for the whole graph is in `one_ring`.
//! `contenders::lapwing_plain` compiles that module again, for the library without its tuning.

pub(super) mod bounded; // a channel under load
pub(super) mod channel; // a channel for each arc
pub(super) mod ends; // a ring for threads of the caller
mod one_ring; // one ring for the whole graph
pub(crate) mod parallel; // readers of every event: timed events, single events
pub(super) mod rings; // one ring per sending stage
mod setting; // the wait of its threads, and the consumers that share one
mod together; // one ring per producer, one thread for the stages of all

use lapwing as library;

pub(crate) use self::one_ring::ping_pong;
pub(super) use self::one_ring::setting::PHASED_BACKOFF;
pub(super) use self::one_ring::{contender, observable};
pub(crate) use self::setting::{PlacementName, Setting, WaitName};
use crate::rings::crew;

/// The name on the command line and in every report.
const NAME: &str = "lapwing";
