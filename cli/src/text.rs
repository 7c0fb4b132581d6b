//! The output of `--once`: plain lines, without colours.

use crate::figures::{Figures, Share};
use crate::table::{GAP, Table};
use crate::words::{counted, optional_rate, rounded_down, visible};

/// Returns the figures as lines.
pub(crate) fn report(figures: &Figures) -> String {
    let table = Table::whole(figures);
    let mut lines = vec![head(figures), slots(figures), figures.verdict.sentence.clone()];
    lines.extend(shares(figures));
    lines.push(String::new());
    lines.push(table.heads().join(GAP));
    lines.extend(table.rows.iter().map(|row| table.cells(row).join(GAP)));
    let ended = lines.iter().map(|line| format!("{}\n", line.trim_end()));
    ended.collect()
}

/// "ring orders, open, made 3 min ago by process 4711 (running)"
fn head(figures: &Figures) -> String {
    let identity = &figures.identity;
    let age = figures.at.duration_since(identity.made_at).unwrap_or_default();
    let (ring, pid) = (title(figures), identity.pid);
    let process = figures.process;
    format!(
        "ring {ring}, {}, made {} ago by process {pid} ({process})",
        figures.state,
        rounded_down(age)
    )
}

/// Returns the name of the file, and that of the ring if it is another one.
pub(crate) fn title(figures: &Figures) -> String {
    let name = &figures.identity.name;
    if figures.ring == *name {
        name.clone()
    } else {
        format!("{name} ({})", visible(&figures.ring))
    }
}

fn slots(figures: &Figures) -> String {
    let Figures { held_slots, capacity, published, .. } = figures;
    let rate = optional_rate(figures.published_per_second);
    let mut line = format!(
        "{held_slots} of {capacity} slots are held; {published} published, {rate} events/s"
    );
    if figures.dropped > 0 {
        let rate = optional_rate(figures.dropped_per_second);
        line.push_str(&format!("; {} dropped, {rate} events/s", figures.dropped));
    }
    let waiting = counted(figures.waiting_producers, "producer waits", "producers wait");
    format!("{line}; {waiting}")
}

/// "limited in the last 60 s by: stage "journal" 75 %, the producers 25 %"; `None` if nothing is known.
pub(crate) fn shares(figures: &Figures) -> Option<String> {
    let percent = |share: &Share| {
        let part =
            share.part.as_ref().map_or_else(|| "no limit seen".to_owned(), ToString::to_string);
        format!("{part} {:.0} %", 100.0 * share.share)
    };
    let parts: Vec<_> = figures.shares.iter().map(percent).collect();
    let over = rounded_down(figures.shares_over);
    (!parts.is_empty()).then(|| format!("limited in the last {over} by: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::figures;

    #[test]
    fn a_report_is_plain_text() {
        let report = report(&figures());
        assert!(!report.contains('\u{1b}'));
        assert!(report.lines().all(|line| line.trim_end() == line), "{report}");
        assert_eq!(report, include_str!("../tests/golden/report.txt"));
    }
}
