//! Tasks that wait for a value that does not come, and the CPU time of the process meanwhile.

use std::thread;
use std::time::Duration;

use super::{TaskReceiver, panicked, runtime};
use crate::machine::cpu_time;
use crate::measure::crew::RunError;

/// Time until all tasks wait.
const SETTLE: Duration = Duration::from_millis(50);

/// Waits with a task at each receiver for `window`; then drops the senders. Returns the CPU time of the window, and
/// how many tasks then ended without a value.
///
/// # Errors
///
/// [`RunError`] if there is no runtime, or a task panicked.
pub(crate) fn run<S, R: TaskReceiver>(
    (senders, receivers): (Vec<S>, Vec<R>),
    window: Duration,
) -> Result<(Option<Duration>, u64), RunError> {
    let runtime = runtime(2)?;
    let wait =
        |mut receiver: R| runtime.spawn(async move { receiver.receive_one().await.is_none() });
    let waiting = receivers.into_iter().map(wait).collect::<Vec<_>>();
    thread::sleep(SETTLE);
    let used = cpu_time::used();
    thread::sleep(window);
    let used = cpu_time::since(used);
    drop(senders);
    let mut ended = 0;
    for task in waiting {
        ended += u64::from(runtime.block_on(task).map_err(|error| panicked(&error))?);
    }
    Ok((used, ended))
}
