//! A tool of a language: a command that is run in a directory.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::museum::error::{FetchError, at};

/// Runs a command in a directory, and returns its standard output.
///
/// # Errors
/// When it is not installed, or fails: then with the last line that it printed.
pub(super) fn run(dir: &Path, words: &[&str]) -> Result<String, FetchError> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(dir).stdin(Stdio::null());
    let ended = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => FetchError::NoTool { tool: words[0].to_owned() },
        _ => at(dir)(error),
    })?;
    let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
    if ended.status.success() {
        return Ok(printed);
    }
    let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
    Err(FetchError::Tool { command: words.join(" "), message: cause(&errors, &printed) })
}

/// The line that says most: the first that names an error, else the last one.
fn cause(errors: &str, printed: &str) -> String {
    let lines = || errors.lines().chain(printed.lines()).filter(|line| !line.trim().is_empty());
    let error = lines().find(|line| line.to_ascii_lowercase().contains("error"));
    error.or_else(|| lines().next_back()).unwrap_or("it printed nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_missing_or_fails_says_so() {
        let here = Path::new(".");
        let missing = run(here, &["picklock-has-no-such-tool"]).unwrap_err().to_string();
        assert_eq!(missing, "picklock-has-no-such-tool is not installed");
        let failed =
            run(here, &["sh", "-c", "echo first; echo 'Error: no network' >&2; exit 3"]).unwrap_err();
        assert_eq!(
            failed.to_string(),
            "`sh -c echo first; echo 'Error: no network' >&2; exit 3` failed: Error: no network"
        );
        assert_eq!(run(here, &["sh", "-c", "echo there"]).unwrap(), "there\n");
    }
}
