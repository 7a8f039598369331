//! Maven Central.
//!
//! Maven's dependency plugin fetches the jars, and their hashes are compared before the adapter is compiled. The plugin and what it
//! needs are code that Maven runs: their versions are fixed, and their hashes are those that the repository serves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::files::{verify, write};
use super::package::Package;
use super::workshop::Workshop;
use crate::museum::checksum;
use crate::museum::error::{FetchError, at};
use crate::museum::locked::{LockedPackage, LockedVersion};

const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
const LIST: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:list";

/// The directory of the jars.
const LIB: &str = "lib";

/// Copies the locked jars to `lib`.
pub(super) fn fetch(locked: &LockedVersion, workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let jars = locked.packages.iter().map(|package| (package.name.as_str(), package.version.as_str()));
    // Each jar by itself: Maven chooses none.
    let alone =
        "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>";
    write(&workshop.dir, "pom.xml", &project(jars, alone))?;
    maven(COPY, &["-DoutputDirectory=lib"], workshop)?;
    let lib = workshop.dir.join(LIB);
    let mut expected: BTreeMap<String, &LockedPackage> =
        locked.packages.iter().map(|package| (file_of(package), package)).collect();
    for entry in fs::read_dir(&lib).map_err(at(&lib))? {
        let name = entry.map_err(at(&lib))?.file_name().to_string_lossy().into_owned();
        let path = lib.join(&name);
        match expected.remove(&name) {
            Some(package) => verify(package, checksum::sha256(&path)?)?,
            None => {
                let (command, message) = (COPY.to_owned(), format!("{name} is not in locked.toml"));
                return Err(FetchError::Mismatch { command, message });
            }
        }
    }
    match expected.into_keys().next() {
        Some(name) => {
            Err(FetchError::Tool { command: COPY.to_owned(), message: format!("there is no {name}") })
        }
        None => Ok(()),
    }
}

/// The name of a jar.
fn file_of(package: &LockedPackage) -> String {
    let mut parts = package.name.split(':').skip(1);
    let artifact = parts.next().unwrap_or_default();
    let classifier = parts.next().map(|classifier| format!("-{classifier}")).unwrap_or_default();
    format!("{artifact}-{}{classifier}.jar", package.version)
}

/// Runs a goal of the dependency plugin, with a repository that is only of this fetch.
fn maven(goal: &str, more: &[&str], workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let repository = format!("-Dmaven.repo.local={}", workshop.in_home("repository"));
    let settings = workshop.environment().maven_settings().map(|path| path.display().to_string());
    let mut words = vec!["mvn", "-q", "-B", "--strict-checksums", &repository];
    if let Some(settings) = &settings {
        words.extend(["--settings", settings]);
    }
    words.push(goal);
    words.extend(more);
    workshop.run(&words).map(drop)
}

/// A project with these dependencies. Names and versions have no character that XML knows.
fn project<'a>(packages: impl Iterator<Item = (&'a str, &'a str)>, more: &str) -> String {
    let mut dependencies = String::new();
    for (name, version) in packages {
        let mut parts = name.split(':');
        let (group, artifact) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let classifier = parts
            .next()
            .map(|classifier| format!("<classifier>{classifier}</classifier>"))
            .unwrap_or_default();
        let _ = writeln!(
            dependencies,
            "    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>{classifier}{more}</dependency>"
        );
    }
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  \
         <groupId>picklock</groupId><artifactId>adapter</artifactId><version>1</version>\n  \
         <dependencies>\n{dependencies}  </dependencies>\n</project>\n"
    )
}

/// Compiles the adapter. No annotation processor of a jar runs.
pub(super) fn build(workshop: &Workshop<'_>) -> Result<(), FetchError> {
    let dir = &workshop.dir;
    let files =
        fs::read_dir(dir).map_err(at(dir))?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let sources: Vec<String> = files.filter(|name| name.ends_with(".java")).collect();
    let mut words = vec!["javac", "-nowarn", "-proc:none", "-cp", "lib/*", "-d", "."];
    words.extend(sources.iter().map(String::as_str));
    workshop.run(&words).map(drop)
}

/// The jars that Maven would put on the class path.
pub(super) fn lock(package: Package<'_>, workshop: &Workshop<'_>) -> Result<Vec<LockedPackage>, FetchError> {
    write(&workshop.dir, "pom.xml", &project(package.all(), ""))?;
    maven(LIST, &["-DoutputFile=list.txt", "-DoutputAbsoluteArtifactFilename=true"], workshop)?;
    let path = workshop.dir.join("list.txt");
    let list = fs::read_to_string(&path).map_err(at(&path))?;
    list.lines()
        .filter_map(jar)
        .map(|(name, version, path)| {
            let checksum = checksum::sha256(path.as_ref())?;
            Ok(LockedPackage { name, version: version.to_owned(), checksum, more: Vec::new() })
        })
        .collect()
}

/// A line of the list, `group:artifact:jar[:classifier]:version:scope:path`: name, version and path of a jar.
fn jar(line: &str) -> Option<(String, &str, &str)> {
    // The name of a module may stand behind the path.
    let line = line.trim().split(" -- ").next()?.trim();
    let parts: Vec<&str> = line.split(':').collect();
    match parts[..] {
        [group, artifact, "jar", version, _, path] => Some((format!("{group}:{artifact}"), version, path)),
        [group, artifact, "jar", classifier, version, _, path] => {
            Some((format!("{group}:{artifact}:{classifier}"), version, path))
        }
        _ => None,
    }
}
