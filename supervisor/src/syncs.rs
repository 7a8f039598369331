//! The part of a program's files that would survive a loss of power: as much as it had synced.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

/// How much of each file was synced, by the numbers of the files. Copies of it are the same one.
///
/// It goes by lengths, and so is right for files that are written at their end and replaced by others, as logs and snapshots are,
/// and not for those that are changed within.
#[derive(Clone, Debug, Default)]
pub struct Syncs(Arc<Mutex<BTreeMap<u64, u64>>>);

impl PartialEq for Syncs {
    fn eq(&self, other: &Syncs) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Syncs {}

impl Syncs {
    /// All of an open file is synced.
    #[cfg_attr(
        not(all(target_os = "linux", target_arch = "x86_64")),
        expect(dead_code, reason = "nothing runs there")
    )]
    pub(crate) fn note(&self, file: &fs::Metadata) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(file.ino(), file.len());
    }

    /// Takes what was not synced from the files of a directory, and those that never were.
    ///
    /// # Errors
    /// When a file cannot be looked at or changed.
    pub fn lose_power(&self, directory: &Path) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let file = fs::symlink_metadata(&path)?;
            if file.is_dir() {
                self.lose_power(&path)?;
                continue;
            }
            let synced = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&file.ino()).copied();
            match synced {
                Some(length) if length < file.len() => {
                    fs::OpenOptions::new().write(true).open(&path)?.set_len(length)?;
                }
                Some(_) => {}
                None => fs::remove_file(&path)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_loss_of_power_takes_what_was_written_after_the_last_sync() {
        let directory = tempfile::tempdir().unwrap();
        let within = directory.path().join("files");
        fs::create_dir(&within).unwrap();
        let (kept, lost) = (within.join("kept"), directory.path().join("lost"));
        let mut file = fs::File::create(&kept).unwrap();
        file.write_all(b"synced").unwrap();
        let syncs = Syncs::default();
        syncs.note(&file.metadata().unwrap());
        file.write_all(b" and not").unwrap();
        fs::write(&lost, b"never synced").unwrap();
        syncs.lose_power(directory.path()).unwrap();
        assert_eq!(fs::read(&kept).unwrap(), b"synced");
        assert!(!lost.exists());
    }

    #[test]
    fn a_file_that_was_synced_keeps_that_under_another_name() {
        let directory = tempfile::tempdir().unwrap();
        let (before, after) = (directory.path().join("temp"), directory.path().join("dump"));
        fs::write(&before, b"all").unwrap();
        let syncs = Syncs::default();
        syncs.note(&fs::metadata(&before).unwrap());
        fs::rename(&before, &after).unwrap();
        syncs.lose_power(directory.path()).unwrap();
        assert_eq!(fs::read(&after).unwrap(), b"all");
    }
}
