//! Helpers for tests of unmodified programs: the interpreter of their scripts, and the digest of a run.

use std::process::Command;
use std::sync::OnceLock;

use crate::binary::Ended;

/// The interpreter itself: what a version manager puts into the `PATH` under its name may be a shell script, which starts
/// a dozen processes before it.
pub(crate) fn python3() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let output =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

/// A script as a command.
pub(crate) fn python(script: &str) -> String {
    format!("{} -c '{script}'", python3())
}

/// The line of a report that names the digest of a run.
pub(crate) fn digest(output: &Ended) -> String {
    let line = output.stdout.lines().find(|line| line.trim_start().starts_with("digest: "));
    line.unwrap_or_else(|| panic!("{}{}", output.stdout, output.stderr)).to_owned()
}
