//! npm.
//!
//! npm unpacks a file while it computes its hash, so the files are fetched first and compared here; then npm installs them without a
//! network. No script of a package runs.

use std::fs;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha512};

use super::files::{verify, write};
use super::package::Package;
use super::workshop::Workshop;
use crate::museum::checksum;
use crate::museum::error::{FetchError, at};
use crate::museum::locked::{LockedPackage, LockedVersion};

const QUIET: [&str; 4] = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/// The directory of the files while they are installed.
const PACKED: &str = "packed";

/// The place of a package in `package-lock.json`.
const MODULES: &str = "node_modules/";

/// Installs the packages.
pub(super) fn fetch(locked: &LockedVersion, workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let packed = workshop.dir.join(PACKED);
    fs::create_dir(&packed).map_err(at(&packed))?;
    let asked: Vec<String> =
        locked.packages.iter().map(|package| format!("{}@{}", package.package(), package.version)).collect();
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    workshop.run(&[&["npm", "pack", "--pack-destination", PACKED], &QUIET[..], &["--"], &asked].concat())?;
    for package in &locked.packages {
        let file = checksum::bytes(&packed.join(file_of(package)))?;
        verify(package, format!("sha512-{}", BASE64.encode(&Sha512::digest(file))))?;
    }
    let (manifest, lock) = files(locked);
    write(&workshop.dir, "package.json", &format!("{manifest:#}\n"))?;
    write(&workshop.dir, "package-lock.json", &format!("{lock:#}\n"))?;
    workshop.run(&[&["npm", "ci", "--offline", "--no-bin-links"], &QUIET[..]].concat())?;
    fs::remove_dir_all(&packed).map_err(at(&packed))
}

/// The name of the file of a package.
fn file_of(package: &LockedPackage) -> String {
    format!("{}-{}.tgz", package.package().trim_start_matches('@').replace('/', "-"), package.version)
}

/// `package.json` and `package-lock.json`. What lies in the directory of another package is a dependency of that one, the others of the adapter.
fn files(locked: &LockedVersion) -> (Value, Value) {
    let needs = |owner: Option<&str>| -> Map<String, Value> {
        let of_owner = locked.packages.iter().filter(|package| {
            let (place, name) = (package.name.as_str(), package.package());
            place.strip_suffix(name).map(|place| place.trim_end_matches("/node_modules/"))
                == Some(owner.unwrap_or(""))
        });
        of_owner.map(|package| (package.package().to_owned(), json!(package.version))).collect()
    };
    let mut packages = Map::new();
    packages.insert(String::new(), json!({ "name": "adapter", "dependencies": needs(None) }));
    for package in &locked.packages {
        let entry = json!({
            "version": package.version,
            "resolved": format!("file:{PACKED}/{}", file_of(package)),
            "integrity": package.checksum,
            "dependencies": needs(Some(&package.name)),
        });
        packages.insert(format!("{MODULES}{}", package.name), entry);
    }
    let manifest = json!({ "name": "adapter", "private": true, "dependencies": needs(None) });
    (manifest, json!({ "name": "adapter", "lockfileVersion": 3, "requires": true, "packages": packages }))
}

/// The packages that npm would install. Optional ones, of which many are for one platform, are left out.
pub(super) fn lock(package: Package<'_>, workshop: &Workshop<'_>) -> Result<Vec<LockedPackage>, FetchError> {
    let dependencies: Map<String, Value> =
        package.all().map(|(name, version)| (name.to_owned(), json!(version))).collect();
    let manifest = json!({ "name": "adapter", "private": true, "dependencies": dependencies });
    write(&workshop.dir, "package.json", &format!("{manifest:#}\n"))?;
    workshop.run(&[&["npm", "install", "--package-lock-only", "--omit=optional"], &QUIET[..]].concat())?;
    let path = workshop.dir.join("package-lock.json");
    let lock: Value = serde_json::from_slice(&fs::read(&path).map_err(at(&path))?).unwrap_or_default();
    let packages = lock["packages"].as_object().into_iter().flatten();
    let needed = packages.filter(|(place, entry)| !place.is_empty() && entry["optional"] != true);
    Ok(needed
        .map(|(place, entry)| LockedPackage {
            name: place.strip_prefix(MODULES).unwrap_or(place).to_owned(),
            version: entry["version"].as_str().unwrap_or_default().to_owned(),
            checksum: entry["integrity"].as_str().unwrap_or_default().to_owned(),
            more: Vec::new(),
        })
        .collect())
}
