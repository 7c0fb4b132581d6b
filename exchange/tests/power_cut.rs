//! What a power cut may leave of an exchange on a real disk, at each answer that it sends.
//!
//! A process serves commands by TCP, and `strace` records its system calls. At each answer, and at
//! other calls, the test makes disks that a power cut could leave then, and recovers the exchange
//! from them. It must have each command that was answered, and the state of a plain exchange.
//!
//! Linux with `strace`: `bash ci/power_cut.sh` runs it.
#![cfg(target_os = "linux")]

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use std::{env, fs, thread};

use exchange::Exchange;
use exchange::client;
use exchange::flows::mix::Mix;
use exchange::gateway::Gateway;
use exchange::gateway::wire::{Answer, Order};
use exchange::plain::PlainExchange;
use exchange::service::{Input, Service, Settings};
use exchange::state::State;
use exchange::types::{Command, PackedCommand};
use lapwing_journal::faults::{Crash, Loss, Recording, SimulatedDisk};
use lapwing_journal::{Journal, Options, Plain, Snapshots};

const FOLDER: &str = "EXCHANGE_FOLDER";
const COMMANDS: usize = 400;
/// Commands from one snapshot to the next. So many are sent in a burst.
const EVERY: usize = 50;
/// How long a sync takes at least.
const SYNC_US: u64 = 20_000;
/// Between the first command of a burst and the rest. The rest waits for a sync of its own.
const PAUSE: Duration = Duration::from_millis(5);
/// Moments between two that are tried.
const STRIDE: usize = 10;

fn options() -> Options {
    Options::new().segment_bytes(8192)
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.snapshot_every = EVERY as u64;
    settings
}

fn commands() -> Vec<Command> {
    Mix { accounts: 20, resting: 100, commands: COMMANDS, ..Mix::default() }.flow().into_commands()
}

/// The process: as `exchange serve`, with small segments.
#[test]
#[ignore = "the test `each_answer_survives_a_power_cut` starts it"]
fn serve_until_the_input_ends() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
    let journal: Journal<Input> = options().open(folder.join("journal")).unwrap();
    let snapshots = Snapshots::open(folder.join("snapshots")).unwrap();
    let opened = Service::open_with(settings(), journal, snapshots).unwrap();
    let gateway = Gateway::start(opened, "127.0.0.1:0").unwrap();
    println!("\nlistening: {}", gateway.address());
    io::copy(&mut io::stdin(), &mut io::sink()).unwrap();
    gateway.shutdown().unwrap();
}

/// Serves commands in a process, and returns what it asked of the system.
fn record(folder: &Path, trace: &Path, commands: &[Command]) -> Recording {
    let mut process = Recording::strace(trace, SYNC_US)
        .arg(env::current_exe().unwrap())
        .args(["--exact", "serve_until_the_input_ends", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("strace runs");
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut lines = output.by_ref().lines().map(Result::unwrap);
    let address = lines.find_map(|line| line.strip_prefix("listening: ").map(str::to_owned));
    send(&address.expect("the gateway listens"), commands);
    drop(process.stdin.take());
    io::copy(&mut output, &mut io::sink()).unwrap();
    assert!(process.wait().unwrap().success());

    let mut recording = Recording::new(&[&folder.join("journal"), &folder.join("snapshots")]);
    recording.add(&fs::read_to_string(trace).unwrap()).unwrap();
    recording
}

/// Sends bursts, the first command of each a moment earlier, and waits for the answers to a burst.
/// Another client gets market data.
fn send(address: &str, commands: &[Command]) {
    let (mut sender, mut receiver) = client::connect(address).unwrap();
    let mut market_data = client::subscribe(address, 0).unwrap();
    thread::spawn(move || while let Ok(Some(_)) = market_data.receive() {});
    let order = |(tag, command)| Order { tag, command: PackedCommand::from(command) };
    let orders: Vec<_> = (1..).zip(commands).map(order).collect();
    for burst in orders.chunks(EVERY) {
        sender.send(&burst[..1]).unwrap();
        thread::sleep(PAUSE);
        sender.send(&burst[1..]).unwrap();
        let last = burst.last().expect("a burst has orders").tag;
        let is_last = |answer: &Answer| answer.tag == last && answer.is_last == 1;
        while !is_last(&receiver.receive().unwrap().expect("the exchange answers")) {}
    }
}

/// The moments at which answers and market data were sent, each with the command after the last one
/// that they tell of.
fn answered(recording: &Recording) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    for (moment, _, bytes) in recording.sent().filter(|(_, number, _)| *number > 2) {
        let (records, rest) = bytes.as_chunks::<{ size_of::<Answer>() }>();
        let answers = records.iter().filter(|record| record.iter().any(|&byte| byte != 0));
        let ends =
            answers.map(|record| bytemuck::pod_read_unaligned::<Answer>(record).sequence + 1);
        if let Some(end) = ends.max()
            && rest.is_empty()
        {
            found.push((moment, end));
        }
    }
    found
}

/// The states of a plain exchange after each number of commands.
fn states(commands: &[Command]) -> Vec<State> {
    let mut plain = PlainExchange::default();
    let mut states = vec![plain.state()];
    for command in commands {
        plain.apply(command, &mut |_| {});
        states.push(plain.state());
    }
    states
}

/// Recovers an exchange. Returns the number of its commands, once it has the state after them.
fn recover(
    journal: &SimulatedDisk,
    snapshots: &SimulatedDisk,
    states: &[State],
) -> Result<u64, String> {
    let options = options().prepare_ahead(false);
    let journal = options.open_simulated::<Input, Plain>(journal).map_err(|e| e.to_string())?;
    let snapshots = Snapshots::open_simulated(snapshots).map_err(|e| e.to_string())?;
    let opened = Service::open_with(settings(), journal, snapshots).map_err(|e| e.to_string())?;
    let end = opened.next_sequence();
    if opened.engine().state() != states[end as usize] {
        return Err(format!("the state is not that after {end} commands"));
    }
    Ok(end)
}

#[test]
#[ignore = "needs strace: ci/power_cut.sh"]
fn each_answer_survives_a_power_cut() {
    let work = tempfile::tempdir().unwrap();
    let folder = work.path().canonicalize().unwrap().join("new/data");
    let (commands, trace) = (commands(), work.path().join("trace"));
    let (recording, states) = (record(&folder, &trace, &commands), states(&commands));
    let answered = answered(&recording);
    assert_eq!(answered.iter().map(|(_, end)| *end).max(), Some(commands.len() as u64));

    let check = |moment: usize, loss: Loss| {
        let earlier = answered.iter().filter(|(at, _)| *at <= moment);
        let confirmed = earlier.map(|(_, end)| *end).max().unwrap_or(0);
        let disks = ["journal", "snapshots"].map(|name| recording.disk(&folder.join(name), moment));
        for (number, disk) in (0..).zip(&disks) {
            disk.crash(Crash::Power { seed: moment as u64 + number, loss });
        }
        let end = recover(&disks[0], &disks[1], &states);
        let is_kept = end.as_ref().is_ok_and(|end| *end >= confirmed);
        assert!(is_kept, "moment={moment} loss={loss:?} confirmed={confirmed} recovered={end:?}");
    };
    for &(moment, _) in &answered {
        assert_eq!(recording.unsynced_folder(moment), None, "moment={moment}");
        check(moment, Loss::All);
    }
    // A snapshot is kept as soon as it has its name, and commands that are not synced are lost.
    let mut names = Vec::new();
    for moment in recording.moments() {
        let disks = ["journal", "snapshots"].map(|name| recording.disk(&folder.join(name), moment));
        if names != disks[1].names() {
            names = disks[1].names();
            disks[0].crash(Crash::Power { seed: 0, loss: Loss::All });
            disks[1].crash(Crash::Power { seed: 0, loss: Loss::None });
            let recovered = recover(&disks[0], &disks[1], &states);
            assert!(recovered.is_ok(), "moment={moment} snapshots={names:?}: {recovered:?}");
        }
    }
    for (index, moment) in recording.moments().into_iter().enumerate() {
        if index % STRIDE == 0 {
            for loss in [Loss::Torn, Loss::Sectors, Loss::Ordered] {
                check(moment, loss);
            }
        }
    }
}
