//! Every technique returns every order, with free slots and without, in both modes. A technique
//! that loses orders fails.

use std::sync::mpsc::Receiver;

use super::*;
use crate::commands::dispatch::config::ModeName;
use crate::commands::dispatch::layout::Layout;
use crate::commands::dispatch::schedule::Schedule;
use crate::commands::dispatch::trial::{self, WrongOrders};
use crate::commands::dispatch::work::Pace;
use crate::load::paced::Clock;

/// Returns a configuration with a few hundred orders that are held briefly.
fn config() -> Config {
    Config {
        n_strategies: 3,
        orders_per_strategy: 150,
        window_ms: 5,
        d_min_us: 10,
        d_max_us: 100,
        shared_cap: 64,
        spsc_cap: 64,
        sample_us: 100,
        mode: ModeName::Shared,
        ..Config::scaled()
    }
}

/// Calls `play` with the setting of `config`, and returns the result if it is right.
fn check(
    config: &Config,
    patience_ns: u64,
    play: impl Fn(&Setting<'_>) -> Result<Played, RunError>,
) -> Result<Played, WrongOrders> {
    let (clock, schedule, layout) = (Clock::new(), Schedule::new(config), Layout::new(config, 2));
    let setting = Setting {
        config,
        schedule: &schedule,
        layout: &layout,
        clock: &clock,
        pace: Pace { nanoseconds_per_step: 1.0 },
        orch_work_ns: 10,
        patience_ns,
    };
    let played = play(&setting).unwrap();
    trial::check("test", config, &played).map(|()| played)
}

/// Long enough for any scheduler.
const PATIENT_NS: u64 = 20_000_000_000;

#[test]
fn every_technique_returns_every_order() {
    for technique in TechniqueName::ALL {
        for payload in [Payload::Small, Payload::Large] {
            let run = check(&config(), PATIENT_NS, |setting| technique.play(payload, setting));
            let run = run.unwrap_or_else(|wrong| panic!("{technique:?}: {wrong}"));
            assert!(run.peak <= 450, "{technique:?}");
        }
    }
}

#[test]
fn every_technique_returns_every_order_with_a_thread_for_each_role() {
    let config = Config { mode: ModeName::Threads, ..config() };
    for technique in TechniqueName::ALL {
        let run = check(&config, PATIENT_NS, |setting| technique.play(Payload::Small, setting));
        assert!(run.is_ok(), "{technique:?}: {}", run.unwrap_err());
    }
}

#[test]
fn full_hand_offs_are_counted_and_lose_nothing() {
    let config =
        Config { window_ms: 1, orders_per_strategy: 2_000, shared_cap: 2, spsc_cap: 2, ..config() };
    for technique in TechniqueName::ALL {
        let run = check(&config, PATIENT_NS, |setting| technique.play(Payload::Small, setting));
        let run = run.unwrap_or_else(|wrong| panic!("{technique:?}: {wrong}"));
        assert!(
            run.pressure.full > 0,
            "{technique:?}: the strategies fire more than two in a turn"
        );
        assert!(run.pressure.longest_wait_ns > 0, "{technique:?}");
    }
}

/// A channel whose receiver drops order 7.
struct Lossy;

impl<const PAD: usize> Mpsc<PAD> for Lossy {
    type Sender = std::sync::mpsc::Sender<Order<PAD>>;
    type Receiver = Dropping<Receiver<Order<PAD>>>;

    fn build(senders: usize, _: &Config) -> Result<Queue<PAD, Self>, RunError> {
        let (sender, receiver) = std::sync::mpsc::channel();
        Ok((vec![sender; senders], Dropping(receiver)))
    }
}

/// Passes on all orders but number 7.
struct Dropping<I>(I);

impl<const PAD: usize, I: Inlet<PAD>> Inlet<PAD> for Dropping<I> {
    fn drain(&mut self, most: usize, mut each: impl FnMut(Order<PAD>)) -> usize {
        self.0.drain(most, |order| {
            if order.number != 7 {
                each(order);
            }
        })
    }
}

#[test]
fn technique_that_loses_an_order_is_refused_and_does_not_hang() {
    let patience_ns = 50_000_000;
    let wrong = check(&config(), patience_ns, play::play::<SMALL, OverQueues<Lossy>>).unwrap_err();
    let text = wrong.to_string();
    assert!(text.contains("contender=test orders=450 lost="), "{text}");
    assert!(text.contains("doubled=0 damaged=0"), "{text}");
}

#[test]
fn names_are_those_of_the_command_line() {
    for technique in TechniqueName::ALL.into_iter().chain([TechniqueName::WrongAnswer]) {
        let value = technique.to_possible_value().expect("it is not skipped");
        assert_eq!(value.get_name(), technique.name());
    }
}
