//! `picklock completions`: a script for a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Cli;
use super::exit::{Exit, Failure};
use super::screen;

pub(crate) fn print(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "picklock", &mut script);
    screen::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Expected)
}
