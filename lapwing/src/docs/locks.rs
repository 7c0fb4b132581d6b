//! The locks of the library, and which code of the user's runs while one of them is held.
//!
//! User code means closures, handlers, policies, wait strategies, key functions and factories, and what a
//! type of the user's does in `Clone`, `Drop`, `Display` or `Debug`. The library calls it without a lock,
//! with one exception: the key function of a group of [workers by key](crate::graph::Workers::by_key).
//!
//! | lock | in | what it guards | user code while it is held |
//! |------|----|----------------|----------------------------|
//! | routing lock | `group::routes::Routes` | which worker an event belongs to | the key function, and if it panics, the panic hook and the `Drop` of the panic's payload. A key function that blocks holds up its whole group; see [`Workers::by_key`](crate::graph::Workers::by_key) for what it may do. |
//! | producers of a ring | `open_claim` | the record of each of several producers | none: it is numbers |
//! | turns | `turns` | the queue of producers that wait for a turn | none: it is numbers and handles of threads |
//! | A/B tests of a ring | `ab_tests` | the record of each test of each end | none: it is numbers and names |
//! | results | `lifecycle::completion` | what ended stages leave, their handlers included | none: results are moved in and out, and dropped outside |
//! | states on their way | `consumer::hand_over::Mailboxes` | what is known of keys that change hands, by its next worker | none: states are moved in and out; [`HandOver`](crate::consumer::HandOver) is called outside |
//! | names of guests | `description` | names and seats of consumers that joined | none: they are strings and numbers |
//! | history | `monitor` | what a monitor saw last | none: it is figures |
//! | sleepers | `wait::park::portable`, where there is no futex | the step from the last look to sleep | none: a strategy runs before and after it |
//! | watch | `wait::watch` | which idle worker of a group is woken for the next event | none: it is taken and handed on inside [`Waiting::park`](crate::wait::Waiting::park) |
//! | stages of a thread | `on_this_thread`, a `RefCell` | which stages run on this thread | none: it is words of the library |
//!
//! What is no lock, but has others wait: a claim, while its event is written, and a batch, while it is
//! handled. Each of these holds up those that come after it in the ring, and nobody else.
//!
//! A [failure policy](crate::consumer::FailurePolicy) needs no lock, since each worker of a group has a clone of its
//! own. A wait strategy and a handler belong to one consumer from the start.
