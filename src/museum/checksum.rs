//! Checksums of files that were fetched.

use std::io::{self, Read as _};
use std::path::Path;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::error::{FetchError, at};
use super::read;

/// The size of a package at most.
const SIZE_MAX: u64 = 256 << 20;

/// The bytes of a regular file.
pub(super) fn bytes(file: &Path) -> Result<Vec<u8>, FetchError> {
    let mut bytes = Vec::new();
    let read = read::open(file).and_then(|opened| opened.take(SIZE_MAX + 1).read_to_end(&mut bytes));
    read.map_err(at(file))?;
    if bytes.len() as u64 > SIZE_MAX {
        return Err(at(file)(io::Error::other(format!("the file has more than {} MiB", SIZE_MAX >> 20))));
    }
    Ok(bytes)
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256(file: &Path) -> Result<String, FetchError> {
    Ok(HEXLOWER.encode(&Sha256::digest(bytes(file)?)))
}
