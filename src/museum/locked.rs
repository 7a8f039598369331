//! `locked.toml` of a museum folder: version and checksum of each package that a version of the library needs, itself included.
//!
//! One format for all registries, and not their own lock files: picklock reads each name, version and checksum, checks it, and writes the
//! files of the tools itself. So no text of a folder reaches a tool unread. It leaves out what the tools work out again: the files of a
//! distribution, licences, addresses.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;

use super::bug::{Bug, BugError, Pinned};
use super::field::{Refused, Source};
use super::registry::{Registry, is_go_version};

/// The name of the file.
pub(super) const FILE: &str = "locked.toml";

/// The packages of a version at most.
const PACKAGES_MAX: usize = 2000;

/// `locked.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Locked {
    /// The packages that every version needs.
    #[serde(default)]
    packages: Vec<LockedPackage>,
    locked: Vec<LockedVersion>,
}

/// A version of the library with all packages that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockedVersion {
    pub(super) version: String,
    /// For Go: the version of the language that the modules need.
    pub(super) go: Option<String>,
    pub(super) packages: Vec<LockedPackage>,
}

/// A package: `name version checksum`, and for some registries more words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct LockedPackage {
    /// Its name; for npm its place below `node_modules`.
    pub(super) name: String,
    /// Its version; for Go also `VERSION/go.mod`.
    pub(super) version: String,
    pub(super) checksum: String,
    /// For PyPI: `source` if the distribution is built. For crates.io: the crates that it needs, as `name` or `name@version`.
    pub(super) more: Vec<String>,
}

impl TryFrom<String> for LockedPackage {
    type Error = String;

    fn try_from(text: String) -> Result<LockedPackage, String> {
        let mut words = text.split(' ').map(str::to_owned);
        match (words.next(), words.next(), words.next()) {
            (Some(name), Some(version), Some(checksum)) => {
                Ok(LockedPackage { name, version, checksum, more: words.collect() })
            }
            _ => Err("a package is `NAME VERSION CHECKSUM`".to_owned()),
        }
    }
}

impl LockedPackage {
    /// The name of the package in its registry.
    pub(super) fn package(&self) -> &str {
        self.name.rsplit_once("/node_modules/").map_or(self.name.as_str(), |(_, name)| name)
    }

    /// Checks every word by the grammar of the registry.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, registry: Registry) -> Result<(), String> {
        match registry {
            Registry::Npm => {
                self.name.split("/node_modules/").try_for_each(|name| registry.check_name(name))?
            }
            _ => registry.check_name(&self.name)?,
        }
        let version = match registry {
            Registry::Go => self.version.strip_suffix("/go.mod").unwrap_or(&self.version),
            _ => &self.version,
        };
        registry.check_version(version)?;
        registry.check_checksum(&self.checksum)?;
        let is_known = match registry {
            Registry::Crates => self.more.iter().all(|needed| {
                let (name, version) = needed.split_once('@').unwrap_or((needed, "0.0.0"));
                registry.check_name(name).is_ok() && registry.check_version(version).is_ok()
            }),
            Registry::Pypi => self.more.is_empty() || self.more == ["source"],
            Registry::Go | Registry::Maven | Registry::Npm => self.more.is_empty(),
        };
        is_known.then_some(()).ok_or_else(|| "a package is `NAME VERSION CHECKSUM`".to_owned())
    }

    fn line(&self) -> String {
        let words = [&self.name, &self.version, &self.checksum].into_iter().chain(&self.more);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

impl Locked {
    /// Reads and checks the file for a description.
    ///
    /// # Errors
    /// When it is not one, or does not have what the description pins.
    pub(super) fn read(folder: &str, text: &str, bug: &Bug) -> Result<Locked, BugError> {
        let mut locked: Locked = toml::from_str(text).map_err(|source| BugError::Toml {
            file: format!("{folder}/{FILE}"),
            source: Box::new(source),
        })?;
        let source = Source { folder, name: FILE, text };
        for version in &mut locked.locked {
            version.packages.extend(locked.packages.iter().cloned());
            version.check(bug.registry, &source)?;
        }
        for (field, pinned) in bug.pinned() {
            let again = || format!("write the file again with `picklock museum {folder} --lock`");
            let stale = |value: &str, what: String| {
                source.refuse(field, value, format!("{what} is not in the file; {}", again()))
            };
            let version = locked.of(&pinned.version);
            let version =
                version.ok_or_else(|| stale(&pinned.version, format!("version {}", pinned.version)))?;
            version.covers(bug, pinned, &stale)?;
        }
        Ok(locked)
    }

    /// The packages of a version.
    pub(super) fn of(&self, version: &str) -> Option<&LockedVersion> {
        self.locked.iter().find(|locked| locked.version == version)
    }

    /// The text of the file for these versions.
    pub(super) fn text(versions: &[LockedVersion]) -> String {
        let mut text = String::from(
            "# `picklock museum FOLDER --lock` writes this file: version and checksum of each package that is fetched.\n",
        );
        let is_shared = |package: &&LockedPackage| {
            versions.len() > 1 && versions.iter().all(|version| version.packages.contains(package))
        };
        let list = |packages: &mut dyn Iterator<Item = &LockedPackage>| {
            let lines: String = packages.map(|package| format!("    \"{}\",\n", package.line())).collect();
            format!("packages = [\n{lines}]\n")
        };
        let mut shared =
            versions.iter().take(1).flat_map(|version| &version.packages).filter(is_shared).peekable();
        if shared.peek().is_some() {
            text.push('\n');
            text.push_str(&list(&mut shared));
        }
        for LockedVersion { version, go, packages } in versions {
            let go = go.as_ref().map(|go| format!("go = \"{go}\"\n")).unwrap_or_default();
            let own = list(&mut packages.iter().filter(|package| !is_shared(package)));
            let _ = write!(text, "\n[[locked]]\nversion = \"{version}\"\n{go}{own}");
        }
        text
    }
}

impl LockedVersion {
    /// Checks every word by the grammar of the registry.
    pub(super) fn check(&self, registry: Registry, source: &Source<'_>) -> Result<(), BugError> {
        let refuse =
            |field: &str, value: &str, remedy: String| BugError::from(source.refuse(field, value, remedy));
        registry.check_version(&self.version).map_err(|remedy| refuse("version", &self.version, remedy))?;
        if let Some(go) = &self.go
            && !(registry == Registry::Go && is_go_version(go))
        {
            return Err(refuse(
                "go",
                go,
                "write a version of the language Go, for example `1.21`".to_owned(),
            ));
        }
        if self.packages.len() > PACKAGES_MAX {
            let count = self.packages.len().to_string();
            return Err(refuse("packages", &count, format!("a version has {PACKAGES_MAX} packages at most")));
        }
        let mut known = BTreeSet::new();
        for package in &self.packages {
            let line = package.line();
            let wrong = |remedy: String| refuse("packages", &line, remedy);
            package.check(registry).map_err(wrong)?;
            let several = matches!(registry, Registry::Crates | Registry::Go);
            let key = (package.name.as_str(), if several { package.version.as_str() } else { "" });
            if !known.insert(key) {
                return Err(wrong("each package is listed once".to_owned()));
            }
        }
        Ok(())
    }

    /// Checks that the package of the bug and those of `[with]` are listed, in their versions and with the checksum.
    fn covers(
        &self,
        bug: &Bug,
        pinned: &Pinned,
        stale: &dyn Fn(&str, String) -> Refused,
    ) -> Result<(), BugError> {
        let own = self.find(bug.registry, &bug.package, &pinned.version);
        let own = own.ok_or_else(|| stale(&self.version, format!("{} {}", bug.package, pinned.version)))?;
        if own.checksum != pinned.checksum {
            return Err(
                stale(&own.checksum, format!("the checksum of bug.toml, {},", pinned.checksum)).into()
            );
        }
        for (name, pin) in &bug.with {
            if self.find(bug.registry, name, &pin.version).is_none() {
                return Err(stale(&self.version, format!("{name} {}", pin.version)).into());
            }
        }
        Ok(())
    }

    /// A package by name and version.
    fn find(&self, registry: Registry, name: &str, version: &str) -> Option<&LockedPackage> {
        self.packages.iter().find(|locked| registry.is_same(&locked.name, name) && locked.version == version)
    }
}
