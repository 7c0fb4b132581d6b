//! Runs a program on threads, and collects how each of them ended. Not here: what happens meanwhile
//! (`deeds`).

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, process, thread};

use lapwing::consumer::{Consumer, StopHandle};
use lapwing::lifecycle::ShutdownError;
use lapwing::monitor::{Monitor, RingState, Snapshot};
use lapwing::producer::{Multi, Sequencer, Single};
use lapwing::{Consumers, Disruptor, Producer, Report, Running};

use super::build::{Ring, build, names};
use super::consumers::{Ended, Visit, poll};
use super::deeds::{Ends, Hands};
use super::event::Event;
use super::hub::{Hub, Message, Watch};
use super::producers::{self, Another, Feed};
use super::program::{Form, Program, stage_name};
use super::taps::Reader;
use super::witness::Observer;

/// A wait for messages while stages may end.
const MOMENT: Duration = Duration::from_micros(200);

/// How a run ended, apart from what its observer saw.
pub(super) struct Observed {
    /// By producer.
    pub(super) feeds: Vec<Feed>,
    pub(super) visits: Vec<Visit>,
    pub(super) ended: Vec<Ended>,
    /// Whether the report is no error. `None` if the program ran the stages itself.
    pub(super) is_well: Option<bool>,
    /// Taken when all threads had ended.
    pub(super) snapshot: Snapshot,
}

/// Runs `program`. `begun` gets the monitor of its ring. A run without progress for `patience` is a
/// hang.
///
/// # Errors
///
/// A thread panicked, or the run hung and ended when it was halted.
pub(super) fn run<O: Observer>(
    program: &Arc<Program>,
    observer: &O,
    patience: Duration,
    begun: impl FnOnce(Monitor),
) -> Result<Observed, String> {
    if program.is_multi {
        let ring = Disruptor::multi_producer(program.capacity, Event::new);
        let (ring, readers) = build::<Multi>(ring, program, observer);
        begun(ring.1.monitor());
        Run::start(program, ring, readers, observer, patience, |producer| Some(producer.clone()))
    } else {
        let ring = Disruptor::single_producer(program.capacity, Event::new);
        let (ring, readers) = build::<Single>(ring, program, observer);
        begun(ring.1.monitor());
        Run::start(program, ring, readers, observer, patience, |_| None)
    }
}

/// The stages, once they run.
struct Run {
    hub: Hub,
    running: Option<Running<'static>>,
    feeds: BTreeMap<usize, Feed>,
    visits: Vec<Visit>,
    ended: Vec<Ended>,
    is_well: Option<bool>,
    shuts_down: bool,
    /// Number of producers.
    producers: usize,
    /// How each stage is stopped.
    stops: Vec<StopHandle>,
    guests: Arc<Mutex<Vec<StopHandle>>>,
    panics: Vec<String>,
}

impl Run {
    fn start<S: Sequencer + 'static, O: Observer>(
        program: &Arc<Program>,
        (producer, mut consumers): Ring<S>,
        readers: Vec<Reader>,
        observer: &O,
        patience: Duration,
        another: Another<S>,
    ) -> Result<Observed, String> {
        let (hub, messages) = Hub::new();
        let monitor = consumers.monitor();
        if program.is_monitored {
            watch(&hub, monitor.clone());
        }
        for reader in readers {
            hub.spawn(move || {
                reader.read(|| {}).map_or_else(Message::Panicked, |()| Message::Done)
            });
        }
        spawn_pollers(program, &hub, &mut consumers, observer);
        let groups = (0..program.stages.len())
            .filter_map(|stage| Some((stage, consumers.workers(&stage_name(stage))?)))
            .collect();
        let dynamic_stages = consumers.dynamic_stages();
        let guests = Arc::<Mutex<Vec<_>>>::default();
        let (stops, running) = start(program, &hub, consumers);
        let all_stops = stops.values().cloned().collect();
        let hands = Hands {
            program: Arc::clone(program),
            hub: hub.clone(),
            observer: observer.clone(),
            stops,
            groups,
            dynamic_stages,
            guests: Arc::clone(&guests),
        };
        let feeder = Feeder { program, hub: &hub, observer, another };
        for number in 1..program.producers.len() {
            if let Some(producer) = another(&producer) {
                feeder.feed(number, producer, None);
            }
        }
        feeder.feed(0, producer, Some(hands));
        let producers = if program.is_multi { program.producers.len() } else { 1 };
        let (feeds, visits, ended, is_well, shuts_down, panics) = Default::default();
        let run = Self {
            hub,
            running,
            feeds,
            visits,
            ended,
            is_well,
            shuts_down,
            producers,
            stops: all_stops,
            guests,
            panics,
        };
        run.supervise(program, &messages, observer, &monitor, patience)
    }

    /// Collects messages until all threads have ended.
    fn supervise(
        mut self,
        program: &Program,
        messages: &Receiver<Message>,
        observer: &impl Observer,
        monitor: &Monitor,
        patience: Duration,
    ) -> Result<Observed, String> {
        let progress = || observer.steps();
        if let Err(hang) = self.collect(&mut Watch::new(progress, patience), messages) {
            let snapshot = monitor.snapshot();
            // A halt, or the end of all stages, ends every wait. If it helps, the program can be
            // made smaller.
            self.running.iter().for_each(Running::halt);
            self.stops.iter().for_each(StopHandle::stop);
            if self.collect(&mut Watch::new(progress, patience), messages).is_err() {
                // Not `eprintln`: the test runner captures that, and it would be lost with the
                // process.
                _ = writeln!(
                    io::stderr(),
                    "{hang}, and neither a halt nor a stop helps\n{snapshot}\n{program:#?}"
                );
                process::abort();
            }
            return Err(format!("{hang}\n{snapshot}"));
        }
        if let Some(panic) = self.panics.first() {
            return Err(format!("a thread failed: {panic}"));
        }
        let snapshot = monitor.snapshot();
        let Self { feeds, visits, ended, is_well, .. } = self;
        let feeds = feeds.into_values().collect();
        Ok(Observed { feeds, visits, ended, is_well, snapshot })
    }

    fn collect(
        &mut self,
        watch: &mut Watch<impl Fn() -> u64>,
        messages: &Receiver<Message>,
    ) -> Result<(), String> {
        while self.hub.is_busy() || self.running.is_some() {
            if let Some(message) = watch.next(messages, MOMENT)? {
                self.take(message);
            }
            self.finish();
        }
        while let Ok(message) = messages.try_recv() {
            self.take(message);
        }
        Ok(())
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Fed(number, feed) => _ = self.feeds.insert(number, feed),
            Message::Visited(visit) => self.visits.push(visit),
            Message::Ran(ended) => self.ended.extend(ended),
            Message::Done => {}
            Message::Panicked(text) => self.panics.push(text),
            Message::Shutdown => self.shuts_down = true,
            Message::Halt => self.running.iter().for_each(Running::halt),
            Message::MayStop(stop) => {
                self.guests.lock().expect("no thread panics with it").push(stop)
            }
        }
    }

    /// Gets the report, if the stages have ended or are to be shut down.
    fn finish(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        if self.shuts_down {
            match running.shutdown_timeout(MOMENT) {
                Ok(report) => self.end(&Ok(report)),
                Err(ShutdownError::Failed(failed)) => self.end(&Err(failed.into_report())),
                Err(_) => self.running = Some(running),
            }
        } else if running.is_finished() && self.feeds.len() == self.producers {
            self.end(&running.join().map_err(lapwing::lifecycle::RunError::into_report));
        } else {
            self.running = Some(running);
        }
    }

    /// Keeps what a report says. The report has the handlers, and one of them may keep a tap open.
    fn end(&mut self, report: &Result<Report, Report>) {
        self.is_well = Some(report.is_ok());
        let (Ok(stages) | Err(stages)) = report;
        self.ended.extend(stages.stages().map(Ended::new));
        self.hub.is_over.store(true, Ordering::Relaxed);
    }
}

/// Starts the threads of the pollers.
fn spawn_pollers(
    program: &Program,
    hub: &Hub,
    consumers: &mut Consumers<'static, Event>,
    observer: &impl Observer,
) {
    for (stage, plan) in program.stages.iter().enumerate() {
        let Form::Poller { leaves_after } = plan.form else { continue };
        let poller = consumers.take_poller(&stage_name(stage)).expect("it is a poller");
        let (mut witness, pace) = (observer.witness(stage, 0), plan.pace);
        hub.spawn(move || {
            poll(poller, leaves_after, pace, &mut witness);
            Message::Done
        });
    }
}

/// Starts the stages. Returns how each of their consumers is stopped.
fn start(
    program: &Program,
    hub: &Hub,
    consumers: Consumers<'static, Event>,
) -> (HashMap<String, StopHandle>, Option<Running<'static>>) {
    if !program.by_hand {
        let running = consumers.start().expect("threads can be started");
        let names = (0..program.stages.len()).flat_map(|stage| names(program, stage));
        let stop = |name: String| Some((name.clone(), running.stop_handle(&name)?));
        return (names.filter_map(stop).collect(), Some(running));
    }
    let mut stops = HashMap::new();
    let mut crews: BTreeMap<String, Vec<Consumer<'static>>> = BTreeMap::new();
    for consumer in consumers {
        stops.insert(consumer.name().to_owned(), consumer.stop_handle());
        let thread = consumer.thread().unwrap_or(consumer.name()).to_owned();
        crews.entry(thread).or_default().push(consumer);
    }
    for crew in crews.into_values() {
        hub.spawn(move || {
            Message::Ran(Consumer::run_together(crew).iter().map(Ended::new).collect())
        });
    }
    (stops, None)
}

/// Starts producers.
struct Feeder<'a, S: Sequencer, O> {
    program: &'a Arc<Program>,
    hub: &'a Hub,
    observer: &'a O,
    another: Another<S>,
}

impl<S: Sequencer + 'static, O: Observer> Feeder<'_, S, O> {
    /// Starts a producer. The first one has `hands`.
    fn feed(&self, number: usize, producer: Producer<Event, S>, hands: Option<Hands<O>>) {
        let (program, observer) = (Arc::clone(self.program), self.observer.clone());
        let another = self.another;
        self.hub.spawn(move || {
            let calls = &program.producers[number];
            let mut ends = Ends { program: &program, calls: calls.len(), hands, has_ended: false };
            let pen = observer.pen(number);
            let before = |index, feed: &Feed, producer: &Producer<_, _>| {
                ends.before(observer.is_over(), index, feed, producer)
            };
            let feed = producers::run(producer, another, calls, pen, &observer, before);
            Message::Fed(number, feed)
        });
    }
}

/// Takes snapshots while the ring runs, and checks what holds in each of them.
fn watch(hub: &Hub, monitor: Monitor) {
    let is_over = Arc::clone(&hub.is_over);
    hub.spawn(move || {
        let mut before = monitor.snapshot();
        while matches!(before.state, RingState::Open | RingState::Closing)
            && !is_over.load(Ordering::Relaxed)
        {
            let snapshot = monitor.snapshot();
            assert!(snapshot.free_slots <= snapshot.capacity, "{snapshot}");
            assert!(snapshot.published <= snapshot.claimed, "{snapshot}");
            assert!(snapshot.published >= before.published, "{before}\n{snapshot}");
            _ = monitor.stalled_for(Duration::from_secs(1));
            before = snapshot;
            thread::sleep(MOMENT);
        }
        Message::Done
    });
}
