//! A group of workers by key, with state for each key, and a stage after it. The group is resized,
//! or one of its workers leaves, while two producers publish. Six threads.

use std::collections::BTreeMap;
use std::mem;

use lapwing::consumer::{HandOver, MovedKeys};
use lapwing::{Disruptor, EventHandler, MultiProducer, Running, Sequence};
use shuttle::thread;

use crate::event::Event;
use crate::explore::{PARK, explore};
use crate::feed::publish;
use crate::record::{Events, Log, merged};

/// The events of each of its keys, in the order in which they were handled.
#[derive(Default)]
struct Accounts(BTreeMap<u64, Events>);

impl EventHandler<Event> for Accounts {
    fn on_event(&mut self, event: &Event, sequence: Sequence, _: bool) {
        let value = event.read();
        self.0.entry(account(value)).or_default().push((sequence, value));
    }
}

impl HandOver for Accounts {
    type State = Events;

    fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, Events)> {
        let all = mem::take(&mut self.0).into_iter();
        let (given, kept): (Vec<_>, Vec<_>) =
            all.partition(|&(account, _)| moved.contains(account));
        self.0.extend(kept);
        given
    }

    fn take(&mut self, account: u64, events: Events) {
        let had = self.0.insert(account, events);
        assert!(had.is_none(), "a worker takes a key that it has");
    }
}

fn account(value: u64) -> u64 {
    value % 3
}

fn key(event: &Event) -> u64 {
    account(event.read())
}

fn keyed_workers(meanwhile: fn(&Running<'_>)) {
    let after = Log::default();
    let (producer, consumers) = Disruptor::multi_producer(4, Event::default)
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage("work")
        .workers(2)
        .up_to(3)
        .by_key(key)
        .read_keyed_handlers(|_worker| Accounts::default())
        .stage("after")
        .read(after.reader())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let feeds = [(producer.clone(), 0), (producer, 100)].map(|(mut producer, first)| {
        let feed = move |producer: &mut MultiProducer<Event>| publish(producer, first..first + 4);
        thread::spawn(move || feed(&mut producer))
    });
    meanwhile(&running);
    let accepted = merged(feeds.map(|feed| feed.join().unwrap()));
    let mut report = running.join().unwrap();
    assert_eq!(after.seen(), accepted);
    let mut found = BTreeMap::new();
    for worker in 0..3 {
        let Accounts(accounts) = report.take(&format!("work-{worker}")).unwrap();
        for (account, events) in accounts {
            assert_eq!(found.insert(account, events), None, "two workers have account {account}");
        }
    }
    for account_of in 0..3 {
        let expected: Events =
            accepted.iter().copied().filter(|&(_, value)| account(value) == account_of).collect();
        assert_eq!(found[&account_of], expected);
    }
}

#[test]
fn workers_by_key_that_are_resized() {
    explore("workers by key", || {
        keyed_workers(|running| {
            let group = running.workers("work").unwrap();
            group.resize(1).unwrap();
            group.resize(3).unwrap();
        });
    });
}

#[test]
fn worker_by_key_that_leaves() {
    explore("worker by key leaves", || {
        keyed_workers(|running| running.stop_handle("work-1").unwrap().stop());
    });
}
