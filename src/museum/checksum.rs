//! Checksums of files.

use std::fs;
use std::path::Path;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::error::{FetchError, at};

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256(file: &Path) -> Result<String, FetchError> {
    let bytes = fs::read(file).map_err(at(file))?;
    Ok(HEXLOWER.encode(&Sha256::digest(bytes)))
}
