//! Small programs that each show one idea. Run one with `cargo run --release --example NAME`.
//!
//! | name             | what it shows                                                          |
//! |------------------|------------------------------------------------------------------------|
//! | `hello`          | one producer, one stage, events reused in place                        |
//! | `pipeline`       | stages in a row, each working on the results of the previous one       |
//! | `diamond`        | two parallel stages, and a third one that depends on both              |
//! | `many_producers` | several threads publish; the order of each is kept                     |
//! | `ring_each`      | several threads log, each to its own ring; one thread writes           |
//! | `poller`         | your own loop takes events when it has time for them                   |
//! | `batches`        | claim many slots at once, read many events at once                     |
//! | `joining`        | consumers join while events flow, and leave again                      |
//! | `tap`            | a slow display shows the newest price and does not slow down the ring  |
//! | `channel`        | a bounded channel: send, receive, and get unsent values back           |
//! | `monitor`        | the state of a ring, its bottleneck, and the stage that has stopped    |
//! | `workers`        | several threads share the events of a stage; their number changes      |
//! | `outcomes`       | errors: skip an event or retry it, and notify downstream stages        |
//! | `durable`        | an order is answered only after it is on disk                          |
//! | `one_thread`     | two stages on one thread share their state; events are cleared         |
//! | `placement`      | the same graph on four, two or one threads, or as many as CPUs         |
//! | `full_ring`      | wait, wait for a limited time, or drop and count                       |
//! | `logger`         | the `log` facade over one ring: a static producer, a clone per thread  |
//!
//! A larger one is `order_flow` of the exchange: order messages of a market are parsed, then journal, book and tape run
//! in parallel.

/// Compiles and runs the examples of the README. They are tested here because the package of the
/// library does not include files above its folder.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles and runs the examples of the README in Chinese.
#[cfg(doctest)]
#[doc = include_str!("../README.zh-CN.md")]
struct ReadmeInChinese;
