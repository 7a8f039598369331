//! The lines of source files.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::mapped::named;
use crate::HOME;

/// A file is not read beyond this.
const LONGEST: u64 = 4 << 20;

/// The source files that were asked for, by path; none for one that cannot be read, or is not the program's own.
pub(super) struct Sources {
    /// The directories of the program's own files.
    own: Vec<PathBuf>,
    read: BTreeMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Of files below these directories, and of those that the program has made.
    pub(super) fn below(directories: &[PathBuf]) -> Sources {
        let own = directories.iter().filter_map(|directory| directory.canonicalize().ok());
        let home = HOME.to_str().map(PathBuf::from);
        Sources { own: own.chain(home).collect(), read: BTreeMap::new() }
    }

    /// The text of a line of a file, as a process sees it, without its indentation.
    pub(super) fn line(&mut self, pid: u32, file: &str, line: u32) -> Option<String> {
        let own = &self.own;
        let lines = self.read.entry(file.to_owned()).or_insert_with(|| read(own, pid, file));
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = lines.as_ref()?.get(index)?;
        (!text.is_empty()).then(|| text.clone())
    }
}

fn read(own: &[PathBuf], pid: u32, file: &str) -> Option<Vec<String>> {
    let opened = named(pid, file)?;
    let is_own = |path: &Path| own.iter().any(|directory| path.starts_with(directory));
    if opened.bytes > LONGEST || !is_own(&opened.path) {
        return None;
    }
    let mut text = String::new();
    opened.file.take(opened.bytes).read_to_string(&mut text).ok()?;
    Some(text.lines().map(|line| line.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_of_the_programs_own_files_alone() {
        let [own, other] = [0, 1].map(|_| tempfile::tempdir().expect("a directory"));
        let (file, secret, link) =
            (own.path().join("lock.c"), other.path().join("key"), own.path().join("link"));
        std::fs::write(&file, "one\n  two\n").expect("write");
        std::fs::write(&secret, "secret\n").expect("write");
        std::os::unix::fs::symlink(&secret, &link).expect("link");
        let mut sources = Sources::below(&[own.path().to_owned()]);
        let mut line = |path: &Path, line| sources.line(std::process::id(), path.to_str()?, line);
        assert_eq!(line(&file, 2).as_deref(), Some("two"));
        assert_eq!((line(&file, 0), line(&file, 3)), (None, None));
        assert_eq!((line(&secret, 1), line(&link, 1)), (None, None), "they are not its own");
        let mut all = Sources::below(&["/".into()]);
        assert_eq!(
            all.line(std::process::id(), secret.to_str().expect("text"), 1).as_deref(),
            Some("secret")
        );
        assert_eq!(all.line(std::process::id(), "/proc/self/environ", 1), None, "it is no file of a disk");
    }
}
