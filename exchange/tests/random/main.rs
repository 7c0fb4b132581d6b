//! Random commands: the engine must report and become what the plain exchange does.
//!
//! - [`drafts`]: commands that hit live orders, tight limits and extreme numbers.
//! - [`audit`]: what must hold for any exchange, from its reports and its state alone.
//! - [`snapshot`]: an engine goes on from a snapshot; damaged and forged ones are refused.
#![cfg(not(miri))]

mod audit;
mod drafts;
mod snapshot;

use std::collections::BTreeSet;

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::plain::PlainExchange;
use exchange::types::{Command, PackedCommand, PackedReport, Report};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use audit::Audit;
use drafts::{Draft, drafts};

/// Number of commands of a case, after those that open books and accounts.
const COMMANDS: usize = 150;

/// Returns the reports of one command.
fn reports_of(exchange: &mut impl Exchange, command: &Command) -> Vec<Report> {
    let mut reports = Vec::new();
    exchange.apply(command, &mut |report| reports.push(report));
    reports
}

/// Runs a case on both exchanges and compares them after each command. `see` is handed each report.
fn compare(script: &[Draft], mut see: impl FnMut(&Report)) {
    let (mut plain, mut engine) = (PlainExchange::default(), Engine::default());
    let mut audit = Audit::default();
    let mut run = |command: Command, plain: &mut PlainExchange| {
        let expected = reports_of(plain, &command);
        let found = reports_of(&mut engine, &command);
        assert_eq!(found, expected, "reports of {command:?}");
        let state = engine.state();
        assert_eq!(state, plain.state(), "state after {command:?}");
        audit.follow(&command, &found, &state);
        assert_eq!(PackedCommand::from(&command).unpack(), Ok(command));
        for report in &found {
            assert_eq!(PackedReport::from(report).unpack(), Ok(*report));
            see(report);
        }
    };
    for command in drafts::opening() {
        run(command, &mut plain);
    }
    for draft in script {
        let command = draft.command(&plain.state());
        run(command, &mut plain);
    }
}

proptest! {
    #![proptest_config(lapwing_proof::cases(100))]

    #[test]
    fn the_engine_reports_and_becomes_what_the_plain_exchange_does(
        script in prop::collection::vec(drafts(), 1..COMMANDS),
    ) {
        compare(&script, |_| ());
    }
}

/// Returns a short name of what a report shows.
fn kind_of(report: &Report) -> String {
    match report {
        Report::Rejected { request, reason, .. } => format!("{request:?} {reason:?}"),
        Report::Cancelled(_, cause) => format!("Cancelled {cause:?}"),
        Report::Reduced(_, cause) => format!("Reduced {cause:?}"),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

/// A rule that no random command reaches is a rule that nothing compares.
#[test]
fn the_random_commands_reach_every_rule() {
    let mut reached = BTreeSet::new();
    let mut runner = TestRunner::deterministic();
    let scripts = prop::collection::vec(drafts(), COMMANDS);
    for _ in 0..150 {
        let script = scripts.new_tree(&mut runner).expect("the strategy has values").current();
        compare(&script, |report| {
            reached.insert(kind_of(report));
        });
    }
    let missing: Vec<_> = drafts::RULES.iter().filter(|rule| !reached.contains(**rule)).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}\nreached: {reached:?}");
}
