//! Market data: the levels of a book, and how a client follows them.

mod follower;
mod levels;

pub use follower::{FollowError, Follower, Update};
pub use levels::Levels;
