//! The view in a terminal: draw, read keys, repeat.

use std::io;
use std::time::{Duration, Instant};

use exchange::types::SymbolId;
use exchange::view::{Screen, View};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::Result;
use super::link::Link;

/// Time from one screen to the next.
const FRAME: Duration = Duration::from_millis(100);

/// Shows the view until the user quits.
pub(super) fn show(view: View, link: Link) -> Result<()> {
    // Restores the terminal also if drawing fails. A panic restores it before its message.
    let _restore = Restore;
    let terminal = ratatui::try_init()?;
    Ok(run(terminal, view, link)?)
}

/// Restores the terminal when it is dropped.
struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Quit,
    Previous,
    Next,
    Pause,
}

fn run(mut terminal: DefaultTerminal, mut view: View, mut link: Link) -> io::Result<()> {
    let begun = Instant::now();
    // The view that is shown while the other one goes on.
    let mut paused: Option<View> = None;
    loop {
        link.update(&mut view);
        view.tick(begun.elapsed());
        if view.loss().is_some() {
            paused = None;
        }
        let screen = Screen::new(paused.as_ref().unwrap_or(&view), paused.is_some());
        terminal.draw(|frame| frame.render_widget(screen, frame.area()))?;
        let selected = match next_wish()? {
            Some(Wish::Quit) => return Ok(()),
            Some(Wish::Pause) => {
                paused = if paused.is_some() { None } else { Some(view.clone()) };
                None
            }
            Some(Wish::Previous) => view.previous_symbol(),
            Some(Wish::Next) => view.next_symbol(),
            None => None,
        };
        if let Some(symbol) = selected.filter(|symbol| is_other(&view, *symbol)) {
            paused = None;
            link.select(&mut view, symbol);
        }
    }
}

fn is_other(view: &View, symbol: SymbolId) -> bool {
    view.follower().symbol() != symbol
}

/// Waits for a key until the next frame is due.
fn next_wish() -> io::Result<Option<Wish>> {
    if !event::poll(FRAME)? {
        return Ok(None);
    }
    Ok(match event::read()? {
        Event::Key(key) => wish(key),
        _ => None,
    })
}

fn wish(key: KeyEvent) -> Option<Wish> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Wish::Quit),
        KeyCode::Char('q') | KeyCode::Esc => Some(Wish::Quit),
        KeyCode::Left => Some(Wish::Previous),
        KeyCode::Right => Some(Wish::Next),
        KeyCode::Char('p' | ' ') => Some(Wish::Pause),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_meanings() {
        let of = |code| wish(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(of(KeyCode::Char('q')), Some(Wish::Quit));
        assert_eq!(of(KeyCode::Left), Some(Wish::Previous));
        assert_eq!(of(KeyCode::Right), Some(Wish::Next));
        assert_eq!(of(KeyCode::Char('p')), Some(Wish::Pause));
        assert_eq!(of(KeyCode::Char('c')), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(wish(interrupt), Some(Wish::Quit));
    }
}
