//! The programs of a real PostgreSQL on this machine, and the user that runs them.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs the rest as the user `postgres`.
const ROOT_LESS: [&str; 4] = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"];

/// The version of the server that is installed: `15.20`.
pub(super) fn version() -> Option<String> {
    let output = Command::new(programs()?.join("postgres")).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().nth(2).map(str::to_owned)
}

/// Where its programs are: where `PG_BIN` says, or where Debian keeps those of each version.
pub(crate) fn programs() -> Option<PathBuf> {
    if let Some(given) = env::var_os("PG_BIN") {
        return Some(given.into());
    }
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("postgres").exists() && bin.join("initdb").exists())
        .collect();
    found.sort();
    found.pop()
}

/// True if the user is one as which no PostgreSQL and no pgbouncer runs.
pub(super) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

/// The words before a command that is run as the user `postgres`, where this is root.
pub(super) fn as_user_words() -> Vec<String> {
    if is_root() { ROOT_LESS.map(str::to_owned).to_vec() } else { Vec::new() }
}

/// A program as the user `postgres`, where this is root.
pub(crate) fn as_user(program: impl AsRef<OsStr>) -> Command {
    let words = as_user_words();
    let Some((first, rest)) = words.split_first() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(rest).arg(program);
    command
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started, or fails: with what it says on standard error.
pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
