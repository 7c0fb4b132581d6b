//! Channels of one and of several senders, whose values go to one receiver or to each of two, and
//! the calls of both ends as data. A new call is a line of `sends` or of `receives`.

use std::fmt::Debug;
use std::future::poll_fn;
use std::time::{Duration, Instant};

use crate::common::{Kind, MOMENT, Many, One};
use lapwing::channel::{
    BroadcastReceiver, Builder, Receiver, SendError, Sender, SharedValues, Values,
};
use lapwing::error::BuildError;
use lapwing::producer::Sequencer;
use lapwing::wait::WaitStrategy;
use pollster::block_on;

pub(crate) type SenderOf<T, K> = Sender<T, <K as Kind>::Sequencer>;
type Ends<T, K> = (SenderOf<T, K>, Receiver<T>);
type SharedEnds<T, K> = (SenderOf<T, K>, Vec<BroadcastReceiver<T>>);

/// A channel with one sender or several, for tests that are written once for both.
pub(crate) trait Channels: Kind {
    fn build<T: Send, R: WaitStrategy, S: WaitStrategy>(
        builder: Builder<R, S>,
    ) -> Result<Ends<T, Self>, BuildError>;

    fn share<T: Send + Sync, R: WaitStrategy, S: WaitStrategy>(
        builder: Builder<R, S>,
        receivers: usize,
    ) -> Result<SharedEnds<T, Self>, BuildError>;

    /// Returns a sender for one more thread, if there may be several.
    fn another<T>(sender: &SenderOf<T, Self>) -> Option<SenderOf<T, Self>>;

    fn open<T: Send>(capacity: usize) -> Ends<T, Self> {
        Self::build(Builder::new(capacity)).unwrap()
    }

    /// Opens a channel whose values go to one receiver, or each to two.
    fn open_any(capacity: usize, is_shared: bool) -> (SenderOf<u64, Self>, Vec<Any>) {
        if is_shared {
            let (sender, receivers) = Self::share(Builder::new(capacity), 2).unwrap();
            (sender, receivers.into_iter().map(Any::Shared).collect())
        } else {
            let (sender, receiver) = Self::open(capacity);
            (sender, vec![Any::Alone(receiver)])
        }
    }
}

macro_rules! channels {
    ($kind:ty, $build:ident, $share:ident, $another:expr) => {
        impl Channels for $kind {
            fn build<T: Send, R: WaitStrategy, S: WaitStrategy>(
                builder: Builder<R, S>,
            ) -> Result<Ends<T, Self>, BuildError> {
                builder.$build()
            }

            fn share<T: Send + Sync, R: WaitStrategy, S: WaitStrategy>(
                builder: Builder<R, S>,
                receivers: usize,
            ) -> Result<SharedEnds<T, Self>, BuildError> {
                builder.$share(receivers)
            }

            fn another<T>(sender: &SenderOf<T, Self>) -> Option<SenderOf<T, Self>> {
                $another(sender)
            }
        }
    };
}

channels!(One, spsc, broadcast, |_| None);
channels!(Many, mpsc, multi_broadcast, |sender: &SenderOf<T, Self>| Some(sender.clone()));

/// A receiver of either type.
pub(crate) enum Any {
    Alone(Receiver<u64>),
    Shared(BroadcastReceiver<u64>),
}

impl Any {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Alone(receiver) => receiver.len(),
            Self::Shared(receiver) => receiver.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Alone(receiver) => receiver.is_empty(),
            Self::Shared(receiver) => receiver.is_empty(),
        }
    }
}

/// A call of a sender or of a receiver.
pub(crate) struct Call<C> {
    pub(crate) name: &'static str,
    /// The number of values that it sends or receives at most.
    pub(crate) count: u64,
    /// Its error on a full channel, or on an empty one. A call that waits has none.
    pub(crate) when_blocked: Option<&'static str>,
    /// Its error without the other end. A receiver has then received every value.
    pub(crate) when_alone: &'static str,
    pub(crate) make: C,
}

impl<C> Call<C> {
    fn new(
        name: &'static str,
        count: u64,
        when_blocked: Option<&'static str>,
        when_alone: &'static str,
        make: C,
    ) -> Self {
        Self { name, count, when_blocked, when_alone, make }
    }
}

/// Sends the values, and leaves those that were not sent. Returns the error as `Debug` writes it.
pub(crate) type SendCall<S> = fn(&mut Sender<u64, S>, &mut Vec<u64>) -> Option<String>;

/// Returns the value, or all values of a batch, or the error. An iterator that ends says `None`.
pub(crate) type ReceiveCall = fn(&mut Any) -> Result<Vec<u64>, String>;

fn text(error: impl Debug) -> String {
    format!("{error:?}")
}

/// Sends the only value by `send`, whose error gives it back.
fn one(
    values: &mut Vec<u64>,
    send: impl FnOnce(u64) -> Result<(), (String, u64)>,
) -> Option<String> {
    let (error, value) = send(values.remove(0)).err()?;
    values.push(value);
    Some(error)
}

fn timed<S: Sequencer>(
    sender: &mut Sender<u64, S>,
    values: &mut Vec<u64>,
    timeout: Duration,
) -> Option<String> {
    let mut send = |value| sender.send_timeout(value, timeout);
    one(values, |value| send(value).map_err(|error| (text(error), error.into_inner())))
}

/// Returns an instant that has passed.
fn past() -> Instant {
    let now = Instant::now();
    now.checked_sub(Duration::from_secs(1)).unwrap_or(now)
}

fn soon() -> Instant {
    Instant::now() + MOMENT
}

/// Returns an instant that no test reaches.
fn some_day() -> Instant {
    Instant::now() + Duration::from_secs(1_000_000)
}

fn until<S: Sequencer>(
    sender: &mut Sender<u64, S>,
    values: &mut Vec<u64>,
    deadline: Instant,
) -> Option<String> {
    let mut send = |value| sender.send_deadline(value, deadline);
    one(values, |value| send(value).map_err(|error| (text(error), error.into_inner())))
}

pub(crate) fn sends<S: Sequencer>() -> Vec<Call<SendCall<S>>> {
    const GONE: &str = "the channel is disconnected: no receiver is left";
    let call = Call::<SendCall<S>>::new;
    let (full, late) =
        (Some("the channel is full"), Some("the channel stayed full until the timeout"));
    let send: SendCall<S> = |s, v| one(v, |v| s.send(v).map_err(|e| (text(e), e.0)));
    let send_async: SendCall<S> =
        |s, v| one(v, |v| block_on(s.send_async(v)).map_err(|e| (text(e), e.0)));
    let poll_send: SendCall<S> = |sender, values| {
        let mut first = Some(values.remove(0));
        let sending = poll_fn(|context| sender.poll_send(context, &mut first));
        let SendError(value) = block_on(sending).err()?;
        values.push(value);
        Some(text(SendError(())))
    };
    let try_send: SendCall<S> =
        |s, v| one(v, |v| s.try_send(v).map_err(|e| (text(e), e.into_inner())));
    let send_batch: SendCall<S> = |s, v| s.send_batch(v).err().map(text);
    let send_batch_async: SendCall<S> = |s, v| block_on(s.send_batch_async(v)).err().map(text);
    let try_send_batch: SendCall<S> = |s, v| s.try_send_batch(v).err().map(text);
    vec![
        call("send", 1, None, GONE, send),
        call("send_async", 1, None, GONE, send_async),
        call("poll_send", 1, None, GONE, poll_send),
        call("try_send", 1, full, GONE, try_send),
        call("send_timeout, none", 1, late, GONE, |s, v| timed(s, v, Duration::ZERO)),
        call("send_timeout, a moment", 1, late, GONE, |s, v| timed(s, v, MOMENT)),
        call("send_timeout, no limit", 1, None, GONE, |s, v| timed(s, v, Duration::MAX)),
        call("send_deadline, past", 1, late, GONE, |s, v| until(s, v, past())),
        call("send_deadline, a moment", 1, late, GONE, |s, v| until(s, v, soon())),
        call("send_deadline, some day", 1, None, GONE, |s, v| until(s, v, some_day())),
        call("send_batch", 0, None, GONE, send_batch),
        call("send_batch", 1, None, GONE, send_batch),
        call("send_batch", 4, None, GONE, send_batch),
        call("send_batch", 11, None, GONE, send_batch),
        call("send_batch_async", 0, None, GONE, send_batch_async),
        call("send_batch_async", 1, None, GONE, send_batch_async),
        call("send_batch_async", 11, None, GONE, send_batch_async),
        call("try_send_batch", 0, full, GONE, try_send_batch),
        call("try_send_batch", 1, full, GONE, try_send_batch),
        call("try_send_batch", 4, full, GONE, try_send_batch),
        call("try_send_batch", 11, full, GONE, try_send_batch),
    ]
}

macro_rules! each {
    ($any:ident, $result:expr) => {
        match $any {
            Any::Alone($any) => $result,
            Any::Shared($any) => $result,
        }
    };
}

/// A batch of either type.
trait Batch {
    fn all(self) -> Vec<u64>;
}

impl Batch for Values<'_, u64> {
    fn all(self) -> Vec<u64> {
        let len = self.len();
        let values: Vec<u64> = self.collect();
        assert_eq!(values.len(), len);
        values
    }
}

impl Batch for SharedValues<'_, u64> {
    fn all(mut self) -> Vec<u64> {
        let len = self.len();
        let values: Vec<u64> = self.iter().copied().collect();
        assert_eq!((values.len(), self.is_empty()), (len, true));
        values
    }
}

fn value(received: Result<u64, impl Debug>) -> Result<Vec<u64>, String> {
    received.map(|value| vec![value]).map_err(text)
}

fn batch(received: Result<impl Batch, impl Debug>) -> Result<Vec<u64>, String> {
    received.map(Batch::all).map_err(text)
}

fn next(received: Option<u64>) -> Result<Vec<u64>, String> {
    received.map(|value| vec![value]).ok_or("None".to_owned())
}

fn batch_timed(receiver: &mut Any, timeout: Duration) -> Result<Vec<u64>, String> {
    each!(receiver, batch(receiver.recv_batch_timeout(timeout)))
}

fn value_until(receiver: &mut Any, deadline: Instant) -> Result<Vec<u64>, String> {
    each!(receiver, value(receiver.recv_deadline(deadline)))
}

fn batch_until(receiver: &mut Any, deadline: Instant) -> Result<Vec<u64>, String> {
    each!(receiver, batch(receiver.recv_batch_deadline(deadline)))
}

pub(crate) fn receives() -> Vec<Call<ReceiveCall>> {
    const ZERO: Duration = Duration::ZERO;
    const MAX: Duration = Duration::MAX;
    const GONE: &str = "the channel is disconnected and every value has been received";
    const ALL: u64 = u64::MAX;
    let call = Call::<ReceiveCall>::new;
    let (empty, late) =
        (Some("the channel is empty"), Some("the channel stayed empty until the timeout"));
    vec![
        call("recv", 1, None, GONE, |r| each!(r, value(r.recv()))),
        call("recv_async", 1, None, GONE, |r| each!(r, value(block_on(r.recv_async())))),
        call("poll_recv", 1, None, GONE, |r| {
            each!(r, value(block_on(poll_fn(|context| r.poll_recv(context)))))
        }),
        call("try_recv", 1, empty, GONE, |r| each!(r, value(r.try_recv()))),
        call("recv_timeout, none", 1, late, GONE, |r| each!(r, value(r.recv_timeout(ZERO)))),
        call("recv_timeout, a moment", 1, late, GONE, |r| each!(r, value(r.recv_timeout(MOMENT)))),
        call("recv_timeout, no limit", 1, None, GONE, |r| each!(r, value(r.recv_timeout(MAX)))),
        call("recv_deadline, past", 1, late, GONE, |r| value_until(r, past())),
        call("recv_deadline, a moment", 1, late, GONE, |r| value_until(r, soon())),
        call("recv_deadline, some day", 1, None, GONE, |r| value_until(r, some_day())),
        call("recv_batch", ALL, None, GONE, |r| each!(r, batch(r.recv_batch()))),
        call("recv_batch_async", ALL, None, GONE, |r| {
            each!(r, batch(block_on(r.recv_batch_async())))
        }),
        call("try_recv_batch", ALL, empty, GONE, |r| each!(r, batch(r.try_recv_batch()))),
        call("recv_batch_timeout, none", ALL, late, GONE, |r| batch_timed(r, ZERO)),
        call("recv_batch_timeout, a moment", ALL, late, GONE, |r| batch_timed(r, MOMENT)),
        call("recv_batch_timeout, no limit", ALL, None, GONE, |r| batch_timed(r, MAX)),
        call("recv_batch_deadline, past", ALL, late, GONE, |r| batch_until(r, past())),
        call("recv_batch_deadline, a moment", ALL, late, GONE, |r| batch_until(r, soon())),
        call("recv_batch_deadline, some day", ALL, None, GONE, |r| batch_until(r, some_day())),
        call("iter", 1, None, "None", |r| each!(r, next(r.iter().next()))),
        call("try_iter", 1, Some("None"), "None", |r| each!(r, next(r.try_iter().next()))),
    ]
}
