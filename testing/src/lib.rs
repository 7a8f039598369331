//! Skipped tests, counted.
//!
//! A test that needs a program which is not installed calls [`skip`] and returns: it passes without a check. The variable
//! [`SKIPS`] names a file that collects these tests. `.ci/run` sets it, prints the file, and fails if more tests are skipped than
//! `.ci/skips` allows.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// The environment variable with the path of the file.
pub const SKIPS: &str = "PICKLOCK_SKIPS";

/// Reports that the test of this thread is skipped, and why.
///
/// # Panics
///
/// If the file exists and cannot be written: then the skipped test would not be counted.
pub fn skip(reason: impl Display) {
    eprintln!("skipped: {reason}");
    let Some(file) = std::env::var_os(SKIPS).filter(|file| !file.is_empty()) else { return };
    let written = append(Path::new(&file), &line(&program(), &test(), &reason.to_string()));
    written
        .unwrap_or_else(|error| panic!("{SKIPS}: failed to write {}: {error}", Path::new(&file).display()));
}

/// One write, because other tests write to the same file.
fn append(file: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
}

fn line(program: &str, test: &str, reason: &str) -> String {
    format!("{program} {test}: {}\n", reason.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The name of the test program, without the hash that Cargo appends.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit_once('-').map_or(name.clone(), |(name, _)| name.to_owned())
}

fn test() -> String {
    std::thread::current().name().unwrap_or("a thread").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_test_is_one_line_with_its_program_its_name_and_the_reason() {
        assert_eq!(
            (program().as_str(), test().rsplit_once("::").map(|(module, _)| module)),
            ("picklock_testing", Some("tests"))
        );
        assert_eq!(line("programs", "etcd::two", "no\n etcd "), "programs etcd::two: no etcd\n");
    }

    #[test]
    fn lines_are_appended() {
        let directory = tempfile::tempdir().expect("a directory for the test");
        let file = directory.path().join("skips");
        append(&file, "one\n").and_then(|()| append(&file, "two\n")).expect("the file can be written");
        assert_eq!(std::fs::read_to_string(&file).expect("the file can be read"), "one\ntwo\n");
    }
}
