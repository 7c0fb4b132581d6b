//! What is moved, by whom to whom, and what each thread computes on the way, so that a wrong answer shows.

pub(crate) mod bare; // two words and nothing else between two threads
pub(crate) mod event; // what is moved, and its sizes
pub(crate) mod exchange; // numbers there and back, whatever carries them
pub(crate) mod fold; // what a consumer computes, and how loss or disorder shows
pub(crate) mod increments; // the cases of contention
pub(crate) mod lone; // single events after long silences
pub(crate) mod paced; // the three stage pipeline under a load, and its delays
pub(crate) mod queue; // what a rival queue must offer
pub(crate) mod sharing; // each event to one of several consumers
pub(crate) mod topologies; // the five configurations
pub(crate) mod traffic; // values through a channel, for a given time
pub(crate) mod value; // what is sent through a channel
pub(crate) mod workload; // how much is moved, how large, through how many slots
