//! `picklock doctor --programs`: what this machine offers for programs in virtual time.

use picklock_programs::ready::{self, Finding};
use picklock_programs::servers;
use picklock_reports::page::layout::{left, paragraph};
use picklock_sim::store::{Installed, StoreKind};
use picklock_stores::KINDS;

use super::exit::{Exit, Failure};
use super::screen;

/// Prints the findings. The exit code is 1 if no program can be run here.
pub(crate) fn check() -> Result<Exit, Failure> {
    let findings = ready::findings();
    let columns = screen::columns();
    let page: Vec<String> = findings.iter().map(|finding| entry(finding, columns)).collect();
    let lacking = findings.iter().filter(|finding| finding.is_needed && !finding.is_there).count();
    let verdict = match lacking {
        0 => "Programs can be run here.\n".to_owned(),
        _ => "Programs cannot be run here; everything else of picklock can.\n".to_owned(),
    };
    let servers: Vec<String> =
        KINDS.iter().filter_map(|kind| Some(server_line(kind, kind.real.as_ref()?, columns))).collect();
    screen::print(&format!("{}{}\n{verdict}", page.concat(), servers.concat()))?;
    Ok(if lacking == 0 { Exit::Expected } else { Exit::Violation })
}

/// A real server: its name, what is installed of it, and what asks for it.
fn server_line(kind: &StoreKind, real: &Installed, columns: usize) -> String {
    let (name, installed) = (real.program, servers::version(kind.name));
    let (word, seen) = match &installed {
        Some(version) => ("yes", version.as_str()),
        None => ("no", "not found"),
    };
    let mut text = paragraph(&format!("{}{name}: {seen}", left(word, 5)), 0, columns);
    if installed.is_none() {
        let lost = format!("lost: `--servers real` on {}; install the package {}", kind.name, real.package);
        text.push_str(&paragraph(&lost, 5, columns));
    }
    text
}

fn entry(finding: &Finding, columns: usize) -> String {
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
