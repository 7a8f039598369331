//! The directories of a program's own files, of which a story shows lines.
//!
//! A program chooses the names of the files that its code is said to come from, so that a story shows lines of the user's own files alone:
//! those below the working directory, below the directories of the files that the command names, below the libraries beside an interpreter
//! (`DIR/lib` for `DIR/bin/python`), and below [`show_sources`].

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::shim;

/// The directories that the user has named.
static NAMED: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Stories of this process also show lines of files below these directories. Only the first call counts.
pub fn show_sources(directories: &[PathBuf]) {
    NAMED.get_or_init(|| directories.to_vec());
}

/// The directories of a program with this command.
pub(crate) fn of(words: &[String]) -> Vec<PathBuf> {
    let files = words.iter().map(Path::new).filter(|word| word.components().count() > 1 && word.is_file());
    let mut directories: Vec<PathBuf> = files.filter_map(|file| Some(file.parent()?.to_owned())).collect();
    directories.extend(env::current_dir().ok());
    directories.extend(words.first().and_then(|program| libraries(&shim::found(program)?)));
    // Below the root is everything.
    directories.retain(|directory| directory.parent().is_some());
    directories.extend(NAMED.get().into_iter().flatten().cloned());
    directories
}

/// The libraries of an interpreter's installation, or of a virtual environment.
fn libraries(program: &Path) -> Option<PathBuf> {
    let place = program.parent()?;
    let is_installed = place.file_name().is_some_and(|name| name == "bin");
    is_installed.then(|| place.with_file_name("lib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_command_have_their_directories() {
        let words = ["/opt/venv/bin/python", "/etc/passwd", "/nowhere/file", "/"].map(str::to_owned);
        let expected = [PathBuf::from("/etc"), env::current_dir().unwrap(), PathBuf::from("/opt/venv/lib")];
        assert_eq!(of(&words), expected);
    }
}
