//! The files of `/proc`, as text. A program may give itself, its threads and its files names that are none.

use std::{fs::File, io, io::Read, path::Path};

/// Bytes of most files of `/proc`. The kernel says that they are empty, and each further read costs a call.
const MOST: usize = 4096;

/// The text of a file; letters that are none are replaced.
pub(crate) fn text_of(file: impl AsRef<Path>) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&bytes_of(File::open(file)?)?).into_owned())
}

/// The bytes of an open file.
pub(crate) fn bytes_of(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(MOST);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A field of `/proc/ID/status`.
pub(crate) fn status_field(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().last()?.parse().ok()
}
