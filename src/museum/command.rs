//! The command of an adapter, as `bug.toml` has it.
//!
//! The sandbox of programs limits what a command can do. These rules keep a description within its folder: a command runs a program of
//! the PATH or one in `{dir}`, and names no other place of the machine.

use shlex::Quoter;

/// The place of the directory of the fetched version.
const DIR: &str = "{dir}";

/// The longest command.
const LENGTH_MAX: usize = 2000;

/// Checks a command.
///
/// # Errors
/// What it must not have.
pub(super) fn check(command: &str) -> Result<(), String> {
    if command.len() > LENGTH_MAX {
        return Err(format!("a command has {LENGTH_MAX} characters at most"));
    }
    if command.contains(char::is_control) {
        return Err("a command has no control characters".to_owned());
    }
    let words = shlex::split(command).ok_or("close its quotes")?;
    let Some(first) = words.first() else { return Err("write the command of the adapter".to_owned()) };
    if first.contains('/') && !first.starts_with("{dir}/") || first.starts_with('-') {
        return Err(format!("name a program by its name or as `{DIR}/FILE`"));
    }
    match words.iter().find(|word| leaves(word)) {
        Some(word) => Err(format!(
            "`{}` leads out of the folder: name files as `{DIR}/FILE`",
            super::field::shown(word)
        )),
        None => Ok(()),
    }
}

/// True if a word names a place outside of `{dir}`: an absolute path, a home directory, or `..`.
fn leaves(word: &str) -> bool {
    let is_of_path = |character: char| character.is_alphanumeric() || "._-~/+%*{}".contains(character);
    word.split(|character| !is_of_path(character)).any(|path| {
        let is_rooted = path.starts_with(['/', '~']) || path.starts_with('-') && path.contains('/');
        let is_in_dir = path.strip_prefix(DIR).is_none_or(|rest| rest.is_empty() || rest.starts_with('/'));
        is_rooted || !is_in_dir || path.split('/').any(|part| part == "..")
    })
}

/// The command with the directory of the version in it.
pub(super) fn filled(command: &str, dir: &str) -> String {
    let plain = command.replace(DIR, dir);
    let Some(words) = shlex::split(command) else { return plain };
    let words: Vec<String> = words.into_iter().map(|word| word.replace(DIR, dir)).collect();
    if shlex::split(&plain).as_ref() == Some(&words) {
        return plain;
    }
    // The directory has a space or a quote in it.
    Quoter::new().allow_nul(true).join(words.iter().map(String::as_str)).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stays_in_its_folder() {
        for command in [
            "{dir}/adapter once",
            "node {dir}/lock.mjs looks",
            "java -XX:+UseSerialGC -Xlog:all=warning:stderr -cp {dir}/lib/*:{dir} Group",
            "python3 'a b' --lease=3",
        ] {
            assert_eq!(check(command), Ok(()), "{command}");
        }
        for command in [
            "",
            "'",
            "/bin/sh x",
            "./adapter",
            "../adapter",
            "-x",
            "{dir}/../../other",
            "node ../lock.mjs",
            "node /etc/passwd",
            "node ~/x",
            "java -cp {dir}/lib/*:/root Group",
            "java -javaagent:/tmp/x.jar Group",
            "gcc -I/usr/include x",
            "python3 --file=../../x",
            "sh -c 'cat /etc/passwd'",
            "sh -c 'cd ..; x'",
            "node {dir}x/lock.mjs",
            "node https://example.org/x",
            "node a\nb",
            "node a\0b",
        ] {
            assert!(check(command).is_err(), "{command:?}");
        }
        assert!(check(&"x".repeat(LENGTH_MAX + 1)).is_err());
    }

    #[test]
    fn a_directory_with_a_space_is_one_word() {
        assert_eq!(filled("node {dir}/lock.mjs", "/a/b"), "node /a/b/lock.mjs");
        let command = filled("java -cp {dir}/lib/*:{dir} X", "/a b/it's");
        let words = shlex::split(&command).unwrap();
        assert_eq!(words, ["java", "-cp", "/a b/it's/lib/*:/a b/it's", "X"]);
    }
}
