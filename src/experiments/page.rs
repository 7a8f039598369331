//! Experiments written down: for a terminal, as a page of Markdown, as JSON.

use picklock_reports::page::layout::{left, wrap};
use picklock_reports::page::markdown::{Table, block, code, escape};
use serde_json::{Value, json};

use super::{Experiment, Figures, Outcome};

/// How far what is said of an experiment stands from the edge.
const INDENT: &str = "            ";

/// The experiments that there are.
#[must_use]
pub fn list(experiments: &[&Experiment]) -> String {
    let column = experiments.iter().map(|experiment| experiment.name.len()).max().unwrap_or(0);
    let line = |experiment: &&Experiment| {
        format!("{}  {} ({})\n", left(experiment.name, column), experiment.claim, experiment.source)
    };
    experiments.iter().map(line).collect()
}

/// An experiment for a terminal of this width.
#[must_use]
pub fn text(outcome: &Outcome, width: usize) -> String {
    let Outcome { experiment, measured } = outcome;
    let mut page = format!("{}: {}\n", experiment.name, measured.verdict.word());
    page.push_str(&said("claim", experiment.claim, width));
    page.push_str(&said("source", experiment.source, width));
    for figures in &measured.figures {
        page.push_str(&said("measured", &figures.title, width));
        page.push_str(&aligned(figures));
    }
    page.push_str(&said("therefore", &measured.because, width));
    for replay in &measured.replays {
        page.push_str(&format!("  replay    {replay}\n"));
    }
    page
}

fn said(word: &str, text: &str, width: usize) -> String {
    let lines = wrap(text, width.saturating_sub(INDENT.len()));
    let mut page = String::new();
    for (nth, line) in lines.iter().enumerate() {
        let head = if nth == 0 { word } else { "" };
        page.push_str(&format!("  {}{line}\n", left(head, INDENT.len() - 2)));
    }
    page
}

fn aligned(figures: &Figures) -> String {
    let head: Vec<String> = figures.head.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<&Vec<String>> = std::iter::once(&head).chain(&figures.rows).collect();
    let column =
        |nth: usize| rows.iter().filter_map(|row| row.get(nth)).map(|cell| cell.chars().count()).max();
    let mut page = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().enumerate().map(|(nth, cell)| left(cell, column(nth).unwrap_or(0))).collect();
        page.push_str(&format!("{INDENT}{}\n", cells.join("  ").trim_end()));
    }
    page
}

/// Experiments as one page of Markdown.
#[must_use]
pub fn markdown(outcomes: &[Outcome]) -> String {
    let mut page = "# Experiments\n\nStatements about locks, most of them on Redis, and what picklock measured of them. Article \
                    numbers are those of the five articles that the project started from. All of this page is made \
                    again by\n\n"
        .to_owned();
    page.push_str(&block("picklock experiment --all --format markdown"));
    let mut contents = Table::new(["experiment", "claim", "verdict"]);
    for Outcome { experiment, measured } in outcomes {
        let link = format!("[{0}](#{0})", experiment.name);
        contents.row([link, escape(experiment.claim), measured.verdict.word().to_owned()]);
    }
    page.push_str(&format!("\n{}", contents.text));
    outcomes.iter().for_each(|outcome| page.push_str(&section(outcome)));
    page
}

fn section(Outcome { experiment, measured }: &Outcome) -> String {
    let mut page = format!("\n## {}\n\n", experiment.name);
    page.push_str(&format!("*Claim:* {} ({})\n\n", escape(experiment.claim), escape(experiment.source)));
    page.push_str(&format!("*{}:* {}\n", capital(measured.verdict.word()), escape(&measured.because)));
    for figures in &measured.figures {
        let mut table = Table::new(figures.head.iter().copied());
        figures.rows.iter().for_each(|row| table.row(row.iter().map(|cell| escape(cell))));
        page.push_str(&format!("\n{}:\n\n{}", capital(&escape(&figures.title)), table.text));
    }
    for replay in &measured.replays {
        page.push_str(&format!("\n{}\n", code(replay)));
    }
    page
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Experiments as one JSON array.
#[must_use]
pub fn json(outcomes: &[Outcome]) -> Value {
    let figures =
        |figures: &Figures| json!({"title": figures.title, "head": figures.head, "rows": figures.rows});
    let one = |Outcome { experiment, measured }: &Outcome| {
        json!({
            "name": experiment.name,
            "claim": experiment.claim,
            "source": experiment.source,
            "verdict": measured.verdict.word(),
            "because": measured.because,
            "figures": measured.figures.iter().map(figures).collect::<Vec<_>>(),
            "replays": measured.replays,
        })
    };
    Value::Array(outcomes.iter().map(one).collect())
}
