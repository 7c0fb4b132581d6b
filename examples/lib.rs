//! Small programs, each one idea; run one with `cargo run --release --example NAME`.
//!
//! | name             | idea                                                                  |
//! |------------------|-----------------------------------------------------------------------|
//! | `hello`          | one producer, one stage, events reused in place                       |
//! | `pipeline`       | stages one after another, each building on the one before             |
//! | `diamond`        | two stages side by side, a third after both                           |
//! | `many_producers` | several threads publish; each one's order is kept                     |
//! | `ring_each`      | several threads log, each into a ring of its own, and one writes      |
//! | `poller`         | a loop of your own takes events when it has time for them             |
//! | `batches`        | claim many slots at once, read many at once                           |
//! | `joining`        | consumers come while events flow, start where they like, and leave    |
//! | `tap`            | a slow screen shows the newest price and slows nobody down            |
//! | `channel`        | a bounded channel and nothing else: send, receive, have it back       |
//! | `monitor`        | what a ring is doing, which stage limits it, and which one stopped it |
//! | `workers`        | several threads share the events of a stage, more or fewer of them    |
//! | `outcomes`       | errors: skip an event, try it again, and who learns of it             |
//! | `durable`        | nobody is answered before what he asked for is on disk                |
//! | `one_thread`     | two stages with one owner of their books; a ring that keeps nothing   |
//! | `placement`      | the same graph on four, two, one or as many threads as there are CPUs |
//! | `full_ring`      | wait, wait for a time, or drop and count, for each event              |
//! | `logger`         | the `log` facade over one ring: a static producer, a clone a thread   |
//! | `order_flow`     | a market's order messages: parse, then journal, book and tape abreast |
//!
//! The small ones are one file each. The parts of `order_flow` are the module [`order_flow`], so
//! that its tests reach them.

pub mod order_flow;

/// Compiles and runs the examples of the README. Here, since the package of the library does not reach above its folder.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles and runs the examples of the README in Chinese.
#[cfg(doctest)]
#[doc = include_str!("../README.zh-CN.md")]
struct ReadmeInChinese;
