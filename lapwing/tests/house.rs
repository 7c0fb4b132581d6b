//! Checks the sources against the rules of STYLE.md that a program can check: the comment at each
//! `unsafe` and at each atomic ordering, the agreement of the tables with the code, and the length
//! of files.
//!
//! It reads tokens, not syntax trees: that suffices to find a place and needs no dependency. Test
//! code, which is under `#[cfg(test)]` or in a file or folder named `tests` or `loom`, needs no
//! comments.
#![cfg(not(any(miri, loom)))]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

/// Maximum length of a file, in lines without tests.
const MAX_FILE_LINES: usize = 400;

/// Maximum number of code lines between an ordering and the comment that names its row.
const MAX_LINES_TO_COMMENT: usize = 8;

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
const ORDERING_TABLE: &str = "lapwing/src/docs/memory_ordering.rs";
const INVARIANT_TABLE: &str = "lapwing/src/docs/unsafe_code.rs";
const LMAX_TABLES: &str = "lapwing/src/docs/lmax.rs";

/// The folders with the sources of both crates, from their common parent. The tables are about both.
const CORE: &str = "core/src";
const LIBRARY: &str = "lapwing/src";

/// Numbers of the scenarios for LMAX and Lapwing: behaviours, by group.
const BEHAVIOURS: [RangeInclusive<u8>; 8] =
    [1..=7, 10..=17, 20..=23, 30..=34, 40..=45, 50..=55, 60..=65, 70..=72];
/// Numbers of LMAX's defects.
const DEFECTS: [RangeInclusive<u8>; 1] = [1..=27];

// ---- the rules ----

#[test]
fn every_unsafe_site_cites_an_invariant() {
    let sources = read_sources();
    report(unsafe_without_invariant(&sources));
}

#[test]
fn every_ordering_names_its_row() {
    let sources = read_sources();
    report(orderings_without_row(&sources));
}

#[test]
fn the_tables_and_the_code_agree() {
    let sources = read_sources();
    report(disagreements_with_tables(&sources));
}

#[test]
fn the_tables_about_lmax_and_the_conformance_suite_agree() {
    let (sources, suite) = (read_sources(), read_folder("lapwing/tests/conformance"));
    report(disagreements_with_suite(&sources, &suite));
}

#[test]
fn no_file_is_too_long() {
    let sources = read_sources();
    report(long_files(&sources));
}

#[test]
fn unsafe_stays_in_the_modules_that_lib_rs_allows() {
    let sources = read_sources();
    report(unsafe_outside_allowed_modules(&sources));
}

/// Fails with all findings, not only the first.
fn report(findings: Vec<String>) {
    let count = findings.len();
    assert!(findings.is_empty(), "{count} against STYLE.md:\n{}", findings.join("\n"));
}

fn unsafe_without_invariant(sources: &[Source]) -> Vec<String> {
    let invariants = table(sources, INVARIANT_TABLE, 'I');
    let mut findings = Vec::new();
    for source in sources {
        for site in source.unsafe_sites() {
            if source.lines[site.line].is_test {
                continue;
            }
            let Some(reason) = safety_reason(&source.comment_above(site.line), site.is_contract)
            else {
                findings.push(source.at(site.line, "no safety comment directly above"));
                continue;
            };
            let cited = ids(&reason, 'I');
            if cited.is_empty() {
                findings.push(source.at(site.line, "the safety comment cites no invariant"));
            }
            for id in cited.iter().filter(|id| !invariants.contains_key(*id)) {
                findings.push(source.at(site.line, &format!("{INVARIANT_TABLE} has no {id}")));
            }
        }
    }
    findings
}

fn orderings_without_row(sources: &[Source]) -> Vec<String> {
    let rows = table(sources, ORDERING_TABLE, 'O');
    let mut findings = Vec::new();
    for source in sources {
        for line in source.ordering_lines() {
            if source.lines[line].is_test {
                continue;
            }
            let named = source.rows_named_for(line);
            if named.is_empty() {
                findings.push(source.at(line, "an ordering without a comment that names its row"));
            }
            for id in named.iter().filter(|id| !rows.contains_key(*id)) {
                findings.push(source.at(line, &format!("{ORDERING_TABLE} has no {id}")));
            }
        }
    }
    findings
}

fn disagreements_with_tables(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let models: BTreeSet<_> = sources.iter().flat_map(Source::models).collect();
    for (path, letter) in [(ORDERING_TABLE, 'O'), (INVARIANT_TABLE, 'I')] {
        let rows = table(sources, path, letter);
        let code = || sources.iter().filter(|source| !source.path.starts_with("lapwing/src/docs/"));
        let cited: BTreeSet<_> = code().flat_map(|source| source.ids_in_code(letter)).collect();
        for (id, row) in &rows {
            if !cited.contains(id) {
                findings.push(format!("{path}:{}: no code cites {id}", row.line + 1));
            }
            if letter == 'O' {
                findings.extend(models_missing(path, id, row, &models));
            }
        }
        for source in code() {
            for (number, line) in source.lines.iter().enumerate() {
                for id in ids(&line.comment, letter).iter().filter(|id| !rows.contains_key(*id)) {
                    findings.push(source.at(number, &format!("{path} has no {id}")));
                }
            }
        }
    }
    findings
}

fn models_missing(path: &str, id: &str, row: &Row, models: &BTreeSet<String>) -> Vec<String> {
    let place = format!("{path}:{}", row.line + 1);
    if row.models.is_empty() {
        return vec![format!("{place}: {id} names no model test (`loom_...`)")];
    }
    let missing = row.models.iter().filter(|model| !models.contains(*model));
    missing.map(|model| format!("{place}: {id} names {model}, which does not exist")).collect()
}

/// Each scenario must have a row, each row must name its tests, and each test must be named by its
/// row.
fn disagreements_with_suite(sources: &[Source], suite: &[Source]) -> Vec<String> {
    let tests: BTreeSet<_> = suite.iter().flat_map(Source::scenarios).collect();
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for (letter, groups) in [('C', &BEHAVIOURS[..]), ('B', &DEFECTS[..])] {
        let rows = table(sources, LMAX_TABLES, letter);
        for number in groups.iter().cloned().flatten() {
            let id = format!("{letter}{number:02}");
            let Some(row) = rows.get(&id) else {
                findings.push(format!("{LMAX_TABLES}: no row for {id}"));
                continue;
            };
            let own = row.scenarios.iter().filter(|test| scenario_id(test) == Some(id.clone()));
            let (own, place) = (own.count(), row.line + 1);
            if own == 0 || own < row.scenarios.len() {
                let what = format!("{id} names no test of its own, or one of another row");
                findings.push(format!("{LMAX_TABLES}:{place}: {what}"));
            }
            for test in row.scenarios.iter().filter(|test| !tests.contains(*test)) {
                let what = format!("{id} names {test}, which does not exist");
                findings.push(format!("{LMAX_TABLES}:{place}: {what}"));
            }
        }
        named.extend(rows.into_values().flat_map(|row| row.scenarios));
    }
    let unnamed = tests.difference(&named);
    findings.extend(unnamed.map(|test| format!("{LMAX_TABLES}: no row names {test}")));
    findings
}

/// Returns the row of a scenario's test: C10 for `c10_...`, B03 for `b03a_...`.
fn scenario_id(test: &str) -> Option<String> {
    let (head, _) = test.split_once('_')?;
    let id = head.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_ascii_uppercase();
    let number = id.strip_prefix(['B', 'C'])?;
    (number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit())).then_some(id)
}

fn long_files(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        let length = source.lines.iter().filter(|line| !line.is_test).count();
        if length > MAX_FILE_LINES {
            findings.push(source.at(0, &format!("{length} lines, at most {MAX_FILE_LINES}")));
        }
    }
    findings
}

fn unsafe_outside_allowed_modules(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| !is_unsafe_allowed(sources, &source.path)) {
        for site in source.unsafe_sites() {
            let what = "unsafe, but neither lib.rs nor a `mod.rs` above allows it there";
            findings.push(source.at(site.line, what));
        }
    }
    findings
}

/// Whether `lib.rs` or a `mod.rs` allows unsafe code in the module of the file `path`, or in a
/// module that contains it.
fn is_unsafe_allowed(sources: &[Source], path: &str) -> bool {
    let in_the_crate = |root| path.strip_prefix(root)?.strip_prefix('/').map(|path| (root, path));
    let (root, path) = [CORE, LIBRARY].into_iter().find_map(in_the_crate).expect("a known crate");
    let mut parent = format!("{root}/lib.rs");
    let mut folder = format!("{root}/");
    for part in path.split('/') {
        let module = part.trim_end_matches(".rs");
        let declares = sources.iter().find(|source| source.path == parent);
        if declares.is_some_and(|source| source.modules_that_allow_unsafe().contains(module)) {
            return true;
        }
        folder += &format!("{module}/");
        parent = format!("{folder}mod.rs");
    }
    false
}

// ---- the tables ----

/// The place where an id is defined, and the tests that its row names.
struct Row {
    line: usize,
    models: Vec<String>,
    scenarios: Vec<String>,
}

/// Returns the ids that `path` defines: the first cell of a table row, or the first word of a
/// heading.
fn table(sources: &[Source], path: &str, letter: char) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    let lines = sources.iter().find(|source| source.path == path).map(|source| &source.lines);
    for (number, line) in lines.into_iter().flatten().enumerate() {
        let text = line.comment.trim_start_matches("//!").trim();
        let head = match text.strip_prefix('|') {
            Some(cells) => cells.split('|').next(),
            None if text.starts_with('#') => text.trim_start_matches('#').split_whitespace().next(),
            None => None,
        };
        let Some(id) = head.and_then(|head| ids(head, letter).pop_first()) else { continue };
        let models = words(text).filter(|word| word.starts_with("loom_")).map(String::from);
        let scenarios = words(text).filter(|word| scenario_id(word).is_some()).map(String::from);
        let (models, scenarios) = (models.collect(), scenarios.collect());
        rows.insert(id, Row { line: number, models, scenarios });
    }
    rows
}

/// Returns the ids of `letter` in `text`: the letter and a number, as a whole word.
fn ids(text: &str, letter: char) -> BTreeSet<String> {
    let number = |word: &str| word.strip_prefix(letter).map(str::to_owned);
    let is_number = |rest: &String| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    words(text).filter_map(number).filter(is_number).map(|rest| format!("{letter}{rest}")).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the text after the marker of a safety comment, or after the heading that states a
/// contract.
fn safety_reason(comment: &str, is_contract: bool) -> Option<String> {
    let after =
        |marker| comment.split_once(marker).map(|(_, reason): (&str, &str)| reason.to_owned());
    after("// SAFETY:").or_else(|| after("/// # Safety").filter(|_| is_contract))
}

// ---- a source file ----

/// A file of one of the crates, split into lines and marked.
struct Source {
    /// From the parent of the crates, with `/`.
    path: String,
    lines: Vec<Line>,
}

/// A line, with its code separated from its comments. Strings are empty in `code`.
#[derive(Debug, Default)]
struct Line {
    code: String,
    comment: String,
    /// Whether the line belongs to a test.
    is_test: bool,
    /// Whether the line contains only an attribute or a part of one.
    is_attribute: bool,
}

impl Line {
    fn is_comment(&self) -> bool {
        self.code.trim().is_empty() && !self.comment.is_empty()
    }

    fn is_blank(&self) -> bool {
        self.code.trim().is_empty() && self.comment.is_empty()
    }

    /// Whether the statement of this line continues in the next one.
    fn is_open(&self) -> bool {
        let code = self.code.trim();
        !code.is_empty() && !self.is_attribute && !code.ends_with([';', '{', '}', ','])
    }
}

/// An `unsafe` that needs a reason.
struct UnsafeSite {
    line: usize,
    /// Whether it is a function or a trait, which states duties (`# Safety`) instead of why they
    /// are met.
    is_contract: bool,
}

/// A word or a symbol of the code.
#[derive(Clone, Copy)]
struct Token<'a> {
    line: usize,
    text: &'a str,
}

/// An attribute: the tokens `first..=last` from `#` to `]`.
struct Attribute {
    first: usize,
    last: usize,
    is_inner: bool,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let mut source = Self { path: path.to_owned(), lines: split(text) };
        source.mark();
        source
    }

    fn at(&self, line: usize, what: &str) -> String {
        format!("{}:{}: {what}", self.path, line + 1)
    }

    fn tokens(&self) -> Vec<Token<'_>> {
        let mut tokens = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            let mut rest = line.code.trim_start();
            while let Some(first) = rest.chars().next() {
                let length = match rest.find(|c| !is_word(c)) {
                    Some(0) => first.len_utf8(),
                    Some(length) => length,
                    None => rest.len(),
                };
                tokens.push(Token { line: number, text: &rest[..length] });
                rest = rest[length..].trim_start();
            }
        }
        tokens
    }

    /// Marks attributes and test code.
    fn mark(&mut self) {
        let names_tests = |part| matches!(part, "tests" | "tests.rs" | "loom" | "loom.rs");
        let is_test_file = self.path.split('/').any(names_tests);
        let (attribute_lines, test_lines) = self.attribute_and_test_lines();
        for line in &mut self.lines {
            line.is_test = is_test_file;
        }
        for line in attribute_lines {
            self.lines[line].is_attribute = true;
        }
        for line in test_lines {
            self.lines[line].is_test = true;
        }
    }

    fn attribute_and_test_lines(&self) -> (Vec<usize>, Vec<usize>) {
        let tokens = self.tokens();
        let (mut attribute_lines, mut test_lines) = (Vec::new(), Vec::new());
        for attribute in attributes(&tokens) {
            let inside = &tokens[attribute.first..=attribute.last];
            let (from, to) = (tokens[attribute.first].line, tokens[attribute.last].line);
            let stands_alone = tokens.get(attribute.last + 1).is_none_or(|next| next.line > to);
            if stands_alone {
                attribute_lines.extend(from..=to);
            }
            if is_for_tests(inside) && attribute.is_inner {
                test_lines.extend(0..self.lines.len());
            } else if is_for_tests(inside) {
                let end = item_end(&tokens, attribute.last + 1);
                test_lines.extend(from..=tokens[end].line);
            }
        }
        (attribute_lines, test_lines)
    }

    fn unsafe_sites(&self) -> Vec<UnsafeSite> {
        let tokens = self.tokens();
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
        let mut sites = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if token.text != "unsafe" {
                continue;
            }
            // `unsafe extern "C" fn`: the string is empty here, its quotes are two tokens.
            let next =
                if text(at + 1) == "extern" && text(at + 2) == "\"" { at + 4 } else { at + 1 };
            let is_contract = match text(next) {
                "fn" if text(next + 1) == "(" => continue, // a type
                "fn" if is_in_trait_impl(&tokens[..at]) => continue, // the trait states the contract
                "fn" | "trait" => true,
                _ => false,
            };
            sites.push(UnsafeSite { line: token.line, is_contract });
        }
        sites
    }

    /// Returns the comment directly above the statement of `line`. Attributes may be between or
    /// above.
    fn comment_above(&self, line: usize) -> String {
        let mut first = line;
        while first > 0 && self.lines[first - 1].is_open() {
            first -= 1;
        }
        let above = self.lines[..first].iter().rev();
        let attached = above.take_while(|line| line.is_comment() || line.is_attribute);
        let mut comments: Vec<_> = attached.map(|line| line.comment.as_str()).collect();
        comments.reverse();
        comments.join("\n")
    }

    /// Returns the lines with an atomic ordering, except imports.
    fn ordering_lines(&self) -> BTreeSet<usize> {
        let tokens = self.tokens();
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
        let mut lines = BTreeSet::new();
        let mut in_import = false;
        for (at, token) in tokens.iter().enumerate() {
            match token.text {
                "use" if text(at + 1) != "<" => in_import = true,
                ";" => in_import = false,
                name if ORDERINGS.contains(&name) && at >= 3 && !in_import => {
                    let is_path = text(at - 1) == ":" && text(at - 3) == "Ordering";
                    let is_argument =
                        matches!(text(at - 1), "(" | ",") && matches!(text(at + 1), ")" | ",");
                    if is_path || is_argument {
                        lines.insert(token.line);
                    }
                }
                _ => {}
            }
        }
        lines
    }

    /// Returns the rows named on `line`, or by the nearest comment above it that names any. That
    /// comment must be in the same function without a blank line in between, so that it covers its
    /// own paragraph.
    fn rows_named_for(&self, line: usize) -> BTreeSet<String> {
        let mut named = ids(&self.lines[line].comment, 'O');
        let mut lines_of_code = 0;
        for above in self.lines[..line].iter().rev() {
            if !named.is_empty() || above.is_blank() {
                break;
            }
            if above.is_comment() {
                named = ids(&above.comment, 'O');
                continue;
            }
            lines_of_code += 1;
            if lines_of_code > MAX_LINES_TO_COMMENT || words(&above.code).any(|word| word == "fn") {
                break;
            }
        }
        named
    }

    fn models(&self) -> Vec<String> {
        let tokens = self.tokens();
        let pairs = tokens.windows(2);
        let models = pairs.filter(|pair| pair[0].text == "fn" && pair[1].text.starts_with("loom_"));
        models.map(|pair| pair[1].text.to_owned()).collect()
    }

    /// Returns the functions of a suite that are scenarios.
    fn scenarios(&self) -> Vec<String> {
        let tokens = self.tokens();
        let functions = tokens.windows(2).filter(|pair| pair[0].text == "fn");
        let names = functions.map(|pair| pair[1].text.to_owned());
        names.filter(|name| scenario_id(name).is_some()).collect()
    }

    fn ids_in_code(&self, letter: char) -> BTreeSet<String> {
        let code = self.lines.iter().filter(|line| !line.is_test);
        code.flat_map(|line| ids(&line.comment, letter)).collect()
    }

    /// Returns the modules declared under `#[allow(unsafe_code)]`.
    fn modules_that_allow_unsafe(&self) -> BTreeSet<&str> {
        let tokens = self.tokens();
        let mut modules = BTreeSet::new();
        for attribute in attributes(&tokens).into_iter().filter(|attribute| !attribute.is_inner) {
            let inside = &tokens[attribute.first..=attribute.last];
            let has = |word| inside.iter().any(|token| token.text == word);
            if has("unsafe_code") && (has("allow") || has("expect")) {
                let item = tokens[attribute.last..].iter().take_while(|token| token.text != ";");
                modules.extend(item.skip_while(|token| token.text != "mod").nth(1).map(|t| t.text));
            }
        }
        modules
    }
}

fn attributes(tokens: &[Token]) -> Vec<Attribute> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut attributes = Vec::new();
    for first in (0..tokens.len()).filter(|&at| text(at) == "#") {
        let is_inner = text(first + 1) == "!";
        let open = if is_inner { first + 2 } else { first + 1 };
        if text(open) != "[" {
            continue;
        }
        let mut depth = 0;
        let close = (open..tokens.len()).find(|&at| {
            depth += depth_change(text(at));
            depth == 0
        });
        attributes.extend(close.map(|last| Attribute { first, last, is_inner }));
    }
    attributes
}

/// Whether an attribute is `#[test]`, or a `cfg` that only tests satisfy.
fn is_for_tests(attribute: &[Token]) -> bool {
    let texts = attribute.iter().map(|token| token.text);
    let texts: Vec<_> = texts.skip_while(|text| !text.starts_with(is_word)).collect();
    match texts[..] {
        ["test", "]"] => true,
        ["cfg", "(", ref predicate @ .., ")", "]"] => needs_test(predicate),
        _ => false,
    }
}

/// Whether a `cfg` predicate is false without `test`.
fn needs_test(predicate: &[&str]) -> bool {
    match predicate {
        ["test"] => true,
        ["all", "(", parts @ .., ")"] => split_at_commas(parts).any(needs_test),
        ["any", "(", parts @ .., ")"] => split_at_commas(parts).all(needs_test),
        _ => false,
    }
}

/// Splits a list at the commas outside parentheses.
fn split_at_commas<'a, 'b>(list: &'a [&'b str]) -> impl Iterator<Item = &'a [&'b str]> {
    let mut depth = 0;
    list.split(move |text| {
        depth += depth_change(text);
        depth == 0 && *text == ","
    })
}

/// Whether the innermost block that `before` leaves open is `impl Trait for Type`.
fn is_in_trait_impl(before: &[Token]) -> bool {
    let mut depth = 0;
    let open = before.iter().rposition(|token| {
        depth += depth_change(token.text);
        depth > 0
    });
    let outside = &before[..open.unwrap_or(0)];
    let header = outside.rsplit(|token| matches!(token.text, ";" | "{" | "}")).next();
    let header = header.unwrap_or_default();
    let is_for = |pair: &[Token]| pair[0].text == "for" && pair[1].text != "<";
    header.iter().any(|token| token.text == "impl") && header.windows(2).any(is_for)
}

/// Returns the last token of the item, statement or field that begins at `start`.
fn item_end(tokens: &[Token], start: usize) -> usize {
    const ITEMS: [&str; 15] = [
        "pub", "fn", "mod", "impl", "struct", "enum", "trait", "use", "const", "static", "type",
        "unsafe", "extern", "async", "#",
    ];
    let is_item = tokens.get(start).is_some_and(|token| ITEMS.contains(&token.text));
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        depth += depth_change(token.text);
        let is_end = match token.text {
            ";" | "}" => depth <= 0,
            "," => depth <= 0 && !is_item,
            _ => depth < 0,
        };
        if is_end {
            return at;
        }
    }
    tokens.len() - 1
}

fn depth_change(text: &str) -> i32 {
    match text {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

// ---- from text to lines ----

/// Reads the sources of both crates.
fn read_sources() -> Vec<Source> {
    [CORE, LIBRARY].into_iter().flat_map(read_folder).collect()
}

/// Reads the files under a folder, given from the parent of the crates.
fn read_folder(name: &str) -> Vec<Source> {
    // The folder of a package that is unpacked has another name than `lapwing`.
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = match name.strip_prefix("lapwing/") {
        Some(folder) => own.join(folder),
        None => own.join("..").join(name),
    };
    let mut sources = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a source folder is readable") {
            let path = entry.expect("a source folder is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file is UTF-8");
                let relative = path.strip_prefix(&root).expect("it lies under the root");
                let relative = relative.to_string_lossy().replace('\\', "/");
                sources.push(Source::new(&format!("{name}/{relative}"), &text));
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!sources.is_empty(), "no sources under {}", root.display());
    sources
}

fn split(text: &str) -> Vec<Line> {
    let mut splitter = Splitter { rest: text, previous: ' ', lines: vec![Line::default()] };
    while !splitter.rest.is_empty() {
        splitter.step();
    }
    if text.ends_with('\n') {
        splitter.lines.pop();
    }
    splitter.lines
}

/// Separates code from comments, strings and characters.
struct Splitter<'a> {
    rest: &'a str,
    /// The code character before `rest`.
    previous: char,
    lines: Vec<Line>,
}

impl<'a> Splitter<'a> {
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let comment = self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            self.line().comment.push_str(comment);
        } else if self.rest.starts_with("/*") {
            self.block_comment();
        } else if let Some(hashes) = self.raw_string() {
            self.string(&format!("\"{hashes}"), false);
        } else if self.rest.starts_with('"') {
            self.take(1);
            self.string("\"", true);
        } else if let Some(length) = self.character() {
            self.take(length);
            self.code('\'');
        } else {
            let next = self.rest.chars().next().unwrap_or(' ');
            self.take(next.len_utf8());
            self.code(next);
        }
    }

    fn line(&mut self) -> &mut Line {
        self.lines.last_mut().expect("there is a line from the start")
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn code(&mut self, c: char) {
        self.previous = c;
        if c == '\n' {
            self.lines.push(Line::default());
        } else {
            self.line().code.push(c);
        }
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0;
        while !self.rest.is_empty() {
            let is_mark = self.rest.starts_with("/*") || self.rest.starts_with("*/");
            let length = if is_mark { 2 } else { first_length(self.rest) };
            match self.take(length) {
                "/*" => depth += 1,
                "*/" => depth -= 1,
                "\n" => self.lines.push(Line::default()),
                text => self.line().comment.push_str(text),
            }
            if depth == 0 {
                break;
            }
        }
    }

    /// Takes the opening of a raw string, if one begins here, and returns its hashes.
    fn raw_string(&mut self) -> Option<&'a str> {
        if is_word(self.previous) {
            return None;
        }
        let prefixes = ["r", "br", "cr"];
        let after = prefixes.iter().find_map(|prefix| self.rest.strip_prefix(prefix))?;
        let body = after.trim_start_matches('#').strip_prefix('"')?;
        let hashes = &after[..after.len() - body.len() - 1];
        self.rest = body;
        Some(hashes)
    }

    /// Takes a string up to `end`, after its opening, and leaves two quotes in the code.
    fn string(&mut self, end: &str, has_escapes: bool) {
        self.code('"');
        while !self.rest.is_empty() && !self.rest.starts_with(end) {
            if has_escapes && self.rest.starts_with('\\') {
                self.take(1);
            }
            if self.rest.starts_with('\n') {
                self.lines.push(Line::default());
            }
            self.take(first_length(self.rest));
        }
        self.take(end.len().min(self.rest.len()));
        self.code('"');
    }

    /// Returns the length of the character literal that begins here; `None` for a lifetime.
    fn character(&self) -> Option<usize> {
        let body = self.rest.strip_prefix('\'')?;
        if let Some(escape) = body.strip_prefix('\\') {
            let escaped = first_length(escape);
            return escape[escaped..].find('\'').map(|close| escaped + close + 3);
        }
        let length = first_length(body);
        body[length..].starts_with('\'').then_some(length + 2)
    }
}

/// Returns the length of the first character.
fn first_length(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

// ---- tests of the scanner ----

/// Returns a file of the library.
fn source(path: &str, text: &str) -> Source {
    Source::new(&format!("{LIBRARY}/{path}"), text)
}

/// Returns tables that define I1 to I3 and O1 to O2, and a model for each row of the second.
fn tables() -> Vec<Source> {
    vec![
        Source::new(
            INVARIANT_TABLE,
            "//! | I1 | one owner |\n//! | `I2` | readers |\n//! ## I3: inside\n",
        ),
        Source::new(
            ORDERING_TABLE,
            "//! | id | tests |\n//! |----|---|\n//! | O1 | `loom_one` |\n//! | O2 | `loom_two` |\n",
        ),
        source("barrier/loom.rs", "#[test]\nfn loom_one() {}\n#[test]\nfn loom_two() {}\n"),
    ]
}

fn with_tables(path: &str, text: &str) -> Vec<Source> {
    let mut sources = tables();
    sources.push(source(path, text));
    sources
}

/// Checks the places of the findings: `file:line`, from the sources of the library.
#[track_caller]
fn assert_places(findings: &[String], expected: &[&str]) {
    let place = |finding: &String| finding.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
    let places: Vec<_> = findings.iter().map(place).collect();
    let expected: Vec<_> = expected.iter().map(|place| format!("lapwing/src/{place}")).collect();
    assert_eq!(places, expected, "{findings:#?}");
}

#[test]
fn strings_comments_and_characters_are_not_code() {
    let text = r##"let a = "unsafe { // no"; // unsafe {
let b = r#"unsafe " {"#; let c = '"'; let d = '\''; fn f<'a>(x: &'a str) {}
/* unsafe { /* nested */ unsafe */ let e = b"\"unsafe"; let g = "two
unsafe lines"; let h = '\u{7f}'; let i = r#unsafe;
"##;
    let lines = split(text);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0].code, "let a = \"\"; ");
    assert_eq!(lines[0].comment, "// unsafe {");
    assert_eq!(lines[1].code, "let b = \"\"; let c = '; let d = '; fn f<'a>(x: &'a str) {}");
    assert_eq!(lines[2].code, " let e = b\"\"; let g = \"");
    assert_eq!(lines[3].code, "\"; let h = '; let i = r#unsafe;");
}

#[test]
fn an_unsafe_block_needs_a_safety_comment_that_cites_an_invariant() {
    let text = "fn f() {
    unsafe { a() };
    // SAFETY: it is fine.
    unsafe { a() };
    // SAFETY: I1, by the caller.
    unsafe { a() };
    unsafe { a() };
    // SAFETY: I9.
    unsafe { a() };
    // SAFETY: I2: the barrier
    // has said so.
    let x = cell
        .with(|pointer| unsafe { *pointer });
    // SAFETY: I1.

    unsafe { a() };
}
";
    let findings = unsafe_without_invariant(&with_tables("a.rs", text));
    assert_places(&findings, &["a.rs:2", "a.rs:4", "a.rs:7", "a.rs:9", "a.rs:16"]);
}

#[test]
fn an_unsafe_impl_and_an_unsafe_fn_need_a_reason_too() {
    let text = "// SAFETY: I1.
#[allow(clippy::x)]
unsafe impl<E> Send for A<E> {}
unsafe impl<E> Sync for A<E> {}

/// Reads.
///
/// # Safety
///
/// The caller owns the claim (I3).
#[cfg(
    unix
)]
pub(crate) unsafe fn read() {}

/// # Safety
///
/// Be careful.
unsafe extern \"C\" fn call(f: unsafe fn(u8), g: unsafe extern \"C\" fn(u8)) {}

/// # Safety
///
/// I1: of no use for a block.
const A: u8 = unsafe { a() };
impl<F: for<'a> Fn(&'a u8)> Reads<F> for A {
    unsafe fn as_the_trait_says() {}
}
impl<F: for<'a> Fn(&'a u8)> A<F> {
    fn other() {}
    unsafe fn undocumented() {}
}
";
    let findings = unsafe_without_invariant(&with_tables("a.rs", text));
    assert_places(&findings, &["a.rs:4", "a.rs:19", "a.rs:24", "a.rs:30"]);
}

#[test]
fn an_ordering_needs_a_comment_that_names_its_row() {
    let text = "use std::sync::atomic::{AtomicU64, Ordering, Ordering::Relaxed};
fn f(a: &AtomicU64) {
    a.load(Ordering::Acquire);
    a.load(Relaxed); // O1

    // O1, Release: pairs with `g`.
    let next = 1;
    a.store(next, Ordering::Release);

    a.compare_exchange(0, 1, Ordering::AcqRel, Relaxed);
    // Relaxed (O7): the only writer.
    a.load(Relaxed);
    fence(SeqCst);
}
// O2: belongs to nothing in `g`.
fn g(a: &AtomicU64) {
    a.load(std::sync::atomic::Ordering::SeqCst);
}
fn h(o: std::cmp::Ordering, r: Release) -> bool { matches!(o, Ordering::Less) }
";
    let findings = orderings_without_row(&with_tables("a.rs", text));
    assert_places(&findings, &["a.rs:3", "a.rs:10", "a.rs:12", "a.rs:13", "a.rs:17"]);
}

#[test]
fn a_comment_far_above_an_ordering_does_not_count() {
    let filler = "    step();\n".repeat(MAX_LINES_TO_COMMENT);
    let near = format!("fn f() {{\n    // O1\n{filler}    a.load(Relaxed);\n}}\n");
    assert_places(&orderings_without_row(&with_tables("a.rs", &near)), &[]);
    let far = format!("fn f() {{\n    // O1\n{filler}    step();\n    a.load(Relaxed);\n}}\n");
    let findings = orderings_without_row(&with_tables("a.rs", &far));
    assert_places(&findings, &["a.rs:12"]);
}

#[test]
fn test_code_is_not_checked() {
    let text = "struct A {
    #[cfg(test)]
    hook: Option<u8>,
    a: u8,
}
#[cfg(test)]
#[derive(Debug)]
struct B<C, D>(C, D);
#[cfg(any(test, loom))]
fn f() { a.load(Relaxed); }
#[cfg(all(test, not(any(miri, loom))))]
mod inline {
    fn g() { a.load(Relaxed); unsafe { b() } }
}
fn h() { a.load(Relaxed); }
";
    let sources = with_tables("a.rs", text);
    let findings = orderings_without_row(&sources);
    assert_places(&findings, &["a.rs:10", "a.rs:15"]);
    assert_places(&unsafe_without_invariant(&sources), &[]);
    for path in ["a/tests/b.rs", "a/tests.rs", "tests/mod.rs", "a/loom.rs"] {
        assert_places(&orderings_without_row(&with_tables(path, text)), &[]);
    }
}

#[test]
fn a_row_must_be_cited_and_its_model_must_exist() {
    let code = "// O1 and I1 and I3 and I2\nfn f() {}\n// O3\n";
    let mut sources = with_tables("a.rs", code);
    assert_places(&disagreements_with_tables(&sources), &["docs/memory_ordering.rs:4", "a.rs:3"]);
    sources.retain(|source| source.path != ORDERING_TABLE && source.path != "lapwing/src/a.rs");
    sources.push(Source::new(
        ORDERING_TABLE,
        "//! | O1 | none |\n//! | O2 | `loom_gone`, `loom_two` |\n",
    ));
    sources.push(source("a.rs", "// O1 O2 I1 I2 I3\n"));
    let findings = disagreements_with_tables(&sources);
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert!(findings[0].contains("O1 names no model test"), "{findings:#?}");
    assert!(findings[1].contains("O2 names loom_gone"), "{findings:#?}");
}

#[test]
fn a_scenario_has_a_row_that_names_its_tests() {
    let ids = |letter, groups: &[RangeInclusive<u8>]| {
        let numbers: Vec<u8> = groups.iter().cloned().flatten().collect();
        numbers.into_iter().map(move |number| format!("{letter}{number:02}"))
    };
    let ids: Vec<_> = ids('C', &BEHAVIOURS).chain(ids('B', &DEFECTS)).collect();
    let name = |id: &String| format!("{}_works", id.to_lowercase());
    let row = |id: &String| format!("//! | {id} | what it is | `{}` |\n", name(id));
    let test = |id: &String| format!("fn {}() {{}}\n", name(id));
    let table =
        |ids: &[String]| vec![Source::new(LMAX_TABLES, &ids.iter().map(row).collect::<String>())];
    let suite = |ids: &[String]| vec![source("a.rs", &ids.iter().map(test).collect::<String>())];
    let find = |sources: &[Source], suite: &[Source]| disagreements_with_suite(sources, suite);
    assert_eq!(find(&table(&ids), &suite(&ids)), Vec::<String>::new());
    for (findings, expected) in [
        (find(&table(&ids[1..]), &suite(&ids)), ["no row for C01", "no row names c01_works"]),
        (find(&table(&ids), &suite(&ids[2..])), ["c01_works, which", "c02_works, which"]),
    ] {
        assert_eq!(findings.len(), 2, "{findings:#?}");
        assert!(findings.iter().zip(expected).all(|(found, text)| found.contains(text)));
    }
    let other = "//! | C01 | | `c02_works` |\n//! | C02 | | `c02_works` |\n".to_owned();
    let other = [other, ids[2..].iter().map(row).collect()].concat();
    let findings = find(&[Source::new(LMAX_TABLES, &other)], &suite(&ids[1..]));
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].contains("C01 names no test of its own"), "{findings:#?}");
    assert_eq!(scenario_id("b03a_works"), Some("B03".to_owned()));
    assert_eq!(
        ["c1_works", "c100_works", "d01_works", "c01"].map(scenario_id),
        [const { None }; 4]
    );
}

#[test]
fn a_file_is_measured_without_its_tests() {
    let code = "fn f() {}\n".repeat(MAX_FILE_LINES);
    let tested = format!("{code}#[cfg(test)]\nmod tests {{\n{code}}}\n");
    assert_places(&long_files(&[source("a.rs", &tested)]), &[]);
    let long = format!("{code}fn g() {{}}\n");
    assert_places(&long_files(&[source("a.rs", &long)]), &["a.rs:1"]);
    assert_places(&long_files(&[source("a/tests.rs", &long)]), &[]);
}

#[test]
fn unsafe_is_found_outside_the_modules_that_lib_rs_allows() {
    let root = "#![deny(unsafe_code)]
#[allow(unsafe_code)] // I1
pub mod a;
#[expect(unsafe_code, reason = \"mod d\")]
#[doc(hidden)]
pub(crate) mod b;
pub mod c;
";
    let text = "fn f() { unsafe { g() } }\n";
    let paths = ["a.rs", "b/inner.rs", "c/tests/unit.rs", "d.rs"];
    let mut sources = vec![source("lib.rs", root)];
    sources.extend(paths.map(|path| source(path, text)));
    let findings = unsafe_outside_allowed_modules(&sources);
    assert_places(&findings, &["c/tests/unit.rs:1", "d.rs:1"]);
}
