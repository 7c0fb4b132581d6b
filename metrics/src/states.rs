//! A state as gauges: one for each state that was seen, of which one is 1.

use metrics::Label;

use crate::catalogue::Gauge;

/// The states that a ring or a stage has shown, in words.
#[derive(Debug, Default)]
pub(crate) struct States(Vec<String>);

impl States {
    /// Records 1 for the state `present` and 0 for every other state that was seen.
    pub(crate) fn record(&mut self, gauge: &Gauge, labels: &[Label], present: String) {
        for state in &self.0 {
            let is_present = *state == present;
            gauge.record(&with_state(labels, state), f64::from(u8::from(is_present)));
        }
        if !self.0.contains(&present) {
            gauge.record(&with_state(labels, &present), 1.0);
            self.0.push(present);
        }
    }
}

fn with_state(labels: &[Label], state: &str) -> Vec<Label> {
    let state = Label::new("state", state.to_owned());
    labels.iter().cloned().chain([state]).collect()
}
