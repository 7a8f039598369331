//! The Go module proxy.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::package::Package;
use super::tool;
use crate::museum::error::{FetchError, at};

/// Writes `go.mod`, and has the tool fetch the modules, which it checks against Go's checksum database.
pub(super) fn fetch(package: Package<'_>, dir: &Path) -> Result<String, FetchError> {
    let Package { name, version, with } = package;
    let with = with.iter().map(|(module, version)| format!("require {module} {version}\n"));
    // From this version of the language on, a module's graph is read as far as it is needed, and not with all that it names.
    let module =
        format!("module adapter\n\ngo 1.17\n\nrequire {name} {version}\n{}", with.collect::<String>());
    let path = dir.join("go.mod");
    fs::write(&path, module).map_err(at(&path))?;
    let asked = format!("{}@{version}", name);
    let said = tool::run(dir, &["go", "mod", "download", "-json", &asked])?;
    let about: Value = serde_json::from_str(&said).unwrap_or_default();
    tool::run(dir, &["go", "mod", "tidy"])?;
    Ok(about["Sum"].as_str().unwrap_or("missing").to_owned())
}

/// Builds the adapter as `adapter`, without C.
pub(super) fn build(dir: &Path) -> Result<(), FetchError> {
    tool::run(dir, &["env", "CGO_ENABLED=0", "go", "build", "-o", "adapter", "."]).map(drop)
}
