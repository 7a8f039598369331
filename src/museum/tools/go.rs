//! The Go module proxy.
//!
//! Go compares the hash of a module with `go.sum` before it unpacks it, and a build of Go runs no code of a module.

use std::fmt::Write as _;
use std::fs;

use super::files::write;
use super::package::Package;
use super::workshop::Workshop;
use crate::museum::error::{FetchError, at};
use crate::museum::locked::{LockedPackage, LockedVersion};

/// From this version of the language on, a module's graph is read as far as it is needed, and not with all that it names.
const LANGUAGE: &str = "1.17";

/// The end of the version where the hash is that of the module's `go.mod` alone.
const MANIFEST: &str = "/go.mod";

/// Writes `go.mod` and `go.sum`, and has the tool fetch the modules.
pub(super) fn fetch(locked: &LockedVersion, workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let modules = locked.packages.iter().filter(|package| !package.version.ends_with(MANIFEST));
    let modules = modules.map(|package| (package.name.as_str(), package.version.as_str()));
    write(&workshop.dir, "go.mod", &manifest(locked.go.as_deref().unwrap_or(LANGUAGE), modules))?;
    let mut sums = String::new();
    for LockedPackage { name, version, checksum, .. } in &locked.packages {
        let _ = writeln!(sums, "{name} {version} {checksum}");
    }
    write(&workshop.dir, "go.sum", &sums)?;
    workshop.run_checked(&["go", "mod", "download"], &["checksum mismatch"]).map(drop)
}

fn manifest<'a>(language: &str, modules: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = format!("module adapter\n\ngo {language}\n\n");
    for (module, version) in modules {
        let _ = writeln!(text, "require {module} {version}");
    }
    text
}

/// Builds the adapter as `adapter`, with the locked modules alone.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let words = ["go", "build", "-mod=readonly", "-o", "adapter", "."];
    workshop.run_checked(&words, &["checksum mismatch"]).map(drop)
}

/// The modules that the adapter needs, and the version of the language that they need.
pub(super) fn lock(
    package: Package<'_>,
    workshop: &Workshop<'_>,
) -> Result<(Option<String>, Vec<LockedPackage>), FetchError> {
    write(&workshop.dir, "go.mod", &manifest(LANGUAGE, package.all()))?;
    workshop.run(&["go", "mod", "tidy", "-compat=1.17"])?;
    // It keeps sums that only tests of the modules need.
    let path = workshop.dir.join("go.sum");
    write(&workshop.dir, "go.sum", "")?;
    workshop.run(&["go", "list", "-mod=mod", "-deps", "."])?;
    let sums = fs::read_to_string(&path).map_err(at(&path))?;
    let path = workshop.dir.join("go.mod");
    let module = fs::read_to_string(&path).map_err(at(&path))?;
    let language = module.lines().find_map(|line| line.strip_prefix("go ")).map(str::to_owned);
    let packages = sums.lines().filter_map(|line| LockedPackage::try_from(line.to_owned()).ok());
    Ok((language, packages.collect()))
}
