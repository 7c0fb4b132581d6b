//! The setups of a scenario: a sequencer and a wait strategy for all threads of the ring. One more
//! setup runs all stages on one thread with the default strategy.

use std::marker::PhantomData;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lapwing::graph::Placement;
use lapwing::producer::Sequencer;
use lapwing::wait::{
    Adaptive, Blocking, BusySpin, PhasedBackoff, Sleeping, Step, WaitStrategy, Waited, Waiting,
    Yielding,
};
use lapwing::{Builder, Poller, Stage};

use crate::common::{self, Many, One, ProducerOf, watched};

/// How a strategy uses its CPU.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Keeps it until the system takes it away.
    Spinning,
    /// Yields it to other threads.
    Polite,
}

use Manner::{Polite, Spinning};

/// The strategies, and the macro that makes the tests of a module's scenarios: one per sequencer
/// and strategy. `$` is an argument, because a macro that defines a macro cannot write it.
macro_rules! strategies {
    ($d:tt $($name:ident: $manner:ident = $strategy:expr;)+) => {
        /// The wait strategy of all threads of a ring.
        #[allow(non_camel_case_types)] // they are names of test modules
        #[derive(Clone, Copy)]
        pub(crate) enum Strategy {
            $($name),+
        }

        impl Strategy {
            fn manner(self) -> Manner {
                match self {
                    $(Self::$name => $manner,)+
                }
            }

            fn of_ring<'env, E: Send + 'env, S: Sequencer>(
                self,
                ring: Builder<'env, E, S>,
            ) -> Builder<'env, E, S> {
                match self {
                    $(Self::$name => ring.wait_strategy($strategy).producer_wait_strategy($strategy),)+
                }
            }

            fn of_stage(self, stage: Stage, disturb: Disturb) -> Stage {
                match self {
                    $(Self::$name => stage.wait_strategy(Disturbed::new($strategy, disturb)),)+
                }
            }
        }

        macro_rules! for_each_setup {
            ($d($d scenario:ident),+ $d(,)?) => {
                for_each_setup! { @ [$d($d scenario),+] }
            };
            (@ $d scenarios:tt) => {
                mod single {
                    $(for_each_setup! { @ One, $name, $d scenarios })+
                }
                mod multi {
                    $(for_each_setup! { @ Many, $name, $d scenarios })+
                }
            };
            (@ $d kind:ident, $d strategy:ident, [$d($d scenario:ident),+]) => {
                mod $d strategy {
                    $d(
                        #[test]
                        fn $d scenario() {
                            use crate::common::$d kind as Kind;
                            use crate::setup::{Setup, Strategy};
                            let setup = Setup::<Kind>::new(Strategy::$d strategy);
                            setup.run(super::super::$d scenario);
                        }
                    )+
                }
            };
        }
    };
}

strategies! { $
    adaptive: Polite = Adaptive::default();
    blocking: Polite = Blocking::default();
    busy_spin: Spinning = BusySpin;
    sleeping: Polite = Sleeping::default();
    yielding: Polite = Yielding::default();
    phased_over_blocking: Polite = PhasedBackoff::new(5 * US, 5 * US, Blocking { yields: 0 });
    phased_over_sleeping: Polite = PhasedBackoff::new(5 * US, 5 * US, Sleeping::default());
    fused: Polite = Adaptive::default();
}

/// Short, so that waits end in each phase.
const US: Duration = Duration::from_micros(1);

/// Single or multi producer.
pub(crate) trait Kind: common::Kind {
    /// One more producer of the same ring, if there may be several.
    fn another<E>(producer: &ProducerOf<E, Self>) -> Option<ProducerOf<E, Self>>;
}

impl Kind for One {
    fn another<E>(_: &ProducerOf<E, Self>) -> Option<ProducerOf<E, Self>> {
        None
    }
}

impl Kind for Many {
    fn another<E>(producer: &ProducerOf<E, Self>) -> Option<ProducerOf<E, Self>> {
        Some(producer.clone())
    }
}

/// A sequencer and a wait strategy.
pub(crate) struct Setup<K> {
    strategy: Strategy,
    kind: PhantomData<fn() -> K>,
}

impl<K> Clone for Setup<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Setup<K> {}

impl<K: Kind> Setup<K> {
    pub(crate) fn new(strategy: Strategy) -> Self {
        Self { strategy, kind: PhantomData }
    }

    /// Runs a scenario. Spinning scenarios run one at a time, because several would take the CPUs
    /// from each other.
    pub(crate) fn run(self, scenario: fn(Self)) {
        static SPINNING: Mutex<()> = Mutex::new(());
        let is_spinning = self.strategy.manner() == Spinning;
        let _alone = is_spinning.then(|| SPINNING.lock().unwrap_or_else(PoisonError::into_inner));
        watched(|| scenario(self));
    }

    /// A ring in which all threads use this strategy.
    pub(crate) fn ring<'env, E: Send + 'env>(
        self,
        capacity: usize,
        factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, K::Sequencer> {
        let ring = self.strategy.of_ring(K::ring(capacity, factory));
        // No scenario has a handler that waits for another handler, so each also works on one
        // thread.
        match self.strategy {
            Strategy::fused => ring.placement(Placement::threads(1)),
            _ => ring,
        }
    }

    /// A ring of numbers with one poller.
    pub(crate) fn ring_with_poller(self, capacity: usize) -> (ProducerOf<u64, K>, Poller<u64>) {
        let ring = self.ring(capacity, || 0_u64).stage("poller").poller();
        let (producer, mut consumers) = ring.build().unwrap();
        let poller = consumers.take_poller("poller").unwrap();
        (producer, poller)
    }

    /// A stage with this strategy, except that `disturb` disturbs some waits, by a wake-up that is
    /// spurious or by a panic.
    pub(crate) fn disturbed_stage(
        self,
        stage: impl Into<Stage>,
        disturb: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Stage {
        self.strategy.of_stage(stage.into(), Arc::new(disturb))
    }

    /// Returns `count`, or far fewer if spinning threads wait for each other's time slice.
    pub(crate) fn events(self, count: u64) -> u64 {
        match self.strategy.manner() {
            Polite => count,
            Spinning => (count / 50).max(5),
        }
    }
}

type Disturb = Arc<dyn Fn() -> bool + Send + Sync>;

/// A strategy whose waits are disturbed when the test says so: when they begin, and after each
/// sleep.
#[derive(Clone)]
struct Disturbed<W> {
    strategy: W,
    disturb: Disturb,
    /// Whether the wait has just begun or the thread has slept.
    is_due: bool,
    /// Steps of this wait that slept for no time, which the strategy does not know of.
    disturbed: u64,
    /// Whether the strategy has answered in this wait.
    is_asked: bool,
}

impl<W> Disturbed<W> {
    fn new(strategy: W, disturb: Disturb) -> Self {
        Self { strategy, disturb, is_due: false, disturbed: 0, is_asked: false }
    }
}

impl<W: WaitStrategy> WaitStrategy for Disturbed<W> {
    const PARKS: bool = W::PARKS;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        if waiting.steps() == 0 {
            (self.is_due, self.disturbed, self.is_asked) = (true, 0, false);
        }
        if mem::take(&mut self.is_due) && (self.disturb)() {
            self.is_due = true;
            self.disturbed += 1;
            // The thread checks for events again, as after a spurious wake-up.
            return Step::Sleep(Duration::ZERO);
        }
        let step = self.strategy.next(&waiting.from_step(self.disturbed));
        self.is_due = matches!(step, Step::Sleep(_) | Step::Park);
        self.is_asked = true;
        step
    }

    fn ended(&mut self, waited: &Waited) {
        if mem::take(&mut self.is_asked) {
            self.strategy.ended(waited);
        }
    }
}
