//! Single events after idle periods, through a ring or through a bare word.

use std::time::Instant;

use lapwing_lab_stats::median;

use super::{HALF, LAST, SINGLE_EVENT};
use crate::contenders::{Setting, parallel};
use crate::load::after_idle::{AfterIdle, Bare, Heard};
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::runner::{Length, Measured, Row, Subject, known};
use crate::record::{Key, OWN, Record};

/// The label of the idle period before an event, in milliseconds.
const SILENCE_MS: Key = Key::new("silence_ms");
/// The contender of a bare wake-up.
pub(super) const BARE: &str = "bare";

/// The carrier of the event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carrier {
    /// A word, and a wake-up by the system.
    Bare(Bare),
    /// A ring.
    Lapwing(Setting),
}

/// A carrier, and its number of consumers.
pub(super) struct SingleEvents {
    carrier: Carrier,
    load: AfterIdle,
}

impl Carrier {
    const fn name(self) -> &'static str {
        match self {
            Self::Bare(_) => BARE,
            Self::Lapwing(_) => OWN,
        }
    }

    /// Returns its record in `experiment`, with this many `listeners`.
    fn record(self, experiment: &str, listeners: usize) -> Record {
        match self {
            Self::Bare(bare) => {
                let mut record = Record::new(experiment, BARE, 1 + listeners);
                record.wait = Some(bare.name().to_owned());
                record
            }
            Self::Lapwing(setting) => super::own_record(experiment, setting, listeners),
        }
    }

    fn run(self, load: AfterIdle) -> Result<Heard, RunError> {
        match self {
            Self::Bare(bare) => load.bare(bare),
            Self::Lapwing(setting) => parallel::after_idle(setting, load),
        }
    }
}

impl SingleEvents {
    /// Creates a row that has not run.
    pub(super) fn row(carrier: Carrier, load: AfterIdle) -> Row<Self> {
        Row::new(Self { carrier, load }, Length::Events(load.events))
    }
}

impl Subject for SingleEvents {
    fn record(&self) -> Record {
        let AfterIdle { listeners, silence, .. } = self.load;
        self.carrier
            .record(super::VIEW.experiment, listeners)
            .in_cell(Key::TOPOLOGY, SINGLE_EVENT)
            .in_cell(Key::CONSUMERS, listeners)
            .in_cell(SILENCE_MS, silence.as_millis() as u64)
    }

    /// Runs once, and checks that every consumer received every event.
    fn run(&self, events: u32) -> Result<Measured, Error> {
        let (topology, contender) = (SINGLE_EVENT, self.carrier.name());
        let begin = Instant::now();
        let heard = self.carrier.run(AfterIdle { events, ..self.load });
        let heard = heard.map_err(|source| Error::Run { topology, contender, source })?;
        let (expected, found) = (u64::from(events), heard.events() as u64);
        if expected != found {
            let (expected, found) = (vec![expected], vec![found]);
            return Err(Error::WrongAnswer { topology, contender, events, expected, found });
        }
        let figures = known([(HALF, median(heard.halves())), (LAST, median(heard.lasts()))]);
        Ok(Measured { elapsed: begin.elapsed(), figures, delays: Vec::new() })
    }
}
