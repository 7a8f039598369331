//! A run that is being saved, in a folder of its own.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use picklock_campaign::campaign::journal::FILE as JOURNAL;
use picklock_campaign::campaign::shard::Shard;
use picklock_campaign::files::{UNFINISHED, write_whole};
use picklock_reports::html;
use picklock_reports::manifest::{self, Manifest, Results, State};

use super::error::{ResultsDirError, reading, writing};
use super::found::{self, Found, PAGE, is_alive, names, note};
use super::live::Live;
use super::name::{Kind, Name};
use super::{index, links};
use crate::cli::exit::{Exit, Failure};

/// The request for a saved run.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The directory of `--out`.
    pub(crate) out: &'a Path,
    pub(crate) kind: Kind,
    /// The command that makes the results again.
    pub(crate) command: &'a str,
    pub(crate) shard: Option<Shard>,
}

/// A run that is being saved.
pub(crate) struct Run {
    dir: PathBuf,
    pub(super) name: Name,
    /// The folder.
    pub(super) folder: PathBuf,
    manifest: Manifest,
    /// Reports of what had been done when it was interrupted, as far as they are not written anew.
    stale: RefCell<BTreeSet<String>>,
    /// Locked while this process is at work.
    _held: Option<File>,
}

impl Run {
    /// Begins a run in a folder of its own.
    ///
    /// # Errors
    /// When the directory cannot be written, or is not a results directory.
    pub(crate) fn begin(asked: Asked<'_>) -> Result<Run, ResultsDirError> {
        let dir = asked.out.to_owned();
        fs::create_dir_all(&dir).map_err(writing(&dir))?;
        check(&dir)?;
        sweep_dir(&dir);
        let mut name = names(&dir)?.fold(Name::now(asked.kind), |name, other| name.after(&other));
        let folder = loop {
            let folder = dir.join(name.to_string());
            match fs::create_dir(&folder) {
                Ok(()) => break folder,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => name = name.clone().after(&name),
                Err(error) => return Err(writing(&folder)(error)),
            }
        };
        let manifest = Manifest::begun(asked.command, asked.shard.map(|shard| shard.to_string()));
        Run { dir, name, folder, manifest, stale: RefCell::default(), _held: None }.hold()
    }

    /// Resumes a run in its folder.
    pub(super) fn again(dir: &Path, found: Found) -> Result<Run, ResultsDirError> {
        let Found { name, folder, manifest } = found;
        sweep(&folder)?;
        sweep_dir(dir);
        let manifest = Manifest { state: State::Begun, results: None, ..manifest };
        let reports = picklock_reports::ALL.iter().map(|format| format.file.to_owned());
        let stale = reports.filter(|file| folder.join(file).is_file()).collect();
        let (dir, stale) = (dir.to_owned(), RefCell::new(stale));
        Run { dir, name, folder, manifest, stale, _held: None }.hold()
    }

    /// Marks the run as one on which this process is at work.
    fn hold(mut self) -> Result<Run, ResultsDirError> {
        let held = self.write(&self.manifest).and_then(|()| {
            let path = self.folder.join(manifest::FILE);
            let file = File::open(&path).map_err(reading(&path))?;
            // Where files cannot be locked it is only not seen that somebody is at work.
            Ok(file.lock().is_ok().then_some(file))
        });
        match held {
            Ok(held) => {
                self._held = held;
                Ok(self)
            }
            Err(error) => {
                self.give_up();
                Err(error)
            }
        }
    }

    fn write(&self, manifest: &Manifest) -> Result<(), ResultsDirError> {
        let path = self.folder.join(manifest::FILE);
        let text = manifest.to_text().map_err(io::Error::from).map_err(writing(&path))?;
        write_whole(&path, &text).map_err(writing(&path))
    }

    /// The folder of its files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a report into it.
    pub(crate) fn report(&self, file: &str, text: &str) -> Result<(), ResultsDirError> {
        let path = self.folder.join(file);
        write_whole(&path, text).map_err(writing(&path))?;
        self.stale.borrow_mut().remove(file);
        Ok(())
    }

    /// The path of a file in it: that of the link in the results directory, if it leads there.
    pub(crate) fn shortest(&self, file: &str) -> PathBuf {
        let (here, there) = (self.folder.join(file), self.dir.join(file));
        let same = || Some(fs::canonicalize(&here).ok()? == fs::canonicalize(&there).ok()?);
        if same().unwrap_or(false) { there } else { here }
    }

    /// The page that shows its progress.
    pub(crate) fn live(&self) -> Live {
        index::write(&self.dir, &self.name);
        Live::begin(self.folder.join(PAGE), &self.manifest)
    }

    /// Does the work of the run. A failure leaves no folder, unless there is a journal that can be resumed.
    pub(crate) fn keep(
        self,
        work: impl FnOnce(&Run) -> Result<(Exit, Results), Failure>,
    ) -> Result<Exit, Failure> {
        let done = work(&self).and_then(|(exit, results)| {
            self.end(exit, results)?;
            Ok(exit)
        });
        if done.is_err() {
            self.give_up();
        }
        done
    }

    /// Writes its results, and has the links and the index of the directory lead to it.
    fn end(&self, exit: Exit, results: Results) -> Result<(), ResultsDirError> {
        let state = if exit == Exit::Interrupted { State::Interrupted } else { State::Ended };
        for file in self.stale.take() {
            let path = self.folder.join(file);
            fs::remove_file(&path).map_err(writing(&path))?;
        }
        let Contents { names: files, bytes, repros } = contents(&self.folder)?;
        let results = Results { exit: exit.code(), files: files.clone(), bytes, repros, ..results };
        let manifest = Manifest { state, results: Some(results), ..self.manifest.clone() };
        let page = self.folder.join(PAGE);
        write_whole(&page, &html::ended(&manifest)).map_err(writing(&page))?;
        settle(&self.folder)?;
        self.write(&manifest)?;
        sync(&self.folder.join(manifest::FILE))?;
        let _turn = index::turn(&self.dir);
        let names: Vec<&str> = files.iter().map(|name| name.trim_end_matches('/')).collect();
        match links::latest(&self.dir, &self.name.to_string(), &names) {
            Ok(taken) => taken.iter().for_each(|name| self.note_foreign(name)),
            // The results are there; only the short way to them is not.
            Err(error) => note(&format!("{error}; the results are in {}", self.folder.display())),
        }
        index::write_in_turn(&self.dir, &self.name);
        Ok(())
    }

    fn note_foreign(&self, name: &str) {
        note(&format!(
            "{} is not picklock's, and stays as it is; that of this run is {}",
            self.dir.join(name).display(),
            self.folder.join(name).display()
        ));
    }

    /// Removes the folder, unless it has a journal with something in it.
    pub(super) fn give_up(self) {
        if !found::has_begun(&self.folder) {
            // A folder that cannot be removed is shown as not finished.
            let _ = fs::remove_dir_all(&self.folder);
            found::lead_back(&self.dir);
        }
        drop(self._held);
        index::write(&self.dir, &self.name);
    }
}

/// The contents of a run's folder, without the journal and the files that picklock itself needs.
#[derive(Default)]
struct Contents {
    names: Vec<String>,
    bytes: u64,
    repros: u64,
}

fn contents(folder: &Path) -> Result<Contents, ResultsDirError> {
    let mut all = Contents::default();
    for entry in fs::read_dir(folder).map_err(reading(folder))? {
        let entry = entry.map_err(reading(folder))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if [manifest::FILE, manifest::FORMER_FILE, JOURNAL, PAGE].contains(&&*name)
            || name.starts_with(UNFINISHED)
        {
            continue;
        }
        let about = entry.metadata().map_err(reading(&entry.path()))?;
        if about.is_dir() {
            let inner = contents(&entry.path())?;
            all.bytes += inner.bytes;
            all.repros += inner.names.len() as u64;
            all.names.push(format!("{name}/"));
        } else {
            all.bytes += about.len();
            all.names.push(name);
        }
    }
    all.names.sort();
    Ok(all)
}

/// Removes the unfinished files of a process that was killed from the folder of its run.
fn sweep(folder: &Path) -> Result<(), ResultsDirError> {
    for directory in [folder.to_owned(), folder.join("repro")] {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries {
            let path = entry.map_err(reading(&directory))?.path();
            if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()))
            {
                fs::remove_file(&path).map_err(writing(&path))?;
            }
        }
    }
    Ok(())
}

/// The same in a results directory, in turn with others: the process that ends a run makes files here after the manifest, whose
/// lock marks the run as alive, was replaced. A file that cannot be removed does no harm.
fn sweep_dir(dir: &Path) {
    let Some(_turn) = index::turn(dir) else { return };
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Some(name) = entry.file_name().to_str().and_then(links::whose) else { continue };
        let folder = dir.join(name.to_string());
        // Of a run without a folder it is not known.
        if manifest::path_in(&folder).is_file() && !is_alive(&folder) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Has the system write a folder to the disk: the results of a finished run survive a loss of power.
fn settle(folder: &Path) -> Result<(), ResultsDirError> {
    for entry in fs::read_dir(folder).map_err(reading(folder))? {
        let path = entry.map_err(reading(folder))?.path();
        if path.is_dir() {
            settle(&path)?;
        } else {
            sync(&path)?;
        }
    }
    sync(folder)
}

fn sync(path: &Path) -> Result<(), ResultsDirError> {
    match File::open(path).and_then(|file| file.sync_all()) {
        // Not every file system can, and not every system does it to directories.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        Err(_) if cfg!(not(unix)) => Ok(()),
        synced => synced.map_err(writing(path)),
    }
}

/// Refuses a path that is no results directory and cannot be one.
fn check(dir: &Path) -> Result<(), ResultsDirError> {
    if manifest::path_in(dir).is_file() {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("..")).to_owned();
        return Err(ResultsDirError::IsRun { path: dir.to_owned(), dir: parent });
    }
    links::check(dir)
}
