//! Two producers and a diamond: two stages side by side, and one after both. Six threads.
//!
//! ```text
//! producer ──┐          ┌──> left ───┐
//!            ├─> [ring] ┤            ├──> last
//! producer ──┘          └──> right ──┘
//! ```

use lapwing::wait::{Blocking, BusySpin, WaitStrategy, Yielding};
use lapwing::{Disruptor, Stage};
use shuttle::thread;

use crate::event::Event;
use crate::explore::{PARK, explore};
use crate::feed::{claim_each, publish};
use crate::record::{Log, merged};

fn diamond(capacity: usize, producers: impl WaitStrategy, [left, right, last]: [Stage; 3]) {
    let logs = [(); 3].map(|()| Log::default());
    let (mut producer, consumers) = Disruptor::multi_producer(capacity, Event::default)
        .producer_wait_strategy(producers)
        .parallel(|parallel| {
            parallel.stage(left).read(logs[0].reader()).stage(right).read(logs[1].reader())
        })
        .stage(last)
        .read(logs[2].reader())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let mut other = producer.clone();
    let threads = [
        thread::spawn(move || publish(&mut producer, 100..103)),
        thread::spawn(move || claim_each(&mut other, 200..203)),
    ];
    let accepted = merged(threads.map(|thread| thread.join().unwrap()));
    assert_eq!(accepted.len(), 5);
    running.join().unwrap();
    for log in logs {
        assert_eq!(log.seen(), accepted);
    }
}

#[test]
fn diamond_whose_threads_park() {
    explore("diamond", || {
        diamond(
            2,
            PARK,
            ["left", "right", "last"].map(|name| Stage::new(name).wait_strategy(PARK)),
        );
    });
}

/// A thread that spins beside threads that park.
#[test]
fn diamond_of_several_strategies() {
    explore("strategies", || {
        let stages = [
            Stage::new("left").wait_strategy(BusySpin),
            Stage::new("right").wait_strategy(PARK),
            Stage::new("last").wait_strategy(Yielding::default()),
        ];
        diamond(4, Blocking { yields: 1 }, stages);
    });
}
