//! Percent of the limits of the machine: throughput against a raw stream, ping-pong against two
//! bare words.

use super::naming::{Labels, Named, pinning};
use super::ping_pong::one_way;
use super::speeds;
use crate::report::distinct;
use crate::report::html::format::{count, figure, optional};
use crate::report::html::page::{Figure, Section, Table};
use crate::report::html::palette::Role;
use crate::report::html::plots::Drawn;
use crate::report::html::plots::axis::number;
use crate::report::html::plots::bars::{Bar, Bars, Group, Row};
use crate::report::html::read::Data;
use crate::report::html::records::Speed;

/// The stream of events between two threads without a ring.
const STREAM: &str = "stream";
/// The same in a ring's memory.
const RING_STREAM: &str = "ring-stream";
/// Round trips over two bare words.
const EXCHANGE: &str = "exchange";
/// The exchange over two bare words, measured in the rounds of `lapwing ping-pong`.
const BARE: &str = "bare";
/// The configuration that is a stream.
const UNICAST: &str = "unicast";

const LEAD: &str = "The limits of this machine between two threads, and the share that each \
    contender reaches.";
const CAPTION: &str = "Percent of the limit; longer is better. For unicast, 100 % is the raw \
    stream of events of the same size. For ping-pong, 100 % is the exchange over two bare words.";

/// A share of a limit.
struct Share<'a> {
    speed: &'a Speed,
    percent: f64,
}

/// Returns the section, if there are limits.
///
/// # Errors
///
/// The error of `plotters`.
pub(super) fn section(data: &Data) -> Drawn<Option<Section>> {
    if data.limits.is_empty() {
        return Ok(None);
    }
    let (streams, exchanges) = (stream_shares(data), exchange_shares(data));
    let mut section = Section {
        id: "limits",
        title: "Percent of the limit",
        lead: LEAD.into(),
        tables: vec![limits(&data.limits)],
        ..Section::default()
    };
    let needs = "(its share of the limit needs a file of";
    if streams.is_empty() {
        section
            .notes
            .push(format!("No unicast of the same event size {needs} `lapwing throughput`)."));
    }
    if exchanges.is_empty() {
        section.notes.push(format!("No ping-pong {needs} `lapwing ping-pong`)."));
    }
    if streams.len() + exchanges.len() > 0 {
        let picture = bars(&streams, &exchanges, data).draw()?;
        section.figures.push(Figure::new("limits", CAPTION, &picture));
        section.tables.push(shares(&streams, &exchanges));
    }
    Ok(Some(section))
}

/// Returns the limit `name` for `speed`, with the same event size and pinning if both have them.
fn limit<'a>(limits: &'a [Speed], name: &str, speed: &Speed) -> Option<&'a Speed> {
    let agrees = |limit: &&Speed| {
        let sizes = limit.event_bytes.zip(speed.event_bytes);
        let pinnings = limit.pinned.zip(speed.pinned);
        limit.contender == name
            && limit.pause_ns == speed.pause_ns
            && sizes.is_none_or(|(one, other)| one == other)
            && pinnings.is_none_or(|(one, other)| one == other)
    };
    limits.iter().find(agrees)
}

fn share<'a>(speed: &'a Speed, limit: &Speed) -> Share<'a> {
    // An exchange is a round trip here, but its limit can count each direction.
    let percent = 100.0 * speed.whole_events_per_second() / limit.whole_events_per_second();
    Share { speed, percent }
}

fn stream_shares(data: &Data) -> Vec<Share<'_>> {
    let unicasts = data.throughput.iter().filter(|one| one.topology.as_deref() == Some(UNICAST));
    sorted(unicasts.filter_map(|one| Some(share(one, limit(&data.limits, STREAM, one)?))))
}

fn exchange_shares(data: &Data) -> Vec<Share<'_>> {
    let in_step = |one: &&Speed| one.contender != BARE && one.pause_ns.is_none();
    let others = data.ping_pong.iter().filter(in_step);
    sorted(others.filter_map(|one| {
        // The bare words of the same rounds have the same noise.
        let bare = limit(&data.ping_pong, BARE, one);
        Some(share(one, bare.or_else(|| limit(&data.limits, EXCHANGE, one))?))
    }))
}

/// Returns the shares, pinned before unpinned, the highest first.
fn sorted<'a>(shares: impl Iterator<Item = Share<'a>>) -> Vec<Share<'a>> {
    let mut shares = shares.collect::<Vec<_>>();
    shares.sort_by(|one, other| {
        let pinned = other.speed.is_pinned().cmp(&one.speed.is_pinned());
        pinned.then(other.percent.total_cmp(&one.percent))
    });
    shares
}

fn bars(streams: &[Share<'_>], exchanges: &[Share<'_>], data: &Data) -> Bars {
    let mut groups = Vec::new();
    for (what, shares, records) in [
        ("unicast, of the raw stream", streams, &data.throughput),
        ("ping-pong, of the bare exchange", exchanges, &data.ping_pong),
    ] {
        let labels = Labels::of(records);
        let kind = |share: &Share<'_>| (share.speed.is_pinned(), share.speed.event_bytes);
        for (is_pinned, bytes) in distinct(shares.iter().map(kind)) {
            let own = shares.iter().filter(|share| kind(share) == (is_pinned, bytes));
            let rows = own.map(|share| row(share, labels.label(share.speed))).collect();
            let size = bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
            let heading = format!("{what}{size}, {}", pinning(is_pinned));
            groups.push(Group { heading, rows });
        }
    }
    Bars {
        title: "percent of the limit".into(),
        panels: vec![String::new()],
        groups,
        keys: Vec::new(),
        label: |percent| format!("{} %", number(percent)),
        is_linear: true, // an axis of shares starts at zero
    }
}

fn row(share: &Share<'_>, label: String) -> Row {
    let is_own = share.speed.is_own();
    let bar = Bar {
        value: share.percent,
        role: if is_own { Role::Own } else { Role::Rival },
        spread: None,
        reference: None,
        text: format!("{} %", figure(share.percent)),
        note: speeds::cpus_note(share.speed),
    };
    Row { label, is_own, bars: vec![Some(bar)] }
}

fn limits(records: &[Speed]) -> Table {
    let words = ["limit", "pinned"];
    let numbers =
        ["bytes", "M/s", "min .. max", "ns each", "ns one way", "GB/s", "CPUs", "events", "runs"];
    let mut table = Table::new("The limits themselves, medians over the runs", &words, &numbers);
    for speed in records {
        let median = speed.median_events_per_second;
        let one_way =
            (speed.contender == EXCHANGE).then(|| one_way(speed.whole_events_per_second()));
        let cells = vec![
            speed.contender.clone(),
            speed.pinned_cell(),
            count(speed.event_bytes),
            figure(speeds::millions(median)),
            speeds::spread_cell(speed, speeds::millions),
            figure(speeds::nanoseconds(median)),
            optional(one_way),
            optional(gigabytes(speed)),
            optional(speeds::cpus(speed)),
            count(speed.events),
            speed.runs.len().to_string(),
        ];
        table.add(false, cells);
    }
    table
}

/// Returns the gigabytes per second of a stream.
fn gigabytes(speed: &Speed) -> Option<f64> {
    let is_stream = [STREAM, RING_STREAM].contains(&&*speed.contender);
    let bytes = speed.event_bytes.filter(|_| is_stream)?;
    let bytes = u32::try_from(bytes).ok()?;
    Some(speed.median_events_per_second * f64::from(bytes) / 1e9)
}

fn shares(streams: &[Share<'_>], exchanges: &[Share<'_>]) -> Table {
    let words = ["what", "contender", "wait", "pinned"];
    let numbers = ["bytes", "% of the limit", "M/s"];
    let mut table = Table::new("Shares of the limits", &words, &numbers);
    for (what, shares) in [(UNICAST, streams), ("ping-pong", exchanges)] {
        for Share { speed, percent } in shares {
            let cells = vec![
                what.to_owned(),
                speed.contender.clone(),
                speed.wait_cell(),
                speed.pinned_cell(),
                count(speed.event_bytes),
                figure(*percent),
                figure(speeds::millions(speed.median_events_per_second)),
            ];
            table.add(speed.is_own(), cells);
        }
    }
    table
}
