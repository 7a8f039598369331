//! The files of `/proc`, as text. A program may give itself, its threads and its files names that are none.

use std::{fs, io, path::Path};

/// The text of a file; letters that are none are replaced.
pub(crate) fn text_of(file: impl AsRef<Path>) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}
