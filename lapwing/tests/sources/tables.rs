//! Checks that the tables of the documentation and the sources agree:
//!
//! - Each safety comment cites an invariant of `docs::unsafe_code` (I for the library and its core, M for
//!   segments), and each invariant is cited.
//! - Each atomic ordering names its row of `docs::memory_ordering` (O, or P for segments). Each row is named,
//!   and names models that exist.
//! - Each scenario of the conformance suite has a row in `docs::lmax` that names its tests.
//!
//! Clippy checks that there is a safety comment at all, and the compiler which modules have unsafe
//! code.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;

use crate::files::{Line, Source, files, own, sources, sources_of};

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// The tables of some crates, and the letters of their ids.
struct Tables {
    sources: Vec<Source>,
    orderings: (&'static str, char),
    invariants: (&'static str, char),
    /// The folders of their models.
    models: &'static [&'static str],
}

/// Returns the tables of the library and its core, and in the repository those of segments.
fn all_tables() -> Vec<Tables> {
    let library = Tables {
        sources: sources(),
        orderings: ("src/docs/memory_ordering.rs", 'O'),
        invariants: ("src/docs/unsafe_code.rs", 'I'),
        models: &["../core/src", "src"],
    };
    let segments = own("../shared/src").is_dir().then(|| Tables {
        sources: sources_of(&[("shared/src", "../shared/src")]),
        orderings: ("../shared/src/docs/memory_ordering.rs", 'P'),
        invariants: ("../shared/src/docs/unsafe_code.rs", 'M'),
        models: &["../shared/src"],
    });
    [library].into_iter().chain(segments).collect()
}

const LMAX_TABLES: &str = "src/docs/lmax.rs";

/// Numbers of the scenarios for LMAX and Lapwing: behaviours, by group.
const BEHAVIOURS: [RangeInclusive<u8>; 8] =
    [1..=7, 10..=17, 20..=23, 30..=34, 40..=45, 50..=55, 60..=65, 70..=72];
/// Numbers of LMAX's defects.
const DEFECTS: [RangeInclusive<u8>; 1] = [1..=27];

/// Most lines of code between an ordering and the comment that names its row.
const LINES_TO_COMMENT: usize = 8;

#[test]
fn each_safety_comment_cites_an_invariant() {
    let mut findings = Vec::new();
    for tables in all_tables() {
        findings.extend(unfounded(&tables));
    }
    report(&findings);
}

/// Returns the safety comments that cite no invariant, and what is unsafe without one.
fn unfounded(tables: &Tables) -> Vec<String> {
    let (path, letter) = tables.invariants;
    let invariants = table(path, letter);
    let cites = |reason: &str| ids(reason, letter).iter().any(|id| invariants.contains_key(id));
    let mut findings = Vec::new();
    for file in &tables.sources {
        for (number, line) in file.lines() {
            let is_reason = line.comment.contains("SAFETY:") || line.comment.contains("# Safety");
            if is_reason && !cites(&file.rest_of_comment(number)) {
                findings.push(file.at(number, "a safety comment that cites no invariant"));
            }
            let states_a_contract =
                line.code.contains("unsafe fn ") || line.code.contains("unsafe trait ");
            if states_a_contract
                && !file.is_in_trait_impl(number)
                && !file.comment_above(number).contains("# Safety")
            {
                findings.push(file.at(number, "an unsafe function or trait without `# Safety`"));
            }
        }
    }
    findings
}

#[test]
fn each_ordering_names_its_row() {
    let mut findings = Vec::new();
    for Tables { sources, orderings: (_, letter), .. } in all_tables() {
        for file in sources {
            let orderings = file.lines().filter(|(_, line)| line.has_ordering());
            let is_unnamed = |&(number, _): &_| file.rows_named_for(number, letter).is_empty();
            let what = "an ordering without a comment that names its row";
            let without = orderings.filter(is_unnamed);
            findings.extend(without.map(|(number, _)| file.at(number, what)));
        }
    }
    report(&findings);
}

#[test]
fn each_row_is_cited_and_each_cited_row_exists() {
    let mut findings = Vec::new();
    for tables in all_tables() {
        let models = functions(tables.models);
        findings.extend(uncited(&tables.sources, tables.orderings, Some(&models)));
        findings.extend(uncited(&tables.sources, tables.invariants, None));
    }
    report(&findings);
}

/// Returns the rows of a table that no code cites, the rows that code cites and that do not exist, and what
/// is wrong with the models that rows name.
fn uncited(
    sources: &[Source],
    (path, letter): (&str, char),
    models: Option<&BTreeSet<String>>,
) -> Vec<String> {
    let mut findings = Vec::new();
    let rows = table(path, letter);
    let mut cited = BTreeSet::new();
    for file in sources {
        for (number, line) in file.lines() {
            let ids = ids(&line.comment, letter);
            let unknown = ids.iter().filter(|id| !rows.contains_key(*id));
            findings.extend(unknown.map(|id| file.at(number, &format!("{path} has no {id}"))));
            cited.extend(ids);
        }
    }
    let not_cited = rows.keys().filter(|id| !cited.contains(*id));
    findings.extend(not_cited.map(|id| format!("{path}: no code cites {id}")));
    let Some(models) = models else { return findings };
    for (id, row) in &rows {
        let named: Vec<_> = words(row).filter(|word| word.starts_with("loom_")).collect();
        if named.is_empty() {
            findings.push(format!("{path}: {id} names no model"));
        }
        let missing = named.into_iter().filter(|model| !models.contains(*model));
        findings.extend(
            missing.map(|model| format!("{path}: {id} names {model}, which does not exist")),
        );
    }
    findings
}

#[test]
fn each_scenario_has_a_row_that_names_its_tests() {
    let tests = functions(&["tests/conformance"]);
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for (letter, groups) in [('C', &BEHAVIOURS[..]), ('B', &DEFECTS[..])] {
        let rows = table(LMAX_TABLES, letter);
        for id in groups.iter().cloned().flatten().map(|number| format!("{letter}{number:02}")) {
            let row = rows.get(&id).map_or("", String::as_str);
            let scenarios: Vec<_> = words(row).filter(|word| scenario_id(word).is_some()).collect();
            if scenarios.is_empty()
                || scenarios.iter().any(|test| scenario_id(test).as_ref() != Some(&id))
            {
                findings.push(format!(
                    "{LMAX_TABLES}: {id} names no test of its own, or one of another row"
                ));
            }
            let missing = scenarios.iter().filter(|test| !tests.contains(**test));
            findings.extend(
                missing
                    .map(|test| format!("{LMAX_TABLES}: {id} names {test}, which does not exist")),
            );
            named.extend(scenarios.into_iter().map(str::to_owned));
        }
    }
    let scenarios = tests.iter().filter(|test| scenario_id(test).is_some());
    let unnamed = scenarios.filter(|test| !named.contains(*test));
    findings.extend(unnamed.map(|test| format!("{LMAX_TABLES}: no row names {test}")));
    report(&findings);
}

/// Fails with all findings, not only the first.
fn report(findings: &[String]) {
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

// ---- tables and words ----

/// Returns the rows of a table: those whose first cell is an id, and headings that begin with one.
fn table(path: &str, letter: char) -> BTreeMap<String, String> {
    let text = fs::read_to_string(own(path)).expect("a table is readable");
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! ")).filter_map(|row| {
        let head = match row.strip_prefix('|') {
            Some(cells) => cells.split('|').next(),
            None => row.strip_prefix('#')?.trim_start_matches('#').split_whitespace().next(),
        };
        Some((ids(head?, letter).pop_first()?, row.to_owned()))
    });
    let rows: BTreeMap<_, _> = rows.collect();
    assert!(!rows.is_empty(), "{path} has no row with an id of {letter}");
    rows
}

/// Returns the ids of `letter` in `text`: the letter and a number, as a whole word.
fn ids(text: &str, letter: char) -> BTreeSet<String> {
    let is_id = |word: &&str| {
        let number = word.strip_prefix(letter).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    words(text).filter(is_id).map(str::to_owned).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the row of a scenario's test: C10 for `c10_...`, B03 for `b03a_...`.
fn scenario_id(test: &str) -> Option<String> {
    let (head, _) = test.split_once('_')?;
    let id = head.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_ascii_uppercase();
    let number = id.strip_prefix(['B', 'C'])?;
    (number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit())).then_some(id)
}

// ---- what the tables need of a file ----

impl Line {
    /// Whether the line has an atomic ordering and is no import.
    fn has_ordering(&self) -> bool {
        !words(&self.code).any(|word| word == "use")
            && words(&self.code).any(|word| ORDERINGS.contains(&word))
    }
}

impl Source {
    /// Returns the comment from line `number` on.
    fn rest_of_comment(&self, number: usize) -> String {
        let rest = self.lines.range(number..).map(|(_, line)| line);
        let comment = rest.take_while(|line| !line.comment.is_empty());
        comment.map(|line| line.comment.as_str()).collect()
    }

    /// Returns the comment directly above line `number`; attributes may be in between.
    fn comment_above(&self, number: usize) -> String {
        let above = self.lines.range(..number).rev().map(|(_, line)| line);
        let attached = above.take_while(|line| line.is_comment() || line.is_attribute());
        attached.map(|line| line.comment.as_str()).collect()
    }

    /// Whether line `number` is in an `impl` of a trait, which has the contract.
    fn is_in_trait_impl(&self, number: usize) -> bool {
        let indent = self.lines[&number].indent();
        let above = self.lines.range(..number).rev().map(|(_, line)| line);
        let mut outside =
            above.filter(|line| line.indent() < indent && !line.code.trim().is_empty());
        outside.next().is_some_and(|line| words(&line.code).any(|word| word == "for"))
    }

    /// Returns the rows that are named on line `number`, or by the nearest comment above it in the
    /// same paragraph of the same function.
    fn rows_named_for(&self, number: usize, letter: char) -> BTreeSet<String> {
        let mut lines_of_code = 0;
        for line in self.lines.range(..=number).rev().map(|(_, line)| line) {
            let named = ids(&line.comment, letter);
            let is_blank = line.code.trim().is_empty() && line.comment.is_empty();
            if !named.is_empty() || is_blank {
                return named;
            }
            lines_of_code += usize::from(!line.is_comment());
            if lines_of_code > LINES_TO_COMMENT + 1 || words(&line.code).any(|word| word == "fn") {
                break;
            }
        }
        BTreeSet::new()
    }
}

/// Returns the names of all functions in these folders.
fn functions(folders: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in folders.iter().flat_map(|folder| files(&own(folder))) {
        let text = fs::read_to_string(path).expect("a source file is UTF-8");
        let after_fn = text.split("fn ").skip(1).filter_map(|rest| words(rest).next());
        names.extend(after_fn.map(str::to_owned));
    }
    names
}
