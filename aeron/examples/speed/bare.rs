//! Aeron's client without Lapwing: one thread offers, one polls. Both wait with Aeron's default
//! back-off.

use std::ffi::CString;
use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use rusteron_client::{
    Aeron, AeronContext, AeronExclusivePublication, AeronSubscription, BackoffIdleStrategy,
    Handlers, IdleStrategy,
};

use crate::row::{INTERVAL_NS, Pass, Place, STEADY_EVENTS};
use crate::{Check, Event};

const ANSWER: Duration = Duration::from_secs(10);
const FRAGMENTS: usize = 32;

/// As many events in a message as fit into a frame.
pub(crate) fn packed(place: Place<'_>, events: u64) -> Pass<Duration> {
    let (publication, subscription) = open(place)?;
    let fitting = publication.max_payload_length()? / size_of::<Event>();
    carry(publication, subscription, events, fitting)
}

/// One event in a message.
pub(crate) fn single(place: Place<'_>, events: u64) -> Pass<Duration> {
    let (publication, subscription) = open(place)?;
    carry(publication, subscription, events, 1)
}

fn carry(
    publication: AeronExclusivePublication,
    subscription: AeronSubscription,
    events: u64,
    per_message: usize,
) -> Pass<Duration> {
    let start = Instant::now();
    let receiving = thread::spawn(move || {
        let mut check = Check::default();
        receive(&subscription, events, |event| check.event(event));
        check.end(events);
    });
    let mut message = Vec::with_capacity(per_message);
    for number in 0..events {
        message.push(Event::new(number, 0));
        if message.len() == per_message || number + 1 == events {
            offer(&publication, bytemuck::cast_slice(&message));
            message.clear();
        }
    }
    receiving.join().map_err(|_| "the receiving thread has panicked")?;
    Ok(start.elapsed())
}

/// One event in a message, at a steady rate.
pub(crate) fn delay(place: Place<'_>) -> Pass<Vec<u64>> {
    let (publication, subscription) = open(place)?;
    let start = Instant::now();
    let receiving = thread::spawn(move || {
        let mut delays = Vec::with_capacity(STEADY_EVENTS as usize);
        receive(&subscription, STEADY_EVENTS, |event| {
            delays.push((start.elapsed().as_nanos() as u64).saturating_sub(event.time_ns));
        });
        delays
    });
    for number in 0..STEADY_EVENTS {
        let time_ns = number * INTERVAL_NS;
        while (start.elapsed().as_nanos() as u64) < time_ns {
            hint::spin_loop();
        }
        offer(&publication, bytemuck::bytes_of(&Event::new(number, time_ns)));
    }
    receiving.join().map_err(|_| "the receiving thread has panicked".into())
}

pub(crate) fn open(place: Place<'_>) -> Pass<(AeronExclusivePublication, AeronSubscription)> {
    let context = AeronContext::new()?;
    context.set_dir(&CString::new(place.dir.as_os_str().as_encoded_bytes())?)?;
    context.set_error_handler(Some(|code: i32, message: &str| eprintln!("{code}: {message}")))?;
    let aeron = Aeron::new(&context)?;
    aeron.start()?;
    let channel = CString::new(place.channel)?;
    let (none, stream) = (Handlers::NONE, place.stream);
    let subscription =
        aeron.async_add_subscription(&channel, stream, none, none)?.poll_blocking(ANSWER)?;
    let publication =
        aeron.async_add_exclusive_publication(&channel, stream)?.poll_blocking(ANSWER)?;
    while !publication.is_connected() {
        thread::sleep(Duration::from_millis(1));
    }
    Ok((publication, subscription))
}

pub(crate) fn offer(publication: &AeronExclusivePublication, bytes: &[u8]) {
    let mut idle = BackoffIdleStrategy::new();
    loop {
        match publication.try_claim_owned(bytes.len()) {
            Ok(mut claim) => {
                claim.data().copy_from_slice(bytes);
                claim.commit().expect("a claim is committed once");
                return;
            }
            Err(error) if error.is_retryable() => idle.idle(0),
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) fn receive(subscription: &AeronSubscription, events: u64, mut take: impl FnMut(&Event)) {
    let mut idle = BackoffIdleStrategy::new();
    let mut received = 0;
    while received < events {
        let fragments = subscription.poll_fn(
            |message, _| {
                for event in message.chunks_exact(size_of::<Event>()) {
                    take(&bytemuck::pod_read_unaligned(event));
                    received += 1;
                }
            },
            FRAGMENTS,
        );
        idle.idle(fragments.expect("the subscription is open"));
    }
}
