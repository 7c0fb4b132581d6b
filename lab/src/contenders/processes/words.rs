//! Orders and replies as words, for processes that are not this program: a form that needs no
//! parser of JSON. An order is a line, and so is the reply to it, times in nanoseconds.
//!
//! ```text
//! create WAY                                      ok
//! open WAY READER                                 ok
//! begin PLACEMENT                                 ok
//! write DELAY TIME EVENTS                         ok sent BEGAN EVENTS
//! read                                            ok got ENDED EVENTS ANSWER BATCHES
//! call DELAY TIME EVENTS PAUSE                    ok called ELAPSED EXCHANGES RECEIVED SUM HALVES
//! echo                                            ok
//! end                                             ok
//! ```
//!
//! WAY is `there` or `back`, PLACEMENT is `free` or `pinned:C0`, and HALVES is `value:count,..`. A
//! process that refuses replies `error TEXT`. It does not report CPU time: see `Crew`.

use std::time::Duration;

use super::order::{Order, Report};
use crate::foreign::ChildError;
use crate::foreign::reply::{self, Words};
use crate::load::processes::{Amount, Called, Got, Sent};

/// Returns the line of an order, or `None` if it is not for a process.
pub(super) fn line(order: &Order) -> Option<String> {
    let line = match order {
        Order::Create(way) => format!("create {}", way.name()),
        Order::Open(way, reader) => format!("open {} {reader}", way.name()),
        Order::Begin(None) => "begin free".to_owned(),
        Order::Begin(Some(cpu)) => format!("begin pinned:{cpu}"),
        Order::Write(amount) => format!("write {}", words(amount)),
        Order::Read => "read".to_owned(),
        Order::Call(amount, pause) => format!("call {} {}", words(amount), nanoseconds(*pause)),
        Order::Echo => "echo".to_owned(),
        Order::End => "end".to_owned(),
        Order::Stream(_) | Order::Exchange(..) => return None,
    };
    Some(line)
}

/// Returns the words of an amount. Its events are sent one by one.
fn words(amount: &Amount) -> String {
    let Amount { delay, time, events, batch: _ } = *amount;
    let events = i64::try_from(events).unwrap_or(i64::MAX);
    format!("{} {} {events}", nanoseconds(delay), nanoseconds(time))
}

/// Returns a time as a number that Java has too.
fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Reads the reply to an order.
///
/// # Errors
///
/// [`ChildError`] if the process refuses, or the line is no reply.
pub(super) fn report(line: &str) -> Result<Report, ChildError> {
    reply::result(line, |mut words| {
        let report = read(&mut words)?;
        words.is_empty().then_some(report)
    })
}

fn read(words: &mut Words<'_>) -> Option<Report> {
    let mut report = Report::default();
    let Some(kind) = words.next::<String>() else { return Some(report) };
    match &*kind {
        "sent" => report.sent = Some(Sent { began_ns: words.next()?, events: words.next()? }),
        "got" => report.got.push(Got {
            ended_ns: words.next()?,
            events: words.next()?,
            answer: words.next()?,
            batches: words.next()?,
        }),
        "called" => {
            report.called = Some(Called {
                elapsed: words.time()?,
                exchanges: words.next()?,
                received: words.next()?,
                sum: words.next()?,
                halves: words.counts()?,
            });
        }
        _ => return None,
    }
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::super::Way;
    use super::*;

    #[test]
    fn an_order_without_a_limit_has_the_largest_number_of_java() {
        let amount = Amount { batch: 7, ..Amount::events(u64::MAX - 1) };
        let most = i64::MAX;
        assert_eq!(line(&Order::Write(amount)).unwrap(), format!("write 0 {most} {most}"));
        let amount = Amount { time: Duration::from_millis(1), ..Amount::events(5) };
        let call = Order::Call(amount, Duration::from_micros(2));
        assert_eq!(line(&call).unwrap(), "call 0 1000000 5 2000");
        assert_eq!(line(&Order::Open(Way::Back, 2)).unwrap(), "open back 2");
        assert_eq!(line(&Order::Begin(Some(3))).unwrap(), "begin pinned:3");
        assert_eq!(line(&Order::Stream(amount)), None);
    }

    #[test]
    fn a_reply_is_read() {
        let nothing = report("ok").unwrap();
        assert!(nothing.sent.is_none() && nothing.got.is_empty() && nothing.called.is_none());
        let sent = report("ok sent 7 8").unwrap().sent.unwrap();
        assert_eq!((sent.began_ns, sent.events), (7, 8));
        let got = report("ok got 1 2 18446744073709551615 4").unwrap().got.remove(0);
        assert_eq!((got.ended_ns, got.events, got.answer, got.batches), (1, 2, u64::MAX, 4));
        let called = report("ok called 9 3 3 24 1:2,5:1").unwrap().called.unwrap();
        assert_eq!(called.elapsed, Duration::from_nanos(9));
        assert_eq!((called.exchanges, called.received, called.sum), (3, 3, 24));
        assert_eq!(called.halves, [(1, 2), (5, 1)]);
    }

    #[test]
    fn nonsense_is_refused_as_such() {
        for line in ["", "no", "ok sung", "ok sent 7", "ok sent 7 8 9", "ok got 1 2 -3 4"] {
            assert!(matches!(report(line), Err(ChildError::Nonsense(_))), "{line:?}");
        }
        let refused = report("error it is full").unwrap_err();
        assert_eq!(refused.to_string(), "the process refused: it is full");
    }
}
