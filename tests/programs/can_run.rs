//! A check that unmodified programs can be run in virtual time here.

use std::process::Command;

use picklock_programs::ready;
use picklock_testing::skip;

/// True if they can, these commands among them; a message says what is missing.
pub(crate) fn can_run(commands: &[&str]) -> bool {
    if let Some(lacking) = ready::findings().iter().find(|finding| finding.is_needed && !finding.is_there) {
        skip(format_args!("{}: {}", lacking.what, lacking.remedy));
        return false;
    }
    commands.iter().all(|command| {
        // Go has a word for it.
        let asked = if *command == "go" { "version" } else { "--version" };
        let there = Command::new(command).arg(asked).output().is_ok_and(|output| output.status.success());
        if !there {
            skip(format_args!("{command} is not installed"));
        }
        there
    })
}
