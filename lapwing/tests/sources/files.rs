//! The sources of both crates, and how to read them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file, without its tests.
pub(crate) struct Source {
    /// From the parent of the crates, with `/`.
    pub(crate) path: String,
    /// By number. Those of tests are missing.
    pub(crate) lines: BTreeMap<usize, Line>,
}

/// A line: its code, and its comment with the slashes.
pub(crate) struct Line {
    pub(crate) code: String,
    pub(crate) comment: String,
}

impl Line {
    fn of(text: &str) -> Self {
        // A `//` in a string follows an odd number of quotes.
        let is_comment = |at: &usize| text[..*at].matches('"').count().is_multiple_of(2);
        let start = text.match_indices("//").map(|(at, _)| at).find(is_comment);
        let (code, comment) = text.split_at(start.unwrap_or(text.len()));
        Self { code: code.to_owned(), comment: comment.to_owned() }
    }

    pub(crate) fn is_comment(&self) -> bool {
        self.code.trim().is_empty() && !self.comment.is_empty()
    }

    pub(crate) fn is_attribute(&self) -> bool {
        self.code.trim_start().starts_with("#[")
    }

    pub(crate) fn indent(&self) -> usize {
        self.code.len() - self.code.trim_start().len()
    }

    /// Whether the line is an attribute that leaves its item to tests.
    fn is_for_tests(&self) -> bool {
        let code = self.code.trim_start();
        ["#[test]", "#[cfg(test", "#[cfg(all(test"].iter().any(|start| code.starts_with(start))
    }
}

impl Source {
    fn new(path: String, file: &Path) -> Self {
        let text = fs::read_to_string(file).expect("a source file is UTF-8");
        let mut lines: BTreeMap<_, _> = text.lines().map(Line::of).enumerate().collect();
        let is_last = |line: &Line, indent| {
            let code = line.code.trim_end();
            line.indent() == indent && code.ends_with(['}', ';', ','])
        };
        while let Some((&first, line)) = lines.iter().find(|(_, line)| line.is_for_tests()) {
            let indent = line.indent();
            let mut item = lines.range(first..);
            let last = item.find(|(_, line)| is_last(line, indent)).map(|(&number, _)| number);
            let last = last.expect("an item ends with a brace, a semicolon or a comma");
            lines.retain(|number, _| !(first..=last).contains(number));
        }
        Self { path, lines }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().map(|(&number, line)| (number, line))
    }

    pub(crate) fn at(&self, number: usize, what: &str) -> String {
        format!("{}:{}: {what}", self.path, number + 1)
    }
}

/// The path of a file or a folder, from the folder of this package.
pub(crate) fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Reads the sources of both crates, without their tests and without the documentation.
pub(crate) fn sources() -> Vec<Source> {
    // The folder of a package that is unpacked has another name than `lapwing`.
    sources_of(&[("core/src", "../core/src"), ("lapwing/src", "src")])
}

/// Reads the sources of these folders, each with its name in the repository, without tests and documentation.
pub(crate) fn sources_of(folders: &[(&str, &str)]) -> Vec<Source> {
    let is_code = |part: &str| !["tests", "tests.rs", "models", "litmus", "docs"].contains(&part);
    let mut found = Vec::new();
    for (name, folder) in folders {
        let folder = own(folder);
        for file in files(&folder) {
            let path = file.strip_prefix(&folder).expect("the file is in the folder");
            let path = path.to_string_lossy().replace('\\', "/");
            if path.split('/').all(is_code) {
                found.push(Source::new(format!("{name}/{path}"), &file));
            }
        }
    }
    found
}

/// Returns the Rust files in `folder` and in the folders in it.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder is readable") {
        let path = entry.expect("a source folder is readable").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    assert!(!found.is_empty(), "no sources in {}", folder.display());
    found
}
