//! Ends of segments in different processes: what each of them gets, and what happens when one is
//! killed or stopped.
//!
//! A child is this program again, with a role in its environment (`child`).

#![cfg(all(target_os = "linux", not(loom)))]

mod child;
mod errors;
mod forks;
mod kills;
mod lives;
mod namespaces;
mod sandbox;
mod several;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lapwing_shared::{Segment, Writer};

/// Long enough for whatever has to happen, however busy the machine is.
const LONG: Duration = Duration::from_secs(20);

/// Publishes the next event. Fails if that takes so long that nobody has woken the writer.
fn publish_in_time(writer: &mut Writer<Event>) -> Duration {
    let (next, start) = (writer.sequence(), Instant::now());
    assert_eq!(writer.publish_timeout(LONG, |event| *event = event_of(next)), Ok(next));
    assert!(start.elapsed() < LONG, "a dead reader holds up the writer");
    start.elapsed()
}

/// What the event with this sequence is.
fn event_of(sequence: u64) -> [u64; 2] {
    [sequence, sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15)]
}

type Event = [u64; 2];

/// A folder for the segments of one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        // In memory, as in a program.
        let shm = Path::new("/dev/shm");
        let parent = if shm.is_dir() { shm.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("lapwing-test-").tempdir_in(parent).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn segment(&self) -> Segment<Event> {
        Segment::named("ticks").folder(self.path())
    }

    /// Returns what is in the folder.
    fn entries(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}
