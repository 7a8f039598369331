//! Reads files that somebody else may have written: regular files alone, of a limited size. A link is not followed, and a pipe is not
//! waited for.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The size of a file at most.
pub(super) const SIZE_MAX: u64 = 1 << 20;

/// The text of a regular file.
///
/// # Errors
/// When it is a link, a pipe or another special file, too large, or not text.
pub(super) fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(SIZE_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SIZE_MAX {
        return Err(other(format!("the file has more than {} KiB", SIZE_MAX >> 10)));
    }
    String::from_utf8(bytes).map_err(|_| other("the file is not text in UTF-8".to_owned()))
}

/// Opens a regular file.
///
/// # Errors
/// When it is a link, a pipe or another special file.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Looked at before it is opened: to open a device may do something.
    regular(&fs::symlink_metadata(path)?)?;
    let file = open_regular(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

fn regular(about: &fs::Metadata) -> io::Result<()> {
    let kind = about.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_symlink() { "a link" } else { "no regular file" };
    Err(other(format!("it is {what}: put a copy of the file in its place")))
}

#[cfg(unix)]
fn open_regular(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_regular(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn other(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, message)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_a_pipe_and_a_large_file_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("plain"), "text").unwrap();
        assert_eq!(text(&at("plain")).unwrap(), "text");
        symlink(at("plain"), at("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        fs::write(at("large"), vec![b'x'; SIZE_MAX as usize + 1]).unwrap();
        fs::write(at("binary"), [0xff, 0xfe]).unwrap();
        let error = |name: &str| text(&at(name)).unwrap_err().to_string();
        assert_eq!(error("link"), "it is a link: put a copy of the file in its place");
        assert_eq!(error("pipe"), "it is no regular file: put a copy of the file in its place");
        assert_eq!(error("large"), "the file has more than 1024 KiB");
        assert_eq!(error("binary"), "the file is not text in UTF-8");
    }
}
