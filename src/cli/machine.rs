//! `picklock doctor --programs`: what this machine offers for programs in virtual time.

use picklock_processes::ready::{self, Finding};
use picklock_reports::layout::{left, paragraph};

use super::exit::{Exit, Failure};
use super::screen;

/// Tells what was found. The exit code is 1 if no program can be run here.
pub(crate) fn examine() -> Result<Exit, Failure> {
    let findings = ready::findings();
    let columns = screen::columns();
    let page: Vec<String> = findings.iter().map(|finding| tell(finding, columns)).collect();
    let lacking = findings.iter().filter(|finding| finding.is_needed && !finding.is_there).count();
    let verdict = match lacking {
        0 => "Programs can be run here.\n".to_owned(),
        _ => "Programs cannot be run here; everything else of picklock can.\n".to_owned(),
    };
    screen::print(&format!("{}\n{verdict}", page.concat()))?;
    Ok(if lacking == 0 { Exit::Expected } else { Exit::Violation })
}

fn tell(finding: &Finding, columns: usize) -> String {
    let word = match (finding.is_there, finding.is_needed) {
        (true, _) => "yes",
        (false, true) => "NO",
        (false, false) => "no",
    };
    let mut text = paragraph(&format!("{}{}: {}", left(word, 5), finding.what, finding.seen), 0, columns);
    if !finding.is_there {
        text.push_str(&paragraph(&format!("lost: {}; {}", finding.lost, finding.remedy), 5, columns));
    }
    text
}
