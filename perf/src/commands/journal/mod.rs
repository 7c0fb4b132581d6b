//! What is in a journal: checks it, prints its frames or its sizes. It reads only. Not here: the
//! benchmark of the journal, which is the package `perf/journal`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lapwing_journal::inspect::{FrameInfo, Inspection, inspect};

use crate::measure::error::Error;
use crate::output;

/// The flags of `journal`.
#[derive(Debug, Args)]
pub(crate) struct JournalArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Reads all frames and checks them; damage is an error with file and offset
    Verify(Folder),
    /// Prints each frame: file, offset, sequences, bytes, what was synced
    Dump(Folder),
    /// Prints each segment: sequences, frames, events, bytes
    Stat(Folder),
}

#[derive(Debug, Args)]
struct Folder {
    /// The folder of the journal
    folder: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: &JournalArguments) -> Result<(), Error> {
    match &arguments.action {
        Action::Verify(folder) => verify(&read(folder, |_| {})?),
        Action::Dump(folder) => verify(&read(folder, dump)?),
        Action::Stat(folder) => stat(&read(folder, |_| {})?),
    }
    Ok(())
}

fn read(folder: &Folder, visit: impl FnMut(&FrameInfo)) -> Result<Inspection, Error> {
    inspect(&folder.folder, visit).map_err(|error| Error::Journal(error.to_string()))
}

fn verify(found: &Inspection) {
    let first = found.segments.first().map_or(found.end, |segment| segment.first);
    let Inspection { end, synced, is_closed, cut_bytes, removed_segments, .. } = found;
    output::line(format_args!(
        "events {first}..{end}, synced below {synced}, closed: {is_closed}, to cut: {cut_bytes} bytes and \
         {removed_segments} segments"
    ));
}

fn dump(frame: &FrameInfo) {
    let FrameInfo { segment, offset, previous, first, count, body_bytes, synced, .. } = frame;
    let end = first + u64::from(*count);
    output::line(format_args!(
        "{segment:020} {offset:>10}  {first}..{end}  gap {}  {body_bytes} bytes  synced {synced}",
        first - previous
    ));
}

fn stat(found: &Inspection) {
    for segment in &found.segments {
        output::line(format_args!(
            "{}  {}..{}  {} frames  {} events  {} bytes",
            segment.file.display(),
            segment.first,
            segment.end,
            segment.frames,
            segment.events,
            segment.bytes
        ));
    }
    verify(found);
}
