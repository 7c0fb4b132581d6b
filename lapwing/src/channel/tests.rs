//! Tests of a channel whose senders hold claims, or give them up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{RecvTimeoutError, mpsc};

/// A claim that is given up wakes the receiver, which finds no value.
#[test]
fn wake_ups_without_a_value_do_not_extend_a_time_limit() {
    const LONG: Duration = Duration::from_secs(60);
    let (mut sender, mut receiver) = mpsc::<u64>(4).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let giving_up = scope.spawn(|| {
            let begin = Instant::now();
            while !is_over.load(Ordering::Relaxed) && begin.elapsed() < LONG {
                drop(sender.producer.claim());
                thread::sleep(Duration::from_micros(100));
            }
            begin.elapsed() < LONG
        });
        let time = Duration::from_millis(5);
        assert_eq!(receiver.recv_timeout(time), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_batch_timeout(time).err(), Some(RecvTimeoutError::Timeout));
        let soon = || Instant::now() + time;
        assert_eq!(receiver.recv_deadline(soon()), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_batch_deadline(soon()).err(), Some(RecvTimeoutError::Timeout));
        is_over.store(true, Ordering::Relaxed);
        assert!(giving_up.join().unwrap(), "a wait without a value took the time of the wake-ups");
    });
}
