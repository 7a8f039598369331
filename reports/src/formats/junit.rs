//! Results as JUnit XML, for continuous integration: a suite for each design, a test case for each scenario.
//!
//! A case fails if its expectation is not met, or if something is violated that no expectation allows. A violation
//! that was expected passes and says so in its output. A case that says nothing (the scenario does not apply, nothing
//! was run, no run was conclusive) is skipped and never passed. Times are left out: a simulation takes none.

use std::sync::Arc;

use picklock_campaign::story::Story;
use picklock_campaign::summary::{Cell, Expected, Summary};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::text;
use crate::format::{Format, ReportError};
use crate::matrix::verdict::{self, ExpectationStatus, Mark};
use crate::page::layout::{distinct, printable};
use crate::page::numbers::plural;
use crate::page::paint::Style;
use crate::story::timeline::{self, Detail};

/// Results for continuous integration.
pub const FORMAT: Format = Format {
    name: "junit",
    file: "junit.xml",
    doc: "JUnit XML, a suite for each design, a case for each scenario; for continuous integration",
    render,
};

fn render(summary: &Summary, style: &Style) -> Result<String, ReportError> {
    // A page of XML is no terminal, whatever the style says.
    let plain = Style { colour: false, ..*style };
    let mut report = Report::new("picklock");
    for design in distinct(summary.cells.iter().map(|cell| cell.design.as_str())) {
        let mut suite = TestSuite::new(printable(design));
        suite.add_property(Property::new("command", printable(&summary.command)));
        if summary.partial {
            suite.add_property(Property::new("partial", "interrupted"));
        }
        suite.add_test_cases(
            summary.cells.iter().filter(|cell| cell.design == design).map(|cell| case(cell, &plain)),
        );
        report.add_test_suite(suite);
    }
    // The schema that Jenkins publishes knows no count of what was skipped above the suites, which have their own.
    let skipped = format!(" skipped=\"{}\"", report.skipped);
    Ok(report.to_string()?.replacen(&skipped, "", 1))
}

fn case(cell: &Cell, style: &Style) -> TestCase {
    let status = match (fault(cell), Mark::of(cell)) {
        (Some(message), _) => failed(&message, &account(cell, style)),
        (None, Mark::NotApplicable | Mark::Inconclusive) => skipped(&verdict::found(cell)),
        (None, _) => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(printable(&cell.scenario), status);
    case.set_classname(printable(&cell.design));
    let lines = [made(cell), verdict::found(cell), verdict::effects(cell), expected(cell)];
    let lines: Vec<String> =
        lines.iter().filter(|line| !line.is_empty()).map(|line| printable(line).into_owned()).collect();
    case.set_system_out(lines.join("\n"));
    case
}

/// The number of runs in words; empty if there are none.
fn made(cell: &Cell) -> String {
    match cell.runs {
        0 => String::new(),
        runs => format!("{runs} {} on {}, {} unknown", plural(runs, "run"), cell.engine, cell.unknown),
    }
}

/// The reason why the cell fails, if it does.
fn fault(cell: &Cell) -> Option<String> {
    if ExpectationStatus::of(cell) == ExpectationStatus::NotMet {
        let why = cell.unmet_because.as_deref();
        return Some(why.unwrap_or("the results differ from the expectation file").to_owned());
    }
    let counting = cell.violations.iter().filter(|(invariant, _)| verdict::counts(cell, invariant));
    let counting: Vec<String> = counting
        .map(|(invariant, violation)| {
            let (seen, of) = (violation.runs, cell.runs);
            format!("{invariant} violated in {seen} of {of} {}", plural(of, "run"))
        })
        .collect();
    (!counting.is_empty()).then(|| counting.join(", "))
}

fn failed(message: &str, account: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(printable(message)).set_type("violation").set_description(account);
    status
}

fn skipped(reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(printable(reason));
    status
}

/// Each violation with the line that replays it and, where the run is at hand, how it happened.
fn account(cell: &Cell, style: &Style) -> String {
    let mut account = String::new();
    let mut shown: Vec<&Arc<Story>> = Vec::new();
    for (invariant, violation) in &cell.violations {
        account.push_str(&format!("{}\n", printable(&text::headline(cell, invariant, violation))));
        let line = || format!("replay: {}\n", printable(&violation.replay));
        account.push_str(&match &violation.story {
            // One run may show several violations, and is shown once.
            Some(story) if shown.iter().any(|other| Arc::ptr_eq(other, story)) => line(),
            Some(story) => timeline::render(story, style, Detail::Relevant),
            None => line(),
        });
        shown.extend(&violation.story);
    }
    account
}

/// The entry of the expectation file in words; empty if there is none.
fn expected(cell: &Cell) -> String {
    let Some(Expected { violated, may, within }) = &cell.expected else { return String::new() };
    let must = match violated.as_slice() {
        [] => "expected: none violated".to_owned(),
        violated => format!("expected: {} violated within {within} runs", violated.join(", ")),
    };
    let may = if may.is_empty() { String::new() } else { format!("; allowed: {}", may.join(", ")) };
    let few = if ExpectationStatus::of(cell) == ExpectationStatus::TooFew {
        "; too few runs for a verdict"
    } else {
        ""
    };
    format!("{must}{may}{few}")
}
