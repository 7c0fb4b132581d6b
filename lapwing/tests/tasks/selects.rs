//! A thread waits at several ends at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::Disruptor;
use lapwing::channel::{self, TryRecvError};
use lapwing::error::PollError;
use lapwing::select::{Selectable, select, select_timeout};

use crate::common::{repeats, watched};

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn ends_of_several_kinds_and_types_are_waited_for_at_once() {
    watched(|| {
        let (mut words, mut word_receiver) = channel::spsc(2).unwrap();
        let (mut lines, mut line_receivers) = channel::broadcast(2, 2).unwrap();
        let (mut producer, mut consumers) =
            Disruptor::single_producer(2, || 0_u64).stage("all").poller().build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        let count = repeats(2_000);
        let senders = [
            thread::spawn(move || (0..count).for_each(|word| words.send(word).unwrap())),
            thread::spawn(move || {
                (0..count).for_each(|line| lines.send(line.to_string()).unwrap());
            }),
            thread::spawn(move || {
                (0..count).for_each(|event| {
                    producer.publish(|slot| *slot = event).unwrap();
                });
            }),
        ];
        let mut next = [0; 4];
        let mut ended = [false; 4];
        while ended != [true; 4] {
            let [one, other] = &mut line_receivers[..] else { unreachable!() };
            // Only ends that have not ended, since one that has is always ready.
            let ends: [&mut dyn Selectable; 4] = [&mut word_receiver, one, other, &mut poller];
            let (numbers, mut ends): (Vec<_>, Vec<_>) =
                (0..).zip(ends).filter(|(end, _)| !ended[*end]).unzip();
            let ready = numbers[select(&mut ends)];
            let found = match ready {
                0 => word_receiver.try_recv(),
                3 => match poller.poll() {
                    Ok(mut batch) => Ok(*batch.iter().next().unwrap().1),
                    Err(PollError::Empty) => Err(TryRecvError::Empty),
                    Err(_) => Err(TryRecvError::Disconnected),
                },
                line => line_receivers[line - 1].try_recv().map(|line| line.parse().unwrap()),
            };
            match found {
                Ok(value) => assert_eq!(value, std::mem::replace(&mut next[ready], value + 1)),
                Err(TryRecvError::Disconnected) => ended[ready] = true,
                Err(TryRecvError::Empty) => panic!("{ready} was ready and had nothing"),
            }
        }
        assert_eq!(next, [count; 4]);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn a_wait_ends_at_its_limit_and_takes_no_wake_up_of_the_program() {
    watched(|| {
        let (mut sender, mut receiver) = channel::spsc::<u64>(2).unwrap();
        thread::current().unpark();
        let start = Instant::now();
        assert_eq!(select_timeout(&mut [&mut receiver], SHORT), None);
        assert!(start.elapsed() >= SHORT);
        thread::park(); // returns at once
        sender.send(7).unwrap();
        assert_eq!(select_timeout(&mut [&mut receiver], Duration::ZERO), Some(0));
        assert_eq!(select_timeout(&mut [&mut receiver], Duration::MAX), Some(0));
        assert_eq!(receiver.recv(), Ok(7));
        drop(sender);
        assert_eq!(select(&mut [&mut receiver]), 0);
    });
}

#[test]
fn no_end_starves_also_where_a_loop_selects_twice() {
    watched(|| {
        let (_senders, mut receivers): (Vec<_>, Vec<_>) = [1, 2, 3, 4]
            .map(|value| {
                let (mut sender, receiver) = channel::spsc(2).unwrap();
                sender.send(value).unwrap();
                (sender, receiver)
            })
            .into_iter()
            .unzip();
        let [one, two, three, four] = &mut receivers[..] else { unreachable!() };
        let mut found = [0; 4];
        for _ in 0..400 {
            found[select(&mut [one, two])] += 1;
            found[2 + select(&mut [three, four])] += 1;
        }
        assert!(found.iter().all(|times| *times > 100), "{found:?}");
    });
}

/// A thread has no budget: no other task waits for its thread.
#[test]
fn a_wait_without_time_found_nothing_after_a_thousand_values() {
    watched(|| {
        let (mut sender, mut receiver) = channel::spsc(8).unwrap();
        for value in 0..3_000_u64 {
            sender.send(value).unwrap();
            assert_eq!(select_timeout(&mut [&mut receiver], Duration::ZERO), Some(0), "{value}");
            assert_eq!(receiver.try_recv(), Ok(value));
        }
    });
}

#[test]
fn no_ends_are_a_mistake() {
    assert!(catch_unwind(AssertUnwindSafe(|| select(&mut []))).is_err());
}
