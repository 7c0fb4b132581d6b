//! How a program is printed when it fails: a line for each stage, and what is not usual.

use std::fmt;

use super::program::{
    Act, Call, Deed, Fate, Form, Pause, Place, Policy, Program, Stage, members, stage_name,
};

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_multi { "multi" } else { "single" };
        writeln!(f, "ring of {} slots for a {kind} producer, first={}", self.capacity, self.first)?;
        writeln!(f, "  waits {}, producers {}", self.wait.name(), self.producer_wait.name())?;
        writeln!(f, "  announces={}, dynamic stages={}", self.announces, self.dynamic_stages)?;
        let (threads, by_hand) = (self.threads, self.by_hand);
        writeln!(
            f,
            "  threads {threads:?}, by_hand={by_hand}, is_monitored={}",
            self.is_monitored
        )?;
        for (index, stage) in self.stages.iter().enumerate() {
            let after: Vec<_> = members(self.after(index)).map(stage_name).collect();
            writeln!(f, "  {}, after {after:?}: {stage:?}", stage_name(index))?;
        }
        if self.clears {
            writeln!(f, "  clear")?;
        }
        for calls in self.producers.iter().take(if self.is_multi { usize::MAX } else { 1 }) {
            writeln!(f, "  producer: {calls:?}")?;
        }
        for (at, deed) in &self.deeds {
            writeln!(f, "  before call {at}: {deed:?}")?;
        }
        writeln!(f, "  ends by {:?}", self.end)
    }
}

impl Program {
    /// What kind of graph it is, for a report.
    pub(super) fn topology(&self) -> &'static str {
        let stages = &self.stages;
        let has = |is_it: fn(&Stage) -> bool| stages.iter().any(is_it);
        let is_chain = (1..stages.len()).all(|stage| self.upstream(stage) == (1 << stage) - 1);
        let joins = self.deeds.iter().any(|(_, deed)| matches!(deed, Deed::Join(_)));
        let joins = joins && self.dynamic_stages > 0;
        let is_apart = (1..stages.len()).all(|stage| self.upstream(stage) == 0);
        match stages.len() {
            _ if has(|stage| matches!(stage.form, Form::Workers { by_key: true, .. })) => {
                "workers-by-key"
            }
            _ if has(Stage::is_group) => "workers",
            _ if joins => "dynamic_stages",
            _ if has(|stage| stage.tap.is_some()) => "tap",
            1 if self.is_multi => "sequencer",
            1 => "unicast",
            _ if is_chain => "pipeline",
            _ if is_apart => "side-by-side",
            _ => "graph",
        }
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.form)?;
        if let Some(events) = self.max_batch {
            write!(f, ", max_batch={events}")?;
        }
        if let Some(wait) = &self.wait {
            write!(f, ", waits {}", wait.name())?;
        }
        if self.has_timeout {
            write!(f, ", with a timeout")?;
        }
        if self.place != Place::Free {
            write!(f, ", {:?}", self.place)?;
        }
        if !matches!(self.pace.pause, Pause::None) {
            write!(f, ", {:?}", self.pace)?;
        }
        for (of, policy) in [("error", self.on_error), ("panic", self.on_panic)] {
            if !matches!(policy, Policy::None) {
                write!(f, ", on {of} {policy:?}")?;
            }
        }
        if let Some(power) = self.tap {
            write!(f, ", with a tap of {} slots", 1 << power)?;
        }
        if self.acts.is_empty() { Ok(()) } else { write!(f, ", acts {:?}", self.acts) }
    }
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {} {:?} {} times", self.at, self.verdict, self.times)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(self.before, Pause::None) {
            write!(f, "{:?} ", self.before)?;
        }
        write!(f, "{:?} of {}", self.how, self.count)?;
        if self.fate == Fate::Publishes { Ok(()) } else { write!(f, " {:?} its claim", self.fate) }
    }
}
