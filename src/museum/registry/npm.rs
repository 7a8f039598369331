//! npm.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::package::Package;
use super::tool;
use crate::museum::error::{FetchError, at};

/// Installs the packages; no script of theirs runs.
pub(super) fn fetch(package: Package<'_>, dir: &Path) -> Result<String, FetchError> {
    let Package { name, version, with } = package;
    let mut dependencies = with.clone();
    dependencies.insert(name.to_owned(), version.to_owned());
    let manifest = json!({ "name": "adapter", "private": true, "dependencies": dependencies });
    let path = dir.join("package.json");
    fs::write(&path, format!("{manifest:#}\n")).map_err(at(&path))?;
    tool::run(dir, &["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])?;
    let path = dir.join("package-lock.json");
    let text = fs::read_to_string(&path).map_err(at(&path))?;
    let lock: Value = serde_json::from_str(&text).unwrap_or_default();
    let entry = &lock["packages"][format!("node_modules/{}", name)];
    Ok(entry["integrity"].as_str().unwrap_or("missing").to_owned())
}
