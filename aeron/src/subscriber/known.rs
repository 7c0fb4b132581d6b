//! Which event of each publisher comes next, so that a subscriber delivers each once and sees a gap. Not
//! here: where the events go (`intake`).

use std::ops::Range;

use lapwing::Sequence;

use crate::frame::Frame;

/// Publishers that a subscriber remembers. The one that has been silent for the longest time is forgotten
/// first; if it sends again, it counts as new.
const MOST: usize = 64;

/// The publishers that have sent, the latest one at the end.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Position>);

#[derive(Debug)]
struct Position {
    publisher: u64,
    /// The sequence of the next event to deliver.
    next: Sequence,
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
    /// As many of its first events were delivered before.
    Delivered(usize),
}

impl Known {
    /// Says how a message fits, and expects its first event that was not delivered.
    pub(super) fn fit(&mut self, frame: &Frame) -> Fit {
        let Some(position) = self.latest(frame.publisher) else {
            self.add(frame);
            return Fit::New;
        };
        let next = position.next;
        if next > frame.first {
            return Fit::Delivered((next.min(frame.end()) - frame.first) as usize);
        }
        position.next = frame.first;
        if frame.after > next { Fit::Gap(next..frame.after) } else { Fit::Follows }
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

    fn add(&mut self, frame: &Frame) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Position { publisher: frame.publisher, next: frame.first });
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
        assert_eq!(known.fit(&frame(1, 100, 100, 3)), Fit::New);
        known.advance(3);
        assert_eq!(known.fit(&frame(1, 103, 103, 2)), Fit::Follows);
        known.advance(2);
        assert_eq!(known.fit(&frame(1, 105, 107, 2)), Fit::Follows, "two claims were given up");
    }

    #[test]
    fn what_a_publisher_has_passed_and_not_delivered_is_a_gap() {
        let mut known = Known::default();
        known.fit(&frame(1, 0, 0, 3));
        known.advance(3);
        assert_eq!(known.fit(&frame(1, 9, 10, 2)), Fit::Gap(3..9));
        known.advance(2);
        assert_eq!(known.fit(&frame(1, 12, 12, 2)), Fit::Follows, "a gap is told once");
    }

    #[test]
    fn a_message_that_comes_again_is_not_delivered_twice() {
        let mut known = Known::default();
        known.fit(&frame(1, 0, 0, 10));
        known.advance(4); // the ring was full
        assert_eq!(known.fit(&frame(1, 0, 0, 10)), Fit::Delivered(4));
        known.advance(6);
        assert_eq!(known.fit(&frame(1, 0, 0, 10)), Fit::Delivered(10));
        assert_eq!(known.fit(&frame(1, 10, 10, 1)), Fit::Follows);
    }

    #[test]
    fn publishers_are_independent() {
        let mut known = Known::default();
        known.fit(&frame(1, 0, 0, 1));
        known.advance(1);
        assert_eq!(known.fit(&frame(2, 50, 50, 1)), Fit::New);
        known.advance(1);
        assert_eq!(known.fit(&frame(1, 1, 1, 1)), Fit::Follows);
        known.advance(1);
        assert_eq!(known.fit(&frame(2, 51, 51, 1)), Fit::Follows);
    }

    #[test]
    fn the_publisher_that_was_silent_longest_is_forgotten() {
        let mut known = Known::default();
        for publisher in 0..MOST as u64 {
            known.fit(&frame(publisher, 0, 0, 1));
        }
        known.fit(&frame(0, 0, 0, 1)); // 1 is the oldest now
        known.fit(&frame(1000, 0, 0, 1));
        assert_ne!(known.fit(&frame(0, 0, 0, 1)), Fit::New);
        assert_eq!(known.fit(&frame(1, 0, 0, 1)), Fit::New);
        assert_eq!(known.0.len(), MOST);
    }
}
