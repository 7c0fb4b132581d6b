//! This project, as the library is by default. How it is used with one ring for the whole graph is in `one_ring`, which
//! `contenders::lapwing_plain` compiles once more, for the library without its tuning.

pub(super) mod bounded; // a channel under load
pub(super) mod channel; // a channel for each arc
mod one_ring; // one ring for the whole graph
pub(super) mod rings; // a ring for each stage that sends
mod setting; // how its threads wait, and which consumers share one
pub(crate) mod side_by_side; // readers of every event: timed events, lone ones
mod together; // a ring for each producer, one thread for the stages of all

use lapwing as library;

pub(super) use self::one_ring::contender;
pub(crate) use self::one_ring::ping_pong;
pub(crate) use self::setting::{PlacementName, Setting, WaitName};
use crate::rings::crew;

/// The name on the command line and in every report.
const NAME: &str = "lapwing";
