//! Maven Central.

use std::fs;
use std::path::Path;

use super::package::Package;
use super::tool;
use crate::museum::checksum;
use crate::museum::error::{FetchError, at};

/// Writes `pom.xml`, and copies the jars of the package and of all that it needs to `lib`.
pub(super) fn fetch(package: Package<'_>, dir: &Path) -> Result<String, FetchError> {
    let Package { name, version, with } = package;
    let mut dependencies = dependency(name, version);
    with.iter().for_each(|(package, version)| dependencies.push_str(&dependency(package, version)));
    let pom = format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  \
         <groupId>picklock</groupId><artifactId>adapter</artifactId><version>1</version>\n  \
         <dependencies>\n{dependencies}  </dependencies>\n</project>\n"
    );
    let path = dir.join("pom.xml");
    fs::write(&path, pom).map_err(at(&path))?;
    tool::run(dir, &["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"])?;
    let artifact = name.rsplit(':').next().unwrap_or_default();
    checksum::sha256(&dir.join(format!("lib/{artifact}-{version}.jar")))
}

fn dependency(package: &str, version: &str) -> String {
    let (group, artifact) = package.split_once(':').unwrap_or((package, package));
    format!(
        "    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>\n"
    )
}

/// Compiles the adapter.
pub(super) fn build(dir: &Path) -> Result<(), FetchError> {
    let files =
        fs::read_dir(dir).map_err(at(dir))?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let sources: Vec<String> = files.filter(|name| name.ends_with(".java")).collect();
    let mut words = vec!["javac", "-nowarn", "-cp", "lib/*", "-d", "."];
    words.extend(sources.iter().map(String::as_str));
    tool::run(dir, &words).map(drop)
}
