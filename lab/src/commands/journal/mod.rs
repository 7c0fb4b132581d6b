//! What is in a journal: checks it, prints its frames or its sizes. It reads only. Not here: the
//! benchmark of the journal, which is the package `lab/journal`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lapwing_journal::inspect::{FrameInfo, Inspection, SegmentInfo, inspect};

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
    let mut text = String::new();
    let found = match &arguments.action {
        Action::Verify(folder) => read(folder, |_| {})?,
        Action::Dump(folder) => read(folder, |frame| text.push_str(&of_frame(frame)))?,
        Action::Stat(folder) => {
            let found = read(folder, |_| {})?;
            found.segments.iter().for_each(|segment| text.push_str(&of_segment(segment)));
            found
        }
    };
    output::print(&(text + &summary(&found)))?;
    Ok(())
}

fn read(folder: &Folder, visit: impl FnMut(&FrameInfo)) -> Result<Inspection, Error> {
    inspect(&folder.folder, visit).map_err(|error| Error::Journal(error.to_string()))
}

fn summary(found: &Inspection) -> String {
    let first = found.segments.first().map_or(found.end, |segment| segment.first);
    let Inspection { end, synced, is_closed, cut_bytes, removed_segments, .. } = found;
    let state = if *is_closed { "closed" } else { "not closed" };
    format!(
        "events {first}..{end}, synced below {synced}, {state}; an open would cut {cut_bytes} bytes and {removed_segments} \
         segments"
    )
}

fn of_frame(frame: &FrameInfo) -> String {
    let FrameInfo { segment, offset, previous, first, count, body_bytes, synced, .. } = frame;
    let (gap, end) = (first - previous, first + u64::from(*count));
    format!(
        "segment={segment} offset={offset} events={first}..{end} gap={gap} bytes={body_bytes} synced={synced}\n"
    )
}

fn of_segment(segment: &SegmentInfo) -> String {
    let SegmentInfo { file, first, end, frames, events, bytes, .. } = segment;
    let file = file.display();
    format!("file={file} events={first}..{end} frames={frames} count={events} bytes={bytes}\n")
}

#[cfg(test)]
mod tests {
    use lapwing_journal::Journal;

    use super::*;

    #[test]
    fn each_frame_has_a_line_and_the_summary_has_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::<u64>::open(folder.path()).unwrap();
        let mut writer = journal.writer();
        writer.write(&[7, 8], 0).unwrap();
        writer.write(&[9], 4).unwrap();
        journal.close().unwrap();
        let folder = Folder { folder: folder.path().to_owned() };
        let mut lines = String::new();
        let found = read(&folder, |frame| lines.push_str(&of_frame(frame))).unwrap();
        assert_eq!(
            lines,
            "segment=0 offset=80 events=0..2 gap=0 bytes=16 synced=0\n\
             segment=0 offset=152 events=4..5 gap=2 bytes=8 synced=0\n\
             segment=0 offset=216 events=5..5 gap=0 bytes=0 synced=5\n"
        );
        assert!(summary(&found).starts_with("events 0..5, synced below 5, closed;"));
        assert!(of_segment(&found.segments[0]).ends_with("frames=3 count=3 bytes=272\n"));
    }

    #[test]
    fn a_folder_that_is_missing_is_an_error() {
        let folder = Folder { folder: "/no/such/folder".into() };
        let error = read(&folder, |_| {}).unwrap_err().to_string();
        assert!(error.starts_with("cannot open the folder"), "{error}");
    }
}
