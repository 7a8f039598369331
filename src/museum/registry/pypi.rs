//! PyPI.

use std::fs;
use std::path::{Path, PathBuf};

use super::package::Package;
use super::tool;
use crate::museum::checksum;
use crate::museum::error::{FetchError, at};

/// Where the distribution of the package itself is kept.
const DOWNLOADED: &str = "downloaded";

/// Makes a virtual environment `venv` and installs the packages in it.
pub(super) fn fetch(package: Package<'_>, dir: &Path) -> Result<String, FetchError> {
    let Package { name, version, with } = package;
    tool::run(dir, &["python3", "-m", "venv", "venv"])?;
    let pip = dir.join("venv/bin/pip").display().to_string();
    let quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
    let asked = format!("{}=={version}", name);
    let download = [&[pip.as_str(), "download"][..], &quiet, &["--no-deps", "--dest", DOWNLOADED, &asked]];
    tool::run(dir, &download.concat())?;
    let file = only_file(&dir.join(DOWNLOADED))?;
    let sum = checksum::sha256(&file)?;
    let pins: Vec<String> = with.iter().map(|(name, version)| format!("{name}=={version}")).collect();
    let file = file.display().to_string();
    let mut install = [&[pip.as_str(), "install"][..], &quiet, &[&file]].concat();
    install.extend(pins.iter().map(String::as_str));
    tool::run(dir, &install)?;
    Ok(sum)
}

fn only_file(dir: &Path) -> Result<PathBuf, FetchError> {
    let mut files = fs::read_dir(dir).map_err(at(dir))?;
    let first = files.next().transpose().map_err(at(dir))?;
    Ok(first.map_or_else(|| dir.to_owned(), |entry| entry.path()))
}
