//! Compares the graph of `order_flow` with its plain loop: the figures and the journal must be
//! equal for any input.

#[path = "../examples/order_flow/mod.rs"]
mod order_flow;

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic;

use order_flow::figures::{Comparison, Figures};
use order_flow::flow::Flow;
use order_flow::journal::Journal;
use order_flow::order_book::Level;
use order_flow::{graph, plain};

/// Several laps of the ring.
const MESSAGES: u64 = if cfg!(miri) { 200 } else { 50_000 };

/// Runs both, checks that the results are equal, and returns the figures and the journal.
fn run_both<R: BufRead>(open: impl Fn() -> R) -> Result<(Figures, String), Box<dyn Error>> {
    let (mut ring_journal, mut plain_journal) = (Vec::new(), Vec::new());

    let mut journal = Journal::new(&mut ring_journal);
    let ring = graph::run(open(), &mut journal)?;
    journal.finish()?;
    let mut journal = Journal::new(&mut plain_journal);
    let plain = plain::run(open(), &mut journal)?;
    journal.finish()?;

    assert_eq!(ring, plain, "\n{}", Comparison { ring: &ring, plain: &plain });
    assert!(ring_journal == plain_journal, "the journals differ");
    Ok((ring, String::from_utf8(ring_journal)?))
}

#[test]
fn graph_and_plain_loop_agree_on_a_seeded_flow() -> Result<(), Box<dyn Error>> {
    for seed in 0..3 {
        let (figures, journal) = run_both(|| BufReader::new(Flow::new(seed, MESSAGES)))?;
        assert_eq!(
            (figures.lines, figures.messages, figures.journalled),
            (MESSAGES, MESSAGES, MESSAGES)
        );
        assert_eq!(journal.lines().count() as u64, MESSAGES);
        assert!(figures.trades > 0 && figures.volume > figures.trades);
        assert!(figures.best_bid.is_some() && figures.best_ask.is_some());
    }
    Ok(())
}

#[test]
fn figures_are_those_worked_out_by_hand() -> Result<(), Box<dyn Error>> {
    let input = "\
        34200.1,1,11,100,5850000,1\n\
        34200.2,1,12,50,5849900,1\n\
        34200.3,1,21,70,5850200,-1\n\
        34200.4,4,11,60,5850000,1\n\
        34200.5,2,11,10,5850000,1\n\
        34200.6,5,0,5,5850100,1\n\
        34200.7,6,-1,1000,5850100,-1\n\
        34200.8,3,9,100,5850100,1\n\
        34200.9,7,0,0,-1,-1\n";
    let (figures, journal) = run_both(|| input.as_bytes())?;
    assert_eq!((figures.lines, figures.messages, figures.bad_lines.count()), (9, 9, 0));
    assert_eq!((figures.trades, figures.volume), (3, 60 + 5 + 1000));
    assert_eq!((figures.unknown_orders, figures.contradictions), (1, 0));
    assert_eq!(figures.best_bid, Some(Level { price: 5_850_000, shares: 100 - 60 - 10 }));
    assert_eq!(figures.best_ask, Some(Level { price: 5_850_200, shares: 70 }));
    assert!(journal.starts_with("1,34200.1,1,11,100,5850000,1\n2,34200.2,"), "{journal}");
    Ok(())
}

#[test]
fn bad_lines_are_skipped_and_told_with_their_numbers() -> Result<(), Box<dyn Error>> {
    let overlong = [b'9'; 100_000];
    let input = [
        &b"34200.1,1,11,100,5850000,1\n"[..],
        b"34200.2,1,12,none,5850000,1\n",
        b"\n",
        b"\x7fELF\x00\xff\xfe\n",
        &overlong,
        b"\n34200.3,1,12,50,5850000,1\n",
        b"34200.4,1",
    ]
    .concat();
    let (figures, journal) = run_both(|| input.as_slice())?;
    assert_eq!((figures.lines, figures.messages, figures.bad_lines.count()), (7, 2, 5));
    assert_eq!(figures.best_bid, Some(Level { price: 5_850_000, shares: 150 }), "good lines count");
    assert_eq!(journal, "1,34200.1,1,11,100,5850000,1\n6,34200.3,1,12,50,5850000,1\n");
    assert_eq!(
        figures.bad_lines.to_string(),
        "line 2 skipped: size must be a whole number of shares, 1 (in a halt 0) to 4294967295: \
         found \"none\"\n\
         line 3 skipped: the line is empty\n\
         line 4 skipped: the line is not UTF-8 text: the first bad byte is number 6\n\
         line 5 skipped: the line has more than 4096 bytes\n\
         line 7 skipped: the line must have 6 fields separated by commas: found 2\n"
    );
    Ok(())
}

#[test]
fn an_input_of_garbage_is_all_bad_lines() -> Result<(), Box<dyn Error>> {
    let mut random = fastrand::Rng::with_seed(7);
    let garbage: Vec<u8> = (0..MESSAGES * 10).map(|_| random.u8(..)).collect();
    let (figures, journal) = run_both(|| garbage.as_slice())?;
    assert_eq!((figures.messages, figures.bad_lines.count()), (0, figures.lines));
    assert_eq!(journal, "");
    Ok(())
}

#[test]
fn an_empty_input_has_no_figures() -> Result<(), Box<dyn Error>> {
    let (figures, _) = run_both(io::empty)?;
    assert_eq!((figures.lines, figures.messages, figures.bad_lines.count()), (0, 0, 0));
    assert_eq!((figures.best_bid, figures.best_ask), (None, None));
    Ok(())
}

#[test]
fn line_ends_do_not_matter() -> Result<(), Box<dyn Error>> {
    let unix = io::read_to_string(Flow::new(5, 1_000))?;
    let windows = unix.replace('\n', "\r\n");
    let expected = run_both(|| unix.as_bytes())?;
    assert_eq!(run_both(|| windows.as_bytes())?, expected);
    assert_eq!(
        run_both(|| unix.trim_end().as_bytes())?,
        expected,
        "the last line may lack its end"
    );
    Ok(())
}

/// An input that fails in the middle.
fn broken_input() -> impl BufRead {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is out"))
        }
    }
    BufReader::new(Flow::new(1, 5_000).chain(Broken))
}

#[test]
fn an_input_that_breaks_is_an_error_and_no_hang() {
    let mut records = Vec::new();
    let error = graph::run(broken_input(), &mut Journal::new(&mut records)).unwrap_err();
    assert_eq!(error.to_string(), "line 5001 cannot be read: the cable is out");
    assert_eq!(
        records.split_inclusive(|&byte| byte == b'\n').count(),
        5_000,
        "lines before the error are journalled"
    );
}

#[test]
fn an_input_that_panics_leaves_no_stage_waiting() {
    struct Panicking;
    impl Read for Panicking {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("a defect in the reader")
        }
    }
    let input = BufReader::new(Flow::new(1, 5_000).chain(Panicking));
    let ended = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        graph::run(input, &mut Journal::new(io::sink())).map_err(|error| error.to_string())
    }));
    assert!(ended.is_err(), "the panic reaches the caller, after the stages have ended");
}

/// A full disk.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_journal_that_fails_is_told_at_the_end_and_stops_nothing_else() -> Result<(), Box<dyn Error>> {
    let mut journal = Journal::new(Full);
    let figures = graph::run(BufReader::new(Flow::new(1, 5_000)), &mut journal)?;
    assert_eq!(figures.messages, 5_000);
    assert_eq!(journal.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    Ok(())
}

/// Runs on the file that `LAPWING_ORDER_DATA` names, if it names one.
#[test]
fn graph_and_plain_loop_agree_on_a_real_file() -> Result<(), Box<dyn Error>> {
    let Some(path) = std::env::var_os("LAPWING_ORDER_DATA") else { return Ok(()) };
    let bytes = io::read_to_string(File::open(&path)?)?;
    let (figures, _) = run_both(|| bytes.as_bytes())?;
    assert_eq!(figures.lines, bytes.lines().count() as u64);
    Ok(())
}
