//! Every contender over every graph, and what is made of the results.

use std::time::{Duration, Instant};

use crate::CASES;
use crate::contenders::{self, Contender, Setting};
use crate::crew::{Failure, Run};
use crate::graphs::{Checksum, Graph, Load};
use crate::measure::{self, Case, Figures, Pace, Row};
use crate::progress::Progress;
use crate::table::{self, Table};

const CASE: Case = Case { name: "diamond", graph: Graph::Diamond, slots: 64, busy_threads: 0 };
/// One round of a moment.
const SHORT: Pace = Pace { rounds: 1, run_time: Duration::from_micros(500) };

/// Damages the last answer, and claims to have been fast.
fn lie(graph: Graph, load: Load) -> Result<Run, Failure> {
    let mut answers = graph.expected(load.events);
    answers.pop();
    answers.push(Checksum::default());
    let now = Instant::now();
    Ok(Run { started_at: now, ended_at: now + Duration::from_millis(1), answers })
}

/// A contender with one setting.
fn contender(name: &'static str, run: fn(Graph, Load) -> Result<Run, Failure>) -> Contender {
    Contender { name, settings: vec![Setting { wait: "none", run }] }
}

/// Figures as wide as they can be.
fn widest_row(case: &Case, contenders: usize) -> Row {
    let speed = if case.graph == Graph::RoundTrip { 5_000.0 } else { 4_567.8e6 };
    let figures = |number: usize| {
        let speeds = vec![speed / (number + 1) as f64; 3];
        Ok(Figures { speeds, wait: "sleep-250us" })
    };
    (0..contenders).map(figures).collect()
}

#[test]
fn every_contender_gives_the_right_answers_over_every_graph() {
    for contender in contenders::all() {
        for setting in &contender.settings {
            for Case { graph, .. } in CASES {
                for (events, slots) in [(1, 64), (7, 64), (150, 64), (150, 1_024)] {
                    let run = (setting.run)(graph, Load { events, slots });
                    let lane = format!("{} {} {graph:?}", contender.name, setting.wait);
                    let run = run.unwrap_or_else(|error| panic!("{lane}: {error}"));
                    assert_eq!(run.answers, graph.expected(events), "{lane}");
                    assert_eq!(run.answers.len(), graph.consumers(), "{lane}");
                    assert!(run.ended_at > run.started_at, "{lane}");
                }
            }
        }
    }
}

#[test]
fn every_consumer_shows_the_loss_of_an_event() {
    for Case { graph, .. } in CASES {
        for events in [1, 2, 100] {
            let (fewer, more) = (graph.expected(events), graph.expected(events + 1));
            assert!(fewer.iter().zip(&more).all(|(fewer, more)| fewer != more), "{graph:?}");
        }
    }
}

#[test]
fn a_wrong_answer_is_refused() {
    let contenders = [contenders::all().remove(0), contender("liar", lie)];
    let error = measure::row(&CASE, &contenders, SHORT, &Progress::hidden()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("wrong answer, so no figures: row=\"diamond\" contender=liar"),
        "{message}"
    );
}

#[test]
fn a_contender_that_cannot_run_is_a_note_below_the_table() {
    let lapwing = contenders::all().remove(0);
    let contenders = [lapwing, contender("absent", |_, _| Err("it is not there".into()))];
    let row = measure::row(&CASE, &contenders, SHORT, &Progress::hidden()).unwrap();
    for width in [80, 100] {
        let line = Table { contenders: &contenders, width }.row(&CASE, &row);
        assert!(line.ends_with("- ") && line.contains('*'), "{line:?}");
    }
    let closing = table::closing(&contenders, &[row]);
    assert!(closing.contains("not run: diamond: absent: it is not there"), "{closing}");
}

#[test]
fn every_line_fits_its_width() {
    let contenders = contenders::all();
    let rows = CASES.map(|case| widest_row(&case, contenders.len()));
    for (width, most) in [(1_000, 100), (100, 100), (99, 72), (72, 72)] {
        let table = Table { contenders: &contenders, width };
        let lines = CASES.iter().zip(&rows).map(|(case, row)| table.row(case, row));
        for line in table.head().lines().map(str::to_owned).chain(lines) {
            assert!(line.len() <= most, "{} at {width}: {line}", line.len());
        }
    }
    let texts = table::introduction() + &table::closing(&contenders, &rows);
    texts.lines().for_each(|line| assert!(line.len() <= 100, "{}: {line}", line.len()));
}

#[test]
fn the_best_of_a_row_is_marked_and_the_ratio_is_to_the_best_rival() {
    let contenders = contenders::all();
    let figures = |speed: f64| Ok(Figures { speeds: vec![speed * 1e6; 3], wait: "yield" });
    let row = [300.0, 100.0, 600.0, 20.0, 10.0].map(figures).into();
    let wide = Table { contenders: &contenders, width: 100 }.row(&CASE, &row);
    assert!(wide.contains(" 600*") && wide.ends_with("0.50"), "{wide}");
    let narrow = Table { contenders: &contenders, width: 80 }.row(&CASE, &row);
    assert!(narrow.contains("rtrb 600*") && !narrow.contains("20.0"), "{narrow}");
}
