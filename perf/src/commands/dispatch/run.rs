//! One run whose answer is right, and the error of one whose answer is not.

use super::config::Config;
use super::hand_off::Pressure;
use super::play::Played;
use super::segments::{self, Rows};
use crate::measure::error::Error;

/// Orders that did not come back as they should have: such a run has no times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "wrong answer, so no times: topology=dispatch contender={technique} orders={orders} \
     lost={lost} doubled={doubled} damaged={damaged} surplus={surplus}"
)]
pub(super) struct WrongOrders {
    /// Whose answer is wrong.
    technique: &'static str,
    /// Orders of the run.
    orders: u64,
    /// Orders that did not come back.
    lost: u64,
    /// Orders that came back again.
    doubled: u64,
    /// Orders that are not what was sent, or came to somebody else.
    damaged: u64,
    /// Orders that were still on their way when every strategy had as many as it sent.
    surplus: u64,
}

impl From<WrongOrders> for Error {
    fn from(wrong: WrongOrders) -> Self {
        Self::WrongOrders(wrong.to_string())
    }
}

/// What is kept of a run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The percentiles.
    pub(super) rows: Rows,
    /// The most orders in flight.
    pub(super) peak: u64,
    /// The mean of orders in flight in steady state; none if there was none.
    pub(super) steady_mean: Option<f64>,
    /// The longest time for which a thread was kept from its roles.
    pub(super) longest_gap_ns: u64,
    /// What senders met.
    pub(super) pressure: Pressure,
    /// CPUs that the run kept busy, as a mean; none if the system does not tell.
    pub(super) cpus: Option<f64>,
}

impl Run {
    /// The run that was `played` by `technique`, if every order came back once and undamaged.
    ///
    /// # Errors
    ///
    /// [`WrongOrders`] if not.
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
