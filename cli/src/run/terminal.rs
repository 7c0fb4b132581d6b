//! The screen in a terminal: look, draw, read keys, repeat.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lapwing::observe::ProcessState;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{DefaultTerminal, Frame};

use super::rings::{Ring, Rings};
use crate::error::Result;
use crate::screen::{Entry, ListScreen, RingScreen, Scroll};

/// How long a signal may wait until the program sees it.
const SIGNAL: Duration = Duration::from_millis(100);
/// Rows of a page.
const PAGE: usize = 10;

/// Shows the rings until the user quits.
///
/// # Errors
///
/// [`Error`](crate::error::Error).
pub(super) fn show(rings: Rings, interval: Duration) -> Result<()> {
    let is_ended = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&is_ended))?;
    }
    // Restores the terminal also if drawing fails. A panic restores it before its message.
    let _restore = Restore;
    let terminal = ratatui::try_init()?;
    run(terminal, App::new(rings), interval, &is_ended)
}

/// Restores the terminal when it is dropped.
struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn run(
    mut terminal: DefaultTerminal,
    mut app: App,
    interval: Duration,
    is_ended: &AtomicBool,
) -> Result<()> {
    let mut next_look = Instant::now();
    loop {
        let now = Instant::now();
        if now >= next_look {
            app.look()?;
            next_look = now + interval;
        }
        terminal.draw(|frame| app.draw(frame))?;
        loop {
            // Relaxed: the flag carries nothing.
            if is_ended.load(Ordering::Relaxed) {
                return Ok(());
            }
            let left = next_look.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            match next_event(left.min(SIGNAL))? {
                None => {}
                Some(Event::Key(key)) => match wish(key) {
                    Some(Wish::Quit) => return Ok(()),
                    Some(wish) if app.follow(wish) => return Ok(()),
                    _ => break,
                },
                // A new size, for example.
                Some(_) => break,
            }
        }
    }
}

fn next_event(most: Duration) -> io::Result<Option<Event>> {
    let is_ready = match event::poll(most) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => false,
        is_ready => is_ready?,
    };
    if is_ready { event::read().map(Some) } else { Ok(None) }
}

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Quit,
    Back,
    Open,
    Newer,
    Up(usize),
    Down(usize),
}

fn wish(key: KeyEvent) -> Option<Wish> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Wish::Quit),
        KeyCode::Char('q') => Some(Wish::Quit),
        KeyCode::Esc | KeyCode::Backspace | KeyCode::Left | KeyCode::Char('h') => Some(Wish::Back),
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => Some(Wish::Open),
        KeyCode::Char('n') => Some(Wish::Newer),
        KeyCode::Up | KeyCode::Char('k') => Some(Wish::Up(1)),
        KeyCode::Down | KeyCode::Char('j') => Some(Wish::Down(1)),
        KeyCode::PageUp => Some(Wish::Up(PAGE)),
        KeyCode::PageDown | KeyCode::Char(' ') => Some(Wish::Down(PAGE)),
        _ => None,
    }
}

/// What is on the screen.
struct App {
    rings: Rings,
    /// The ring that is shown; the list if `None`.
    shown: Option<PathBuf>,
    /// The ring that the list marks.
    marked: Option<PathBuf>,
    scroll: Scroll,
    /// From which process to which the screen has moved.
    moved: Option<(u32, u32)>,
}

impl App {
    fn new(rings: Rings) -> Self {
        let mut readable = rings.all().iter().filter(|ring| ring.figures().is_some());
        let first = readable.next().map(Ring::path_buf);
        let is_alone = rings.all().len() == 1;
        let shown = first.clone().filter(|_| is_alone);
        Self { rings, shown, marked: first, scroll: Scroll::default(), moved: None }
    }

    fn look(&mut self) -> Result<()> {
        self.rings.refresh()?;
        let newer = self.newer().map(|ring| (ring.path_buf(), ring.pid()));
        if let (Some(ring), Some((path, pid))) = (self.ring(), newer)
            && process_of(ring) == Some(ProcessState::Dropped)
        {
            // It was shut down, and its last figures say nothing more.
            let from = ring.pid();
            self.open(path);
            self.moved = Some((from, pid));
        }
        let shown = self.shown.as_deref();
        self.rings.forget_gone(|ring| Some(ring.path()) == shown);
        Ok(())
    }

    /// The ring that is shown.
    fn ring(&self) -> Option<&Ring> {
        let at = self.rings.position(self.shown.as_deref()?)?;
        Some(&self.rings.all()[at])
    }

    /// The newest ring of the same name that was made after the one that is shown, if the process of
    /// the latter has ended.
    fn newer(&self) -> Option<&Ring> {
        let ring = self.ring()?;
        let made_at = |ring: &Ring| ring.figures().map(|figures| figures.identity.made_at);
        let is_newer = |other: &&Ring| {
            other.name() == ring.name() && !other.has_ended() && made_at(other) > made_at(ring)
        };
        let others = self.rings.all().iter().filter(is_newer);
        others.max_by_key(|other| made_at(other)).filter(|_| ring.has_ended())
    }

    fn open(&mut self, path: PathBuf) {
        self.marked = Some(path.clone());
        self.shown = Some(path);
        self.scroll = Scroll::default();
        self.moved = None;
    }

    /// The position of the mark in the list.
    fn mark(&self) -> usize {
        self.marked.as_deref().and_then(|path| self.rings.position(path)).unwrap_or(0)
    }

    /// Does what a key asks for, and returns whether to end.
    fn follow(&mut self, wish: Wish) -> bool {
        match (wish, self.shown.is_some()) {
            (Wish::Quit, _) | (Wish::Back, false) => return true,
            (Wish::Back, true) if self.rings.all().len() < 2 => return true,
            (Wish::Back, true) => self.shown = None,
            (Wish::Open, false) => {
                let marked = self.rings.all().get(self.mark());
                let path = marked.filter(|ring| ring.figures().is_some()).map(Ring::path_buf);
                path.into_iter().for_each(|path| self.open(path));
            }
            (Wish::Newer, true) => {
                let newer = self.newer().map(Ring::path_buf);
                newer.into_iter().for_each(|path| self.open(path));
            }
            (Wish::Up(rows), true) => self.scroll.above = self.scroll.above.saturating_sub(rows),
            (Wish::Down(rows), true) => {
                let stages =
                    self.ring().and_then(Ring::figures).map_or(0, |figures| figures.stages.len());
                self.scroll.above = (self.scroll.above + rows).min(stages);
            }
            (Wish::Up(rows), false) => self.set_mark(self.mark().saturating_sub(rows)),
            (Wish::Down(rows), false) => self.set_mark(self.mark() + rows),
            (Wish::Open, true) | (Wish::Newer, false) => {}
        }
        false
    }

    fn set_mark(&mut self, at: usize) {
        let last = self.rings.all().len().saturating_sub(1);
        self.marked = self.rings.all().get(at.min(last)).map(Ring::path_buf);
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        match self.ring().and_then(Ring::figures) {
            Some(figures) => {
                let note = self.note();
                let keys = self.keys();
                let (scroll, note) = (self.scroll, note.as_deref());
                let screen = RingScreen { figures, scroll, note, keys: &keys };
                frame.render_widget(screen, frame.area());
            }
            None => self.draw_list(frame),
        }
    }

    fn draw_list(&self, frame: &mut Frame<'_>) {
        let entry = |ring| {
            let figures = Ring::figures(ring).ok_or_else(|| ring.reason());
            Entry { name: ring.name(), pid: ring.pid(), figures }
        };
        let entries: Vec<_> = self.rings.all().iter().map(entry).collect();
        let keys = "up/down choose   Enter show   q quit";
        let screen = ListScreen { entries: &entries, selected: self.mark(), keys };
        frame.render_widget(screen, frame.area());
    }

    fn keys(&self) -> String {
        let mut keys = vec!["q quit"];
        if self.rings.all().len() > 1 {
            keys.push("Esc list");
        }
        if self.newer().is_some() {
            keys.push("n newer ring");
        }
        keys.push("up/down scroll");
        keys.join("   ")
    }

    /// What has happened to the ring: it was followed, or there is a newer one.
    fn note(&self) -> Option<String> {
        if let Some(newer) = self.newer() {
            let pid = newer.pid();
            return Some(format!("process {pid} has a newer ring of this name: n shows it"));
        }
        let (from, to) = self.moved?;
        Some(format!("process {from} dropped its ring, and this is the one of process {to}"))
    }
}

fn process_of(ring: &Ring) -> Option<ProcessState> {
    ring.figures().map(|figures| figures.process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_meanings() {
        let of = |code| wish(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(of(KeyCode::Char('q')), Some(Wish::Quit));
        assert_eq!(of(KeyCode::Esc), Some(Wish::Back));
        assert_eq!(of(KeyCode::Enter), Some(Wish::Open));
        assert_eq!(
            (of(KeyCode::Up), of(KeyCode::Char('j'))),
            (Some(Wish::Up(1)), Some(Wish::Down(1)))
        );
        assert_eq!(of(KeyCode::Char('c')), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(wish(interrupt), Some(Wish::Quit));
    }
}
