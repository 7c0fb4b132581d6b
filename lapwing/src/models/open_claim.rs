//! Models of the record that says which thread holds a claim.

use loom::thread;

use super::{check, multi, take};
use crate::error::PublishError;
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
