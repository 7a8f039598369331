//! The command line as a script uses it: arguments, the lines of what is printed, and a shell.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{Ended, directory, end, run_in};

/// A campaign that violates, in less than a second.
pub(crate) const VIOLATING: [&str; 9] =
    ["run", "--design", "single", "--scenario", "pause", "--seeds", "40", "--expect", "none"];

/// Runs picklock where no file is read or written.
pub(crate) fn run(args: &[&str]) -> Ended {
    run_in(directory().path(), args)
}

/// The text of a file that picklock wrote.
pub(crate) fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Arguments and some more.
pub(crate) fn and<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [args, more].concat()
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in:\n{text}"))
}

pub(crate) fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Runs a line as a shell would, with picklock on the PATH.
pub(crate) fn shell(within: &Path, line: &str) -> Ended {
    let folder = Path::new(env!("CARGO_BIN_EXE_picklock")).parent().expect("a binary lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(within).env("PATH", format!("{}:{path}", folder.display()));
    command.env_remove("COLUMNS").env_remove("NO_COLOR").stdin(Stdio::null());
    end(command)
}

/// The value behind `name: ` at the start of a line.
pub(crate) fn said<'a>(text: &'a str, name: &str) -> &'a str {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("nothing is said of {name} in:\n{text}"))
}

/// The lines of a report that replay something, in order.
pub(crate) fn replay_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| line.starts_with("picklock replay ")).collect()
}
