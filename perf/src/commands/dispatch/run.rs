//! A run with a right answer, and the error of a wrong one.

use super::config::Config;
use super::hand_off::Pressure;
use super::play::Played;
use super::segments::{self, Rows};
use crate::measure::error::Error;

/// Orders that did not all return once and undamaged. Such a run has no times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "wrong answer, so no times: topology=dispatch contender={technique} orders={orders} \
     lost={lost} doubled={doubled} damaged={damaged} surplus={surplus}"
)]
pub(super) struct WrongOrders {
    /// The technique with the wrong answer.
    technique: &'static str,
    /// Orders of the run.
    orders: u64,
    /// Orders that did not come back.
    lost: u64,
    /// Orders that came back again.
    doubled: u64,
    /// Orders that differ from what was sent, or that returned to another strategy.
    damaged: u64,
    /// Orders that were still on their way when every strategy had as many as it sent.
    surplus: u64,
}

impl From<WrongOrders> for Error {
    fn from(wrong: WrongOrders) -> Self {
        Self::WrongOrders(wrong.to_string())
    }
}

/// The stored figures of a run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The percentiles.
    pub(super) rows: Rows,
    /// The maximum number of orders in flight.
    pub(super) peak: u64,
    /// The mean of orders in flight in steady state, or `None` if there was no steady state.
    pub(super) steady_mean: Option<f64>,
    /// The longest time for which a thread could not run its roles.
    pub(super) longest_gap_ns: u64,
    /// The pressure on senders.
    pub(super) pressure: Pressure,
    /// Mean number of CPUs in use, or `None` if the system does not report CPU time.
    pub(super) cpus: Option<f64>,
}

impl Run {
    /// Returns the run that `technique` has `played`, if every order returned once and undamaged.
    ///
    /// # Errors
    ///
    /// [`WrongOrders`] otherwise.
    pub(super) fn checked(
        technique: &'static str,
        config: &Config,
        played: &Played,
    ) -> Result<Self, WrongOrders> {
        let returns = &played.returns;
        let orders = config.orders();
        let right = returns.iter().map(|returns| returns.samples.len() as u64).sum::<u64>();
        let wrong = WrongOrders {
            technique,
            orders,
            lost: orders.saturating_sub(right),
            doubled: returns.iter().map(|returns| returns.doubled).sum(),
            damaged: returns.iter().map(|returns| returns.damaged).sum(),
            surplus: played.surplus,
        };
        if wrong.lost + wrong.doubled + wrong.damaged + wrong.surplus > 0 {
            return Err(wrong);
        }
        Ok(Self {
            rows: segments::rows(returns),
            peak: played.peak,
            steady_mean: played.steady_mean,
            longest_gap_ns: played.longest_gap_ns,
            pressure: played.pressure,
            cpus: played.cpus,
        })
    }
}
