//! `picklock doctor --programs`: what this machine offers for programs in virtual time.

use picklock_processes::ready::{self, Finding};
use picklock_processes::servers;
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
    let servers = [
        ("redis-server", servers::installed(), "--servers real"),
        ("etcd", servers::installed_etcd(), "--topology etcd:N"),
        ("zookeeper (and java)", servers::installed_zookeeper(), "--topology zookeeper:N"),
    ];
    let servers: Vec<String> = servers.into_iter().map(|server| tell_server(server, columns)).collect();
    screen::print(&format!("{}{}\n{verdict}", page.concat(), servers.concat()))?;
    Ok(if lacking == 0 { Exit::Expected } else { Exit::Violation })
}

/// A real server: its name, what is installed of it, and what asks for it.
fn tell_server((name, installed, option): (&str, Option<String>, &str), columns: usize) -> String {
    let (word, seen) = match &installed {
        Some(version) => ("yes", version.as_str()),
        None => ("no", "not found"),
    };
    let mut text = paragraph(&format!("{}{name}: {seen}", left(word, 5)), 0, columns);
    if installed.is_none() {
        text.push_str(&paragraph(&format!("lost: `{option}`; install it"), 5, columns));
    }
    text
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
