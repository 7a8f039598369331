//! Class-data archives: what a JVM has loaded once, it maps from then on, and needs neither read nor check it.
//!
//! picklock makes the archive of a command when it is first run, in a world that is thrown away, and keeps it in the user's cache directory. It
//! belongs to the command, to the JVM and to the files of the class path: when one of them changes, another archive is made.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use crate::shim;

/// Options of a JVM that say something of archives themselves.
const OWN: [&str; 5] = [
    "-Xshare",
    "-XX:SharedArchiveFile",
    "-XX:ArchiveClassesAtExit",
    "-XX:AOT",
    "-XX:+AutoCreateSharedArchive",
];

/// The archives that this process knows, by command; none for a command that has none.
static KNOWN: Mutex<BTreeMap<Vec<String>, Option<PathBuf>>> = Mutex::new(BTreeMap::new());

/// The directory where a program that makes its archive finds its own files, and the name of the archive in it.
pub(crate) const HOME: &str = "/dev/shm";
const NAME: &str = "classes.jsa";

/// A command with the archive of its classes. `make` runs another command in a directory where it leaves its archive; whether it did.
///
/// A command that is no JVM, or that says something of archives itself, stays as it is, and so does one that leaves no archive.
pub(crate) fn used(words: &[String], make: impl FnOnce(&[String], &Path) -> bool) -> Vec<String> {
    let is_java = words.first().is_some_and(|first| Path::new(first).file_name() == Some("java".as_ref()));
    if !is_java || words.iter().any(|word| OWN.iter().any(|own| word.starts_with(own))) {
        return words.to_vec();
    }
    // Held meanwhile: others that run the same command wait for its archive.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let archive = known.entry(words.to_vec()).or_insert_with(|| kept(words, make));
    match archive {
        Some(archive) => with(words, &format!("-XX:SharedArchiveFile={}", archive.display())),
        None => words.to_vec(),
    }
}

/// A command with an option more, before all others.
fn with(words: &[String], option: &str) -> Vec<String> {
    let mut words = words.to_vec();
    words.insert(1, option.to_owned());
    words
}

/// The archive of a command, made if it is not there.
fn kept(words: &[String], make: impl FnOnce(&[String], &Path) -> bool) -> Option<PathBuf> {
    let dir = cache()?;
    let archive = dir.join(format!("{:032x}.jsa", identity(words)?));
    if archive.is_file() {
        return Some(archive);
    }
    fs::create_dir_all(&dir).ok()?;
    let home = tempfile::tempdir_in(&dir).ok()?;
    let making = with(words, &format!("-XX:ArchiveClassesAtExit={HOME}/{NAME}"));
    let made = make(&making, home.path());
    // Whole or not at all, whoever else makes the same one.
    (made && fs::rename(home.path().join(NAME), &archive).is_ok()).then_some(archive)
}

/// Where archives are kept: in the cache directory of the user.
fn cache() -> Option<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let base = base.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("picklock/archives"))
}

/// A number for all that an archive depends on: the command, where it runs, its JVM, and the files of its class path.
fn identity(words: &[String]) -> Option<u128> {
    let java = fs::canonicalize(shim::found(words.first()?)?).ok()?;
    let mut text = format!("{words:?} {:?} {}", env::current_dir().ok()?, stamp(&java)?);
    for pair in words
        .windows(2)
        .filter(|pair| matches!(pair[0].as_str(), "-cp" | "-classpath" | "--class-path" | "-jar"))
    {
        for entry in pair[1].split(':') {
            for file in files(entry) {
                text.push_str(&format!(" {} {}", file.display(), stamp(&file)?));
            }
        }
    }
    Some(xxh3_128(text.as_bytes()))
}

/// The files of an entry of a class path: itself, what is in it, or the jars that `*` stands for.
fn files(entry: &str) -> Vec<PathBuf> {
    let path = Path::new(entry.strip_suffix('*').unwrap_or(if entry.is_empty() { "." } else { entry }));
    let mut files: Vec<PathBuf> = match fs::read_dir(path) {
        Ok(inside) => inside.flatten().map(|file| file.path()).filter(|file| file.is_file()).collect(),
        Err(_) => vec![path.to_owned()],
    };
    files.sort();
    files
}

/// The size of a file and the time of its last change.
fn stamp(file: &Path) -> Option<String> {
    let metadata = fs::metadata(file).ok()?;
    Some(format!("{} {:?}", metadata.len(), metadata.modified().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_command_that_is_no_jvm_or_has_an_archive_stays_as_it_is() {
        for command in
            ["python3 lock.py", "java -Xshare:off Lock", "java -XX:SharedArchiveFile=x Lock", "javac X"]
        {
            let used = used(&words(command), |_, _| panic!("nothing is made for `{command}`"));
            assert_eq!(used, words(command));
        }
    }

    #[test]
    fn an_archive_is_for_the_files_of_its_class_path() {
        let dir = tempfile::tempdir().unwrap();
        let jar = dir.path().join("lock.jar");
        fs::write(&jar, "1").unwrap();
        // Any program that is there will do for a JVM.
        let of = |class_path: &str| {
            identity(&["sh".into(), "-cp".into(), class_path.into(), "Lock".into()]).unwrap()
        };
        let star = format!("{}/*", dir.path().display());
        let (before, other) = (of(&star), of(&dir.path().display().to_string()));
        assert_ne!(before, other);
        assert_eq!(before, of(&star));
        fs::write(&jar, "22").unwrap();
        assert_ne!(before, of(&star));
    }
}
