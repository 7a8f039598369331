//! PyPI.
//!
//! pip compares the hash of a file before it unpacks or builds it (`--require-hashes`). Wheels are installed first and run no code. A
//! distribution without a wheel is built afterwards, with the build tools that are locked, in no environment of pip's own: that would
//! fetch build tools that nobody has pinned.

use std::fmt::Write as _;

use serde_json::Value;

use super::files::write;
use super::package::Package;
use super::workshop::Workshop;
use crate::museum::error::FetchError;
use crate::museum::locked::{LockedPackage, LockedVersion};

/// The environment. Isolated Python reads no module of its working directory and no variable.
const PYTHON: &str = "venv/bin/python";
const PIP: [&str; 7] = [PYTHON, "-I", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"];

/// The word for a distribution that is built.
const SOURCE: &str = "source";

/// What an old `setup.py` is built with.
const BUILD_TOOLS: [&str; 2] = ["setuptools", "wheel"];

/// Makes a virtual environment `venv` and installs the packages in it.
pub(super) fn fetch(locked: &LockedVersion, workshop: &Workshop<'_>) -> Result<(), FetchError> {
    workshop.run(&["python3", "-I", "-m", "venv", "venv"])?;
    let (sources, wheels): (Vec<_>, Vec<_>) =
        locked.packages.iter().partition(|package| package.more.iter().any(|word| word == SOURCE));
    install(&wheels, "wheels.txt", &["--only-binary=:all:"], workshop)?;
    install(&sources, "sources.txt", &["--no-binary=:all:", "--no-build-isolation"], workshop)
}

/// Installs these packages and no others.
fn install(
    packages: &[&LockedPackage],
    file: &str,
    kind: &[&str],
    workshop: &Workshop<'_>,
) -> Result<(), FetchError> {
    if packages.is_empty() {
        return Ok(());
    }
    let mut lines = String::new();
    for LockedPackage { name, version, checksum, .. } in packages {
        let _ = writeln!(lines, "{name}=={version} --hash=sha256:{checksum}");
    }
    write(&workshop.home, file, &lines)?;
    let file = workshop.in_home(file);
    let words = [&PIP[..], &["install", "--no-deps", "--require-hashes"], kind, &["--requirement", &file]];
    workshop.run_checked(&words.concat(), &["DO NOT MATCH THE HASHES"]).map(drop)
}

/// The packages that pip would install.
pub(super) fn lock(package: Package<'_>, workshop: &Workshop<'_>) -> Result<Vec<LockedPackage>, FetchError> {
    workshop.run(&["python3", "-I", "-m", "venv", "venv"])?;
    let mut asked: Vec<String> = package.all().map(|(name, version)| format!("{name}=={version}")).collect();
    let chosen = choose(&asked, workshop)?;
    if chosen.iter().all(|package| package.more.is_empty()) {
        return Ok(chosen);
    }
    let is_chosen = |tool: &&str| chosen.iter().any(|package| package.name == *tool);
    asked.extend(BUILD_TOOLS.iter().filter(|tool| !is_chosen(tool)).map(|tool| (*tool).to_owned()));
    choose(&asked, workshop)
}

fn choose(asked: &[String], workshop: &Workshop<'_>) -> Result<Vec<LockedPackage>, FetchError> {
    let options =
        ["install", "--dry-run", "--ignore-installed", "--prefer-binary", "--report", "report.json"];
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    workshop.run(&[&PIP[..], &options, &asked].concat())?;
    let path = workshop.dir.join("report.json");
    let report = std::fs::read(&path).map_err(crate::museum::error::at(&path))?;
    let report: Value = serde_json::from_slice(&report).unwrap_or_default();
    let installed = report["install"].as_array().into_iter().flatten();
    Ok(installed
        .map(|one| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let is_wheel = one["download_info"]["url"].as_str().is_some_and(|url| url.ends_with(".whl"));
            LockedPackage {
                name: text(&one["metadata"]["name"]),
                version: text(&one["metadata"]["version"]),
                checksum: text(&one["download_info"]["archive_info"]["hashes"]["sha256"]),
                more: if is_wheel { Vec::new() } else { vec![SOURCE.to_owned()] },
            }
        })
        .collect())
}
