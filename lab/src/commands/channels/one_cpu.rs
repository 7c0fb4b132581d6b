//! A run on one CPU, in a process that has one CPU from its start. Some libraries count the CPUs
//! once and remember the number. The process is this program with a hidden subcommand.

use std::io::Read;
use std::time::Duration;

use clap::Args;

use crate::contenders::channels::{Load, Payload, Shape};
use crate::contenders::{Channel, ChannelName, WaitName};
use crate::load::traffic::{Timing, Traffic};
use crate::machine::placement;
use crate::machine::{OwnChild, end_with_parent};
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::output;

/// The subcommand of the process.
const SUBCOMMAND: &str = "one-cpu-run";

/// The flags of the process.
#[derive(Args, Debug)]
pub(crate) struct OneCpuArguments {
    #[arg(long, value_enum)]
    contender: ChannelName,
    #[arg(long, value_enum)]
    wait: WaitName,
    /// 0 for round trips
    #[arg(long)]
    senders: usize,
    #[arg(long)]
    capacity: usize,
    #[arg(long, value_enum)]
    payload: Payload,
    #[arg(long)]
    run_us: u64,
    #[arg(long)]
    times_sends: bool,
}

impl OneCpuArguments {
    fn channel(&self) -> Channel {
        Channel { name: self.contender, wait: self.wait }
    }

    fn load(&self) -> Load {
        let shape = match self.senders {
            0 => Shape::RoundTrips,
            senders => Shape::OneWay(senders),
        };
        let run_time = Duration::from_micros(self.run_us);
        let timing = Timing { run_time, times_sends: self.times_sends };
        Load { shape, capacity: self.capacity, payload: self.payload, timing }
    }
}

/// Runs `load` over `channel` in a process that has one CPU.
///
/// # Errors
///
/// [`RunError`] if the process did not start or did not complete.
pub(super) fn run(channel: Channel, load: &Load) -> Result<Traffic, RunError> {
    let failed = |reason: String| RunError::Foreign(format!("the run on one CPU failed: {reason}"));
    let mut process = OwnChild::start(command_line(channel, load), &[])
        .map_err(|error| failed(error.to_string()))?;
    let mut text = String::new();
    if let Some(mut output) = process.output() {
        output.read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    }
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

/// Returns the command line of the process.
fn command_line(channel: Channel, load: &Load) -> Vec<String> {
    let senders = match load.shape {
        Shape::OneWay(senders) => senders,
        Shape::RoundTrips => 0,
    };
    let mut words = vec![
        SUBCOMMAND.to_owned(),
        format!("--contender={}", channel.name.name()),
        format!("--wait={}", channel.wait.name()),
        format!("--senders={senders}"),
        format!("--capacity={}", load.capacity),
        format!("--payload={}", load.payload.name()),
        format!("--run-us={}", load.timing.run_time.as_micros()),
    ];
    words.extend(load.timing.times_sends.then(|| "--times-sends".to_owned()));
    words
}

/// In the process: runs on one CPU, and prints the result.
///
/// # Errors
///
/// A failed run, or a system that cannot bind a thread to one CPU.
pub(crate) fn serve(arguments: &OneCpuArguments) -> Result<(), Error> {
    let (topology, contender) = (super::VIEW.experiment, arguments.contender.name());
    let failed = |source| Error::Run { topology, contender, source };
    end_with_parent()?;
    if !placement::confine_to_one_cpu() {
        let reason = "the system does not bind a thread to a CPU".to_owned();
        return Err(failed(RunError::Foreign(reason)));
    }
    let traffic = arguments.channel().run(&arguments.load()).map_err(failed)?;
    let text = serde_json::to_string(&traffic).map_err(std::io::Error::from)?;
    output::print(&text)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn the_process_has_the_load_that_it_was_given() {
        let timing = Timing { run_time: Duration::from_millis(7), times_sends: true };
        for shape in [Shape::OneWay(3), Shape::RoundTrips] {
            let load = Load { shape, capacity: 8, payload: Payload::Line, timing };
            let channel = Channel { name: ChannelName::of("crossfire"), wait: WaitName::Blocking };
            let mut line = vec!["lapwing".to_owned()];
            line.extend(command_line(channel, &load));
            let cli = Cli::try_parse_from(line).unwrap();
            let Command::OneCpuRun(arguments) = cli.command else { panic!("another subcommand") };
            assert_eq!(arguments.channel(), channel);
            assert_eq!(format!("{:?}", arguments.load()), format!("{load:?}"));
        }
    }
}
