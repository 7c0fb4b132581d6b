//! Screens of several sizes.

use lapwing::observe::ProcessState;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use ratatui::widgets::Widget;

use super::*;
use crate::figures::Figures;
use crate::figures::tests::figures;

fn drawn(widget: impl Widget, columns: u16, lines: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| frame.render_widget(widget, frame.area())).unwrap();
    terminal.backend().buffer().clone()
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let line = |y| {
        let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..buffer.area.height).map(line).collect()
}

fn ring(figures: &Figures) -> RingScreen<'_> {
    RingScreen { figures, scroll: Scroll::default(), note: None, keys: "q quit" }
}

#[test]
fn a_wide_screen_has_everything() {
    let figures = figures();
    let shown = lines(&drawn(ring(&figures), 150, 20));
    let expected = include_str!("../../tests/golden/screen_150.txt");
    assert_eq!(shown.join("\n").trim_end(), expected.trim_end());
}

#[test]
fn a_screen_of_any_size_is_drawn_without_a_panic_and_names_the_culprit() {
    let figures = figures();
    for columns in 1..160 {
        for height in 1..24 {
            let shown = lines(&drawn(ring(&figures), columns, height)).join("\n");
            let is_small = columns < SMALLEST.0 || height < SMALLEST.1;
            if is_small {
                assert!(!shown.contains("events/s"), "{columns} × {height}:\n{shown}");
            } else {
                for part in ["limits the ring", "decode", "events/s", "q quit"] {
                    assert!(shown.contains(part), "{columns} × {height} has no {part}:\n{shown}");
                }
            }
        }
    }
}

#[test]
fn a_small_terminal_says_which_size_it_needs() {
    let shown = lines(&drawn(ring(&figures()), 40, 30)).join(" ");
    let sentence = "The terminal has 40 columns and 30 lines. At least 52 and 10 are needed.";
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), sentence);
}

#[test]
fn the_culprit_and_the_process_have_their_colours() {
    let mut figures = figures();
    let row_of = |buffer: &Buffer, text: &str| {
        lines(buffer).iter().position(|line| line.trim_start().starts_with(text)).unwrap() as u16
    };
    let buffer = drawn(ring(&figures), 120, 20);
    assert_eq!(buffer[(5, row_of(&buffer, "journal"))].fg, Color::Yellow);
    figures.verdict.kind = Kind::Stopped;
    figures.process = ProcessState::Stopped;
    let buffer = drawn(ring(&figures), 120, 20);
    assert_eq!(buffer[(5, row_of(&buffer, "journal"))].fg, Color::Red);
    let at = lines(&buffer)[0].find("stopped").unwrap() as u16;
    assert_eq!(buffer[(at, 0)].fg, Color::Red);
}

#[test]
fn a_low_screen_scrolls_over_the_stages() {
    let mut figures = figures();
    let template = figures.stages[0].clone();
    figures.stages = (0..30)
        .map(|number| {
            let mut stage = template.clone();
            stage.name = format!("stage-{number}");
            stage
        })
        .collect();
    let shown = |above| {
        lines(&drawn(RingScreen { scroll: Scroll { above }, ..ring(&figures) }, 100, 14)).join("\n")
    };
    assert!(shown(0).contains("producers") && shown(0).contains("0 rows above"), "{}", shown(0));
    assert!(!shown(0).contains("stage-29"));
    assert!(shown(30).contains("stage-29") && shown(30).contains(" 0 below"), "{}", shown(30));
}

#[test]
fn a_note_is_shown() {
    let figures = figures();
    let note = Some("process 4712 has a newer ring of this name: n shows it");
    for (columns, height) in [(150, 20), SMALLEST] {
        let shown =
            lines(&drawn(RingScreen { note, ..ring(&figures) }, columns, height)).join("\n");
        assert!(shown.contains("process 4712 has a newer ring"), "{shown}");
    }
}

#[test]
fn a_list_marks_a_ring_and_says_why_another_is_not_read() {
    let figures = figures();
    let reason = "the file is truncated, or describes no valid ring".to_owned();
    let entries = [
        Entry { name: "orders", pid: 4711, figures: Ok(&figures) },
        Entry { name: "quotes", pid: 4712, figures: Err(reason) },
    ];
    for columns in [52, 80, 120] {
        let list = ListScreen { entries: &entries, selected: 0, keys: "q quit" };
        let buffer = drawn(list, columns, 12);
        let shown = lines(&buffer);
        assert_eq!(shown[0], " 2 rings");
        assert!(shown[3].contains("orders") && shown[3].contains("limited"), "{shown:#?}");
        assert!(shown[4].contains("quotes") && shown[4].contains("the file is"), "{shown:#?}");
        assert!(buffer[(1, 3)].modifier.contains(ratatui::style::Modifier::REVERSED));
    }
}
