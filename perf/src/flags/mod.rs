//! Flags that several commands have: how they are called, and what is refused.

mod paced; // who and where: the flags of the tables of delays
mod schedule; // how often, how long, where: the flags of every table of speeds
mod setting; // which of Lapwing's consumers share a thread
mod timed; // how long and how often: the flags of tables of many short runs
pub(crate) mod values; // values of one flag

pub(crate) use self::paced::PacedArguments;
pub(crate) use self::schedule::ScheduleArguments;
pub(crate) use self::setting::SettingArguments;
pub(crate) use self::timed::TimedArguments;
