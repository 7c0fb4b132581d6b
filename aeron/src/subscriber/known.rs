//! Which event of each publisher comes next, so that a subscriber delivers each once and sees a
//! gap. Not here: where the events go (`intake`).

use std::ops::Range;

use lapwing::Sequence;

use crate::frame::Frame;

/// Publishers that a subscriber remembers. The one that has been silent for the longest time is
/// forgotten first; if it sends again, it counts as new.
const MOST: usize = 64;

/// The publishers that have sent, the latest one at the end.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Position>);

#[derive(Debug)]
struct Position {
    publisher: u64,
    /// The sequence of the next event to deliver.
    next: Sequence,
    /// The image of the latest event, if it still exists.
    session: Option<i32>,
}

/// How a message fits to what was delivered before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The publisher was not known.
    New,
    /// Its events follow what was delivered.
    Follows,
    /// These events are missing before it.
    Gap(Range<Sequence>),
    /// Events are missing that an older image of the same publisher may still deliver: the
    /// publisher has opened a new publication, and Aeron polls the images in any order.
    Early,
    /// As many of its first events were delivered before.
    Delivered(usize),
}

impl Known {
    /// Says how a message fits. Unless it comes early, expects its first event that was not
    /// delivered.
    pub(super) fn fit(&mut self, frame: &Frame, session: i32) -> Fit {
        let Some(position) = self.latest(frame.publisher) else {
            self.add(frame, session);
            return Fit::New;
        };
        let next = position.next;
        if next >= frame.end() {
            return Fit::Delivered(frame.count as usize);
        }
        let has_older_image = position.session.is_some_and(|older| older != session);
        if frame.after > next && has_older_image {
            return Fit::Early;
        }
        position.session = Some(session);
        if next > frame.first {
            return Fit::Delivered((next - frame.first) as usize);
        }
        position.next = frame.first;
        if frame.after > next { Fit::Gap(next..frame.after) } else { Fit::Follows }
    }

    /// An image has gone, so no message of it follows.
    pub(super) fn lose(&mut self, session: i32) {
        for position in &mut self.0 {
            position.session = position.session.filter(|lost| *lost != session);
        }
    }

    /// All images have gone.
    pub(super) fn lose_all(&mut self) {
        self.0.iter_mut().for_each(|position| position.session = None);
    }

    /// Counts events of the latest message as delivered, or as skipped.
    pub(super) fn advance(&mut self, events: usize) {
        if let Some(position) = self.0.last_mut() {
            position.next += events as u64;
        }
    }

    /// Finds a publisher, and moves it to the end.
    fn latest(&mut self, publisher: u64) -> Option<&mut Position> {
        let index = self.0.iter().rposition(|position| position.publisher == publisher)?;
        if index + 1 < self.0.len() {
            let position = self.0.remove(index);
            self.0.push(position);
        }
        self.0.last_mut()
    }

    fn add(&mut self, frame: &Frame, session: i32) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        let (publisher, next) = (frame.publisher, frame.first);
        self.0.push(Position { publisher, next, session: Some(session) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(publisher: u64, after: Sequence, first: Sequence, count: u32) -> Frame {
        Frame { after, first, count, ..Frame::new(0, 8, publisher) }
    }

    #[test]
    fn messages_in_order_follow_each_other() {
        let mut known = Known::default();
        assert_eq!(known.fit(&frame(1, 100, 100, 3), 7), Fit::New);
        known.advance(3);
        assert_eq!(known.fit(&frame(1, 103, 103, 2), 7), Fit::Follows);
        known.advance(2);
        assert_eq!(known.fit(&frame(1, 105, 107, 2), 7), Fit::Follows, "two claims were given up");
    }

    #[test]
    fn what_a_publisher_has_passed_and_not_delivered_is_a_gap() {
        let mut known = Known::default();
        known.fit(&frame(1, 0, 0, 3), 7);
        known.advance(3);
        assert_eq!(known.fit(&frame(1, 9, 10, 2), 7), Fit::Gap(3..9));
        known.advance(2);
        assert_eq!(known.fit(&frame(1, 12, 12, 2), 7), Fit::Follows, "a gap is told once");
    }

    #[test]
    fn a_message_that_comes_again_is_not_delivered_twice() {
        let mut known = Known::default();
        known.fit(&frame(1, 0, 0, 10), 7);
        known.advance(4); // the ring was full
        assert_eq!(known.fit(&frame(1, 0, 0, 10), 7), Fit::Delivered(4));
        known.advance(6);
        assert_eq!(known.fit(&frame(1, 0, 0, 10), 7), Fit::Delivered(10));
        assert_eq!(known.fit(&frame(1, 10, 10, 1), 7), Fit::Follows);
    }

    #[test]
    fn publishers_are_independent() {
        let mut known = Known::default();
        known.fit(&frame(1, 0, 0, 1), 7);
        known.advance(1);
        assert_eq!(known.fit(&frame(2, 50, 50, 1), 7), Fit::New);
        known.advance(1);
        assert_eq!(known.fit(&frame(1, 1, 1, 1), 7), Fit::Follows);
        known.advance(1);
        assert_eq!(known.fit(&frame(2, 51, 51, 1), 7), Fit::Follows);
    }

    #[test]
    fn the_publisher_that_was_silent_longest_is_forgotten() {
        let mut known = Known::default();
        for publisher in 0..MOST as u64 {
            known.fit(&frame(publisher, 0, 0, 1), 7);
        }
        known.fit(&frame(0, 0, 0, 1), 7); // 1 is the oldest now
        known.fit(&frame(1000, 0, 0, 1), 7);
        assert_ne!(known.fit(&frame(0, 0, 0, 1), 7), Fit::New);
        assert_eq!(known.fit(&frame(1, 0, 0, 1), 7), Fit::New);
        assert_eq!(known.0.len(), MOST);
    }

    #[test]
    fn a_new_image_of_a_publisher_waits_for_the_end_of_the_older_one() {
        let mut known = Known::default();
        known.fit(&frame(1, 0, 0, 2), 7);
        known.advance(2);
        assert_eq!(known.fit(&frame(1, 4, 4, 2), 8), Fit::Early);
        assert_eq!(known.fit(&frame(1, 4, 4, 2), 8), Fit::Early);
        assert_eq!(known.fit(&frame(1, 2, 2, 2), 7), Fit::Follows);
        known.advance(2);
        assert_eq!(known.fit(&frame(1, 4, 4, 2), 8), Fit::Follows);
        known.advance(2);
        assert_eq!(known.fit(&frame(1, 9, 9, 1), 8), Fit::Gap(6..9), "of the image that is polled");
    }

    #[test]
    fn after_the_end_of_the_older_image_a_gap_is_a_gap() {
        for lose in [|known: &mut Known| known.lose(7), Known::lose_all] {
            let mut known = Known::default();
            known.fit(&frame(1, 0, 0, 2), 7);
            known.advance(2);
            known.lose(6);
            assert_eq!(known.fit(&frame(1, 4, 4, 2), 8), Fit::Early);
            lose(&mut known);
            assert_eq!(known.fit(&frame(1, 4, 4, 2), 8), Fit::Gap(2..4));
        }
    }
}
