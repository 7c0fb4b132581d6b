//! The locks of the library, and the user code that runs while one of them is held.
//!
//! User code means closures, handlers, policies, wait strategies, key functions and factories, and
//! the `Clone`, `Drop`, `Display` and `Debug` implementations of user types. The library calls user
//! code without holding a lock. The only exceptions are the key function of a group of [workers by
//! key](crate::graph::WorkerStage::by_key), and the wakers of tasks that wait for such a group.
//!
//! | lock | in | what it guards | user code while it is held |
//! |------|----|----------------|----------------------------|
//! | routing lock | `group::routes::Routes` | which worker an event belongs to | the key function, and if it panics, the panic hook and the `Drop` of the panic's payload. Also the wakers of tasks that wait for events of the group. A waker only schedules its task in the usual runtimes; one that blocks, or polls its task at once, holds up the group. A key function that blocks holds up its whole group; see [`WorkerStage::by_key`](crate::graph::WorkerStage::by_key) for what it may do. |
//! | producers of a ring | `open_claim` | the record of each of several producers | none: the records are numbers |
//! | results | `lifecycle::completion` | the results of ended stages, including their handlers | none: results are moved in and out, and dropped outside |
//! | states in transit | `consumer::hand_over::Mailboxes` | the states of keys that move to another worker | none: states are moved in and out; [`HandOver`](crate::consumer::HandOver) is called outside |
//! | names of guests | `description` | names and dynamic stages of consumers that joined | none: the entries are strings and numbers |
//! | reasons of failures | `failures::reasons` | the errors with which a stage has skipped events. It is taken only for events that failed | none: errors are moved in, and dropped outside |
//! | history | `monitor` | the last snapshot of a monitor | none: the entries are figures |
//! | parked threads | `parking::portable` of `lapwing-core`, where there is no futex | the step from the last poll to the sleep | none: a strategy runs before and after it |
//! | tasks | `parking::tasks` of `lapwing-core` | the wakers of the tasks that wait at one place. It is taken by a task that waits, and by a thread that wakes others, for a few instructions. A publication or a release that finds no mark does not take it | none: wakers are cloned, called and dropped outside, and memory is allocated outside |
//! | watch | `parking::watch` of `lapwing-core`, an atomic word | which idle worker of a group is woken for the next event | none: it is taken and handed on inside [`Step::Park`](crate::wait::Step::Park) |
//! | stages of a thread | `on_this_thread`, a `RefCell` | the stages that run on this thread | none: the entries are words of the library |
//!
//! A claim is not a lock, but consumers wait for it until its event is published. Likewise,
//! downstream stages wait for a batch until it is handled. Each holds up only what follows it in
//! the ring.
//!
//! A [failure policy](crate::consumer::FailurePolicy) needs no lock, because each worker of a group
//! has its own clone. A wait strategy and a handler belong to one consumer from the start.
