//! The checks of a description, before anything on disk is touched.

use super::bug::{Bug, BugError};
use super::command;
use super::field::{Refused, Source, shown};

/// The longest text that a page shows.
const TEXT_MAX: usize = 500;

/// The longest name of a file or of a folder.
const NAME_MAX: usize = 100;

/// Names that picklock or a tool writes beside the adapter, or that a tool reads as its settings or runs while it builds.
const RESERVED: &[&str] = &[
    "adapter",
    "build",
    "build.rs",
    "bug.toml",
    "cargo.lock",
    "cargo.toml",
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "lib",
    "locked.toml",
    "node_modules",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.json",
    "packed",
    "pom.xml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "vendor",
    "venv",
];

/// A folder, as far as it is checked.
pub(super) struct Folder<'a> {
    pub(super) name: &'a str,
    pub(super) path: &'a str,
    /// `bug.toml`.
    pub(super) text: &'a str,
    /// The names of the files beside it.
    pub(super) files: Vec<&'a str>,
}

/// Checks the names of a folder and its description.
///
/// # Errors
/// The field that is refused, with its place and the remedy.
pub(super) fn check(folder: &Folder<'_>, bug: &Bug) -> Result<(), BugError> {
    let source = Source { folder: folder.path, name: "bug.toml", text: folder.text };
    names(folder)?;
    texts(bug, &source)?;
    packages(bug, &source)?;
    uses(folder, bug, &source)?;
    Ok(())
}

/// True if a text is a name: one component of a path, no option, not hidden.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= NAME_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// True if a file beside `bug.toml` may have this name.
pub(super) fn is_file_name(text: &str) -> bool {
    is_name(text) && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
}

fn names(folder: &Folder<'_>) -> Result<(), BugError> {
    if !is_name(folder.name) {
        return Err(BugError::FolderName(folder.path.to_owned(), shown(folder.name)));
    }
    match folder.files.iter().find(|name| !is_file_name(name)) {
        Some(name) => Err(BugError::FileName(folder.path.to_owned(), shown(name))),
        None => Ok(()),
    }
}

/// Texts go to the terminal: no control characters.
fn texts(bug: &Bug, source: &Source<'_>) -> Result<(), Refused> {
    let statement = bug.control.as_ref().map_or("", |control| &control.statement);
    let fields = [
        ("library", bug.library.as_str()),
        ("language", &bug.language),
        ("store", &bug.store),
        ("summary", &bug.summary),
        ("thread", bug.thread.as_deref().unwrap_or_default()),
        ("source", bug.source.as_deref().unwrap_or_default()),
        ("control.statement", statement),
        ("run.fault", &bug.run.fault),
        ("run.invariant", &bug.run.invariant),
        ("shown.picklock", &bug.shown.picklock),
    ];
    let is_wrong = |value: &str| value.contains(char::is_control) || value.len() > TEXT_MAX;
    match fields.into_iter().find(|(_, value)| is_wrong(value)) {
        Some((field, value)) => {
            let remedy = format!("write at most {TEXT_MAX} bytes of text, without control characters");
            Err(source.refuse(field, value, remedy))
        }
        None => Ok(()),
    }
}

fn packages(bug: &Bug, source: &Source<'_>) -> Result<(), Refused> {
    let registry = bug.registry;
    let refuse = |field: &str, value: &str| {
        let (field, value) = (field.to_owned(), value.to_owned());
        move |remedy: String| source.refuse(&field, &value, remedy)
    };
    registry.check_name(&bug.package).map_err(refuse("package", &bug.package))?;
    for (field, pinned) in bug.pinned() {
        let version = format!("{field}.version");
        registry.check_version(&pinned.version).map_err(refuse(&version, &pinned.version))?;
        let checksum = format!("{field}.checksum");
        registry.check_checksum(&pinned.checksum).map_err(refuse(&checksum, &pinned.checksum))?;
    }
    for (name, pin) in &bug.with {
        let field = format!("with.{name}");
        registry.check_name(name).map_err(refuse("with", name))?;
        registry.check_version(&pin.version).map_err(refuse(&field, &pin.version))?;
        registry.check_features(pin).map_err(refuse(&field, &pin.features.join(", ")))?;
        if registry.is_same(name, &bug.package) {
            return Err(source.refuse(
                "with",
                name,
                "`affected` and `fixed` have the version of this package",
            ));
        }
    }
    Ok(())
}

/// Commands and scenarios stay in the folder.
fn uses(folder: &Folder<'_>, bug: &Bug, source: &Source<'_>) -> Result<(), Refused> {
    let control = bug.control.as_ref().and_then(|control| control.command.as_deref());
    let commands = [("run.command", Some(bug.run.command.as_str())), ("control.command", control)];
    for (field, command) in commands {
        let Some(command) = command else { continue };
        command::check(command).map_err(|remedy| source.refuse(field, command, remedy))?;
    }
    let scenario = &bug.run.scenario;
    if !folder.files.contains(&scenario.as_str()) && !is_name(scenario) {
        let remedy = "name a scenario of picklock, or a file beside bug.toml";
        return Err(source.refuse("run.scenario", scenario, remedy));
    }
    Ok(())
}
