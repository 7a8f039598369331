//! Reports of a history that was recorded elsewhere: for people, and as JSON.

use picklock_judge::recorded::{Breach, Judgement, Verdict};
use picklock_model::time::nanos;
use serde::Serialize;

use crate::format::{Format, ReportError};
use crate::page::layout::paragraph;
use crate::page::numbers::plural;
use crate::page::paint::{Ink, Style};

/// The formats of a judgement, the one for people first.
pub const ALL: &[Format<Judgement>] = &[
    Format { name: "text", file: "judgement.txt", doc: "verdicts and stories, for people", render: text },
    Format {
        name: "json",
        file: "judgement.json",
        doc: "the same as one JSON object, for scripts",
        render: json,
    },
];

/// The version of the JSON.
const SCHEMA: u32 = 1;

fn text(judgement: &Judgement, style: &Style) -> Result<String, ReportError> {
    let Judgement { lines, hosts, keys, grants, span, verdicts } = judgement;
    let count = |number: u64, thing: &str| format!("{number} {}", plural(number, thing));
    let facts = format!(
        "{}, {}, {}, {} in {:.3} s",
        count(*lines, "line"),
        count(*hosts as u64, "host"),
        count(*keys as u64, "key"),
        count(*grants as u64, "grant"),
        span.as_secs_f64()
    );
    let mut page = format!("{}\n", style.paint(Ink::Dim, &facts));
    for (number, name, verdict) in verdicts {
        let (ink, said, breaches, more) = match verdict {
            Verdict::Holds => (Ink::Plain, "holds".to_owned(), &[][..], 0),
            Verdict::Violated { count: often, breaches } => {
                let said = format!("violated {}", count(*often as u64, "time"));
                (Ink::Loss, said, breaches.as_slice(), often - breaches.len())
            }
            Verdict::Inconclusive { why, perhaps } => {
                (Ink::Warn, format!("unknown: {why}"), perhaps.as_slice(), 0)
            }
            Verdict::NotApplicable(why) => (Ink::Dim, format!("not applicable: {why}"), &[][..], 0),
        };
        page.push('\n');
        for (at, line) in
            crate::page::layout::wrap(&format!("{number} {name}: {said}"), style.columns()).iter().enumerate()
        {
            page.push_str(if at == 0 { "" } else { "  " });
            page.push_str(&style.paint(ink, line));
            page.push('\n');
        }
        for breach in breaches {
            page.push_str(&paragraph(&words(breach), 2, style.columns()));
        }
        if more > 0 {
            page.push_str(&format!("  and {more} more\n"));
        }
    }
    Ok(page)
}

fn words(breach: &Breach) -> String {
    let lines: Vec<String> = breach.lines.iter().map(u64::to_string).collect();
    let text = crate::page::layout::printable(&breach.text).into_owned();
    match lines.as_slice() {
        [] => text,
        [line] => format!("{text} (line {line})"),
        lines => format!("{text} (lines {})", lines.join(", ")),
    }
}

fn json(judgement: &Judgement, _style: &Style) -> Result<String, ReportError> {
    let Judgement { lines, hosts, keys, grants, span, verdicts } = judgement;
    let page = JudgementJson {
        schema: SCHEMA,
        lines: *lines,
        hosts: *hosts,
        keys: *keys,
        grants: *grants,
        span_ns: nanos(*span),
        verdicts: verdicts
            .iter()
            .map(|(number, name, verdict)| VerdictJson::of(number, name, verdict))
            .collect(),
    };
    Ok(serde_json::to_string_pretty(&page)? + "\n")
}

#[derive(Serialize)]
struct JudgementJson<'a> {
    schema: u32,
    lines: u64,
    hosts: usize,
    keys: usize,
    grants: usize,
    span_ns: u64,
    verdicts: Vec<VerdictJson<'a>>,
}

#[derive(Serialize)]
struct VerdictJson<'a> {
    number: &'a str,
    invariant: &'a str,
    verdict: &'a str,
    why: Option<&'a str>,
    count: usize,
    breaches: Vec<BreachJson<'a>>,
}

impl<'a> VerdictJson<'a> {
    fn of(number: &'a str, invariant: &'a str, verdict: &'a Verdict) -> VerdictJson<'a> {
        let (verdict, why, count, breaches) = match verdict {
            Verdict::Holds => ("holds", None, 0, &[][..]),
            Verdict::Violated { count, breaches } => ("violated", None, *count, breaches.as_slice()),
            Verdict::Inconclusive { why, perhaps } => ("unknown", Some(why.as_str()), 0, perhaps.as_slice()),
            Verdict::NotApplicable(why) => ("not-applicable", Some(why.as_str()), 0, &[][..]),
        };
        let breaches = breaches.iter().map(BreachJson::of).collect();
        VerdictJson { number, invariant, verdict, why, count, breaches }
    }
}

#[derive(Serialize)]
struct BreachJson<'a> {
    text: &'a str,
    lines: &'a [u64],
    width_ns: Option<u64>,
}

impl<'a> BreachJson<'a> {
    fn of(breach: &'a Breach) -> BreachJson<'a> {
        let Breach { text, lines, width } = breach;
        BreachJson { text, lines, width_ns: width.map(nanos) }
    }
}
