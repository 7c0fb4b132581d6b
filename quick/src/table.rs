//! What is printed: a head, a row as soon as it is measured, and how to read them. A wide table has a column for each
//! contender. A narrow one has Lapwing and the best rival.

use std::collections::BTreeSet;
use std::env::consts::{ARCH, OS};
use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use terminal_size::{Width, terminal_size_of};

use crate::CASES;
use crate::contenders::Contender;
use crate::graphs::Graph;
use lapwing_lab_stats::median;

use crate::measure::{Case, Figures, Row};

/// The command of the full laboratory, without its arguments.
pub(crate) const LABORATORY: &str = "cargo run --release -p lapwing-lab --";

/// Columns of a wide table, and of an output that is no terminal.
const WIDE: usize = 100;
/// Columns of the cells. A cell is aligned to the right, but for the name of its row.
const NAME: usize = 22;
const UNIT: usize = 4;
const FIGURE: usize = 12;
const RIVAL: usize = 20;
const RATIO: usize = 14;

/// The share of the CPUs that other programs may use without a warning.
const NOISE: f64 = 0.05;

/// What stands where there is no figure.
const NONE: &str = "- ";

/// A table of some contenders, of which the first is compared with the others.
pub(crate) struct Table<'a> {
    pub(crate) contenders: &'a [Contender],
    /// Columns of the terminal.
    pub(crate) width: usize,
}

impl Table<'_> {
    /// The head, with the end of its line.
    pub(crate) fn head(&self) -> String {
        let names =
            self.contenders.iter().map(|contender| format!("{} ", contender.name)).collect();
        let line = self.line("row", "", names, "best rival ", "x best rival");
        format!("{line}\n{}\n", "-".repeat(line.len()))
    }

    /// One row.
    pub(crate) fn row(&self, case: &Case, row: &Row) -> String {
        let speeds =
            row.iter().map(|cell| cell.as_ref().map_or(0.0, Figures::median)).collect::<Vec<_>>();
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        let cells = speeds.iter().map(|&speed| match speed {
            0.0 => NONE.to_owned(),
            _ => format!(
                "{}{}",
                rounded(in_unit(case, speed)),
                if speed < fastest { ' ' } else { '*' }
            ),
        });
        let cells = cells.collect::<Vec<_>>();
        let rival = (1..speeds.len()).max_by(|&one, &other| speeds[one].total_cmp(&speeds[other]));
        let best = rival.map_or(NONE.to_owned(), |rival| {
            format!("{} {}", self.contenders[rival].name, cells[rival])
        });
        let ratio = rival.map_or(0.0, |rival| speeds[0] / speeds[rival]);
        let is_ratio = ratio.is_normal();
        let ratio = if is_ratio { rounded(ratio) } else { NONE.to_owned() };
        let unit = if case.graph == Graph::RoundTrip { "ns" } else { "M/s" };
        self.line(case.name, unit, cells, &best, &ratio)
    }

    /// A line of the table: in a wide one all `figures`, else the first and that of the best rival.
    fn line(
        &self,
        name: &str,
        unit: &str,
        figures: Vec<String>,
        rival: &str,
        ratio: &str,
    ) -> String {
        let figures = if self.width >= WIDE {
            figures.iter().map(|figure| format!("{figure:>FIGURE$}")).collect()
        } else {
            let own = figures.first().map_or(NONE, String::as_str);
            format!("{own:>FIGURE$}{rival:>RIVAL$}")
        };
        format!("{name:<NAME$}{unit:<UNIT$}{figures}{ratio:>RATIO$}")
    }
}

/// The columns of the terminal.
pub(crate) fn width() -> usize {
    terminal_size_of(io::stdout()).map_or(WIDE, |(Width(columns), _)| usize::from(columns))
}

/// What is measured, and where.
pub(crate) fn introduction() -> String {
    let cpus = cpus();
    format!(
        "Lapwing {} and four other libraries on {cpus} CPUs, {OS} {ARCH}. This takes a minute and a half.\n\
         Five graphs of the Disruptor paper: 8-byte events, 65,536 slots. Channel: three senders, 1,024\n\
         slots. One event, one way: half of its time to another thread and back. Busy CPUs: 1,024 slots,\n\
         while two threads of another process compute. Every run checks its answer.\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// What is said if other programs use this share of the CPUs; nothing if they hardly use any.
pub(crate) fn warning(share: f64) -> Option<String> {
    (share >= NOISE).then(|| {
        format!(
            "Other programs use {:.0} % of the CPUs now. Figures will be low and vary; the last row, which\n\
             is meant to have busy CPUs, has more than two busy threads.\n",
            100.0 * share
        )
    })
}

/// What stands below the table: notes, how to read it, the command of the laboratory.
pub(crate) fn closing(contenders: &[Contender], rows: &[Row]) -> String {
    let absent = rows.iter().flatten().filter_map(|cell| cell.as_ref().err());
    let notes = absent.map(|reason| format!("not run: {reason}\n")).collect::<String>();
    let several = contenders.iter().enumerate().filter(|(_, one)| one.settings.len() > 1);
    let waits = several.map(|(number, contender)| {
        let figures = rows.iter().filter_map(|row| row[number].as_ref().ok());
        let waits = figures.map(|figures| figures.wait).collect::<BTreeSet<_>>();
        format!("{} {}", contender.name, Vec::from_iter(waits).join(", "))
    });
    let waits = waits.collect::<Vec<_>>().join("; ");
    let ranges = CASES.iter().zip(rows).filter_map(|(case, row)| {
        let speeds = row.first()?.as_ref().ok()?.speeds.iter().map(|&speed| in_unit(case, speed));
        let least = speeds.clone().fold(f64::INFINITY, f64::min);
        let most = speeds.fold(0.0, f64::max);
        Some(format!("{} {}..{}", case.name, rounded(least), rounded(most)))
    });
    let ranges = lines("Lapwing, least..most:", &ranges.collect::<Vec<_>>());
    let crowded = CASES.iter().filter(|case| case.graph.threads() > cpus()).count();
    let crowded = match crowded {
        0 => String::new(),
        rows => format!(
            "{rows} of {} rows have more threads than CPUs, so they measure the scheduler too.\n",
            CASES.len()
        ),
    };
    format!(
        "\n{notes}{ranges}\nFastest waits: {waits}\n{crowded}\
         With 3P, rtrb has a ring for each producer, so there is no order between producers.\n\
         How to read: medians; M/s is best high, ns best low; * is the best; above 1 Lapwing is ahead.\n\
         All benchmarks and 15 rivals: {LABORATORY} --help   (builds for minutes)"
    )
}

/// Returns `head` and `parts`, separated by commas, in lines that fit a wide table.
fn lines(head: &str, parts: &[String]) -> String {
    let mut lines = vec![head.to_owned()];
    for (number, part) in parts.iter().enumerate() {
        let comma = if number + 1 < parts.len() { "," } else { "" };
        let line = lines.last_mut().expect("the head is a line");
        if line.len() + part.len() + 2 > WIDE {
            lines.push(format!("  {part}{comma}"));
        } else {
            *line += &format!(" {part}{comma}");
        }
    }
    lines.join("\n")
}

/// The CPUs that this program may use.
fn cpus() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

impl Figures {
    /// The median speed.
    fn median(&self) -> f64 {
        median(&self.speeds).unwrap_or(0.0)
    }
}

/// Events per second in the unit of the row: millions, or nanoseconds one way.
fn in_unit(case: &Case, speed: f64) -> f64 {
    if case.graph == Graph::RoundTrip { 1e9 / speed / 2.0 } else { speed / 1e6 }
}

/// A number with three digits, or more if it has more before the point.
fn rounded(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}
