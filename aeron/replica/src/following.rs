//! Which command the follower applies next, and when it asks its leader for others. Not here: how
//! messages arrive (`inbox`), and what is done with a command (`follower`).

use std::ops::Range;

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
    /// A part of the answer is lost. The follower asks again after a pause.
    AskAgain,
    /// Nothing, except that the follower asks soon: a leader that was followed before has sent it, and may still run.
    Doubt,
}

/// Where a follower is.
#[derive(Debug)]
pub(crate) struct Following {
    /// The next command to apply.
    next: Sequence,
    /// The follower asks its leader for commands.
    is_asking: bool,
    /// The first command that came on request, and may come again.
    asked_from: Sequence,
    /// The end of what has arrived, applied or not.
    seen: Sequence,
    /// The number of this follower.
    id: u64,
    /// The leader that is followed: the last one that has answered.
    leader: Option<u64>,
    /// Leaders that were followed before. Nothing of them is applied.
    former: Vec<u64>,
    /// The number of the last question.
    question: u64,
    /// The last question before the leader changed. A former leader that answers a later one still lives.
    question_at_change: u64,
}

impl Following {
    /// A follower asks first: it does not know how far its leader is.
    pub(crate) fn new(next: Sequence, id: u64) -> Self {
        Self {
            next,
            is_asking: true,
            asked_from: next,
            seen: next,
            id,
            leader: None,
            former: Vec::new(),
            question: 0,
            question_at_change: 0,
        }
    }

    /// Returns the number of a new question.
    pub(crate) fn next_question(&mut self) -> u64 {
        self.question += 1;
        self.question
    }

    /// Returns the leader that is followed.
    pub(crate) fn leader(&self) -> Option<u64> {
        self.leader
    }

    pub(crate) fn next(&self) -> Sequence {
        self.next
    }

    pub(crate) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// Returns the commands that are known to exist and are not applied.
    pub(crate) fn missing(&self) -> Range<Sequence> {
        self.next..self.seen
    }

    /// The leader may have dropped commands: it has connected, or is silent.
    pub(crate) fn ask(&mut self) {
        self.is_asking = true;
    }

    fn follow(&mut self, leader: u64) {
        if let Some(former) = self.leader.replace(leader).filter(|former| *former != leader) {
            self.former.push(former);
            self.question_at_change = self.question;
        }
    }

    /// Takes a message of the live stream.
    pub(crate) fn live(&mut self, message: &FromLeader) -> Result<Step> {
        let sequence = message.sequence;
        if self.former.contains(&message.leader) {
            return Ok(Step::Doubt);
        }
        if self.leader != Some(message.leader) {
            self.ask();
            return Ok(Step::Ask);
        }
        self.seen = self.seen.max(sequence.saturating_add(1));
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
        if message.is_for_another(self.id) {
            return Ok(Step::Skip);
        }
        if self.former.contains(&message.leader) {
            return self.of_former(message);
        }
        self.follow(message.leader);
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
            END if self.is_asking => Ok(Step::AskAgain),
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

    /// Takes a message of a leader that was followed before. It has died, and this waited in the stream, unless
    /// it answers a question that was asked after another leader had answered.
    fn of_former(&self, message: &FromLeader) -> Result<Step> {
        if message.answers_after(self.question_at_change) {
            return Err(
                "two leaders run, and have different commands: end one of them, and start \
                        this follower again"
                    .into(),
            );
        }
        Ok(Step::Skip)
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use exchange::service::Input;

    use super::*;
    use crate::messages::FromFollower;

    const ID: u64 = 7;
    const LEADER: u64 = 1;

    fn command(sequence: Sequence) -> FromLeader {
        FromLeader::command(LEADER, sequence, Input::zeroed())
    }

    fn answer(leader: u64, kind: u64, sequence: Sequence) -> FromLeader {
        answer_to(0, leader, kind, sequence)
    }

    fn answer_to(question: u64, leader: u64, kind: u64, sequence: Sequence) -> FromLeader {
        FromLeader::answer(leader, kind, sequence, &FromFollower::ask(ID, sequence, question))
    }

    fn caught_up(next: Sequence) -> Following {
        let mut following = Following::new(next, ID);
        assert_eq!(following.resent(&answer(LEADER, END, next)).unwrap(), Step::CaughtUp);
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
        assert_eq!(following.missing(), 5..8);
        for sequence in 5..8 {
            assert_eq!(following.resent(&command(sequence)).unwrap(), Step::Apply);
        }
        assert_eq!(following.resent(&answer(LEADER, END, 8)).unwrap(), Step::CaughtUp);
        assert!(following.missing().is_empty());
        // It waited in the live stream meanwhile.
        assert_eq!(following.live(&command(7)).unwrap(), Step::Skip);
        assert_eq!(following.live(&command(8)).unwrap(), Step::Apply);
    }

    #[test]
    fn an_answer_that_ends_too_late_closes_no_gap() {
        let mut following = caught_up(5);
        assert_eq!(following.live(&command(9)).unwrap(), Step::Ask);
        assert_eq!(following.resent(&command(6)).unwrap(), Step::Skip);
        let end = answer(LEADER, END, 10);
        assert_eq!(following.resent(&end).unwrap(), Step::AskAgain);
        assert!(following.is_asking());
        assert_eq!(following.next(), 5);
    }

    #[test]
    fn a_leader_that_has_lost_commands_is_refused() {
        let mut following = caught_up(5);
        assert_eq!(following.live(&command(5)).unwrap(), Step::Apply);
        let error = following.live(&command(5)).unwrap_err().to_string();
        assert!(error.contains("has lost commands"), "{error}");
        let error = following.resent(&answer(LEADER, AHEAD, 0)).unwrap_err().to_string();
        assert!(error.contains("below 0, and this follower below 6"), "{error}");
    }

    #[test]
    fn a_leader_that_has_removed_commands_is_refused() {
        let error = Following::new(0, ID).resent(&answer(LEADER, NOT_KEPT, 0)).unwrap_err();
        assert!(error.to_string().contains("copy its folder"), "{error}");
    }

    #[test]
    fn two_requests_in_a_row_expect_what_the_first_one_brought() {
        let mut following = Following::new(0, ID);
        assert_eq!(following.resent(&command(0)).unwrap(), Step::Apply);
        assert_eq!(following.resent(&command(1)).unwrap(), Step::Apply);
        following.ask();
        assert_eq!(following.resent(&answer(LEADER, END, 2)).unwrap(), Step::CaughtUp);
        assert_eq!(following.live(&command(0)).unwrap(), Step::Skip);
        assert_eq!(following.live(&command(1)).unwrap(), Step::Skip);
        assert_eq!(following.live(&command(2)).unwrap(), Step::Apply);
    }

    #[test]
    fn an_answer_to_another_follower_changes_nothing() {
        let mut following = Following::new(5, ID);
        for kind in [END, AHEAD, NOT_KEPT] {
            let answer = FromLeader::answer(LEADER, kind, 0, &FromFollower::ask(ID + 1, 5, 1));
            assert_eq!(following.resent(&answer).unwrap(), Step::Skip);
        }
        assert!(following.is_asking());
    }

    #[test]
    fn a_leader_that_is_not_the_latest_is_not_applied() {
        let mut following = caught_up(5);
        let of_next = FromLeader { leader: LEADER + 1, ..command(5) };
        assert_eq!(following.live(&of_next).unwrap(), Step::Ask);
        let end = answer(LEADER + 1, END, 5);
        assert_eq!(following.resent(&end).unwrap(), Step::CaughtUp);
        // Both live, and send different commands.
        assert_eq!(following.live(&command(5)).unwrap(), Step::Doubt);
        assert_eq!(following.resent(&command(5)).unwrap(), Step::Skip);
        assert_eq!(following.live(&of_next).unwrap(), Step::Apply);
    }

    #[test]
    fn a_former_leader_that_answers_a_later_question_is_refused() {
        let mut following = caught_up(5);
        following.ask();
        let first = following.next_question();
        let end = answer_to(first, LEADER + 1, END, 5);
        assert_eq!(following.resent(&end).unwrap(), Step::CaughtUp);
        // The former leader may have died since.
        let late = answer_to(first, LEADER, END, 5);
        assert_eq!(following.resent(&late).unwrap(), Step::Skip);
        let second = following.next_question();
        let error = following.resent(&answer_to(second, LEADER, END, 5)).unwrap_err().to_string();
        assert!(error.contains("two leaders run"), "{error}");
    }
}
