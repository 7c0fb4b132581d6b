//! Tests what the reader of a tap gets, how many missed events it reports, and that the writer
//! never waits for it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Lcg, MOMENT, PATIENCE, repeats, watched};
use lapwing::error::{BuildError, TapError};
use lapwing::tap::{Reading, TapReader, TapWriter, tap};
use lapwing::{Disruptor, EventHandler, MAX_CAPACITY, Sequence};

/// A tap of `capacity` slots in which the numbers `0..count` have been written, each with itself as
/// sequence.
fn written(capacity: usize, count: u64) -> (TapWriter<u64>, TapReader<u64>) {
    let (mut writer, reader) = tap(capacity).unwrap();
    write(&mut writer, 0..count);
    (writer, reader)
}

fn write(writer: &mut TapWriter<u64>, numbers: std::ops::Range<u64>) {
    for number in numbers {
        assert!(writer.write(number, &number), "no reader is in the slot");
    }
}

fn events(reader: &mut TapReader<u64>) -> Vec<u64> {
    reader.try_iter().map(|reading| reading.event).collect()
}

// ---- received and missed events ----

#[test]
fn miri_reader_gets_what_was_written_in_order() {
    let (mut writer, mut reader) = tap(4).unwrap();
    assert_eq!(reader.try_next(), Err(TapError::Empty));
    for lap in 0..3 {
        for number in 4 * lap..4 * lap + 4 {
            assert!(writer.write(number + 100, &number));
        }
        for number in 4 * lap..4 * lap + 4 {
            let expected = Reading { event: number, sequence: number + 100, missed: 0 };
            assert_eq!(reader.try_next(), Ok(expected));
        }
        assert_eq!(reader.try_next(), Err(TapError::Empty));
    }
    assert_eq!((reader.received(), reader.missed(), writer.written()), (12, 0, 12));
}

#[test]
fn overtaken_reader_gets_the_last_lap_and_the_number_of_missed_events() {
    for capacity in [1, 2, 8, 64] {
        for count in [0, 1, 7, 8, 9, 16, 100, 1000] {
            let (_writer, mut reader) = written(capacity, count);
            let there = count.min(capacity as u64);
            let missed = count - there;
            let mut clone = reader.clone();
            let mut told = clone.try_iter().map(|reading| reading.missed);
            assert_eq!(told.next(), (count > 0).then_some(missed));
            assert_eq!(told.sum::<u64>(), 0);
            assert_eq!(events(&mut reader), (missed..count).collect::<Vec<_>>());
            assert_eq!((reader.received(), reader.missed()), (there, missed));
        }
    }
}

#[test]
fn reader_can_be_overtaken_again_and_again() {
    let (mut writer, mut reader) = written(4, 6);
    assert_eq!(reader.try_next().map(|reading| (reading.event, reading.missed)), Ok((2, 2)));
    write(&mut writer, 6..1000);
    assert_eq!(reader.try_next().map(|reading| (reading.event, reading.missed)), Ok((996, 993)));
    write(&mut writer, 1000..1001);
    assert_eq!(events(&mut reader), [997, 998, 999, 1000]);
    assert_eq!((reader.received(), reader.missed()), (6, 995));
}

/// One poll for each missed event would take years.
#[test]
fn reader_jumps_over_any_number_of_missed_events() {
    let (_writer, mut reader) = written(1024, 10_000_000 / if cfg!(miri) { 5000 } else { 1 });
    let first = reader.try_next().unwrap();
    assert_eq!(first.missed, first.event);
    assert_eq!(events(&mut reader).len(), 1023);
}

#[test]
fn latest_skips_to_the_newest_and_counts_what_it_skipped() {
    let (mut writer, mut reader) = written(8, 0);
    assert_eq!(reader.latest(), Err(TapError::Empty));
    write(&mut writer, 0..5);
    assert_eq!(reader.latest(), Ok(Reading { event: 4, sequence: 4, missed: 4 }));
    assert_eq!(reader.latest(), Err(TapError::Empty));
    write(&mut writer, 5..7);
    assert_eq!(reader.try_next().map(|reading| reading.event), Ok(5));
    assert_eq!(reader.latest(), Ok(Reading { event: 6, sequence: 6, missed: 0 }));
    write(&mut writer, 7..100);
    assert_eq!(reader.latest(), Ok(Reading { event: 99, sequence: 99, missed: 92 }));
    assert_eq!((reader.received(), reader.missed()), (4, 96));
    drop(writer);
    assert_eq!(reader.latest(), Err(TapError::Closed));
}

#[test]
fn try_iter_ends_at_what_was_there_when_it_began() {
    let (mut writer, mut reader) = written(8, 3);
    let mut readings = reader.try_iter();
    write(&mut writer, 3..6);
    let read: Vec<_> = readings.by_ref().map(|reading| reading.event).collect();
    assert_eq!((read, readings.next()), (vec![0, 1, 2], None));
    assert_eq!(events(&mut reader), [3, 4, 5]);
}

// ---- several readers ----

#[test]
fn miri_readers_are_independent() {
    let (mut writer, mut first) = written(4, 3);
    assert_eq!(first.try_next().map(|reading| reading.event), Ok(0));
    let mut clone = first.clone();
    let mut late = writer.reader();
    write(&mut writer, 3..4);
    assert_eq!(events(&mut first), [1, 2, 3]);
    write(&mut writer, 4..6);
    assert_eq!(events(&mut first), [4, 5]);
    assert_eq!(events(&mut clone), [2, 3, 4, 5]);
    assert_eq!(events(&mut late), [3, 4, 5]);
    assert_eq!((first.received(), first.missed()), (6, 0));
    assert_eq!((clone.received(), clone.missed()), (5, 1));
    assert_eq!((late.received(), late.missed()), (3, 0));
}

#[test]
fn writer_needs_no_reader() {
    let (mut writer, reader) = written(4, 10);
    drop(reader);
    write(&mut writer, 10..20);
    let mut late = writer.reader();
    assert_eq!(late.try_next(), Err(TapError::Empty));
    assert_eq!((late.received(), late.missed(), writer.passed_over()), (0, 0, 0));
}

// ---- the end ----

#[test]
fn miri_reader_gets_what_is_left_of_a_closed_tap() {
    let (writer, mut reader) = written(4, 6);
    let late = writer.reader();
    drop(writer);
    assert_eq!(events(&mut reader), [2, 3, 4, 5]);
    assert_eq!(reader.try_next(), Err(TapError::Closed));
    assert_eq!(reader.next(), None);
    assert_eq!(late.clone().try_next(), Err(TapError::Closed));
}

#[test]
fn write_after_close_is_refused_and_not_counted() {
    let (mut writer, mut reader) = written(4, 2);
    writer.close();
    writer.close();
    assert!(!writer.write(2, &2));
    assert_eq!((writer.written(), writer.passed_over()), (2, 0));
    assert_eq!(reader.by_ref().map(|reading| reading.event).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((reader.received(), reader.missed()), (2, 0));
}

/// The handler stays alive in the report. A reader that waits for its end must not hang.
#[test]
fn tap_is_closed_when_its_stage_ends_although_the_report_holds_the_writer() {
    watched(|| {
        let (writer, reader) = tap::<u64>(8).unwrap();
        let (mut producer, consumers) =
            Disruptor::single_producer(8, || 0).stage("tap").read_handler(writer).build().unwrap();
        let running = consumers.start().unwrap();
        let screen = thread::spawn(move || reader.map(|reading| reading.event).collect::<Vec<_>>());
        producer.publish(|event| *event = 7).unwrap();
        let mut report = running.shutdown().unwrap();
        assert_eq!(screen.join().unwrap(), [7]);
        let mut writer: TapWriter<u64> = report.take("tap").unwrap();
        assert_eq!(writer.written(), 1);
        assert!(!writer.write(1, &8));
    });
}

#[test]
fn tap_is_closed_when_its_ring_is_halted_or_never_run() {
    watched(|| {
        for is_run in [false, true] {
            let (writer, mut reader) = tap::<u64>(8).unwrap();
            let ring = Disruptor::single_producer(8, || 0).stage("tap").read_handler(writer);
            let (_producer, consumers) = ring.build().unwrap();
            let running = is_run.then(|| consumers.start().unwrap());
            running.iter().for_each(lapwing::Running::halt);
            assert_eq!(reader.next(), None);
        }
    });
}

// ---- waiting ----

#[test]
fn iterator_waits_for_events_and_ends_when_the_tap_is_closed() {
    watched(|| {
        let (mut writer, mut reader) = tap::<u64>(1024).unwrap();
        let screen = thread::spawn(move || {
            let sum: u64 = reader.by_ref().map(|reading| reading.event).sum();
            (sum, reader.received(), reader.missed())
        });
        write(&mut writer, 0..100);
        drop(writer);
        assert_eq!(screen.join().unwrap(), (4950, 100, 0));
    });
}

#[test]
fn next_timeout_waits_for_its_timeout_and_returns_an_event_that_comes() {
    watched(|| {
        let (mut writer, mut reader) = written(8, 0);
        let start = Instant::now();
        assert_eq!(reader.next_timeout(MOMENT), Err(TapError::Empty));
        assert!(start.elapsed() >= MOMENT);
        assert_eq!(reader.next_timeout(Duration::ZERO), Err(TapError::Empty));
        let thread = thread::spawn(move || {
            write(&mut writer, 0..1);
            writer
        });
        assert_eq!(reader.next_timeout(PATIENCE).map(|reading| reading.event), Ok(0));
        let mut writer = thread.join().unwrap();
        write(&mut writer, 1..2);
        assert_eq!(reader.next_timeout(Duration::MAX).map(|reading| reading.event), Ok(1));
        drop(writer);
        assert_eq!(reader.next_timeout(Duration::MAX), Err(TapError::Closed));
    });
}

// ---- in a ring ----

#[test]
fn tap_is_a_stage_with_either_access() {
    let (first, mut before) = tap::<u64>(64).unwrap();
    let (second, mut after) = tap::<u64>(64).unwrap();
    let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
        .stage("alone")
        .write_handler(first)
        .stage("double")
        .write(|event, _, _| *event *= 2)
        .stage("beside")
        .read_handler(second)
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for value in 0..64 {
        producer.publish(|event| *event = value).unwrap();
    }
    running.shutdown().unwrap();
    assert_eq!(events(&mut before), (0..64).collect::<Vec<_>>());
    let doubled = |number| Reading { event: 2 * number, sequence: number, missed: 0 };
    assert!(after.try_iter().eq((0..64).map(doubled)));
}

/// A handler that writes only some events.
struct Filter {
    tap: TapWriter<u64>,
}

impl EventHandler<u64> for Filter {
    fn on_event(&mut self, event: &u64, sequence: Sequence, _: bool) {
        if event.is_multiple_of(10) {
            self.tap.write(sequence, event);
        }
    }
}

#[test]
fn any_handler_and_the_producer_can_write_a_tap() {
    let (tap, mut tens) = tap::<u64>(64).unwrap();
    let (mut writer, mut all) = lapwing::tap::tap::<u64>(64).unwrap();
    let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
        .stage("filter")
        .read_handler(Filter { tap })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for value in 0..50 {
        let sequence = producer.publish(|event| *event = value).unwrap();
        assert!(writer.write(sequence, &value));
    }
    running.shutdown().unwrap();
    assert_eq!(events(&mut tens), [0, 10, 20, 30, 40]);
    assert_eq!(all.latest().map(|reading| reading.sequence), Ok(49));
}

// ---- what cannot be ----

#[test]
fn capacity_must_be_a_power_of_two_in_bounds_and_fit_the_memory() {
    for requested in [0, 3, 1000, MAX_CAPACITY + 1, 2 * MAX_CAPACITY, usize::MAX] {
        assert_eq!(tap::<u64>(requested).err(), Some(BuildError::Capacity { requested }));
    }
    type Huge = [u64; 1 << 17];
    let error = tap::<Huge>(1 << 30).err().unwrap();
    assert!(matches!(error, BuildError::OutOfMemory { capacity: 0x4000_0000, .. }), "{error}");
}

#[test]
fn miri_events_of_any_shape_come_back_as_they_were() {
    type Padded = (u8, u64, Option<u16>, &'static str);
    let (mut writer, mut reader) = tap::<Padded>(2).unwrap();
    let event = (7, u64::MAX, None, "text");
    assert!(writer.write(u64::MAX, &event));
    assert_eq!(reader.try_next(), Ok(Reading { event, sequence: u64::MAX, missed: 0 }));
    let (mut writer, mut reader) = tap::<()>(1).unwrap();
    assert!(writer.write(0, &()) && writer.write(1, &()));
    assert_eq!(reader.try_next(), Ok(Reading { event: (), sequence: 1, missed: 1 }));
}

#[test]
fn ends_of_a_tap_can_be_sent_and_printed() {
    fn is_send_and_sync<T: Send + Sync>(_: &T) {}
    let (writer, mut reader) = written(2, 3);
    is_send_and_sync(&writer);
    is_send_and_sync(&reader);
    assert_eq!(reader.latest().map(|reading| reading.missed), Ok(2));
    assert_eq!(
        format!("{writer:?}"),
        "TapWriter { written: 3, passed_over: 0, is_closed: false, .. }"
    );
    assert_eq!(format!("{reader:?}"), "TapReader { received: 1, missed: 2, .. }");
}

// ---- a writer at full speed ----

/// Several words that are consistent only if they belong to the same event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quote {
    words: [u64; 11],
    sum: u64,
}

impl Quote {
    fn new(number: u64) -> Self {
        let mut random = Lcg(number);
        let mut words = [0; 11];
        words.fill_with(|| random.below(1 << 40));
        words[0] = number;
        Self { words, sum: words.iter().sum() }
    }

    fn check(&self) {
        assert_eq!(self.words.iter().sum::<u64>(), self.sum, "words of two events: {self:?}");
    }
}

/// Mean number of events between two pauses of the writer.
const BURST: u64 = 32;

/// How a reader reads.
type Take = fn(&mut TapReader<Quote>) -> Result<Reading<Quote>, TapError>;

/// Reads to the end. Checks each event, their order, and that each one is received or missed.
fn account(mut reader: TapReader<Quote>, take: Take, events: u64) -> u64 {
    let (mut next, mut missed) = (0, 0);
    loop {
        match take(&mut reader) {
            Ok(reading) => {
                reading.event.check();
                assert_eq!(reading.event.words[0], reading.sequence);
                // `latest` may leave out newer events that were passed over. They are reported as
                // missed later.
                assert!(reading.sequence >= next, "backwards: {} after {next}", reading.sequence);
                next = reading.sequence + 1;
                missed += reading.missed;
            }
            Err(TapError::Empty) => thread::yield_now(),
            Err(TapError::Closed) => break,
        }
    }
    assert_eq!(reader.received() + reader.missed(), events);
    assert!(missed <= reader.missed() && next <= events);
    reader.received()
}

/// One writer, and one reader for each of `takes`.
fn fly(capacity: usize, events: u64, takes: &[Take]) {
    watched(|| {
        let (mut writer, reader) = tap(capacity).unwrap();
        let begun = AtomicUsize::new(0);
        thread::scope(|scope| {
            for take in takes {
                let reader = reader.clone();
                let begun = &begun;
                scope.spawn(move || {
                    begun.fetch_add(1, Ordering::Release);
                    account(reader, *take, events)
                });
            }
            crate::common::wait_until(|| begun.load(Ordering::Acquire) == takes.len());
            let (mut there, mut random) = (0, Lcg(7));
            for number in 0..events {
                there += u64::from(writer.write(number, &Quote::new(number)));
                // Bursts and pauses: a reader is sometimes a lap behind, sometimes right behind the
                // writer.
                if random.below(BURST) == 0 {
                    thread::yield_now();
                }
            }
            assert_eq!((writer.written(), writer.passed_over()), (events, events - there));
            drop(writer);
        });
    });
}

#[test]
fn two_readers_account_for_every_event_of_a_writer_at_full_speed() {
    for capacity in [1, 2, 4, 64, 4096] {
        fly(capacity, repeats(300_000), &[TapReader::try_next, TapReader::try_next]);
    }
}

#[test]
fn readers_of_the_latest_account_for_every_event_too() {
    for capacity in [1, 2, 4, 64] {
        fly(capacity, repeats(300_000), &[TapReader::latest, TapReader::try_next]);
    }
}

#[test]
fn miri_two_readers_share_a_few_slots_with_their_writer() {
    for capacity in [1, 2] {
        fly(capacity, 12, &[TapReader::try_next, TapReader::latest]);
    }
}

/// A reader that can keep all events never obstructs the writer.
#[test]
fn reader_with_enough_slots_misses_nothing() {
    watched(|| {
        let events = repeats(50_000);
        let (mut writer, mut reader) = tap(1 << 16).unwrap();
        let thread = thread::spawn(move || {
            for number in 0..events {
                assert!(writer.write(number, &Quote::new(number)));
            }
        });
        for number in 0..events {
            let reading = reader.next().unwrap();
            assert_eq!((reading.event, reading.missed), (Quote::new(number), 0));
        }
        assert_eq!(reader.next(), None);
        thread.join().unwrap();
    });
}
