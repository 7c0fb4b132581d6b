//! Observable rings, from outside: what an observer shows, the file, and the processes that stop or die.
#![cfg(all(target_os = "linux", not(any(miri, loom, lapwing_shuttle, lapwing_portable))))]

#[path = "../common/mod.rs"]
mod common;

mod damage;
mod files;
mod processes;
mod views;

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use lapwing::observe::{self, Observer, RingFile};

/// Returns a name that no other ring has.
fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("test-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns the files of this name.
fn files_of(name: &str) -> Vec<RingFile> {
    let mut files = observe::ring_files().unwrap();
    files.retain(|file| file.name() == name);
    files
}

/// Observes the only ring of this name.
fn observer_of(name: &str) -> Observer {
    let files = files_of(name);
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].observe().unwrap()
}
