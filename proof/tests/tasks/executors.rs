//! The executors of the probe: how each runs the ends of a case, and by which means of its own it drops a future. Not
//! here: futures that give themselves up (`giving_up`).

use std::fmt;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use futures_lite::future::{or, yield_now};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::giving_up::Random;

/// A task.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the tasks run on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Executor {
    /// Tokio with two workers.
    TokioWorkers,
    /// Tokio with one thread.
    TokioCurrent,
    /// The executor of smol, run by two threads.
    Smol,
    /// A thread for each task, which polls it if it is woken.
    Bare,
}

static SMOL: async_executor::Executor<'static> = async_executor::Executor::new();

/// How often at most a future lets others run before an executor drops it.
const LONGEST_PATIENCE: u64 = 4;

impl Executor {
    /// Runs the tasks to their ends.
    pub(crate) fn run(self, tasks: Vec<Task>) {
        match self {
            Self::TokioWorkers => on_tokio(Builder::new_multi_thread().worker_threads(2), tasks),
            Self::TokioCurrent => on_tokio(&mut Builder::new_current_thread(), tasks),
            Self::Smol => on_smol(tasks),
            Self::Bare => {
                let run = |task| thread::spawn(|| pollster::block_on::<Task>(task));
                let threads: Vec<_> = tasks.into_iter().map(run).collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            }
        }
    }

    /// Spawns a task and cancels it. Returns `None` if it was dropped.
    pub(crate) async fn cancel<R: Send + 'static>(
        self,
        task: impl Future<Output = R> + Send + 'static,
        random: &mut Random,
    ) -> Option<R> {
        match self {
            Self::TokioWorkers | Self::TokioCurrent => {
                let task = tokio::spawn(task);
                patience(random).await;
                task.abort();
                match task.await {
                    Ok(output) => Some(output),
                    Err(error) if error.is_cancelled() => None,
                    Err(error) => resume_unwind(error.into_panic()),
                }
            }
            Self::Smol => {
                let task = SMOL.spawn(task);
                patience(random).await;
                task.cancel().await
            }
            Self::Bare => Some(task.await),
        }
    }

    /// Lets a future compete with one that is ready after few polls. Returns `None` if it was dropped.
    pub(crate) async fn compete<R>(
        self,
        future: impl Future<Output = R> + Send,
        random: &mut Random,
    ) -> Option<R> {
        let is_first = random.below(2) == 0;
        match (self, is_first) {
            (Self::TokioWorkers | Self::TokioCurrent, true) => tokio::select! { biased;
                output = future => Some(output),
                () = patience(random) => None,
            },
            (Self::TokioWorkers | Self::TokioCurrent, false) => tokio::select! { biased;
                () = patience(random) => None,
                output = future => Some(output),
            },
            (Self::Smol, is_first) => {
                let future = async { Some(future.await) };
                let other = async {
                    patience(random).await;
                    None
                };
                if is_first { or(future, other).await } else { or(other, future).await }
            }
            (Self::Bare, _) => Some(future.await),
        }
    }

    /// Gives a future no time. Returns `None` if it was dropped.
    pub(crate) async fn time_out<R>(self, future: impl Future<Output = R> + Send) -> Option<R> {
        match self {
            Self::TokioWorkers | Self::TokioCurrent => {
                tokio::time::timeout(Duration::ZERO, future).await.ok()
            }
            Self::Smol | Self::Bare => Some(future.await),
        }
    }
}

/// Lets others run a few times.
pub(crate) async fn patience(random: &mut Random) {
    for _ in 0..random.below(LONGEST_PATIENCE) {
        yield_now().await;
    }
}

fn on_tokio(builder: &mut Builder, tasks: Vec<Task>) {
    let runtime = builder.enable_time().build().expect("threads can be spawned");
    let tasks: Vec<_> = tasks.into_iter().map(|task| runtime.spawn(task)).collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn on_smol(tasks: Vec<Task>) {
    let tasks: Vec<_> = tasks.into_iter().map(|task| SMOL.spawn(task)).collect();
    let (end, ended) = oneshot::channel::<()>();
    let second = thread::spawn(|| pollster::block_on(SMOL.run(ended)));
    pollster::block_on(SMOL.run(async {
        for task in tasks {
            task.await;
        }
    }));
    drop(end);
    let _closed = second.join().unwrap();
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TokioWorkers => "tokio, two workers",
            Self::TokioCurrent => "tokio, one thread",
            Self::Smol => "smol, two threads",
            Self::Bare => "pollster, threads",
        })
    }
}
