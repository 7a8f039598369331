//! The directories in which a version is fetched and built, and the tools that work there.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::environment::Environment;
use super::process::{self, Ended, NoEnd};
use crate::museum::error::{FetchError, at};
use crate::museum::field::shown;

/// The time that a tool has.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The characters of an error of a tool that are shown.
const MESSAGE_MAX: usize = 400;

/// The tools of the languages: where they are found, and the time that each has.
pub(in crate::museum) struct Tools<'a> {
    environment: Environment,
    limit: Duration,
    stop: &'a AtomicBool,
}

impl<'a> Tools<'a> {
    /// Those of the user. They are killed when the flag is set.
    pub(in crate::museum) fn of_the_user(stop: &'a AtomicBool) -> Tools<'a> {
        Tools { environment: Environment::of_the_user(), limit: LIMIT, stop }
    }

    /// Those in a directory, found before others of the same name.
    #[cfg(test)]
    pub(in crate::museum) fn in_dir(dir: &Path, limit: Duration, stop: &'a AtomicBool) -> Tools<'a> {
        let path = format!("{}:/usr/bin:/bin", dir.display());
        let variables = [("PATH".into(), path.into())];
        Tools { environment: Environment::of(variables.into_iter()), limit, stop }
    }
}

/// A directory that becomes that of the version, and beside it a home directory for the tools.
pub(in crate::museum) struct Workshop<'a> {
    /// The directory of the version.
    pub(in crate::museum) dir: PathBuf,
    /// The home directory of the tools, which is removed with what they leave there.
    pub(super) home: PathBuf,
    tools: &'a Tools<'a>,
}

impl<'a> Workshop<'a> {
    /// A workshop in an empty directory.
    pub(in crate::museum) fn new(within: &Path, tools: &'a Tools<'a>) -> Result<Workshop<'a>, FetchError> {
        let (dir, home) = (within.join("version"), within.join("home"));
        for path in [&dir, &home, &home.join("tmp")] {
            fs::create_dir(path).map_err(at(path))?;
        }
        Ok(Workshop { dir, home, tools })
    }

    /// Runs a command in the directory of the version, and returns its standard output.
    ///
    /// # Errors
    /// When it is not installed, fails or reaches its time limit: then with the line that says most.
    pub(super) fn run(&self, words: &[&str]) -> Result<String, FetchError> {
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .current_dir(&self.dir)
            .env_clear()
            .envs(self.tools.environment.within(&self.home));
        // Maven looks for settings in every directory above otherwise.
        command.env("MAVEN_BASEDIR", &self.dir).env("npm_config_cache", self.home.join("npm"));
        let name = || shown(&words.join(" "));
        let Ended { status, stdout, stderr } = process::run(command, self.tools.limit, self.tools.stop)
            .map_err(|error| match error {
                NoEnd::Io(error) if error.kind() == ErrorKind::NotFound => {
                    FetchError::NoTool { tool: words[0].to_owned() }
                }
                NoEnd::Io(error) => at(&self.dir)(error),
                NoEnd::TimeLimit => FetchError::TimeLimit { command: name(), limit: self.tools.limit },
                NoEnd::Interrupted => FetchError::Interrupted,
            })?;
        match status.success() {
            true => Ok(stdout),
            false => Err(FetchError::Tool { command: name(), message: cause(&stderr, &stdout) }),
        }
    }

    /// Runs a command that checks checksums itself: an error of it that names one is a refusal.
    pub(super) fn run_checked(&self, words: &[&str], signs: &[&str]) -> Result<String, FetchError> {
        self.run(words).map_err(|error| match error {
            FetchError::Tool { command, message } if signs.iter().any(|sign| message.contains(sign)) => {
                FetchError::Mismatch { command, message }
            }
            error => error,
        })
    }

    /// The environment of the user.
    pub(super) fn environment(&self) -> &Environment {
        &self.tools.environment
    }

    /// A path in the home directory of the tools, as a word of a command.
    pub(super) fn in_home(&self, name: impl AsRef<OsStr>) -> String {
        self.home.join(name.as_ref()).display().to_string()
    }
}

/// The lines that say most: the first that names an error and the two behind it, else the last one.
fn cause(errors: &str, printed: &str) -> String {
    let lines: Vec<&str> =
        errors.lines().chain(printed.lines()).filter(|line| !line.trim().is_empty()).collect();
    let names_an_error = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "mismatch", "do not match"].iter().any(|sign| line.contains(sign))
    };
    let said = match lines.iter().position(names_an_error) {
        Some(at) if lines[at].contains("ismatch") || lines[at].contains("DO NOT MATCH") => {
            lines[at..lines.len().min(at + 5)].join(" ")
        }
        Some(at) => lines[at].to_owned(),
        None => lines.last().map_or("it printed nothing", |line| line).to_owned(),
    };
    let words: Vec<&str> = said.split_whitespace().collect();
    words.join(" ").chars().filter(|character| !character.is_control()).take(MESSAGE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_workshop<T>(limit: Duration, run: impl FnOnce(&Workshop<'_>) -> T) -> T {
        let within = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let tools = Tools { limit, ..Tools::of_the_user(&stop) };
        run(&Workshop::new(within.path(), &tools).unwrap())
    }

    fn run(words: &[&str]) -> Result<String, String> {
        in_workshop(LIMIT, |workshop| workshop.run(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tool_that_is_missing_or_fails_says_so() {
        let missing = run(&["picklock-has-no-such-tool"]).unwrap_err();
        assert_eq!(missing, "picklock-has-no-such-tool is not installed");
        let failed =
            run(&["sh", "-c", "echo first; printf 'Error: no \\033[31mnetwork\\n' >&2; exit 3"]).unwrap_err();
        assert!(failed.ends_with(" failed: Error: no [31mnetwork"), "{failed}");
        assert_eq!(run(&["sh", "-c", "echo there"]).unwrap(), "there\n");
    }

    #[test]
    fn a_tool_has_a_home_of_its_own_and_few_variables() {
        let seen = run(&["sh", "-c", "echo $HOME; env"]).unwrap();
        let home = seen.lines().next().unwrap_or_default();
        assert!(home.contains("/home") && Some(home) != std::env::var("HOME").ok().as_deref(), "{seen}");
        assert!(!seen.contains("CARGO_MANIFEST_DIR"), "cargo sets it for this test: {seen}");
    }

    #[test]
    fn a_tool_is_killed_at_its_time_limit_with_all_that_it_started() {
        let marker = tempfile::tempdir().unwrap();
        let late = marker.path().join("late");
        let script = format!("(sleep 1.5; echo > {}) & sleep 60", late.display());
        let limit = Duration::from_millis(300);
        let error = in_workshop(limit, |workshop| workshop.run(&["sh", "-c", &script])).unwrap_err();
        assert!(matches!(error, FetchError::TimeLimit { .. }), "{error}");
        std::thread::sleep(Duration::from_millis(1700));
        assert!(!late.exists(), "a process that the tool has started goes on");
    }

    #[test]
    fn a_tool_that_leaves_a_process_with_its_output_open_does_not_hang() {
        let said = run(&["sh", "-c", "sleep 60 & echo there"]).unwrap();
        assert_eq!(said, "there\n");
    }

    #[test]
    fn a_tool_that_prints_without_an_end_fills_no_memory() {
        let limit = Duration::from_secs(1);
        let error = in_workshop(limit, |workshop| workshop.run(&["sh", "-c", "yes"])).unwrap_err();
        assert!(
            error.to_string().ends_with("has not ended within its time limit of 1 s, and is killed"),
            "{error}"
        );
    }

    #[test]
    fn an_interrupted_tool_is_killed() {
        let within = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(true);
        let tools = Tools::of_the_user(&stop);
        let workshop = Workshop::new(within.path(), &tools).unwrap();
        assert!(matches!(workshop.run(&["sleep", "60"]), Err(FetchError::Interrupted)));
    }
}
