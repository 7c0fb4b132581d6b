//! Checks where the sources do what only few files may do: assembly, calls of the system, locks of
//! the core, stores of the words of a law, and the use of the tuning.

use std::collections::BTreeSet;

use crate::files::{Source, own, sources, sources_of};

/// What models, Miri and sanitizers do not see is in few files. `docs/reliability.md` has an
/// argument for each.
#[test]
fn assembly_and_system_calls_are_in_few_files() {
    let (fence, lines) = ("core/src/parking/asymmetric.rs", "core/src/ring_buffer/lines.rs");
    let (futex, prefetch) = ("core/src/parking/futex.rs", "lapwing/src/tuning/prefetch.rs");
    let mapping = "core/src/mapping/linux.rs";
    let (cpu, folder) = ("lapwing/src/cpu.rs", "lapwing/src/ring_file/folder.rs");
    let ring_file = "lapwing/src/ring_file/linux.rs";
    assert_only("asm!", &[lines, prefetch]);
    assert_only("_mm_", &[prefetch]);
    assert_only("compiler_fence", &[fence]);
    assert_only("rustix", &[mapping, fence, futex, cpu, folder, ring_file]);
}

/// The same for segments. The package of the library comes without them.
#[test]
fn system_calls_of_segments_are_in_few_files() {
    if !own("../shared/src").is_dir() {
        return;
    }
    let sources = sources_of(&[("shared", "../shared/src")]);
    let with = |what: &str| -> BTreeSet<String> {
        let has = |file: &&Source| file.lines().any(|(_, line)| line.code.contains(what));
        sources.iter().filter(has).map(|file| file.path.clone()).collect()
    };
    let files = |names: &[&str]| -> BTreeSet<String> {
        names.iter().map(|name| format!("shared/{name}.rs")).collect()
    };
    assert_eq!(with("asm!"), files(&[]));
    assert_eq!(with("compiler_fence"), files(&["fences"]));
    assert_eq!(with("libc::"), files(&["fork", "signals"]));
    let names = ["directory", "event_count", "evidence", "fences", "making", "memory"];
    let watches = ["watch/mod", "watch/peers", "watch/pipes", "watch/writer"];
    assert_eq!(with("rustix::"), files(&[&names[..], &watches].concat()));
}

#[test]
fn the_core_starts_no_thread_logs_nothing_and_locks_only_to_wait() {
    let of_core = |what| files_with(what).into_iter().filter(|file| file.starts_with("core"));
    let locks: Vec<_> = of_core("Mutex<").collect();
    assert_eq!(locks, ["core/src/parking/portable.rs", "core/src/parking/tasks.rs"]);
    for what in ["spawn(", "spawn_scoped(", "println!"] {
        assert_eq!(of_core(what).count(), 0, "{what} in {:?}", of_core(what).collect::<Vec<_>>());
    }
}

/// What the laws of ARCHITECTURE are about is stored by the files that they name. The compiler does not
/// check that: `pub(in ...)` names only a module around the function, and these are side by side.
#[test]
fn the_words_of_a_law_are_stored_in_its_files() {
    let in_core = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("core/src/{name}.rs")).collect()
    };
    let only = |what, names| assert_eq!(Vec::from_iter(files_with(what)), in_core(names), "{what}");
    // Claim: the counter of several producers, the window of one, what was granted to all of them.
    only("publication().try_claim(", &["claims/multi"]);
    only("window().open(", &["claims/single"]);
    only(".raise_granted(", &["control/joining", "control/mod"]);
    // Visibility: the cursor and the stamps.
    only("publication().publish(", &["claims/single"]);
    only(").settle(", &["claims/multi"]);
    // Release: the word of a stage, by its reader, its group or its acknowledger.
    only("words.store(", &["control/joining", "control/mod"]);
    only("control().advance(", &["reading/reader"]);
    only("control().detach(", &["reading/reader"]);
    only(".store_by_group(", &["control/sharing"]);
    only(".try_move(", &["control/sharing"]);
    only("acknowledgement).raise(", &["control/mod"]);
    // Closing: the state, the end of the claims, and the end.
    only(".begin_close(", &["control/ending"]);
    only(".begin_halt(", &["control/ending"]);
    only(".close_counter(", &["control/ending"]);
    only(".close_window(", &["control/ending"]);
    only("life().fix_end(", &["claims/single"]);
    only("life.fix_end(", &["control/ending"]);
}

/// What a strategy learns from, the events of a batch, and the size of a worker's claim are not part
/// of the protocol. All else that is tuned is advice, which `chosen` selects.
#[test]
fn tuning_is_imported_by_few_modules() {
    let allowed = ["tuning", "chosen.rs", "consumer", "wait"];
    let is_allowed = |file: &String| {
        let path = file.strip_prefix("lapwing/src/").unwrap_or(file);
        allowed.contains(&path.split('/').next().unwrap_or_default())
    };
    let wrong: Vec<_> =
        files_with("crate::tuning").into_iter().filter(|f| !is_allowed(f)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[track_caller]
fn assert_only(what: &str, files: &[&str]) {
    assert_eq!(Vec::from_iter(files_with(what)), files, "files with {what}");
}

/// Returns the files whose code contains `what`.
fn files_with(what: &str) -> BTreeSet<String> {
    let has = |source: &Source| source.lines().any(|(_, line)| line.code.contains(what));
    sources().into_iter().filter(has).map(|source| source.path).collect()
}
