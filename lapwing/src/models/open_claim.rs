//! Models of the record that says which thread holds a claim.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc as SharedArc;
use std::task::{Context, Poll, Wake, Waker};

use loom::thread;

use super::{check, multi, take};
use crate::error::{PublishError, TryPublishError};
use crate::open_claim::{OpenClaim, OpenClaims};
use crate::sync::NOTES_CLAIMS;

/// O38: a producer claims on this thread and then on another one. The second claim is not this
/// thread's.
#[test]
fn loom_a_claim_of_another_thread_is_not_ones_own() {
    NOTES_CLAIMS.set(true);
    check(|| {
        let (claims, claim) = (OpenClaims::default(), OpenClaim::default());
        claims.add(&claim);
        claim.note(1);
        assert_eq!(claims.oldest_of_this_thread(|_| true), Some(1));
        let other = thread::spawn(move || {
            claim.note(2);
            assert_eq!(claim.of_this_thread(), Some(2));
            claim
        });
        assert_ne!(claims.oldest_of_this_thread(|_| true), Some(2));
        drop(other.join().unwrap());
    });
    NOTES_CLAIMS.set(false);
}

/// O38: a thread that holds a claim of as many slots as were free does not wait for itself.
#[test]
fn loom_a_claim_up_to_is_ones_own() {
    NOTES_CLAIMS.set(true);
    check(|| {
        let (mut first, poller) = multi(2);
        let mut second = first.clone();
        let claim = first.claim_up_to(2).unwrap();
        assert_eq!(second.publish(|event| *event = 1), Err(PublishError::WouldDeadlock));
        drop(claim);
        drop((first, second, poller));
    });
    NOTES_CLAIMS.set(false);
}

/// O38: a thread waits for a slot that a consumer frees, although it holds the claim of the next.
#[test]
fn loom_a_claim_at_the_wrap_point_is_not_in_the_way() {
    NOTES_CLAIMS.set(true);
    check(|| {
        let (mut first, mut poller) = multi(2);
        let mut second = first.clone();
        second.publish(|event| *event = 1).unwrap();
        let claim = first.claim().unwrap();
        let reader = thread::spawn(move || (take(&mut poller).unwrap(), poller));
        assert_eq!(second.publish(|event| *event = 3), Ok(2));
        drop(claim);
        drop((first, second, reader.join().unwrap()));
    });
    NOTES_CLAIMS.set(false);
}

/// The thread that waits for a task.
struct Thread(thread::Thread);

impl Wake for Thread {
    fn wake(self: SharedArc<Self>) {
        self.0.unpark();
    }
}

/// Runs one task on this thread.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(SharedArc::new(Thread(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

/// O38: a task waits for a slot on the thread that holds the next claim. Another producer may take the
/// slot before the task, which can then never get one.
#[test]
fn loom_a_task_does_not_wait_for_a_claim_of_its_own_thread() {
    NOTES_CLAIMS.set(true);
    check(|| {
        let (mut first, mut poller) = multi(2);
        let (mut second, mut third) = (first.clone(), first.clone());
        second.publish(|event| *event = 1).unwrap();
        let claim = first.claim().unwrap();
        let rival = thread::spawn(move || {
            take(&mut poller).unwrap();
            (third.try_publish(|event| *event = 3), third, poller)
        });
        let published = block_on(second.publish_async(|event| *event = 3));
        drop(claim);
        let (of_rival, ..) = rival.join().unwrap();
        match published {
            Ok(2) => assert_eq!(of_rival, Err(TryPublishError::Full)),
            Err(PublishError::WouldDeadlock) => assert_eq!(of_rival, Ok(2)),
            other => unreachable!("{other:?}"),
        }
        drop((first, second));
    });
    NOTES_CLAIMS.set(false);
}
