//! Flags that several commands have: how they are called, and what is refused.

mod paced; // who and where: the flags of the tables of delays
mod schedule; // how often, how long, where: the flags of every table of speeds
pub(crate) mod values; // values of one flag

pub(crate) use self::paced::PacedArguments;
pub(crate) use self::schedule::ScheduleArguments;
