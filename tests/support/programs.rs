//! What tests of unmodified programs need: whether they can be run here, and by which interpreter.

use std::process::Command;
use std::sync::OnceLock;

use picklock_processes::ready;

use super::binary::Ended;

/// The interpreter itself: what a version manager puts into the `PATH` under its name may be a shell script, which starts
/// a dozen processes before it.
pub(crate) fn python3() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let told =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        String::from_utf8(told.stdout).unwrap().trim().to_owned()
    })
}

/// A script as a command.
#[allow(dead_code, reason = "not every test has a script of its own")]
pub(crate) fn python(script: &str) -> String {
    format!("{} -c '{script}'", python3())
}

/// Whether programs can be run here, with these commands; if not, that is said.
pub(crate) fn can_run(commands: &[&str]) -> bool {
    let lacking = ready::findings().into_iter().find(|finding| finding.is_needed && !finding.is_there);
    if let Some(lacking) = lacking {
        println!("skipped: {}: {}", lacking.what, lacking.remedy);
        return false;
    }
    commands.iter().all(|command| {
        // Go has a word for it.
        let asked = if *command == "go" { "version" } else { "--version" };
        let there = Command::new(command).arg(asked).output().is_ok_and(|output| output.status.success());
        if !there {
            println!("skipped: {command} is not installed");
        }
        there
    })
}

/// The line of a report that names the digest of a run.
pub(crate) fn digest(output: &Ended) -> String {
    let line = output.stdout.lines().find(|line| line.trim_start().starts_with("digest: "));
    line.unwrap_or_else(|| panic!("{}{}", output.stdout, output.stderr)).to_owned()
}
