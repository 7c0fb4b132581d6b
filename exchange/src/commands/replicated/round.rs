//! One leader that is killed, and one follower that takes over.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use exchange::Exchange;
use exchange::service::{Service, Settings};
use exchange::types::Command;

use super::super::Result;
use super::super::flight::{Flight, Landed};
use super::super::plain_side::Plain;
use super::super::program::Program;
use super::parts::{Driver, start_follower, start_leader};

/// What a round needs.
pub(super) struct Round<'a> {
    pub(super) replica: &'a Path,
    pub(super) driver: &'a Driver,
    pub(super) commands: &'a [Command],
    pub(super) rate: f64,
    /// The time to the kill.
    pub(super) longest: Duration,
}

impl Round<'_> {
    pub(super) fn run(&self, acknowledge: &str) -> Result<()> {
        let Self { replica, driver, commands, rate, longest } = *self;
        let (leader_folder, folder) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let (mut leader, address) =
            start_leader(replica, driver, leader_folder.path(), acknowledge)?;
        let mut follower = start_follower(replica, driver, folder.path())?;

        let flight = Flight { commands, first_tag: 1, rate, longest, login: None, pace: None };
        let before = flight.fly(address, || leader.kill())?;
        before.print("before the kill");
        let of_leader = states(leader.last_lines());
        compare_leader(leader_folder.path(), commands, &before)?;

        let (promoted, of_follower) = promote(&mut follower)?;
        compare_states(&of_leader, &of_follower)?;
        let count = promoted.commands;
        report_losses(acknowledge, &before, count)?;
        let mut plain = Plain::default();
        plain.carry_out(&commands[..count]);
        plain.expect(count, &promoted.hash)?;

        let rest = &commands[count..];
        let flight = Flight {
            commands: rest,
            first_tag: count as u64 + 1,
            rate,
            longest: Duration::MAX,
            login: None,
            pace: None,
        };
        let after = flight.fly(follower.line("listening: ")?.parse()?, || {})?;
        after.print("after the takeover");
        plain.finish("after the takeover", rest, &after, &mut follower)
    }
}

/// What a follower prints when it takes over.
struct Promoted {
    commands: usize,
    hash: String,
}

/// Lets the follower take over. Returns also the hashes that it told before.
fn promote(follower: &mut Program) -> Result<(Promoted, BTreeMap<u64, String>)> {
    let begun = Instant::now();
    follower.say("promote")?;
    let mut told = Vec::new();
    let line = loop {
        let line = follower.next_line()?;
        match line.strip_prefix("promoted: ") {
            Some(rest) => break rest.to_owned(),
            None => told.push(line),
        }
    };
    println!("promoted    {line}, {} ms after the command", begun.elapsed().as_millis());
    let (commands, hash) = (value(&line, "commands")?.parse()?, value(&line, "hash")?.to_owned());
    Ok((Promoted { commands, hash }, states(told)))
}

/// Finds `name=value` in a line.
fn value<'a>(line: &'a str, name: &str) -> Result<&'a str> {
    let mut pairs = line.split(' ').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(found, _)| *found == name);
    Ok(found.ok_or_else(|| format!("no {name} in: {line}"))?.1)
}

/// The hash at each sequence that lines report.
fn states(lines: Vec<String>) -> BTreeMap<u64, String> {
    let state = |line: &String| {
        let line = line.strip_prefix("state: ")?;
        Some((value(line, "sequence").ok()?.parse().ok()?, value(line, "hash").ok()?.to_owned()))
    };
    lines.iter().filter_map(state).collect()
}

/// Leader and follower had the same state at each sequence that both told.
fn compare_states(leader: &BTreeMap<u64, String>, follower: &BTreeMap<u64, String>) -> Result<()> {
    let mut equal = 0;
    for (sequence, hash) in leader {
        let Some(other) = follower.get(sequence) else { continue };
        if other != hash {
            return Err(format!("the states differ at {sequence}: {hash}, {other}").into());
        }
        equal += 1;
    }
    if equal == 0 {
        return Err("leader and follower have told no hash of the same sequence".into());
    }
    let last = leader.keys().filter(|sequence| follower.contains_key(sequence)).max();
    println!("            {equal} hashes of both are equal, the last at {}", last.unwrap_or(&0));
    Ok(())
}

/// The leader has answered as a plain exchange does, also what its follower lacks.
fn compare_leader(folder: &Path, commands: &[Command], before: &Landed) -> Result<()> {
    let mut settings = Settings::default();
    settings.folder = Some(folder.to_owned());
    let state = Service::open(settings)?.engine().state();
    let mut plain = Plain::default();
    plain.carry_out(&commands[..state.commands as usize]);
    plain.compare("before the kill", &before.answers)?;
    println!("            the journal of the leader has {} commands", state.commands);
    Ok(())
}

/// Says how many answered commands the follower lacks.
fn report_losses(acknowledge: &str, before: &Landed, has: usize) -> Result<()> {
    let answered = before.delays.count() as usize;
    let lacks = answered.saturating_sub(has);
    println!("            {answered} commands were answered: the follower lacks {lacks} of them");
    match (acknowledge, lacks) {
        ("follower", 0) => {
            println!("            guaranteed: no answered command is lost");
            Ok(())
        }
        ("follower", _) => Err("an answered command is lost".into()),
        _ => {
            println!("            not guaranteed: what was on its way is lost with the leader");
            Ok(())
        }
    }
}
