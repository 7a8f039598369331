//! A run as a sequence diagram: Markdown with a block of Mermaid, which code forges and many editors draw.
//!
//! It has the lines of the timeline, without what the timeline adds beside them: requests and answers are arrows, all else is noted at
//! its host. Source: the syntax of sequence diagrams, <https://mermaid.js.org/syntax/sequenceDiagram.html>.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use picklock_campaign::story::Story;
use picklock_model::ids::HostId;

use crate::format::{Format, ReportError};
use crate::page::layout::{cut, printable};
use crate::page::paint::Style;
use crate::story::exchanges::{self, Exchange, Outcome};
use crate::story::rows;
use crate::story::writer::Row;
use crate::story::{paragraph, relevance, spans};

pub(super) const FORMAT: Format<Story> = Format {
    name: "mermaid",
    file: "diagram.md",
    doc: "a sequence diagram in Mermaid, in Markdown; for code forges and editors",
    render,
};

/// Diagrams are drawn by browsers, which give up at some tens of thousands of characters.
const LINES: usize = 200;
const COLUMNS: usize = 100;

fn render(story: &Story, _style: &Style) -> Result<String, ReportError> {
    let spans = spans::of(&story.trace);
    let (positions, window) = relevance::positions(story, &spans);
    let exchanges = exchanges::of(story);
    let relevant: Vec<&Exchange> = exchanges.iter().filter(|one| window.shows(one)).collect();
    let (rows, _) = rows::relevant(story, &positions, &relevant, &relevance::cited(story));
    let (rows, left_out) = rows::shortened_to(LINES, rows, story, &relevance::cited(story));
    let asked = |position: usize| relevant.iter().find(|one| one.sent == position);
    let mut hosts: BTreeSet<HostId> = rows.iter().map(|row| row.host).collect();
    hosts.extend(rows.iter().filter_map(|row| asked(row.position)).flat_map(|one| [one.source, one.target]));
    let violated: Vec<&str> = story.invariants().collect();
    let verdict = match violated.as_slice() {
        [] => "nothing violated".to_owned(),
        violated => format!("{} violated", paragraph::list(violated)),
    };
    let title =
        format!("# {} under {}, seed {}: {verdict}\n", story.design, story.scenario, story.plan.seed.0);
    let mut page = printable(title.trim_end()).into_owned() + "\n\n";
    for words in paragraph::found(story) {
        page.push_str(&format!("{}\n\n", printable(&words)));
    }
    page.push_str("```mermaid\nsequenceDiagram\n");
    for host in &hosts {
        let _ = writeln!(page, "    participant h{} as {}", host.0, label(story.trace.host_name(*host)));
    }
    for row in &rows {
        let at = story.trace.events[row.position].at;
        match asked(row.position) {
            Some(exchange) => arrows(&mut page, exchange, row),
            None => _ = writeln!(page, "    Note over h{}: {at} {}", row.host.0, label(&row.text)),
        }
    }
    page.push_str("```\n\n");
    if left_out > 0 {
        let _ = writeln!(page, "{left_out} more lines are left out.\n");
    }
    let _ = writeln!(page, "`{}`", printable(&story.replay));
    Ok(page)
}

/// A request and its answer; a cross is an end that was never reached. One that stands for several has their count, and what only sets
/// up connections and scripts is one arrow.
fn arrows(page: &mut String, exchange: &Exchange, row: &Row) {
    let Exchange { source, target, asked, outcome, .. } = exchange;
    let (source, target) = (source.0, target.0);
    if exchange.setup.is_some() {
        let words = row.text.rsplit(": ").next().unwrap_or_default();
        let _ = writeln!(page, "    h{source}->>h{target}: {}", label(words));
        return;
    }
    let count = if row.times > 1 { format!(" ×{}", row.times) } else { String::new() };
    let asked = format!("{}{count}", cut(asked, COLUMNS - count.len()));
    let sent = if *outcome == Outcome::NeverArrived { "-x" } else { "->>" };
    let _ = writeln!(page, "    h{source}{sent}h{target}: {}", label(&asked));
    match outcome {
        Outcome::Answered(said) => _ = writeln!(page, "    h{target}-->>h{source}: {}", label(said)),
        Outcome::AnswerLost(said) => _ = writeln!(page, "    h{target}--xh{source}: {}", label(said)),
        Outcome::Unanswered | Outcome::NeedsNoAnswer | Outcome::NeverArrived => {}
    }
}

/// A text that ends no line and begins no entity.
fn label(text: &str) -> String {
    let mut label = String::new();
    for c in cut(&printable(text), COLUMNS).chars() {
        match c {
            '#' => label.push_str("#35;"),
            ';' => label.push_str("#59;"),
            '<' => label.push_str("#lt;"),
            '>' => label.push_str("#gt;"),
            '\n' | '\r' => label.push(' '),
            c => label.push(c),
        }
    }
    label
}
