//! What an event costs one thread that packs, sends, polls and checks it: the work of both ends without
//! waiting. Linux counts the time that the thread runs, so other programs disturb little.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::bare;
use crate::rings::open;
use crate::row::{Pass, Place};
use crate::together::{Receiving, Sending};
use crate::{Check, Event};

const EVENTS: u64 = 2_000_000;

/// Events between two turns of the receiving end: less than a window of the stream.
const TURN: u64 = 2_048;

/// A long window: the driver need not move it often.
const CHANNEL: &str = "aeron:ipc?term-length=16m";

/// Prints the time of an event, with and without rings. Each is the least of the rounds.
pub(crate) fn print(dir: &Path, rounds: usize) -> Pass<()> {
    let (mut bare, mut rings) = (f64::INFINITY, f64::INFINITY);
    for round in 0..rounds {
        let place = Place { dir, channel: CHANNEL, stream: 100 + round as i32 };
        bare = bare.min(time_of(|| bare_events(place))?);
        rings = rings.min(time_of(|| ring_events(place))?);
    }
    println!("\none thread, CPU time: bare, packed {bare:.1} ns an event, lapwing {rings:.1} ns");
    Ok(())
}

/// Nanoseconds of this thread for each event.
fn time_of(pass: impl FnOnce() -> Pass<()>) -> Pass<f64> {
    let start = thread_time_ns()?;
    pass()?;
    Ok((thread_time_ns()? - start) as f64 / EVENTS as f64)
}

fn thread_time_ns() -> Pass<u64> {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(statistics.split(' ').next().unwrap_or_default().parse()?)
}

fn bare_events(place: Place<'_>) -> Pass<()> {
    let (publication, subscription) = bare::open(place)?;
    let per_message = publication.max_payload_length()? / size_of::<Event>();
    let mut check = Check::default();
    for first in (0..EVENTS).step_by(TURN as usize) {
        let end = EVENTS.min(first + TURN);
        let mut message = Vec::with_capacity(per_message);
        for number in first..end {
            message.push(Event::new(number, 0));
            if message.len() == per_message || number + 1 == end {
                bare::offer(&publication, bytemuck::cast_slice(&message));
                message.clear();
            }
        }
        bare::receive(&subscription, end - first, |event| check.event(event));
    }
    check.end(EVENTS);
    Ok(())
}

fn ring_events(place: Place<'_>) -> Pass<()> {
    let (publisher, subscriber) = open(place)?;
    let mut sending = Sending::new(publisher)?;
    let mut receiving = Receiving::new(subscriber)?;
    let mut check = Check::default();
    for first in (0..EVENTS).step_by(TURN as usize) {
        let end = EVENTS.min(first + TURN);
        for number in first..end {
            sending.producer.publish(|event| *event = Event::new(number, 0))?;
        }
        sending.send()?;
        while receiving.taken() < end {
            if receiving.poll(|event| check.event(event))? == 0 {
                thread::sleep(Duration::from_micros(50));
            }
        }
    }
    check.end(EVENTS);
    Ok(())
}
