//! Which command the follower applies next, and when it asks its leader for others. Not here: how
//! messages arrive (`inbox`), and what is done with a command (`follower`).

use lapwing::Sequence;

use crate::Result;
use crate::messages::{AHEAD, COMMAND, END, FromLeader, NOT_KEPT};

/// What to do with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Apply its command.
    Apply,
    /// Nothing: its command is applied already.
    Skip,
    /// Commands before it are missing. The follower asks for them, and for this one.
    Ask,
    /// The follower has what it asked for.
    CaughtUp,
}

/// Where a follower is.
#[derive(Debug)]
pub(crate) struct Following {
    /// The next command to apply.
    next: Sequence,
    /// While the follower asks, it leaves live commands in their stream.
    is_asking: bool,
    /// The first command that came on request, and may come again.
    asked_from: Sequence,
}

impl Following {
    /// A follower asks first: it does not know how far its leader is.
    pub(crate) fn new(next: Sequence) -> Self {
        Self { next, is_asking: true, asked_from: next }
    }

    pub(crate) fn next(&self) -> Sequence {
        self.next
    }

    pub(crate) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// The leader has connected: it may have dropped commands before.
    pub(crate) fn ask(&mut self) {
        self.is_asking = true;
    }

    /// Takes a message of the live stream.
    pub(crate) fn live(&mut self, message: &FromLeader) -> Result<Step> {
        let sequence = message.sequence;
        if sequence > self.next {
            self.ask();
            return Ok(Step::Ask);
        }
        if sequence < self.asked_from {
            return Err(format!(
                "the leader sends command {sequence} again, and this follower has all below {}: the \
                 leader has lost commands, or is another exchange",
                self.next
            )
            .into());
        }
        if sequence < self.next {
            return Ok(Step::Skip);
        }
        self.next += 1;
        self.asked_from = self.next;
        Ok(Step::Apply)
    }

    /// Takes a message of the stream of older commands.
    pub(crate) fn resent(&mut self, message: &FromLeader) -> Result<Step> {
        let FromLeader { kind, sequence, .. } = *message;
        let next = self.next;
        match kind {
            COMMAND if sequence == next => {
                self.next += 1;
                Ok(Step::Apply)
            }
            // Of an answer that was given up: the follower asks again.
            COMMAND => Ok(Step::Skip),
            END if sequence <= next && self.is_asking => {
                self.is_asking = false;
                Ok(Step::CaughtUp)
            }
            END => Ok(Step::Skip),
            NOT_KEPT => Err(format!(
                "the leader has no command {sequence} for a follower that has all below {next}: copy \
                 its folder, journal and snapshots, and start again"
            )
            .into()),
            AHEAD => Err(format!(
                "the leader has commands below {sequence}, and this follower below {next}: the leader \
                 has lost commands, or is another exchange"
            )
            .into()),
            _ => Err(format!("unknown message of the leader: kind={kind}").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use exchange::service::Input;

    use super::*;

    fn command(sequence: Sequence) -> FromLeader {
        FromLeader::command(sequence, Input::zeroed())
    }

    fn caught_up(next: Sequence) -> Following {
        let mut following = Following::new(next);
        assert_eq!(following.resent(&FromLeader::answer(END, next)).unwrap(), Step::CaughtUp);
        following
    }

    #[test]
    fn commands_in_order_are_applied() {
        let mut following = caught_up(5);
        assert_eq!(following.live(&command(5)).unwrap(), Step::Apply);
        assert_eq!(following.live(&command(6)).unwrap(), Step::Apply);
        assert_eq!(following.next(), 7);
    }

    #[test]
    fn a_gap_is_asked_for_and_closed() {
        let mut following = caught_up(5);
        assert_eq!(following.live(&command(7)).unwrap(), Step::Ask);
        assert!(following.is_asking());
        for sequence in 5..8 {
            assert_eq!(following.resent(&command(sequence)).unwrap(), Step::Apply);
        }
        assert_eq!(following.resent(&FromLeader::answer(END, 8)).unwrap(), Step::CaughtUp);
        // It waited in the live stream meanwhile.
        assert_eq!(following.live(&command(7)).unwrap(), Step::Skip);
        assert_eq!(following.live(&command(8)).unwrap(), Step::Apply);
    }

    #[test]
    fn an_answer_that_ends_too_late_closes_no_gap() {
        let mut following = caught_up(5);
        assert_eq!(following.live(&command(9)).unwrap(), Step::Ask);
        assert_eq!(following.resent(&command(6)).unwrap(), Step::Skip);
        assert_eq!(following.resent(&FromLeader::answer(END, 10)).unwrap(), Step::Skip);
        assert!(following.is_asking());
        assert_eq!(following.next(), 5);
    }

    #[test]
    fn a_leader_that_has_lost_commands_is_refused() {
        let mut following = caught_up(5);
        assert_eq!(following.live(&command(5)).unwrap(), Step::Apply);
        let error = following.live(&command(5)).unwrap_err().to_string();
        assert!(error.contains("has lost commands"), "{error}");
        let error = following.resent(&FromLeader::answer(AHEAD, 0)).unwrap_err().to_string();
        assert!(error.contains("below 0, and this follower below 6"), "{error}");
    }

    #[test]
    fn a_leader_that_has_removed_commands_is_refused() {
        let error = Following::new(0).resent(&FromLeader::answer(NOT_KEPT, 0)).unwrap_err();
        assert!(error.to_string().contains("copy its folder"), "{error}");
    }

    #[test]
    fn two_requests_in_a_row_expect_what_the_first_one_brought() {
        let mut following = Following::new(0);
        assert_eq!(following.resent(&command(0)).unwrap(), Step::Apply);
        assert_eq!(following.resent(&command(1)).unwrap(), Step::Apply);
        following.ask();
        assert_eq!(following.resent(&FromLeader::answer(END, 2)).unwrap(), Step::CaughtUp);
        assert_eq!(following.live(&command(0)).unwrap(), Step::Skip);
        assert_eq!(following.live(&command(1)).unwrap(), Step::Skip);
        assert_eq!(following.live(&command(2)).unwrap(), Step::Apply);
    }
}
