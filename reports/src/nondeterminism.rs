//! The report of a determinism check: where two runs of one plan differ, and why.

use std::fmt::Write as _;

use picklock_campaign::check::Checked;
use picklock_campaign::determinism::{Cause, Code, DeterminismCheck, Difference};

use crate::page::layout::paragraph;
use crate::page::paint::{Ink, Style};
use crate::story::words::Names;

/// For people: the first difference between two runs, the event of each there, and the likely cause. `elsewhere` is what another process has.
#[must_use]
pub fn text(title: &str, check: &DeterminismCheck, elsewhere: Option<&str>, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Ink::Head, title));
    if let Some(difference) = &check.difference {
        out.push_str(&first_difference(difference, style));
    }
    let causes =
        check.difference.iter().map(|difference| difference.cause).chain(check.noticed.iter().copied());
    let mut named: Vec<Cause> = Vec::new();
    for cause in causes {
        if !named.contains(&cause) {
            named.push(cause);
            out.push_str(&likely(cause, check.code, style));
        }
    }
    if let Some(elsewhere) = elsewhere {
        out.push_str("  another process does something else:\n");
        for line in elsewhere.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    out.push('\n');
    out
}

/// The same of one difference, without a title.
#[must_use]
pub fn difference(difference: &Difference, style: &Style) -> String {
    first_difference(difference, style) + &likely(difference.cause, difference.code, style)
}

fn likely(cause: Cause, code: Code, style: &Style) -> String {
    paragraph(&format!("likely cause: {}", code.cause(cause)), 2, style.columns())
        + &paragraph(&format!("instead: {}", code.remedy(cause)), 2, style.columns())
}

fn first_difference(difference: &Difference, style: &Style) -> String {
    let mut out = format!("  two runs of it part at event {}:\n", difference.position);
    let line = |run: &Checked| {
        let names = Names::of(&run.trace);
        match run.trace.events.get(difference.position) {
            None => "has ended".to_owned(),
            Some(event) => {
                let said = run.wire.get(&event.id).map(|said| format!(": {said}")).unwrap_or_default();
                format!("{} {} {}{said}", event.at, names.host(event.host), names.say(event))
            }
        }
    };
    let mut lines = difference.runs.each_ref().map(line);
    if lines[0] == lines[1] {
        // Segments that read the same in words differ in their bytes.
        lines[1].push_str(", with other bytes");
    }
    for (nth, line) in ["first ", "second"].iter().zip(lines) {
        out.push_str(&paragraph(&format!("{nth}: {line}"), 4, style.columns()));
    }
    out
}
