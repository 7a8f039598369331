//! Commands that are not the program itself, but a shell script that starts it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The shells in which such scripts are written.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];

/// True if the file is a shell script, as those are that version managers put into the `PATH`: each start runs it, with all
/// processes that it starts, and what has started cannot be copied.
#[must_use]
pub fn is_shell_script(file: &Path) -> bool {
    let mut head = Vec::new();
    if File::open(file).and_then(|file| file.take(128).read_to_end(&mut head)).is_err() {
        return false;
    }
    let head = String::from_utf8_lossy(&head);
    let Some(line) = head.lines().next().and_then(|line| line.strip_prefix("#!")) else { return false };
    let mut words = line.split_whitespace().filter_map(|word| word.rsplit('/').next());
    let interpreter = match words.next() {
        Some("env") => words.find(|word| !word.starts_with('-')),
        other => other,
    };
    interpreter.is_some_and(|interpreter| SHELLS.contains(&interpreter))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

    use super::*;

    #[test]
    fn shell_scripts_are_distinguished_from_programs_and_other_scripts() {
        let directory = tempfile::tempdir().unwrap();
        let is_one = |content: &[u8]| {
            let path = directory.path().join("file");
            std::fs::write(&path, content).unwrap();
            is_shell_script(&path)
        };
        assert!(is_one(b"#!/usr/bin/env bash\nexec python3 \"$@\"\n"));
        assert!(is_one(b"#! /bin/sh -e\n"));
        assert!(is_one(b"#!/usr/bin/env -S bash\n"));
        assert!(!is_one(b"#!/usr/bin/env python3\n"));
        assert!(!is_one(b"\x7fELF\x02\xff\xfe"));
        assert!(!is_one(b""));
        assert!(!is_shell_script(&directory.path().join("missing")));
    }
}
