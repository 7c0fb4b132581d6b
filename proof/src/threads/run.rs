//! Runs a program on threads, and collects what each of them did.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, process, thread};

use lapwing::consumer::{Consumer, StopHandle};
use lapwing::graph::Seats;
use lapwing::lifecycle::{ShutdownError, WorkerGroup};
use lapwing::monitor::{Monitor, RingState, Snapshot};
use lapwing::producer::{Multi, Sequencer, Single};
use lapwing::{Consumers, Disruptor, Producer, Report, Running};

use super::build::{Ring, build, guest_settings, logs, names};
use super::consumers::{Ended, Visit, poll, take, visit};
use super::event::{Event, Log, Note};
use super::hub::{Hub, Message, Watch};
use super::producers::{self, Feed};
use super::program::{Deed, End, Form, Guest, Program, stage_name};

/// A wait for messages while stages may end.
const MOMENT: Duration = Duration::from_micros(200);

/// What the threads of a run did.
pub(super) struct Observed {
    /// By producer.
    pub(super) feeds: Vec<Feed>,
    /// By stage, and by worker.
    pub(super) notes: Vec<Vec<Vec<Note>>>,
    pub(super) visits: Vec<Visit>,
    pub(super) ended: Vec<Ended>,
    /// Whether the report is no error. `None` if the program ran the stages itself.
    pub(super) is_well: Option<bool>,
    /// Taken when all threads had ended.
    pub(super) snapshot: Snapshot,
}

/// Runs `program`. A run without progress for `patience` is a hang.
///
/// # Errors
///
/// A thread panicked, or the run hung and ended when it was halted.
pub(super) fn run(program: &Arc<Program>, patience: Duration) -> Result<Observed, String> {
    let logs = logs(program);
    if program.is_multi {
        let ring =
            build::<Multi>(Disruptor::multi_producer(program.capacity, Event::new), program, &logs);
        Run::start(program, ring, logs, patience, |producer| Some(producer.clone()))
    } else {
        let ring = build::<Single>(
            Disruptor::single_producer(program.capacity, Event::new),
            program,
            &logs,
        );
        Run::start(program, ring, logs, patience, |_| None)
    }
}

/// The stages, once they run.
struct Run {
    hub: Hub,
    running: Option<Running<'static>>,
    feeds: BTreeMap<usize, Feed>,
    visits: Vec<Visit>,
    ended: Vec<Ended>,
    report: Option<Result<Report, Report>>,
    shuts_down: bool,
    /// Number of producers.
    producers: usize,
    /// How each stage is stopped.
    stops: Vec<StopHandle>,
    guests: Arc<Mutex<Vec<StopHandle>>>,
    panics: Vec<String>,
}

impl Run {
    fn start<S: Sequencer + 'static>(
        program: &Arc<Program>,
        (producer, mut consumers): Ring<S>,
        logs: Vec<Vec<Log>>,
        patience: Duration,
        another: impl Fn(&Producer<Event, S>) -> Option<Producer<Event, S>>,
    ) -> Result<Observed, String> {
        let (hub, messages) = Hub::new();
        let monitor = consumers.monitor();
        if program.is_monitored {
            watch(&hub, monitor.clone());
        }
        spawn_pollers(program, &hub, &mut consumers, &logs);
        let groups = (0..program.stages.len())
            .filter_map(|stage| Some((stage, consumers.workers(&stage_name(stage))?)))
            .collect();
        let seats = consumers.seats();
        let guests = Arc::<Mutex<Vec<_>>>::default();
        let (stops, running) = start(program, &hub, consumers);
        let all_stops = stops.values().cloned().collect();
        let hands = Hands {
            program: Arc::clone(program),
            hub: hub.clone(),
            stops,
            groups,
            seats,
            guests: Arc::clone(&guests),
        };
        for number in 1..program.producers.len() {
            if let Some(producer) = another(&producer) {
                feed(program, &hub, number, producer, |_, _, _| {});
            }
        }
        feed(program, &hub, 0, producer, hands.deeds());
        let producers = if program.is_multi { program.producers.len() } else { 1 };
        let (feeds, visits, ended, report, shuts_down, panics) = Default::default();
        let run = Self {
            hub,
            running,
            feeds,
            visits,
            ended,
            report,
            shuts_down,
            producers,
            stops: all_stops,
            guests,
            panics,
        };
        run.supervise(program, &messages, logs, &monitor, patience)
    }

    /// Collects messages until all threads have ended.
    fn supervise(
        mut self,
        program: &Program,
        messages: &Receiver<Message>,
        logs: Vec<Vec<Log>>,
        monitor: &Monitor,
        patience: Duration,
    ) -> Result<Observed, String> {
        let hub = self.hub.clone();
        let mut watch = Watch::new(&hub, &logs, patience);
        if let Err(hang) = self.collect(&mut watch, messages) {
            let snapshot = monitor.snapshot();
            // A halt, or the end of all stages, ends every wait. If it helps, the program can be
            // made smaller.
            self.running.iter().for_each(Running::halt);
            self.stops.iter().for_each(StopHandle::stop);
            let mut watch = Watch::new(&hub, &logs, patience);
            if self.collect(&mut watch, messages).is_err() {
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
            return Err(format!("a thread panicked: {panic}"));
        }
        let is_well = self.report.as_ref().map(Result::is_ok);
        if let Some(Ok(report) | Err(report)) = &self.report {
            self.ended.extend(report.stages().map(Ended::new));
        }
        let notes = logs.iter().map(|logs| logs.iter().map(Log::take).collect()).collect();
        let snapshot = monitor.snapshot();
        let feeds = self.feeds.into_values().collect();
        Ok(Observed { feeds, notes, visits: self.visits, ended: self.ended, is_well, snapshot })
    }

    fn collect(
        &mut self,
        watch: &mut Watch<'_>,
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
                Ok(report) => self.report = Some(Ok(report)),
                Err(ShutdownError::Failed(failed)) => self.report = Some(Err(failed.into_report())),
                Err(_) => self.running = Some(running),
            }
        } else if running.is_finished() && self.feeds.len() == self.producers {
            self.report = Some(running.join().map_err(lapwing::lifecycle::RunError::into_report));
        } else {
            self.running = Some(running);
        }
        if self.running.is_none() {
            self.hub.is_over.store(true, Ordering::Relaxed);
        }
    }
}

/// Starts the threads of the pollers.
fn spawn_pollers(
    program: &Program,
    hub: &Hub,
    consumers: &mut Consumers<'static, Event>,
    logs: &[Vec<Log>],
) {
    for (stage, plan) in program.stages.iter().enumerate() {
        let Form::Poller { leaves_after } = plan.form else { continue };
        let poller = consumers.take_poller(&stage_name(stage)).expect("it is a poller");
        let log = logs[stage][0].clone();
        hub.spawn(move || {
            poll(poller, 1 << stage, leaves_after, &log);
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

/// Starts a producer.
fn feed<S: Sequencer + 'static>(
    program: &Arc<Program>,
    hub: &Hub,
    number: usize,
    producer: Producer<Event, S>,
    mut before: impl FnMut(usize, &Feed, &Producer<Event, S>) + Send + 'static,
) {
    let (program, counter) = (Arc::clone(program), hub.clone());
    hub.spawn(move || {
        let feed = producers::run(
            producer,
            number,
            &program.producers[number],
            |index, feed, producer| {
                counter.count_call();
                before(index, feed, producer);
            },
        );
        Message::Fed(number, feed)
    });
}

/// What the first producer needs for its deeds.
struct Hands {
    program: Arc<Program>,
    hub: Hub,
    stops: HashMap<String, StopHandle>,
    groups: HashMap<usize, WorkerGroup>,
    seats: Seats<Event>,
    guests: Arc<Mutex<Vec<StopHandle>>>,
}

impl Hands {
    /// What the first producer does before each call.
    fn deeds<S: Sequencer>(self) -> impl FnMut(usize, &Feed, &Producer<Event, S>) {
        move |index, feed, producer| {
            let last = self.program.producers[0].len();
            let is_due = |at: usize| at.min(last) == index;
            for (number, (at, deed)) in self.program.deeds.iter().enumerate() {
                if is_due(*at) {
                    self.act(deed, number, feed);
                }
            }
            match self.program.end {
                End::Close(at) if is_due(at) => producer.close(),
                End::Shutdown(at) | End::Halt(at) if is_due(at) && self.program.by_hand => {
                    producer.close()
                }
                End::Shutdown(at) if is_due(at) => self.hub.send(Message::Shutdown),
                End::Halt(at) if is_due(at) => self.hub.send(Message::Halt),
                _ => {}
            }
        }
    }

    fn act(&self, deed: &Deed, number: usize, feed: &Feed) {
        match deed {
            Deed::Stop { stage, worker } => {
                let stage = *stage % self.program.stages.len();
                let worker = *worker % self.program.stages[stage].consumers();
                let name = names(&self.program, stage).nth(worker).expect("it has one");
                if let Some(stop) = self.stops.get(&name) {
                    stop.stop();
                }
            }
            Deed::Resize { stage, size } => {
                if let Some(group) = self.groups.get(&(*stage % self.program.stages.len())) {
                    group.resize(1 + *size % group.max()).expect("it is in range");
                }
            }
            Deed::Join(guest) => self.join(guest.clone(), number, feed),
            Deed::StopGuest => {
                let stop = self.guests.lock().expect("no thread panics with it").pop();
                stop.iter().for_each(StopHandle::stop);
            }
        }
    }

    fn join(&self, guest: Guest, number: usize, feed: &Feed) {
        let first = self.program.first;
        let next = feed.accepted.last().map_or(first, |accepted| accepted.sequence + 1);
        let stage = lapwing::Stage::new(format!("guest {number}"));
        let stage = guest_settings(&self.program, &guest, stage);
        let (seats, hub) = (self.seats.clone(), self.hub.clone());
        let stops = move |stop| hub.send(Message::MayStop(stop));
        if guest.is_beside {
            return self.hub.spawn(move || {
                let (visited, seat) = take(&seats, guest, stage, next, first);
                Message::Visited(visit(visited, seat, stops))
            });
        }
        let (visited, seat) = take(&seats, guest, stage, next, first);
        self.hub.spawn(move || Message::Visited(visit(visited, seat, stops)));
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
