//! A model of the record that says which thread holds a claim.

use loom::thread;

use crate::open_claim::{OpenClaim, OpenClaims};
use crate::sync::NOTES_CLAIMS;

/// O38: a producer claims on this thread and then on another one. The second claim is not this
/// thread's.
#[test]
fn loom_a_claim_of_another_thread_is_not_ones_own() {
    NOTES_CLAIMS.set(true);
    loom::model(|| {
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
