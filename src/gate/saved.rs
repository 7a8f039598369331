//! Saved runs in which this lock once failed: they stand beside its tests and are made before all others.

use std::io;
use std::path::{Path, PathBuf};

use picklock_campaign::allow::AllowedViolations;

use super::error::FileError;
use super::{Gate, GateError, Verdict, replay};

/// The directory of saved runs, below that of the crate under test.
const DIRECTORY: &str = "tests/regressions";

/// The directory of the saved runs of this gate.
pub(super) fn directory(gate: &Gate) -> PathBuf {
    gate.regressions.clone().unwrap_or_else(|| {
        // Cargo says where the crate is whose tests it runs; without cargo that is where one stands.
        std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default().join(DIRECTORY)
    })
}

/// Makes every saved run of this design, in the order of the files' names.
pub(super) fn all(
    gate: &Gate,
    allowed_violations: Option<&AllowedViolations>,
    verdict: &mut Verdict,
) -> Result<(), GateError> {
    let directory = directory(gate);
    for file in files(gate, &directory)? {
        match replay::saved(&gate.design, &file, allowed_violations) {
            Ok(cell) => verdict.add_saved(cell),
            // Two locks of one crate share the directory.
            Err(GateError::File { why: FileError::OtherDesign { kept, .. }, path }) => {
                verdict.note(format!("{}: holds a run of `{kept}`, and was left to that", path.display()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn files(gate: &Gate, directory: &Path) -> Result<Vec<PathBuf>, GateError> {
    let unreadable =
        |error: io::Error| GateError::File { path: directory.to_owned(), why: FileError::Read(error) };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        // Most crates have saved nothing yet. A directory that was named is another matter.
        Err(error) if error.kind() == io::ErrorKind::NotFound && gate.regressions.is_none() => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|ending| ending == "json") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
