//! The book about Lapwing. Each chapter is the documentation of a module here, so `cargo test`
//! compiles and runs every Rust code block of the book.
//!
//! Chapters are listed in `SUMMARY.md` for readers and in [`CHAPTERS`] for the tests. The decisions are listed in
//! `decisions/README.md` instead of the summary, so that they do not fill the sidebar.

/// Includes each chapter as the documentation of a module, and lists the paths.
macro_rules! chapters {
    ($($name:ident: $path:literal,)*) => {
        /// Paths of the chapters, relative to the folder of the book.
        pub const CHAPTERS: &[&str] = &[$($path),*];

        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            mod $name {}
        )*
    };
}

chapters! {
    introduction: "README.md",
    getting_started: "getting-started.md",
    concepts: "concepts.md",
    choosing: "choosing.md",
    recipes: "recipes/README.md",
    logger: "recipes/logger.md",
    market_data: "recipes/market-data.md",
    telemetry_by_key: "recipes/telemetry-by-key.md",
    request_and_answer: "recipes/request-and-answer.md",
    durable_journal: "recipes/durable-journal.md",
    async_program: "recipes/async.md",
    web_service: "recipes/web-service.md",
    epoll_loop: "recipes/epoll.md",
    testing_handlers: "recipes/testing-handlers.md",
    more_machines: "more-machines.md",
    operations: "operations.md",
    migration: "migration.md",
    reliability: "reliability.md",
    performance: "performance.md",
    decisions: "decisions/README.md",
    decision_01: "decisions/01-sequences-are-next-indices.md",
    decision_02: "decisions/02-consumers-are-values.md",
    decision_03: "decisions/03-graphs-and-exclusivity.md",
    decision_04: "decisions/04-claims-by-compare-and-swap.md",
    decision_05: "decisions/05-stamps-apart-from-events.md",
    decision_06: "decisions/06-publishers-pay-nothing.md",
    decision_07: "decisions/07-protocol-apart-from-tuning.md",
    decision_08: "decisions/08-cache-lines-and-ab-tests.md",
    decision_09: "decisions/09-single-events.md",
    decision_10: "decisions/10-the-default-wait-strategy.md",
    decision_11: "decisions/11-parking-and-waking.md",
    decision_12: "decisions/12-closing-counts.md",
    decision_13: "decisions/13-no-producer-waits-for-its-own-thread.md",
    decision_14: "decisions/14-dynamic-stages.md",
    decision_15: "decisions/15-worker-groups.md",
    decision_16: "decisions/16-outcomes-of-handlers.md",
    decision_17: "decisions/17-placement-beside-the-graph.md",
    decision_18: "decisions/18-channels.md",
    decision_19: "decisions/19-taps.md",
    decision_20: "decisions/20-monitors-look-only.md",
    decision_21: "decisions/21-few-dependencies.md",
    decision_22: "decisions/22-turns-on-a-full-ring.md",
    decision_23: "decisions/23-frames-say-what-is-synced.md",
    decision_24: "decisions/24-one-engine-stage.md",
    decision_25: "decisions/25-a-sealed-core.md",
    decision_26: "decisions/26-a-strategy-answers.md",
    decision_27: "decisions/27-one-record-of-a-measurement.md",
    decision_28: "decisions/28-tasks-wait-where-threads-park.md",
    decision_29: "decisions/29-monitors-of-other-processes.md",
    decision_30: "decisions/30-a-pipe-says-who-lives.md",
    decision_31: "decisions/31-several-writers.md",
    zh_getting_started: "zh/getting-started.md",
    zh_concepts: "zh/concepts.md",
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::CHAPTERS;

    /// The page that lists the chapters, and is not one itself.
    const SUMMARY: &str = "SUMMARY.md";

    /// The page that lists the decisions, which are not in the summary.
    const DECISIONS: &str = "decisions/README.md";

    fn book() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
    }

    fn read(page: &str) -> String {
        fs::read_to_string(book().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
    }

    /// Every Markdown file below `folder`, relative to the book.
    fn pages(folder: &Path) -> BTreeSet<String> {
        let mut pages = BTreeSet::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pages.extend(self::pages(&path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let page = path.strip_prefix(book()).unwrap();
                pages.insert(page.to_str().unwrap().replace('\\', "/"));
            }
        }
        pages
    }

    /// The lines of `text` outside of code blocks.
    fn prose(text: &str) -> impl Iterator<Item = &str> {
        let mut is_code = false;
        text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_fence && !is_code
        })
    }

    /// The targets of the links and images of a page. Those in code spans do not count.
    fn links(page: &str) -> Vec<String> {
        let text = read(page);
        let outside_spans = |line: &str| line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let text = prose(&text).map(outside_spans).collect::<Vec<_>>().join("\n");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(str::to_owned).collect()
    }

    /// The anchors that a code host and mdBook give to the headings of a page.
    fn anchors(page: &Path) -> BTreeSet<String> {
        let text = fs::read_to_string(page).unwrap();
        let headings = prose(&text).filter(|line| line.starts_with('#'));
        let anchor = |line: &str| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
            heading.chars().filter(kept).collect::<String>().replace(' ', "-")
        };
        headings.map(anchor).collect()
    }

    /// The decisions that `DECISIONS` links to: files of its folder that begin with a number.
    fn listed_decisions() -> Vec<String> {
        let links = links(DECISIONS);
        let numbered = links.iter().filter(|link| link.starts_with(|c: char| c.is_ascii_digit()));
        numbered.map(|link| format!("decisions/{link}")).collect()
    }

    #[test]
    fn every_page_is_listed_and_tested() {
        let mut pages = pages(&book());
        assert!(pages.remove(SUMMARY));
        let is_decision = |page: &String| page.starts_with("decisions/") && page != DECISIONS;
        let (decisions, chapters) = pages.iter().cloned().partition(is_decision);
        let tested = CHAPTERS.iter().map(|page| (*page).to_owned()).collect();
        for (list, listed, expected) in [
            (SUMMARY, links(SUMMARY), chapters),
            (DECISIONS, listed_decisions(), decisions),
            ("lib.rs", tested, pages),
        ] {
            let unique: BTreeSet<_> = listed.iter().cloned().collect();
            assert_eq!(listed.len(), unique.len(), "a page is in {list} twice");
            let missing: Vec<_> = expected.difference(&unique).collect();
            let unknown: Vec<_> = unique.difference(&expected).collect();
            assert!(missing.is_empty(), "not in {list}: {missing:?}");
            assert!(
                unknown.is_empty(),
                "in {list}, and not a page that belongs there: {unknown:?}"
            );
        }
    }

    #[test]
    fn links_between_files_point_to_files_and_headings() {
        let mut broken = Vec::new();
        for page in pages(&book()) {
            let folder = book().join(&page).parent().unwrap().to_owned();
            for link in links(&page).iter().filter(|link| !link.contains("://")) {
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if file.is_empty() { book().join(&page) } else { folder.join(file) };
                let is_page = target.extension().is_some_and(|extension| extension == "md");
                if !target.exists() {
                    broken.push(format!("{page}: no file for {link}"));
                } else if !anchor.is_empty() && is_page && !anchors(&target).contains(anchor) {
                    broken.push(format!("{page}: no heading for {link}"));
                }
            }
        }
        assert!(broken.is_empty(), "{broken:#?}");
    }

    #[test]
    fn choosing_has_the_headings_that_the_library_links_to() {
        let anchors = anchors(&book().join("choosing.md"));
        for anchor in ["channels", "full-ring"] {
            assert!(anchors.contains(anchor), "choosing.md: no heading for #{anchor}");
        }
    }
}
