//! The thread of one or of several stages: which stages share it, its name, its CPU.

use std::io;

use super::completion::{Completion, ThreadEnd};
use super::running::Handle;
use crate::consumer::{Consumer, run_together};
use crate::cpu::pin_current_thread;
use crate::error::StartError;
use crate::sync::Arc;
use crate::sync::threads::mpsc;

/// What a thread does.
pub(super) type Body<'scope> = Box<dyn FnOnce() + Send + 'scope>;

/// The stages of one thread.
pub(super) struct Crew<'env> {
    name: String,
    pin: Option<usize>,
    consumers: Vec<Consumer<'env>>,
}

/// Groups `consumers` by thread. Threads that are to be pinned come first. If one cannot be pinned,
/// only pinned threads have handled events.
pub(super) fn crews(consumers: Vec<Consumer<'_>>) -> Vec<Crew<'_>> {
    let mut crews: Vec<Crew<'_>> = Vec::new();
    for consumer in consumers {
        match crews.iter_mut().find(|crew| crew.name == thread_of(&consumer)) {
            Some(crew) => crew.consumers.push(consumer),
            None => {
                // The stages of a thread agree on the CPU: `build` has checked that.
                let (name, pin) = (thread_of(&consumer).to_owned(), consumer.pin);
                crews.push(Crew { name, pin, consumers: vec![consumer] });
            }
        }
    }
    crews.sort_by_key(|crew| crew.pin.is_none());
    crews
}

/// The threads of `consumers`, each with the names of its consumers.
pub(super) fn threads<'a>(
    consumers: &'a [Consumer<'_>],
) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> + use<'a> {
    let mut threads: Vec<(&str, Vec<&str>)> = Vec::new();
    for consumer in consumers {
        let name = thread_of(consumer);
        match threads.iter_mut().find(|(thread, _)| *thread == name) {
            Some((_, stages)) => stages.push(&consumer.name),
            None => threads.push((name, vec![&consumer.name])),
        }
    }
    threads.into_iter()
}

fn thread_of<'a>(consumer: &'a Consumer<'_>) -> &'a str {
    consumer.thread.as_ref().unwrap_or(&consumer.name)
}

impl<'env> Crew<'env> {
    /// Starts the thread, and waits until it is pinned if it is to be pinned.
    pub(super) fn start<'scope>(
        self,
        completion: &Arc<Completion>,
        spawn: &mut impl FnMut(String, Body<'scope>) -> io::Result<Handle<'scope>>,
    ) -> Result<Handle<'scope>, StartError>
    where
        'env: 'scope,
    {
        let Self { name, pin, consumers } = self;
        let stage = consumers[0].name.clone();
        let (report, reports) = mpsc::channel();
        let body = thread_body(consumers, pin, Arc::clone(completion), report);
        let handle = match spawn(name, Box::new(body)) {
            Ok(handle) => handle,
            Err(source) => return Err(StartError::Spawn { stage, source }),
        };
        if let Some(cpu) = pin
            && let Ok(Err(source)) = reports.recv()
        {
            handle.join();
            return Err(StartError::Pin { stage, cpu, source });
        }
        Ok(handle)
    }
}

/// What a thread does. If it cannot be pinned, its consumers are dropped without having run.
fn thread_body<'env>(
    mut consumers: Vec<Consumer<'env>>,
    pin: Option<usize>,
    completion: Arc<Completion>,
    report: mpsc::Sender<io::Result<()>>,
) -> impl FnOnce() + Send + 'env {
    move || {
        let _end = ThreadEnd(Arc::clone(&completion));
        if let Some(cpu) = pin {
            let result = pin_current_thread(cpu);
            let is_pinned = result.is_ok();
            // The thread that calls `start` waits for this.
            let _ = report.send(result);
            if !is_pinned {
                return;
            }
        }
        drop(report);
        match consumers.pop() {
            Some(only) if consumers.is_empty() => completion.deliver(only.run()),
            last => run_together(consumers.into_iter().chain(last), &mut |_, finished| {
                completion.deliver(finished);
            }),
        }
    }
}
