//! Every example runs to its end. Readers copy these programs, so each must work as it is, and each asserts its answer.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest time that an example may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The folder of the built examples, which is that of the test programs' parent.
fn built() -> PathBuf {
    let test = env::current_exe().expect("the system knows this program");
    let profile = test.ancestors().nth(2).expect("it is in the folder `deps`");
    profile.join("examples")
}

/// The names of all example files.
fn names() -> BTreeSet<String> {
    let files = fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder is there");
    let paths = files.map(|file| file.expect("it can be read").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    sources.map(|path| name(&path)).filter(|name| name != "lib").collect()
}

/// Waits until `program` has ended, and kills it if that takes too long.
fn ends_well(name: &str, program: &mut Child) {
    let since = Instant::now();
    loop {
        if let Some(status) = program.try_wait().expect("it is ours") {
            assert!(status.success(), "{name}: {status}");
            return;
        }
        if since.elapsed() > PATIENCE {
            program.kill().expect("it is ours");
            panic!("{name} has not ended after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn every_example_runs_to_its_end() {
    let names = names();
    assert!(names.contains("hello"), "{names:?}");
    for name in names {
        let path = built().join(&name);
        let mut command = Command::new(&path);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut program = command.spawn().unwrap_or_else(|error| {
            panic!(
                "{}: {error}. Is `{name}` declared in examples/Cargo.toml? `cargo test -p lapwing-examples` builds all.",
                path.display()
            )
        });
        ends_well(&name, &mut program);
    }
}
