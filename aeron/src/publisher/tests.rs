//! The sender against an outlet that refuses by a script, without a driver.

use std::collections::VecDeque;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use lapwing::Action;

use super::outlet::{Outlet, Refused};
use super::pack::{Encoded, Pack, Plain};
use super::sender::{Failure, Sender};
use super::when_not_connected::WhenNotConnected;
use crate::frame::{Frame, HEAD, VARIABLE};

const FRAME: usize = HEAD + 40; // five events of eight bytes
const LONGEST: usize = 200;

/// Takes messages, after the refusals of its script.
#[derive(Default)]
struct Scripted {
    refusals: VecDeque<Option<Refused>>,
    messages: Vec<Vec<u8>>,
}

impl Scripted {
    fn new(refusals: &[Option<Refused>]) -> Self {
        Self { refusals: refusals.iter().cloned().collect(), messages: Vec::new() }
    }

    fn take(&mut self, message: Vec<u8>) -> Result<(), Refused> {
        if let Some(Some(refused)) = self.refusals.pop_front() {
            return Err(refused);
        }
        self.messages.push(message);
        Ok(())
    }

    /// The ranges of the messages of plain events, and the events.
    fn received(&self) -> (Vec<(u64, u64, u64)>, Vec<u64>) {
        let read = |message| Frame::read(message, 0, 8).unwrap();
        let heads = self.messages.iter().map(|message| {
            let (frame, _) = read(message);
            (frame.after, frame.first, frame.end())
        });
        let events = self.messages.iter().flat_map(|message| {
            let (_, body) = read(message);
            body.chunks(8).map(|event| u64::from_ne_bytes(event.try_into().unwrap()))
        });
        (heads.collect(), events.collect())
    }
}

impl Outlet for Scripted {
    fn longest_frame(&self) -> usize {
        FRAME
    }

    fn longest_message(&self) -> usize {
        LONGEST
    }

    fn send_in_place(
        &mut self,
        bytes: usize,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Refused> {
        assert!(bytes <= FRAME);
        let mut message = vec![0xEE; bytes];
        fill(&mut message);
        self.take(message)
    }

    fn send_parts(&mut self, parts: &[&[u8]]) -> Result<(), Refused> {
        let message = parts.concat();
        assert!(message.len() <= LONGEST);
        self.take(message)
    }
}

fn sender(policy: WhenNotConnected) -> Sender<u64> {
    let mut sender = Sender::new(Box::new(Plain::new()), 99);
    sender.set_when_not_connected(policy);
    sender
}

/// Hands a batch over as a stage does.
fn send(
    sender: &mut Sender<u64>,
    outlet: &mut Scripted,
    first: u64,
    count: u64,
) -> Result<Action, Failure> {
    let events: Vec<u64> = (first..first + count).collect();
    sender.begin(first, events.len());
    sender.send(outlet, &events)
}

/// The same until Aeron has taken the batch.
fn send_all(sender: &mut Sender<u64>, outlet: &mut Scripted, first: u64, count: u64) {
    for _ in 0..1000 {
        if send(sender, outlet, first, count) == Ok(Action::Continue) {
            return;
        }
    }
    panic!("the batch does not end");
}

#[test]
fn a_batch_becomes_messages_that_fit_into_a_frame() {
    let (mut sender, mut outlet) = (sender(WhenNotConnected::Wait), Scripted::default());
    assert_eq!(send(&mut sender, &mut outlet, 100, 12), Ok(Action::Continue));
    let (heads, events) = outlet.received();
    assert_eq!(heads, [(100, 100, 105), (105, 105, 110), (110, 110, 112)]);
    assert!(events.into_iter().eq(100..112));
    assert_eq!((sender.figures().sent(), sender.figures().messages()), (12, 3));
}

#[test]
fn back_pressure_keeps_the_rest_of_the_batch_and_sends_nothing_twice() {
    let mut script = vec![None];
    script.extend(vec![Some(Refused::BackPressured); 150]);
    script.push(Some(Refused::AdminAction));
    let (mut sender, mut outlet) = (sender(WhenNotConnected::Wait), Scripted::new(&script));
    assert!(matches!(send(&mut sender, &mut outlet, 0, 12), Ok(Action::Retry(_))));
    assert_eq!(outlet.messages.len(), 1);
    send_all(&mut sender, &mut outlet, 0, 14); // the batch has grown meanwhile
    let (_, events) = outlet.received();
    assert!(events.into_iter().eq(0..14));
    assert_eq!(sender.figures().refused(), 150);
}

#[test]
fn a_batch_whose_sent_part_is_released_goes_on_with_the_rest() {
    let script = [None, Some(Refused::BackPressured), None, Some(Refused::Closed)];
    let (mut sender, mut outlet) = (sender(WhenNotConnected::Wait), Scripted::new(&script));
    assert_eq!(
        send(&mut sender, &mut outlet, 0, 12),
        Err(Failure::Refused(Refused::Closed)),
        "two messages are sent"
    );
    assert_eq!(sender.finished(0), 10);
    send_all(&mut sender, &mut outlet, 10, 4); // 10 and 11, and two new ones
    assert_eq!(sender.finished(10), usize::MAX);
    let (heads, events) = outlet.received();
    assert_eq!(heads, [(0, 0, 5), (5, 5, 10), (10, 10, 14)]);
    assert!(events.into_iter().eq(0..14));
}

#[test]
fn the_pause_grows_while_back_pressure_lasts_and_shrinks_after_a_message() {
    let mut script = vec![Some(Refused::BackPressured); 300];
    script.push(None);
    script.extend(vec![Some(Refused::BackPressured); 101]);
    let (mut sender, mut outlet) = (sender(WhenNotConnected::Wait), Scripted::new(&script));
    let mut longest = Duration::ZERO;
    while outlet.messages.is_empty() {
        let action = send(&mut sender, &mut outlet, 0, 6).unwrap();
        let Action::Retry(pause) = action else { panic!("{action:?}") };
        if outlet.messages.is_empty() {
            longest = longest.max(pause);
        } else {
            assert_eq!(pause, Duration::ZERO);
        }
    }
    assert_eq!(longest, Duration::from_millis(1));
}

#[test]
fn claims_that_were_given_up_are_no_gap() {
    let (mut sender, mut outlet) = (sender(WhenNotConnected::Wait), Scripted::default());
    send_all(&mut sender, &mut outlet, 0, 3);
    send_all(&mut sender, &mut outlet, 7, 2);
    assert_eq!(outlet.received().0, [(0, 0, 3), (3, 7, 9)]);
}

#[test]
fn without_a_subscriber_each_policy_does_what_it_says() {
    let script = vec![Some(Refused::NotConnected); 1000];
    let outcome = |policy| {
        let (mut sender, mut outlet) = (sender(policy), Scripted::new(&script));
        (send(&mut sender, &mut outlet, 0, 6), sender.figures().dropped())
    };
    assert!(matches!(outcome(WhenNotConnected::Wait), (Ok(Action::Retry(_)), 0)));
    assert_eq!(outcome(WhenNotConnected::Drop), (Ok(Action::Continue), 6));
    assert!(matches!(outcome(WhenNotConnected::Fail), (Err(Failure::NotConnected(_)), 0)));
    let patient = WhenNotConnected::WaitFor(Duration::from_secs(3600));
    assert!(matches!(outcome(patient), (Ok(Action::Retry(_)), 0)));
}

#[test]
fn a_limited_wait_for_a_subscriber_ends_with_its_duration() {
    let limit = Duration::from_millis(20);
    let script = vec![Some(Refused::NotConnected); 1_000_000];
    let (mut sender, mut outlet) =
        (sender(WhenNotConnected::WaitFor(limit)), Scripted::new(&script));
    let waited = loop {
        match send(&mut sender, &mut outlet, 0, 6) {
            Ok(Action::Retry(pause)) => std::thread::sleep(pause),
            Err(Failure::NotConnected(waited)) => break waited,
            other => panic!("{other:?}"),
        }
    };
    assert!(waited >= limit && waited < 500 * limit, "{waited:?}");
    let again = send(&mut sender, &mut outlet, 0, 6);
    assert!(matches!(again, Ok(Action::Retry(_))), "a retry waits anew: {again:?}");
}

#[test]
fn a_message_ends_the_time_without_a_subscriber() {
    let limit = Duration::from_millis(50);
    let mut script = vec![Some(Refused::NotConnected), None];
    script.extend(vec![Some(Refused::NotConnected); 1000]);
    let (mut sender, mut outlet) =
        (sender(WhenNotConnected::WaitFor(limit)), Scripted::new(&script));
    send_all(&mut sender, &mut outlet, 0, 3);
    std::thread::sleep(2 * limit);
    let next = send(&mut sender, &mut outlet, 3, 3);
    assert!(matches!(next, Ok(Action::Retry(_))), "{next:?}");
}

#[test]
fn dropped_and_given_up_events_are_a_gap_for_the_subscriber() {
    let script = [None, Some(Refused::NotConnected), None, Some(Refused::Closed)];
    let (mut sender, mut outlet) = (sender(WhenNotConnected::Drop), Scripted::new(&script));
    send_all(&mut sender, &mut outlet, 0, 3);
    send_all(&mut sender, &mut outlet, 3, 4); // dropped
    send_all(&mut sender, &mut outlet, 7, 2);
    assert_eq!(send(&mut sender, &mut outlet, 9, 5), Err(Failure::Refused(Refused::Closed)));
    send_all(&mut sender, &mut outlet, 14, 1); // the stage's policy has skipped that batch
    assert_eq!(outlet.received().0, [(0, 0, 3), (7, 7, 9), (14, 14, 15)]);
}

#[test]
fn after_a_failure_the_same_batch_continues_where_it_was() {
    let script = [None, Some(Refused::AtLimit)];
    let (mut sender, mut outlet) = (sender(WhenNotConnected::Wait), Scripted::new(&script));
    assert_eq!(send(&mut sender, &mut outlet, 0, 8), Err(Failure::Refused(Refused::AtLimit)));
    send_all(&mut sender, &mut outlet, 0, 8);
    assert!(outlet.received().1.into_iter().eq(0..8));
}

#[test]
fn a_plain_event_that_exceeds_a_frame_is_a_message_of_its_own() {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(transparent)]
    struct Large([u8; 64]);
    let mut outlet = Scripted::default();
    let frame = Frame::new(0, 64, 99);
    let events = [Large([1; 64]), Large([2; 64])];
    assert_eq!(Plain::<Large>::new().send(&mut outlet, frame, &events), Ok(1));
    let (frame, body) = Frame::read(&outlet.messages[0], 0, 64).unwrap();
    assert_eq!((frame.count, body), (1, &[1; 64][..]));
}

#[test]
fn a_message_that_exceeds_the_longest_is_refused() {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(transparent)]
    struct Huge([u64; LONGEST / 8]);
    let mut outlet = Scripted::default();
    let refused =
        Plain::<Huge>::new().send(&mut outlet, Frame::new(0, 0, 0), &[Huge([0; LONGEST / 8])]);
    assert_eq!(refused, Err(Refused::TooLarge { bytes: HEAD + LONGEST }));
    let mut encoded = Encoded::new(|event: &Huge, bytes: &mut Vec<u8>| {
        bytes.extend(bytemuck::bytes_of(event));
    });
    let refused = encoded.send(&mut outlet, Frame::new(0, VARIABLE, 0), &[Huge([0; LONGEST / 8])]);
    assert_eq!(refused, Err(Refused::TooLarge { bytes: HEAD + 4 + LONGEST }));
}

#[test]
fn encoded_events_fill_a_frame_and_are_encoded_once_while_aeron_refuses() {
    let mut outlet = Scripted::new(&[Some(Refused::BackPressured), Some(Refused::BackPressured)]);
    let mut calls = 0;
    let events = ["a".repeat(10), "b".repeat(20), "c".repeat(30)];
    let mut encoded = Encoded::new(|event: &String, bytes: &mut Vec<u8>| {
        calls += 1;
        bytes.extend(event.as_bytes());
    });
    let frame = Frame { first: 5, after: 5, ..Frame::new(0, VARIABLE, 99) };
    assert_eq!(encoded.send(&mut outlet, frame, &events), Err(Refused::BackPressured));
    assert_eq!(encoded.send(&mut outlet, frame, &events), Err(Refused::BackPressured));
    assert_eq!(encoded.send(&mut outlet, frame, &events), Ok(2)); // 4 + 10 + 4 + 20 bytes
    let next = Frame { first: 7, after: 7, ..frame };
    assert_eq!(encoded.send(&mut outlet, next, &events[2..]), Ok(1));
    drop(encoded);
    assert_eq!(calls, 4, "three for the first message, of which one did not fit");
    assert_eq!(
        outlet.messages[0][HEAD..],
        *[&[10, 0, 0, 0][..], &[b'a'; 10], &[20, 0, 0, 0], &[b'b'; 20]].concat()
    );
}

#[test]
fn an_encoded_message_that_was_sent_or_given_up_is_not_sent_again() {
    let encode = |event: &u8, bytes: &mut Vec<u8>| bytes.push(*event);
    let mut encoded = Encoded::new(encode);
    let mut outlet = Scripted::new(&[Some(Refused::BackPressured)]);
    let frame = Frame { first: 5, after: 5, ..Frame::new(0, VARIABLE, 99) };
    assert_eq!(encoded.send(&mut outlet, frame, b"a"), Err(Refused::BackPressured));
    let next = Frame { first: 6, after: 6, ..frame };
    assert_eq!(encoded.send(&mut outlet, next, b"b"), Ok(1)); // the stage has skipped the first
    assert_eq!(encoded.send(&mut outlet, next, b"c"), Ok(1)); // another ring
    let last_bytes = outlet.messages.iter().map(|message| *message.last().unwrap());
    assert!(last_bytes.eq([b'b', b'c']));
}
