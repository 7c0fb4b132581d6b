//! Draws a snapshot as a graph in the languages of Graphviz and Mermaid. Arrows point in the
//! direction of the data.
//!
//! Any name gives valid output: each language has one escape function, and every name passes
//! through it.

use std::fmt::Write;

use super::snapshot::{Snapshot, StageSnapshot};
use super::table::waiting;
use super::text::visible;

impl Snapshot {
    /// Returns the graph of the ring, with its figures, in the language of Graphviz (`dot -Tsvg`).
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// let text = r#"digraph lapwing {
    ///     label="quotes: open, 5 of 8 slots free";
    ///     rankdir=LR;
    ///     node [shape=box];
    ///     producers [shape=ellipse, label="producers\npublished 3"];
    ///     stage0 [label="ticks\nsequence 0, lag 3\nnot polled"];
    ///     producers -> stage0;
    /// }
    /// "#;
    /// assert_eq!(producer.monitor().snapshot().to_dot(), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let label = |lines: Vec<String>| {
            lines.iter().map(|line| dot_text(line)).collect::<Vec<_>>().join("\\n")
        };
        let mut dot = format!(
            "digraph lapwing {{\n    label=\"{}\";\n    rankdir=LR;\n    node [shape=box];\n",
            label(vec![self.headline()])
        );
        let producers = label(self.producer_lines());
        let _ = writeln!(dot, "    producers [shape=ellipse, label=\"{producers}\"];");
        for stage in &self.stages {
            let _ = writeln!(dot, "    {} [label=\"{}\"];", stage.id(), label(stage.lines()));
        }
        for (from, to) in self.arrows() {
            let _ = writeln!(dot, "    {from} -> {to};");
        }
        dot.push_str("}\n");
        dot
    }

    /// Returns the graph of the ring, with its figures, in the language of Mermaid, which many
    /// Markdown viewers draw.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// let text = r#"flowchart LR
    ///     producers(["producers<br/>published 3"])
    ///     stage0["ticks<br/>sequence 0, lag 3<br/>not polled"]
    ///     producers --> stage0
    /// "#;
    /// assert_eq!(producer.monitor().snapshot().to_mermaid(), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let label = |lines: Vec<String>| {
            lines.iter().map(|line| mermaid_text(line)).collect::<Vec<_>>().join("<br/>")
        };
        let producers = label(self.producer_lines());
        let mut mermaid = format!("flowchart LR\n    producers([\"{producers}\"])\n");
        for stage in &self.stages {
            let _ = writeln!(mermaid, "    {}[\"{}\"]", stage.id(), label(stage.lines()));
        }
        for (from, to) in self.arrows() {
            let _ = writeln!(mermaid, "    {from} --> {to}");
        }
        mermaid
    }

    fn headline(&self) -> String {
        let (ring, state) = (visible(&self.ring), self.state);
        format!("{ring}: {state}, {} of {} slots free", self.free_slots, self.capacity)
    }

    fn producer_lines(&self) -> Vec<String> {
        let mut lines = vec!["producers".to_owned(), format!("published {}", self.published)];
        if self.claimed != self.published {
            lines.push(format!("claimed {}", self.claimed));
        }
        if self.dropped > 0 {
            lines.push(format!("dropped {}", self.dropped));
        }
        if self.waiting_producers > 0 {
            lines.push(waiting(self.waiting_producers));
        }
        lines
    }

    /// The edges along which events flow, as pairs of node ids.
    fn arrows(&self) -> Vec<(String, String)> {
        let mut arrows = Vec::new();
        for to in &self.stages {
            let is_before = |from: &&StageSnapshot| to.upstream_indices.contains(&from.index);
            let before: Vec<_> = self.stages.iter().filter(is_before).collect();
            if before.is_empty() {
                arrows.push(("producers".to_owned(), to.id()));
            }
            arrows.extend(before.iter().map(|from| (from.id(), to.id())));
        }
        arrows
    }
}

impl StageSnapshot {
    /// Its node id, which is independent of its name.
    fn id(&self) -> String {
        format!("stage{}", self.index)
    }

    fn lines(&self) -> Vec<String> {
        let mut figures = format!("sequence {}, lag {}", self.sequence, self.lag);
        if let Some(acknowledged) = self.acknowledged {
            figures = format!("{figures}, acknowledged {acknowledged}");
        }
        vec![visible(&self.name), figures, self.state.to_string()]
    }
}

/// Escapes text for the quotes of a Graphviz label, which interprets backslash escapes and HTML
/// entities.
fn dot_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('\\', "\\\\").replace('"', "\\\"")
}

/// Escapes text for the quotes of a Mermaid label. Its grammar has undocumented special cases
/// (directives, comments, Markdown, HTML), so every character except letters, digits, spaces and
/// commas becomes a numeric entity.
fn mermaid_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | ',') {
            escaped.push(c);
        } else {
            let _ = write!(escaped, "#{};", u32::from(c));
        }
    }
    escaped
}
