//! Class-data archives: what a JVM has loaded once, it maps from then on, and needs neither read nor check it.
//!
//! picklock makes the archive of a command when it is first run, in a world that is thrown away, and keeps it in the user's cache directory. It
//! belongs to the command, to the JVM and to the files of the class path: when one of them changes, another archive is made. Those that were used last
//! are kept.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the time of a file in the cache is the machine's, and no run sees it"
)]

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use picklock_supervisor::HOME;
use xxhash_rust::xxh3::xxh3_128;

use crate::cache::cache;
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

/// The name of an archive among the files of the program that makes it.
const NAME: &str = "classes.jsa";

/// So many archives are kept, of 1 to 20 MB each.
const KEPT: usize = 64;

/// A command with the archive of its classes. `make` runs another command in a directory where it leaves its archive; whether it did.
///
/// A command that is no JVM, or that says something of archives itself, stays as it is, and so does one that leaves no archive.
pub(crate) fn used(words: &[String], make: impl FnOnce(&[String], &Path) -> bool) -> Vec<String> {
    let is_java = words.first().is_some_and(|first| Path::new(first).file_name() == Some("java".as_ref()));
    if !is_java || words.iter().any(|word| OWN.iter().any(|own| word.starts_with(own))) {
        return words.to_vec();
    }
    // Held meanwhile: whoever is to run a JVM waits until the archive is there.
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
    let dir = cache("archives")?;
    let archive = dir.join(format!("{:032x}.jsa", identity(words)?));
    if archive.is_file() {
        use_now(&archive);
        return Some(archive);
    }
    fs::create_dir_all(&dir).ok()?;
    let home = tempfile::tempdir_in(&dir).ok()?;
    let making = with(words, &format!("-XX:ArchiveClassesAtExit={}/{NAME}", HOME.to_str().ok()?));
    let made = make(&making, home.path());
    // Whole or not at all, whoever else makes the same one.
    let kept = made && fs::rename(home.path().join(NAME), &archive).is_ok();
    if kept {
        use_now(&archive);
        drop_oldest(&dir, KEPT);
    }
    kept.then_some(archive)
}

/// Has the time of an archive say when it was used last. One whose time stays is dropped earlier than it might be.
fn use_now(archive: &Path) {
    let _ = File::open(archive).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes the archives of a directory that were not used for longest, but for so many.
fn drop_oldest(dir: &Path, kept: usize) {
    let archive = |entry: fs::DirEntry| {
        let path = entry.path();
        let used = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
        (path.extension()? == "jsa").then_some((used, path))
    };
    let mut archives: Vec<(SystemTime, PathBuf)> =
        fs::read_dir(dir).into_iter().flatten().flatten().filter_map(archive).collect();
    archives.sort();
    for (_, path) in archives.iter().rev().skip(kept) {
        // Whoever has it mapped keeps it; one that cannot be removed is in nobody's way.
        let _ = fs::remove_file(path);
    }
}

/// A number for all that an archive depends on: the command, where it runs, its JVM, and the jars of its class path. None if that
/// is not of jars alone, of which a JVM makes no archive.
fn identity(words: &[String]) -> Option<u128> {
    let java = fs::canonicalize(shim::found(words.first()?)?).ok()?;
    let mut text = format!("{words:?} {:?} {}", env::current_dir().ok()?, stamp(&java)?);
    for jar in jars(words)? {
        text.push_str(&format!(" {} {}", jar.display(), stamp(&jar)?));
    }
    Some(xxh3_128(text.as_bytes()))
}

/// The jars of a command's class path; none if it has other entries, or is the directory where the command runs, as it is if none is named.
fn jars(words: &[String]) -> Option<Vec<PathBuf>> {
    let names = ["-cp", "-classpath", "--class-path", "-jar"];
    let path = words.windows(2).find(|pair| names.contains(&pair[0].as_str()))?;
    let mut jars = Vec::new();
    for entry in path[1].split(':') {
        match entry.strip_suffix('*') {
            None => jars.push(PathBuf::from(entry)),
            Some(dir) => {
                let mut inside: Vec<PathBuf> = fs::read_dir(dir)
                    .ok()?
                    .flatten()
                    .map(|file| file.path())
                    .filter(|file| is_jar(file))
                    .collect();
                inside.sort();
                jars.append(&mut inside);
            }
        }
    }
    jars.iter().all(|jar| is_jar(jar)).then_some(jars)
}

fn is_jar(file: &Path) -> bool {
    file.is_file() && file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jar"))
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
    fn an_archive_is_for_the_jars_of_its_class_path() {
        let dir = tempfile::tempdir().unwrap();
        let jar = dir.path().join("lock.jar");
        fs::write(&jar, "1").unwrap();
        // Any program that is there will do for a JVM.
        let of = |class_path: &str| identity(&["sh".into(), "-cp".into(), class_path.into(), "Lock".into()]);
        let star = format!("{}/*", dir.path().display());
        let before = of(&star).unwrap();
        assert_ne!(of(&jar.display().to_string()), Some(before));
        assert_eq!(of(&star), Some(before));
        fs::write(&jar, "22").unwrap();
        assert_ne!(of(&star), Some(before));
    }

    #[test]
    fn the_archives_that_were_used_last_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let archive = |name: &str| dir.path().join(name);
        for (name, used) in [("a.jsa", 3), ("b.jsa", 1), ("c.jsa", 2), ("other", 0)] {
            fs::write(archive(name), "1").unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(used);
            File::open(archive(name)).unwrap().set_modified(time).unwrap();
        }
        use_now(&archive("b.jsa"));
        drop_oldest(dir.path(), 2);
        let left = ["a.jsa", "b.jsa", "c.jsa", "other"].map(|name| archive(name).is_file());
        assert_eq!(left, [true, true, false, true]);
    }

    #[test]
    fn a_class_path_with_a_directory_has_no_archive() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lock.jar"), "1").unwrap();
        let here = dir.path().display();
        for class_path in
            [here.to_string(), format!("{here}/*:{here}"), format!("{here}/*:missing.jar"), String::new()]
        {
            assert_eq!(
                identity(&["sh".into(), "-cp".into(), class_path.clone(), "Lock".into()]),
                None,
                "{class_path}"
            );
        }
        assert_eq!(identity(&words("sh Lock")), None);
    }
}
