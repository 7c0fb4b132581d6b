//! Whole measurements of a few events, a wrong answer, and the tables.

use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};
use crate::machine::Machine;
use crate::view::terminal;

/// Parses these flags, with a window of a few milliseconds.
fn arguments(flags: &str) -> IdleArguments {
    let line = format!("lapwing idle --runs 1 --seconds-per-run 0.02 --ring 64 {flags}");
    let Command::Idle(arguments) = Cli::parse_from(line.split_whitespace()).command else {
        panic!("it is another command")
    };
    arguments
}

fn records(flags: &str) -> Result<Vec<Record>, Error> {
    let arguments = arguments(flags);
    measure(&arguments, &arguments.roster().entries, |_| Progress::Silent)
}

fn render(records: &[Record]) -> String {
    terminal::render(&VIEW, records, &[], &Machine::detect())
}

#[test]
fn records_have_what_waiting_costs_and_when_single_events_arrive() {
    let records = records("--rate 0,1000 --wait adaptive,blocking").unwrap();
    let all = records.iter().collect::<Vec<_>>();
    let (loads, events) = parts(&all);
    assert_eq!(loads.len(), 2 * 2 + 1);
    for load in &loads {
        let has_load = load.number(OFFERED) == Some(1e3);
        assert_eq!(load.delays.len(), usize::from(has_load), "{load:?}");
        assert!(load.delays.iter().all(|way| way.curve.is_empty()));
        #[cfg(target_os = "linux")]
        for figure in [WAITING_CPU, SENDER_CPU, WAKES, figure::INVOLUNTARY] {
            assert!(load.median(figure).is_some(), "{figure}: {load:?}");
        }
    }
    let shapes = [0, 4].map(|index: usize| graph(loads[index]));
    assert_eq!(shapes, ["3 in a row", "8 side by side"]);

    assert_eq!(events.len(), LISTENERS.len() * (1 + Bare::ALL.len()));
    for event in &events {
        assert!(event.median(HALF) <= event.median(LAST), "{event:?}");
        assert!(times_bare(&events, event, HALF).is_some(), "{event:?}");
    }
    let is_limit = |event: &&Record| times_bare(&events, event, LAST) == Some(1.0);
    assert!(events.iter().filter(|event| event.contender == BARE).any(is_limit));

    let text = render(&records);
    assert!(text.contains("Threads that wait:") && text.contains("8 side by side"), "{text}");
    assert!(text.contains("A single event after an idle period:"), "{text}");
    #[cfg(target_os = "linux")]
    assert!(charts(&all)[0].svg().unwrap().contains("1000 events per second"));
}

#[test]
fn readers_side_by_side_take_the_place_of_the_pipeline() {
    let records = records("--consumers 2 --rate 1000 --wait adaptive").unwrap();
    assert_eq!((graph(&records[0]), records[0].threads), ("2 side by side".to_owned(), 3));
    let text = render(&records);
    assert!(text.contains("2 side by side") && text.contains("8 side by side"), "{text}");
}

#[test]
fn each_placement_has_its_loads_its_eight_consumers_and_its_single_events() {
    let records = records("--rate 1000 --wait adaptive --placement own,1").unwrap();
    let all = records.iter().collect::<Vec<_>>();
    let (loads, events) = parts(&all);
    let placed = |records: &[&Record]| {
        let own = records.iter().filter(|record| record.is_own());
        let row = |record: &&Record| {
            let placement = record.placement.clone().unwrap();
            (placement, record.text(Key::CONSUMERS), record.threads)
        };
        own.map(row).collect::<Vec<_>>()
    };
    let row = |placement: &str, consumers: &str, threads| {
        (placement.to_owned(), consumers.to_owned(), threads)
    };
    let expected = [row("own", "3", 4), row("1", "3", 2), row("own", "8", 9), row("1", "8", 2)];
    assert_eq!(placed(&loads), expected);
    let expected = [row("own", "1", 2), row("1", "1", 2), row("own", "8", 9), row("1", "8", 2)];
    assert_eq!(placed(&events), expected);
    let mut bare = events.iter().filter(|event| event.contender == BARE);
    assert!(bare.all(|event| event.placement.is_none()));
    let text = render(&records);
    assert_eq!(text.matches("adaptive 1 ").count(), 4, "{text}");
}

#[test]
fn a_rival_has_a_row_for_each_of_its_ways_to_wait() {
    let flags = "--contender crossbeam-channel,disruptor,lmax --rate 0,1000 --wait adaptive";
    let in_a_row = arguments(flags);
    let roster = in_a_row.roster();
    assert_eq!(in_a_row.waiting(&roster.entries).len(), 2 * (1 + 6) + 1);
    assert_eq!(roster.missing.len(), 1);
    assert!(roster.missing[0].reason.starts_with("its sender never sleeps"));

    let parallel = arguments(&format!("{flags} --consumers 2"));
    assert_eq!(parallel.roster().missing.len(), 3);
}

#[test]
fn an_event_that_is_lost_has_no_cost() {
    let error = records("--contender wrong-answer --rate 1000").unwrap_err().to_string();
    assert!(error.starts_with("wrong answer, so no speed: topology=pipeline"), "{error}");
}
