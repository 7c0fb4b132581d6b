//! One run of one technique: builds the pipeline, runs the roles, and returns their observations.
//! Their evaluation is in `trial`.

use std::iter::zip;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::config::Config;
use super::hand_off::{Port, Pressure};
use super::layout::{Bells, Cast, Layout};
use super::roles::{Flight, Gateway, Orchestrator, Returns, Role, Sampler, Signals, Strategy};
use super::schedule::Schedule;
use super::techniques::{Direction, Technique, ToStrategy, ToVenue};
use super::work::Pace;
use crate::load::paced::Clock;
use crate::measure::crew::{Crew, Finish, RunError};

/// The common setting of all runs of a measurement, and the work of this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    /// The settings.
    pub(super) config: &'a Config,
    /// The due times of orders.
    pub(super) schedule: &'a Schedule,
    /// The roles that share a thread.
    pub(super) layout: &'a Layout,
    /// The time.
    pub(super) clock: &'a Clock,
    /// The speed of this machine.
    pub(super) pace: Pace,
    /// The orchestrator's work for each order, in nanoseconds.
    pub(super) orch_work_ns: u64,
    /// The time for which a strategy without progress waits for orders, beyond the longest delay.
    pub(super) patience_ns: u64,
}

/// A completed run. Its answer is not checked yet.
#[derive(Debug)]
pub(super) struct Played {
    /// The time from the start of the threads to the end of the last one.
    pub(super) elapsed: Duration,
    /// The returned orders of each strategy.
    pub(super) returns: Vec<Returns>,
    /// Orders that were still in the pipeline when every strategy had as many as it sent.
    pub(super) surplus: u64,
    /// The pressure on senders.
    pub(super) pressure: Pressure,
    /// The maximum number of orders in flight.
    pub(super) peak: u64,
    /// The mean of orders in flight in steady state, or `None` if there was no steady state.
    pub(super) steady_mean: Option<f64>,
    /// The longest time for which a thread could not run its roles.
    pub(super) longest_gap_ns: u64,
    /// Mean number of CPUs in use, or `None` if the system does not report CPU time.
    pub(super) cpus: Option<f64>,
}

/// Runs `setting` once, over `T`.
///
/// # Errors
///
/// [`RunError`] if the pipeline could not be built, a thread could not start, or a thread panicked.
pub(super) fn play<const PAD: usize, T: Technique<PAD>>(
    setting: &Setting<'_>,
) -> Result<Played, RunError> {
    let Setting { config, clock, .. } = *setting;
    let (strategies, venues) = (config.n_strategies, config.m_venues);
    let there: Direction<PAD, T, ToVenue> = T::direction(strategies, venues, config)?;
    let back: Direction<PAD, T, ToStrategy> = T::direction(venues, strategies, config)?;

    let (signals, bells) = (Signals::new(config.n_strategies), Bells::default());
    let mut flights = Vec::new();
    flights.resize_with(config.n_strategies, CachePadded::<Flight>::default);
    let patience_ns = setting.patience_ns + config.d_max_ns();
    let firing = zip(setting.schedule.of_strategies(), &flights);
    let mut strategies = zip(zip(there.senders, back.receivers), firing)
        .enumerate()
        .map(|(own, (ends, (moments, flight)))| {
            let (port, moments) = (Port::new(ends), moments.as_slice());
            Strategy::<PAD, _, _>::new(own, port, (moments, flight), patience_ns, (clock, &signals))
        })
        .collect::<Vec<_>>();
    let work = setting.pace.work(setting.orch_work_ns);
    let mut orchestrator =
        Orchestrator::<PAD, _>::new((there.relay, back.relay), venues, work, clock);
    let mut gateways = zip(back.senders, there.receivers)
        .enumerate()
        .map(|(venue, ends)| Gateway::<PAD, _, _>::new(venue, Port::new(ends), config, clock))
        .collect::<Vec<_>>();
    let mut sampler = Sampler::new(&flights, config);

    let cast = Cast {
        strategies: strategies.iter_mut().map(|role| role as &mut dyn Role).collect(),
        orchestrator: &mut orchestrator,
        gateways: gateways.iter_mut().map(|role| role as &mut dyn Role).collect(),
        sampler: &mut sampler,
    };
    let finish = perform(setting, cast, &bells, &signals)?;

    let of_strategies = strategies.iter().map(Strategy::pressure);
    let of_gateways = gateways.iter().map(Gateway::pressure);
    let pressure = of_strategies.chain(of_gateways).fold(orchestrator.pressure(), Pressure::and);
    let surplus = orchestrator.surplus()
        + gateways.iter_mut().map(Gateway::surplus).sum::<u64>()
        + strategies.iter_mut().map(Strategy::surplus).sum::<u64>();
    Ok(Played {
        elapsed: finish.elapsed,
        returns: strategies.into_iter().map(Strategy::into_returns).collect(),
        surplus,
        pressure,
        peak: sampler.peak(),
        steady_mean: sampler.steady_mean(),
        longest_gap_ns: finish.answers.iter().copied().max().unwrap_or(0),
        cpus: finish.cpu_time.map(|used| used.as_secs_f64() / finish.elapsed.as_secs_f64()),
    })
}

/// Starts the threads and waits for them.
fn perform<'a>(
    setting: &Setting<'a>,
    cast: Cast<'a>,
    bells: &'a Bells,
    signals: &'a Signals,
) -> Result<Finish, RunError> {
    let mut crew = Crew::new(setting.layout.placement());
    for mut shift in setting.layout.shifts(cast, bells) {
        crew.enlist(shift.name.clone(), move || shift.play(setting.clock, signals));
    }
    crew.run()
}
