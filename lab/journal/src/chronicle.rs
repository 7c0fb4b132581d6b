//! Chronicle Queue, in a process of its own: `java/ChronicleRival.java` says what it does.

use std::path::Path;
use std::time::Duration;

use hdrhistogram::Histogram;
use lapwing_lab_stats::histogram;

use crate::failure::Failure;
use crate::java::{Java, Sources};

const SOURCES: Sources = [
    ("ChronicleRival.java", include_str!("../java/ChronicleRival.java")),
    ("pom.xml", include_str!("../java/pom.xml")),
];

/// What its documentation asks for with Java 17; no report to its vendor; and a heap that does not
/// grow.
const FLAGS: [&str; 14] = [
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
    "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
    "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "-Dchronicle.analytics.disable=true",
    "-Dchronicle.announcer.disable=true",
    "-XX:+UseParallelGC",
    "-Xms256m",
    "-Xmx256m",
];

/// To start, to read back what was written, and to compile on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The rival.
#[derive(Debug)]
pub(crate) struct Chronicle(Java);

impl Chronicle {
    /// Compiles it into a folder of `cache` and starts it.
    pub(crate) fn start(cache: &Path) -> Result<Self, Failure> {
        Ok(Self(Java::start(&SOURCES, &FLAGS, cache)?))
    }

    /// Appends batches for `time`, and checks that each event is there once. Returns events per
    /// second.
    pub(crate) fn append(
        &mut self,
        folder: &Path,
        batch: usize,
        is_synced: bool,
        time: Duration,
    ) -> Result<f64, Failure> {
        let request =
            format!("append {is_synced} {batch} {} {}", time.as_nanos(), folder.display());
        let answer = self.0.ask(&request, time + PATIENCE)?;
        let (events, ns) = answer.split_once(' ').ok_or("an answer of two numbers is expected")?;
        Ok(events.parse::<f64>()? / (ns.parse::<f64>()? / 1e9))
    }

    /// The delays of events that one thread appends and syncs.
    pub(crate) fn delays(
        &mut self,
        folder: &Path,
        rate: u64,
        time: Duration,
    ) -> Result<Histogram<u64>, Failure> {
        let request = format!("delays {rate} {} {}", time.as_nanos(), folder.display());
        parse_delays(&self.0.ask(&request, time + PATIENCE)?)
    }
}

/// Reads `VALUE:COUNT,VALUE:COUNT,...`.
fn parse_delays(text: &str) -> Result<Histogram<u64>, Failure> {
    let mut delays = histogram();
    for part in text.split(',') {
        let (value, count) = part.split_once(':').ok_or_else(|| format!("no delay: {part:?}"))?;
        delays.saturating_record_n(value.parse()?, count.parse()?);
    }
    Ok(delays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read() {
        let delays = parse_delays("1000:2,5000:1").unwrap();
        assert_eq!(
            (delays.len(), delays.min(), delays.value_at_quantile(1.0) / 1000),
            (3, 1000, 5)
        );
        assert!(parse_delays("1000").is_err() && parse_delays("").is_err());
    }
}
