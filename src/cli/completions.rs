//! `picklock completions`: a script for a shell.

use clap::Command;
use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::screen;

pub(crate) fn print(shell: Shell, mut command: Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "picklock", &mut script);
    screen::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Expected)
}
