//! Checks the sources against the layers of ARCHITECTURE.md: what the protocol may import, and that
//! no two modules import each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules that the protocol may import, because they are below it.
const BELOW_THE_PROTOCOL: [&str; 7] =
    ["activity", "description", "error", "open_claim", "padded", "sync", "turns"];

/// The module that returns consumers also returns the seats of their ring, which consist of stages.
const SEATS: (&str, &str) = ("lifecycle", "topology");

/// The words of the turns are in `Control`, and queued producers park at places of the protocol.
const TURNS: (&str, &str) = ("protocol", "turns");

/// For each module of the crate, the modules that it imports, each with one file that does.
type Imports = BTreeMap<(String, String), String>;

#[test]
fn the_protocol_imports_no_tuning_and_no_higher_layer() {
    let wrong: Vec<_> = imports()
        .into_iter()
        .filter(|((from, to), _)| from == "protocol" && !BELOW_THE_PROTOCOL.contains(&to.as_str()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn tuning_is_reached_through_the_advice_of_the_ends_only() {
    // What a strategy learns from, the events of a batch, and the size of a worker's claim are not
    // part of the protocol.
    let allowed = ["chosen", "consumer", "wait"];
    let wrong: Vec<_> = imports()
        .into_iter()
        .filter(|((from, to), _)| to == "tuning" && !allowed.contains(&from.as_str()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// What models, Miri and sanitizers do not see is in few files. `docs/reliability.md` has an
/// argument for each.
#[test]
fn assembly_and_system_calls_are_in_few_files() {
    let (fence, affinity) = ("protocol/parking/asymmetric.rs", "lifecycle/affinity.rs");
    let allowed = [
        ("asm!", &["tuning/prefetch.rs"][..]),
        ("_mm_", &["tuning/prefetch.rs"]),
        ("compiler_fence", &[fence]),
        ("rustix", &[affinity, fence, "protocol/parking/futex.rs"]),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (what, files_with) in allowed {
        let has = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            code.into_iter().any(|line| line.contains(what))
        };
        let found: BTreeSet<_> = files(&root).into_iter().filter(has).collect();
        let litmus = root.join("litmus");
        let found: Vec<_> = found.iter().filter(|path| !path.starts_with(&litmus)).collect();
        let expected: Vec<_> = files_with.iter().map(|file| root.join(file)).collect();
        assert!(found.into_iter().eq(&expected), "{what} is in other files than {files_with:?}");
    }
}

#[test]
fn no_module_imports_one_that_imports_it() {
    let mut imports = imports();
    for (from, to) in [SEATS, TURNS] {
        imports.remove(&(from.into(), to.into()));
    }
    let modules: BTreeSet<&String> = imports.keys().map(|(from, _)| from).collect();
    for module in modules {
        let mut seen = BTreeSet::new();
        let mut next = vec![module];
        while let Some(at) = next.pop() {
            for ((_, to), file) in imports.iter().filter(|((from, _), _)| from == at) {
                assert!(to != module, "{module} imports itself by way of {file}");
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
    }
}

#[test]
fn imports_are_found_in_code_and_not_in_comments_or_tests() {
    let text = "//! crate::tap\nuse crate::life::Life;\nfn f() { crate::gate::g() } // crate::wait\n\
                #[cfg(all(test, not(loom)))]\nmod tests { use crate::tap::Tap; }\n";
    assert_eq!(imported(text), BTreeSet::from(["life".into(), "gate".into()]));
}

/// Returns all imports between the modules of the crate, except those of tests and of the crate's
/// root.
fn imports() -> Imports {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports = Imports::new();
    for file in files(&source) {
        let path = file.strip_prefix(&source).unwrap().display().to_string().replace('\\', "/");
        let module = path.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        if ["lib", "models", "docs"].contains(&module.as_str()) || path.contains("tests") {
            continue;
        }
        let is_module = |name: &String| {
            source.join(name).is_dir() || source.join(format!("{name}.rs")).is_file()
        };
        let text = fs::read_to_string(&file).unwrap();
        for to in imported(&text).into_iter().filter(is_module).filter(|to| *to != module) {
            imports.insert((module.clone(), to), path.clone());
        }
    }
    assert!(imports.len() > 20, "{imports:?}");
    imports
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the first names of all paths that begin with `crate::`, outside comments and tests.
fn imported(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(all(test").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for line in lines {
        for rest in line.split("crate::").skip(1) {
            names.insert(rest.chars().take_while(|&c| is_name(c)).collect());
        }
    }
    names.remove("");
    names
}
