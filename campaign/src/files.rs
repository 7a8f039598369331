//! Files that are there whole or not at all, and what to do where they cannot be written.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

/// How the name of a file begins that is being written. One that was left behind by a process that was killed is of no use.
pub const UNFINISHED: &str = ".picklock-";

/// The longest name of a design that a file is named by as it is: a file system has names of 255 bytes, and the command of a program may be
/// longer.
const LONGEST: usize = 150;

/// The file below `out` that a violation of a cell is saved in.
#[must_use]
pub fn repro(out: &Path, design: &str, scenario: &str, invariant: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let mut name: String = design.chars().map(plain).collect();
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        name = format!("{name}_{:016x}", xxh3_64(design.as_bytes()));
    }
    out.join("repro").join(format!("{name}.{scenario}.{invariant}.json"))
}

/// Writes a file so that it is there whole or not at all; makes its directory if need be.
///
/// # Errors
/// When the directory cannot be made or the file not be written.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    // Made as any file that a program makes, so that the umask says who may read it; and written to as such, so that an error names
    // no file but the one that was asked for.
    let make = |path: &Path| File::options().write(true).create_new(true).open(path);
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).make_in(directory, make)?;
    fill(file.as_file_mut(), text)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Nothing of a file is kept that could not be filled.
fn fill(file: &mut impl io::Write, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.flush()
}

/// The remedy for a file that could not be written.
#[must_use]
pub fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "make room, or name another directory for --out"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists | ErrorKind::IsADirectory => {
            "a file has that name: name a directory for --out"
        }
        _ => "check that --out names a directory that you may write to",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for so many bytes.
    struct Disk(usize);

    impl io::Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            let fits = bytes.len().min(self.0);
            self.0 -= fits;
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_is_full_in_the_middle_of_a_file_is_an_error_that_says_what_to_do() {
        assert!(fill(&mut Disk(5), "12345").is_ok());
        let error = fill(&mut Disk(4), "12345").unwrap_err();
        assert_eq!(remedy(&error), "make room, or name another directory for --out");
    }

    #[test]
    fn the_file_of_a_program_with_a_long_command_has_a_name_that_a_file_may_have() {
        let name = |design: &str| {
            let path = repro(Path::new("out"), design, "came-and-went", "effective-exclusion");
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(name("program:java -cp x"), "program_java_-cp_x.came-and-went.effective-exclusion.json");
        let (one, other) = (format!("{}1", "x/".repeat(300)), format!("{}2", "x/".repeat(300)));
        assert!(name(&one).len() < 255 && name(&one) != name(&other), "{}", name(&one));
    }

    #[test]
    fn what_cannot_be_written_leaves_what_was_there_and_nothing_else() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("below/file");
        write_whole(&path, "old").unwrap();
        // A directory in the way, which is not replaced by a file.
        let error = write_whole(&here.path().join("below"), "new").unwrap_err();
        assert!(remedy(&error).contains("a file has that name"), "{error}");
        assert!(!error.to_string().contains(UNFINISHED), "{error}");
        let error = write_whole(&path.join("deeper"), "new").unwrap_err();
        assert!(remedy(&error).contains("a file has that name"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        let left: Vec<_> =
            std::fs::read_dir(here.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["below"]);
    }
}
