//! The shims of version managers: files in the `PATH` under a program's name that look up which version is meant and start it.
//!
//! A shim is a shell script (pyenv, rbenv, nodenv and their like, asdf) or a program of the manager (volta, mise). It runs at each
//! start anew, with a dozen processes of its own, so the manager is asked once which program it would start.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A shim is a few lines long: what is longer is none.
const SHIM_BYTES_MAX: u64 = 4096;

/// The file of a command's first word, as a shell finds it.
pub(crate) fn found(word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    if path.components().count() > 1 {
        return Some(path.to_owned());
    }
    env::split_paths(&env::var_os("PATH")?).map(|place| place.join(word)).find(|path| path.is_file())
}

/// The program that a shim would start here; `None` if the word names no shim, or its manager does not say.
pub(crate) fn behind(word: &str) -> Option<PathBuf> {
    let shim = found(word)?;
    let name = shim.file_name()?.to_owned();
    let output = Command::new(manager(&shim)?)
        .arg("which")
        .arg(name)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let output = output.ok().filter(|output| output.status.success())?;
    let program = PathBuf::from(String::from_utf8(output.stdout).ok()?.lines().last()?.trim());
    let is_another = program.is_absolute()
        && program.is_file()
        && fs::canonicalize(&program).ok() != fs::canonicalize(&shim).ok();
    is_another.then_some(program)
}

/// The manager that made this shim, as a command that takes `which NAME`.
fn manager(shim: &Path) -> Option<PathBuf> {
    if let Ok(target) = fs::canonicalize(shim) {
        let name = target.file_name()?.to_str()?;
        if ["volta-shim", "mise"].contains(&name) {
            return Some(target.with_file_name(name.trim_end_matches("-shim")));
        }
    }
    let size = fs::metadata(shim).ok()?.len();
    let text = (size <= SHIM_BYTES_MAX).then(|| fs::read_to_string(shim).ok()).flatten()?;
    if !text.starts_with("#!") {
        return None;
    }
    text.lines().find_map(executes).map(PathBuf::from)
}

/// The manager in a line such as `exec "/home/a/.pyenv/libexec/pyenv" exec "$program" "$@"`.
fn executes(line: &str) -> Option<String> {
    let words = shlex::split(line.trim())?;
    let [first, manager, second, ..] = words.as_slice() else { return None };
    let is_one = Path::new(manager)
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.ends_with("env") || name == "asdf" || name == "mise");
    (first == "exec" && second == "exec" && is_one).then(|| manager.clone())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn script(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn the_manager_stands_in_the_shim() {
        let pyenv = r#"exec "/root/.pyenv/libexec/pyenv" exec "$program" "$@""#;
        assert_eq!(executes(pyenv).as_deref(), Some("/root/.pyenv/libexec/pyenv"));
        assert_eq!(executes(r#"exec asdf exec "node" "$@""#).as_deref(), Some("asdf"));
        for other in [r#"exec python3 "$@""#, "exec /opt/tool exec x", "set -e", "exec 'open", ""] {
            assert_eq!(executes(other), None, "{other}");
        }
    }

    #[test]
    fn a_shim_leads_to_the_program_that_its_manager_names() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        script(&at("python-real"), "#!/bin/sh\n");
        script(
            &at("fakeenv"),
            &format!("#!/bin/sh\n[ \"$1 $2\" = 'which python' ] && echo {}\n", at("python-real").display()),
        );
        script(
            &at("python"),
            &format!("#!/bin/sh\nexec \"{}\" exec \"$program\" \"$@\"\n", at("fakeenv").display()),
        );
        let word = |name: &str| at(name).display().to_string();
        assert_eq!(behind(&word("python")), Some(at("python-real")));
        // The program itself is no shim, nor is one whose manager knows nothing of it.
        assert_eq!(behind(&word("python-real")), None);
        script(&at("ruby"), &fs::read_to_string(at("python")).unwrap());
        assert_eq!(behind(&word("ruby")), None);
    }

    #[test]
    fn a_shim_that_is_a_program_of_its_manager_is_known_by_its_target() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        script(&at("node-real"), "#!/bin/sh\n");
        script(&at("volta"), &format!("#!/bin/sh\necho {}\n", at("node-real").display()));
        script(&at("volta-shim"), "#!/bin/sh\n");
        symlink(at("volta-shim"), at("node")).unwrap();
        assert_eq!(behind(&at("node").display().to_string()), Some(at("node-real")));
    }
}
