//! crates.io.

use std::fs;
use std::path::Path;

use toml::Table;

use super::package::Package;
use super::tool;
use crate::museum::error::{FetchError, at};

/// Writes `Cargo.toml`, and has cargo fetch the crates. A version may be a whole dependency, as in `{ version = "1", features = [..] }`.
pub(super) fn fetch(package: Package<'_>, dir: &Path) -> Result<String, FetchError> {
    let Package { name, version, with } = package;
    let with = with.iter().map(|(name, version)| match version.starts_with('{') {
        true => format!("{name} = {version}\n"),
        false => format!("{name} = \"={version}\"\n"),
    });
    let manifest = format!(
        "[package]\nname = \"adapter\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
         [[bin]]\nname = \"adapter\"\npath = \"adapter.rs\"\n\n[dependencies]\n{} = \"={version}\"\n{}",
        name,
        with.collect::<String>()
    );
    let path = dir.join("Cargo.toml");
    fs::write(&path, manifest).map_err(at(&path))?;
    tool::run(dir, &["cargo", "fetch", "--quiet"])?;
    let path = dir.join("Cargo.lock");
    let lock: Table = fs::read_to_string(&path).map_err(at(&path))?.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(|packages| packages.as_array()).into_iter().flatten();
    let text = |package: &toml::Value, field: &str| package.get(field)?.as_str().map(str::to_owned);
    let own = packages.filter(|package| {
        text(package, "name").as_deref() == Some(name) && text(package, "version").as_deref() == Some(version)
    });
    Ok(own.filter_map(|package| text(package, "checksum")).next().unwrap_or_else(|| "missing".to_owned()))
}

/// Builds the adapter as `adapter`.
pub(super) fn build(dir: &Path) -> Result<(), FetchError> {
    tool::run(dir, &["cargo", "build", "--release", "--quiet", "--target-dir", "build"])?;
    let (built, place) = (dir.join("build/release/adapter"), dir.join("adapter"));
    fs::copy(&built, &place).map_err(at(&built))?;
    fs::remove_dir_all(dir.join("build")).map_err(at(dir))
}
