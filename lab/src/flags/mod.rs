//! Flags that several commands share.

mod contenders; // who runs, and with which settings of Lapwing
mod length; // the length of a run of which the rate is given
mod paced; // flags of the delay tables
mod schedule; // runs, run length, placement: flags of the throughput tables
mod setting; // which of Lapwing's consumers share a thread
mod timed; // run length, rounds: flags of tables with many short runs
pub(crate) mod values; // parsers and limits of flag values

pub(crate) use self::contenders::ContenderArguments;
pub(crate) use self::length::LengthArguments;
pub(crate) use self::paced::PacedArguments;
pub(crate) use self::schedule::ScheduleArguments;
pub(crate) use self::setting::SettingArguments;
pub(crate) use self::timed::TimedArguments;
