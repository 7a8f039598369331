//! The lines of source files.

use std::collections::BTreeMap;
use std::fs;

/// A file is not read beyond this.
const LONGEST: u64 = 4 << 20;

/// The source files that were asked for, by path; none for one that cannot be read.
#[derive(Default)]
pub(super) struct Sources(BTreeMap<String, Option<Vec<String>>>);

impl Sources {
    /// The text of a line of a file, as a process sees it, without its indentation.
    pub(super) fn line(&mut self, pid: u32, file: &str, line: u32) -> Option<String> {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| read(pid, file));
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = lines.as_ref()?.get(index)?;
        (!text.is_empty()).then(|| text.clone())
    }
}

fn read(pid: u32, file: &str) -> Option<Vec<String>> {
    let start = if file.starts_with('/') { "root" } else { "cwd/" };
    let path = format!("/proc/{pid}/{start}{file}");
    let about = fs::metadata(&path).ok()?;
    if !about.is_file() || about.len() > LONGEST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().map(|line| line.trim().to_owned()).collect())
}
