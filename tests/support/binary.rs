//! Runs the picklock binary as a stranger would: in a directory of its own, with nothing of the caller's terminal.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// How a process ended and what it said.
pub(crate) struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// An empty directory that is removed at the end of the test.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir().expect("the machine has room for a temporary directory")
}

/// The binary in a directory, deaf to what the caller's environment says of the terminal.
pub(crate) fn picklock(within: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_picklock"));
    command.current_dir(within).stdin(Stdio::null());
    // The output must not depend on the programs that are installed here.
    command.env("PICKLOCK_REDIS_SERVER", "");
    ["NO_COLOR", "COLUMNS", "LINES", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"].iter().for_each(
        |name| {
            command.env_remove(name);
        },
    );
    command
}

/// Runs a command to its end. Whatever happens, picklock does not panic.
pub(crate) fn end(mut command: Command) -> Ended {
    let output = command.output().expect("the command is there to be run");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("picklock prints UTF-8");
    let ended =
        Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!ended.stderr.contains("panicked"), "{command:?} panicked:\n{}", ended.stderr);
    ended
}

/// Runs picklock with these arguments in a directory.
pub(crate) fn run_in(within: &Path, args: &[&str]) -> Ended {
    let mut command = picklock(within);
    command.args(args);
    end(command)
}
