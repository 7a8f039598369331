//! Results as workflow commands of GitHub Actions: an annotation for each cell that is not as expected.
//!
//! The page for the job's summary is the Markdown, which the command line appends to the file that the workflow names. Source:
//! "Workflow commands for GitHub Actions", docs.github.com.

use picklock_campaign::summary::{Cell, Summary};

use super::text;
use crate::format::{Format, ReportError};
use crate::matrix::verdict::{self, ExpectationStatus, Mark};
use crate::page::layout::printable;
use crate::page::numbers::plural;
use crate::page::paint::Style;

/// Results as annotations.
pub const FORMAT: Format = Format {
    name: "github",
    file: "annotations.txt",
    doc: "annotations for GitHub Actions, and the job's summary where there is one",
    render,
};

fn render(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    let mut page: String = summary.cells.iter().flat_map(annotations).collect();
    if summary.partial {
        page.push_str(&command(
            "warning",
            "picklock",
            "interrupted: the numbers are those of the runs made until then",
        ));
    }
    let noted = page.lines().count();
    let cells = summary.cells.iter().filter(|cell| cell.skipped.is_none()).count();
    let said = match noted {
        0 => format!("as expected in {cells} {}", plural(cells as u64, "cell")),
        _ => format!(
            "{noted} {} for {cells} {}",
            plural(noted as u64, "annotation"),
            plural(cells as u64, "cell")
        ),
    };
    page.push_str(&command("notice", "picklock", &said));
    Ok(page)
}

/// The annotations of a cell: that it is not as expected, and each violation that counts, with the line that replays it.
fn annotations(cell: &Cell) -> Vec<String> {
    let title = format!("{} under {}", cell.design, cell.scenario);
    let mut all = Vec::new();
    let counting = cell.violations.iter().filter(|(invariant, _)| verdict::counts(cell, invariant));
    for (invariant, violation) in counting {
        let headline = text::headline(cell, invariant, violation);
        // The title names the cell.
        let headline =
            headline.strip_prefix(&format!("{}, {}: ", cell.design, cell.scenario)).unwrap_or(&headline);
        let said = format!("{headline}\n{}", violation.replay);
        all.push(command("error", &title, &said));
    }
    if all.is_empty() && ExpectationStatus::of(cell) == ExpectationStatus::NotMet {
        let why = cell.unmet_because.as_deref().unwrap_or("the results differ from what is expected");
        all.push(command("error", &title, why));
    }
    if all.is_empty() && Mark::of(cell) == Mark::Inconclusive {
        all.push(command("warning", &title, &verdict::found(cell)));
    }
    all
}

fn command(kind: &str, title: &str, message: &str) -> String {
    let title = escaped(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{}\n", escaped(message))
}

fn escaped(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
