//! crates.io.
//!
//! cargo compares the hash of a crate with `Cargo.lock` before it unpacks it. A build runs the build scripts and procedural macros of
//! the locked crates.

use std::fmt::Write as _;
use std::fs;

use toml::{Table, Value};

use super::files::write;
use super::package::Package;
use super::workshop::Workshop;
use crate::museum::error::{FetchError, at};
use crate::museum::locked::{LockedPackage, LockedVersion};
use crate::museum::registry::Pin;

/// The name of the adapter's own package.
const ADAPTER: &str = "adapter";

/// The registry, as `Cargo.lock` names it.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What cargo says of a checksum that is another one.
const SIGNS: [&str; 2] = ["checksum for", "the checksum of"];

/// Writes `Cargo.toml` and `Cargo.lock`, and has cargo fetch the crates.
pub(super) fn fetch(
    package: Package<'_>,
    locked: &LockedVersion,
    workshop: &Workshop<'_>,
) -> Result<(), FetchError> {
    manifest(package, workshop)?;
    write(&workshop.dir, "Cargo.lock", &lock_file(package, locked))?;
    cargo(&["fetch", "--quiet", "--locked"], workshop)
}

/// Builds the adapter as `adapter`.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<(), FetchError> {
    cargo(&["build", "--release", "--quiet", "--locked", "--offline", "--target-dir", "build"], workshop)?;
    let dir = &workshop.dir;
    let (built, place) = (dir.join("build/release/adapter"), dir.join(ADAPTER));
    fs::copy(&built, &place).map_err(at(&built))?;
    fs::remove_dir_all(dir.join("build")).map_err(at(dir))
}

fn cargo(words: &[&str], workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let settings = workshop.environment().cargo_settings().map(|path| path.display().to_string());
    let settings: Vec<&str> = settings.iter().flat_map(|path| ["--config", path]).collect();
    workshop.run_checked(&[&["cargo"], &settings[..], words].concat(), &SIGNS).map(drop)
}

/// Writes `Cargo.toml`, and an empty adapter, since cargo looks for it.
fn manifest(package: Package<'_>, workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let exact = |version: &str| Value::String(format!("={version}"));
    let dependency = |pin: &Pin| {
        let features = pin.features.iter().cloned().map(Value::String).collect();
        Value::Table(Table::from_iter([
            ("version".to_owned(), exact(&pin.version)),
            ("features".to_owned(), Value::Array(features)),
            ("default-features".to_owned(), Value::Boolean(pin.default_features)),
        ]))
    };
    let mut dependencies: Table =
        package.with.iter().map(|(name, pin)| (name.clone(), dependency(pin))).collect();
    dependencies.insert(package.name.to_owned(), exact(package.version));
    let head = format!(
        "[package]\nname = \"{ADAPTER}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
         [[bin]]\nname = \"{ADAPTER}\"\npath = \"adapter.rs\"\n\n"
    );
    let dependencies = Table::from_iter([("dependencies".to_owned(), Value::Table(dependencies))]);
    write(&workshop.dir, "Cargo.toml", &format!("{head}{dependencies}"))?;
    write(&workshop.dir, "adapter.rs", "fn main() {}\n")
}

/// `Cargo.lock`, in its third form, which cargo reads since 2021.
fn lock_file(package: Package<'_>, locked: &LockedVersion) -> String {
    let mut text = String::from("version = 3\n");
    let own: Vec<String> = package
        .all()
        .map(|(name, version)| {
            let several = locked.packages.iter().filter(|package| package.name == name).count() > 1;
            if several { format!("{name} {version}") } else { name.to_owned() }
        })
        .collect();
    let mut entries: Vec<(&str, &str, String, Vec<String>)> = vec![(ADAPTER, "0.0.0", String::new(), own)];
    for LockedPackage { name, version, checksum, more } in &locked.packages {
        let source = format!("source = \"{SOURCE}\"\nchecksum = \"{checksum}\"\n");
        let needs = more.iter().map(|needed| needed.replace('@', " ")).collect();
        entries.push((name, version, source, needs));
    }
    entries.sort();
    for (name, version, source, mut needs) in entries {
        needs.sort();
        let needs: String = needs.iter().map(|needed| format!(" \"{needed}\",\n")).collect();
        let needs = if needs.is_empty() { needs } else { format!("dependencies = [\n{needs}]\n") };
        let _ = write!(text, "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}{needs}");
    }
    text
}

/// The crates that cargo would fetch.
pub(super) fn lock(package: Package<'_>, workshop: &Workshop<'_>) -> Result<Vec<LockedPackage>, FetchError> {
    manifest(package, workshop)?;
    cargo(&["generate-lockfile", "--quiet"], workshop)?;
    let path = workshop.dir.join("Cargo.lock");
    let lock: Table = fs::read_to_string(&path).map_err(at(&path))?.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
    let text = |package: &Value, field: &str| package.get(field)?.as_str().map(str::to_owned);
    let needs = |package: &Value| -> Vec<String> {
        let needs = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        needs.filter_map(|needed| Some(needed.as_str()?.replace(' ', "@"))).collect()
    };
    let others = packages.filter(|package| text(package, "source").is_some());
    Ok(others
        .map(|package| LockedPackage {
            name: text(package, "name").unwrap_or_default(),
            version: text(package, "version").unwrap_or_default(),
            checksum: text(package, "checksum").unwrap_or_default(),
            more: needs(package),
        })
        .collect())
}
