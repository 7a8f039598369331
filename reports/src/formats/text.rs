//! Results for a terminal: a matrix of designs and scenarios, a line for each cell, each violation with the line
//! that replays it, and a summary.
//!
//! Zero violations are never called safe: a clean cell states the bound that its runs support. The matrix is left
//! out where it does not fit; the lines of the cells bear the same symbols. Commands stand on lines of their own and
//! are never broken, so that they can be copied.

use std::borrow::Cow;
use std::sync::Arc;

use picklock_campaign::story::Story;
use picklock_campaign::summary::{Cell, Summary, Violation};

use crate::format::{Format, ReportError};
use crate::matrix::mark::Mark;
use crate::matrix::verdict::{self, ExpectationStatus, Totals};
use crate::matrix::{Matrix, Square, finding, legend};
use crate::page::layout::{distinct, left, printable, right, spaces, staircase, titled, width, wrap};
use crate::page::numbers::plural;
use crate::page::paint::{Ink, Style, inked};
use crate::story::timeline;

/// Results for a terminal.
pub const FORMAT: Format = Format {
    name: "text",
    file: "results.txt",
    doc: "a matrix, each cell, each violation with the line that replays it; for a terminal",
    render,
};

/// Columns of one cell of the matrix: a symbol, a `!` or not, and a gap.
const STEP: usize = 3;
/// A longer design name stands on a line of its own above its row.
const NAME_COLUMNS: usize = 24;
/// Fewer columns than this are too few for what was found: it goes below its line.
const FOUND_COLUMNS: usize = 28;
/// At most so many runs with violations that count are shown in full.
const STORIES: usize = 3;

fn render(summary: &Summary, style: &Style) -> Result<String, ReportError> {
    Ok(page(summary, style, timeline::Detail::Relevant))
}

/// The whole page, its stories in this detail.
pub(crate) fn page(summary: &Summary, style: &Style, detail: timeline::Detail) -> String {
    let mut page = String::new();
    let all = Matrix::of(summary);
    title(&mut page, &all, style);
    matrix(&mut page, &all, style);
    legend(&mut page, &all, style);
    cells(&mut page, summary, style);
    violations(&mut page, summary, style);
    stories(&mut page, summary.cells.iter(), style, detail);
    unmet(&mut page, summary, style);
    totals(&mut page, summary, style);
    page
}

fn title(page: &mut String, matrix: &Matrix<'_>, style: &Style) {
    let summary = matrix.summary;
    inked(page, Ink::Head, &finding::line(matrix), 0, style);
    page.push_str(&style.paint(Ink::Dim, &printable(&summary.command)));
    page.push('\n');
    if summary.partial {
        let words = "(partial: interrupted) The numbers are those of the runs made until then.";
        inked(page, Ink::Warn, words, 0, style);
    }
    page.push('\n');
}

fn matrix(page: &mut String, matrix: &Matrix<'_>, style: &Style) {
    let names: Vec<Cow<'_, str>> = matrix.rows.iter().map(|row| titled(row.design)).collect();
    let longest = names.iter().map(|name| width(name)).filter(|name| *name <= NAME_COLUMNS).max();
    let indent = longest.unwrap_or(0) + 2;
    let titles: Vec<Cow<'_, str>> = matrix.scenarios.iter().map(|name| printable(name)).collect();
    let head = staircase(&titles, indent, STEP);
    if head
        .iter()
        .map(|line| &**line)
        .chain(names.iter().map(|name| &**name))
        .any(|line| width(line) > style.columns())
    {
        return;
    }
    for line in head {
        page.push_str(&style.paint(Ink::Dim, &line));
        page.push('\n');
    }
    for (row, name) in matrix.rows.iter().zip(&names) {
        if width(name) + 2 > indent {
            page.push_str(&format!("{name}\n{}", spaces(indent)));
        } else {
            page.push_str(&left(name, indent));
        }
        let squares = row.squares.iter().map(|square| match square {
            None => spaces(STEP),
            Some(square) => {
                let symbols = square.symbols();
                let gap = spaces(STEP - width(&symbols));
                format!("{}{gap}", style.paint(verdict::ink(square.cell), &symbols))
            }
        });
        page.push_str(squares.collect::<String>().trim_end());
        page.push('\n');
    }
    page.push('\n');
}

fn legend(page: &mut String, matrix: &Matrix<'_>, style: &Style) {
    let signs = legend::items(&legend::keys(matrix), str::to_owned);
    inked(page, Ink::Dim, &signs.join(", "), 0, style);
    let none = Mark::NotApplicable.sign();
    let met = format!(
        "column met: yes or no = as expected or not, few = too few runs for a verdict, {none} = nothing is expected"
    );
    inked(page, Ink::Dim, &met, 0, style);
    legend::leases(matrix.summary).iter().for_each(|leases| inked(page, Ink::Dim, leases, 0, style));
}

fn cells(page: &mut String, summary: &Summary, style: &Style) {
    let columns = Columns::of(summary, style);
    page.push('\n');
    for line in columns.head().lines() {
        page.push_str(&format!("{}\n", style.paint(Ink::Head, line)));
    }
    for design in distinct(summary.cells.iter().map(|cell| cell.design.as_str())) {
        inked(page, Ink::Head, &titled(design), 0, style);
        for (nth, cell) in summary.cells.iter().enumerate().filter(|(_, cell)| cell.design == design) {
            columns.cell(page, nth, cell, style);
        }
    }
}

/// The widths of the table of cells.
struct Columns {
    scenario: usize,
    runs: usize,
    unknown: usize,
    /// Where the column of what was found begins; `None` if it goes below.
    found: Option<usize>,
    page: usize,
}

impl Columns {
    const MARK: usize = 5;
    const MET: usize = 3;
    const BELOW: usize = 7;

    fn of(summary: &Summary, style: &Style) -> Columns {
        let digits = |count: fn(&Cell) -> u64| {
            summary.cells.iter().map(|cell| count(cell).to_string().len()).max().unwrap_or(0)
        };
        let names = summary.cells.iter().map(|cell| width(&printable(&cell.scenario))).max();
        let scenario = names.unwrap_or(0).max("scenario".len());
        let runs = digits(|cell| cell.runs).max("runs".len());
        let unknown = digits(|cell| cell.unknown).max("unknown".len());
        let found = Columns::MARK + scenario + 2 + runs + 2 + unknown + 2 + Columns::MET + 2;
        let fits = found + FOUND_COLUMNS <= style.columns();
        Columns { scenario, runs, unknown, found: fits.then_some(found), page: style.columns() }
    }

    fn head(&self) -> String {
        let line = self.line("scenario", "runs", "unknown", "met");
        let found = if self.found.is_some() { "  found" } else { "" };
        let lines = fit(&format!("{line}{found}"), self.page - Columns::MARK);
        lines.iter().map(|line| format!("{}{line}\n", spaces(Columns::MARK))).collect()
    }

    fn line(&self, scenario: &str, runs: &str, unknown: &str, met: &str) -> String {
        format!(
            "{}  {}  {}  {}",
            left(scenario, self.scenario),
            right(runs, self.runs),
            right(unknown, self.unknown),
            left(met, Columns::MET)
        )
    }

    fn cell(&self, page: &mut String, nth: usize, cell: &Cell, style: &Style) {
        let (runs, unknown) = (cell.runs.to_string(), cell.unknown.to_string());
        let line = self.line(&printable(&cell.scenario), &runs, &unknown, ExpectationStatus::of(cell).word());
        let indent = self.found.unwrap_or(Columns::BELOW);
        let mut notes = painted(&notes(cell), self.page - indent, style);
        // Only the mark and the notes are coloured: the eye finds them, and the numbers stay easy to read.
        let mark = style.paint(verdict::ink(cell), &left(&Square::of(nth, cell).symbols(), 2));
        let mut line = fit(&line, self.page - Columns::MARK).join(&format!("\n{}", spaces(Columns::MARK)));
        if self.found.is_some() && !notes.is_empty() {
            line = format!("{line}  {}", notes.remove(0));
        }
        page.push_str(&format!("  {mark} {}\n", line.trim_end()));
        for note in notes {
            page.push_str(&format!("{}{note}\n", spaces(indent)));
        }
    }
}

/// The notes in lines of at most so many columns; what fits on one line together stands on one.
fn painted(notes: &[(Ink, String)], columns: usize, style: &Style) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = columns;
    for (ink, note) in notes {
        let wrapped = wrap(&printable(note), columns);
        let whole = wrapped.iter().map(|line| width(line)).sum::<usize>();
        match lines.last_mut() {
            Some(last) if used + 2 + whole <= columns && wrapped.len() == 1 => {
                last.push_str(&format!("; {}", style.paint(*ink, &wrapped[0])));
                used += 2 + whole;
            }
            _ => {
                used = wrapped.last().map_or(0, |line| width(line));
                lines.extend(wrapped.iter().map(|line| style.paint(*ink, line)));
            }
        }
    }
    lines
}

/// The line itself if it fits, wrapped if it does not.
fn fit(line: &str, columns: usize) -> Vec<String> {
    if width(line.trim_end()) <= columns { vec![line.to_owned()] } else { wrap(line, columns) }
}

/// The remarks on a cell beside its numbers: what was found, how wide it is, which faults took effect, why it is not as
/// expected.
fn notes(cell: &Cell) -> Vec<(Ink, String)> {
    let found = match Mark::of(cell) {
        Mark::Harmed | Mark::Blocked | Mark::Violated => verdict::ink(cell),
        Mark::Inconclusive => Ink::Warn,
        Mark::Holds | Mark::NotApplicable => Ink::Plain,
    };
    let mut notes = vec![
        (found, verdict::found(cell)),
        (Ink::Plain, verdict::exhausted(cell)),
        (Ink::Plain, verdict::overlap(cell)),
        (Ink::Plain, verdict::retries(&cell.metrics)),
        (Ink::Dim, verdict::effects(cell)),
    ];
    if let Some(why) = &cell.unmet_because {
        notes.push((Ink::Bad, format!("not as expected: {why}")));
    }
    notes.retain(|(_, note)| !note.is_empty());
    notes
}

fn violations(page: &mut String, summary: &Summary, style: &Style) {
    let mut first = true;
    for cell in &summary.cells {
        for (invariant, violation) in &cell.violations {
            if std::mem::take(&mut first) {
                section(page, "violations, each with the line that replays its first seed", style);
            }
            let ink = if verdict::counts(cell, invariant) { Ink::Bad } else { Ink::Warn };
            inked(page, ink, &headline(cell, invariant, violation), 0, style);
            page.push_str(&format!("  {}\n", style.paint(Ink::First, &printable(&violation.replay))));
            if let Some(repro) = &violation.repro {
                page.push_str(&format!("  saved as {}\n", printable(&repro.display().to_string())));
            }
        }
    }
}

/// "single, pause: mutual-exclusion in 193 of 200 runs, seen 15 of 16 on turmoil".
pub(crate) fn headline(cell: &Cell, invariant: &str, violation: &Violation) -> String {
    let (design, scenario) = (titled(&cell.design), &cell.scenario);
    let seen = verdict::seen(violation).map(|seen| format!(", {seen}")).unwrap_or_default();
    let runs = plural(cell.runs, "run");
    format!("{design}, {scenario}: {invariant} in {} of {} {runs}{seen}", violation.runs, cell.runs)
}

/// Shows the first few violations that count: the page is read for them.
pub(crate) fn stories<'a>(
    page: &mut String,
    cells: impl Iterator<Item = &'a Cell>,
    style: &Style,
    detail: timeline::Detail,
) {
    let counting = cells.flat_map(|cell| {
        cell.violations
            .iter()
            .filter(|(invariant, _)| verdict::counts(cell, invariant))
            .map(|(_, violation)| violation)
    });
    // All violations of one run are shown together, once.
    let mut stories: Vec<&Arc<Story>> = Vec::new();
    for story in counting.filter_map(|violation| violation.story.as_ref()) {
        if !stories.iter().any(|other| Arc::ptr_eq(other, story)) {
            stories.push(story);
        }
    }
    if stories.is_empty() {
        return;
    }
    // A short page shows all of few stories, or else one.
    let most = if detail == timeline::Detail::Short && stories.len() > STORIES { 1 } else { STORIES };
    // Reducing can be left out.
    let whole = |story: &&Arc<Story>| {
        story.replay.starts_with("picklock replay") && !story.replay.contains(" --shrink")
    };
    let title = match stories.iter().all(whole) {
        true => "how it happened",
        false => "how it happened, in the reduced run",
    };
    section(page, title, style);
    for (at, story) in stories.iter().take(most).enumerate() {
        if at > 0 {
            page.push('\n');
        }
        page.push_str(&timeline::render(story, style, detail));
    }
    if let Some(more) = stories.len().checked_sub(most).filter(|more| *more > 0) {
        page.push_str(&format!("\n{more} more can be shown by the lines that replay them.\n"));
    }
}

fn unmet(page: &mut String, summary: &Summary, style: &Style) {
    let unmet = summary.cells.iter().filter(|cell| ExpectationStatus::of(cell) == ExpectationStatus::NotMet);
    for (at, cell) in unmet.enumerate() {
        if at == 0 {
            section(page, "not as expected", style);
        }
        let why = cell.unmet_because.as_deref().unwrap_or("the results differ from the expectation file");
        inked(page, Ink::Bad, &format!("{}, {}: {why}", titled(&cell.design), cell.scenario), 0, style);
    }
}

fn totals(page: &mut String, summary: &Summary, style: &Style) {
    let totals = Totals::of(summary);
    let partial = if summary.partial { " (partial: interrupted)" } else { "" };
    section(page, &format!("summary{partial}"), style);
    let Totals { runs, cells, clean, violated, unknown, distinct, .. } = totals;
    let counted = format!(
        "{runs} {} in {cells} {}: {clean} clean, {violated} violated, {unknown} unknown; {distinct} distinct {}",
        plural(runs, "run"),
        plural(cells, "cell"),
        plural(distinct, "violation"),
    );
    inked(page, Ink::Plain, &counted, 0, style);
    if totals.met + totals.not_met + totals.too_few > 0 {
        let ink = if totals.not_met > 0 { Ink::Bad } else { Ink::Good };
        let words = format!(
            "as expected: {} yes, {} no, {} with too few runs for a verdict",
            totals.met, totals.not_met, totals.too_few
        );
        inked(page, ink, &words, 0, style);
    }
    if let Some(share) = totals.confirmed_share() {
        inked(page, Ink::Plain, &share, 0, style);
    }
    inked(
        page,
        Ink::Dim,
        "clean: no violation was found in these runs; the bound of its rate stands beside the cell",
        0,
        style,
    );
}

fn section(page: &mut String, title: &str, style: &Style) {
    page.push('\n');
    inked(page, Ink::Head, title, 0, style);
}
